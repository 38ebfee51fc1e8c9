"""Pieces of compiled loops: translated once each, optimised and turned into machine code only as part of their loop.

numba treats every function it compiles as if it were called by itself: it is optimised, turned into machine code and given two
wrappers, and the same again, with all it calls, inside its caller. For pieces that are inlined all of that but the last is
for nobody. Here a piece stays what it was translated to until its loop is optimised, as a whole and once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., Any])


class _Unfinished(JITCodeLibrary):
    """Code that waits to be linked into a loop: linked with what it calls, but neither optimised nor loaded."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PieceLowering(NativeLowering):
    """The last pass, into such a library."""

    _name = "piece_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # callers find a piece by what would be its entry from Python: any built-in that is not found twice
        state["cr"] = state["cr"]._replace(cfunc=[].append)
        state.targetctx.insert_user_function(state["cr"].cfunc, state["cr"].fndesc, [state.library])
        return True


class _PieceCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(_PieceLowering if kind is NativeLowering else kind, name) for kind, name in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


# for numba's `overload`; flags that are not named here are those of the caller
UNFINISHED: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": _PieceCompiler}


def part(function: F) -> F:
    """A function that compiled loops may call; in Python it stays what it is. LLVM decides whether it is inlined."""
    return register_jitable(**UNFINISHED)(function)


def piece(function: F) -> F:
    """A part that is inlined wherever it is called, of loops that allocate nothing: no references are counted."""
    return register_jitable(forceinline=True, _nrt=False, error_model="numpy", **UNFINISHED)(function)
