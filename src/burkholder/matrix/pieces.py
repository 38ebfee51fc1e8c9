"""Pieces of the compiled loops that only other loops call: without what Python or C would need to call them."""

from __future__ import annotations

from functools import partial

from burkholder.machine.compiling import compiled

piece = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)
