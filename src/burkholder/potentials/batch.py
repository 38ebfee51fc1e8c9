"""The scalar formulas over whole arrays: what verification evaluates is what the stream loop compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from burkholder.machine.compiling import compiled
from burkholder.potentials import dispatch


@compiled
def _values(potential, g, s, top, dead, out):
    for i in range(out.size):
        out[i] = dispatch.value(potential, g[i], s[i], top[i], dead[i])


@compiled
def _targets(potential, g, s, top, dead, out):
    for i in range(out.size):
        out[i] = dispatch.target(potential, g[i], s[i], top[i], dead[i])


@compiled
def _slopes(potential, g, s, top, dead, out):
    for i in range(out.size):
        out[i] = dispatch.slope(potential, g[i], s[i], top[i], dead[i])


@compiled
def _gaps(potential, high, low, difference, s, out):
    for i in range(out.size):
        out[i] = dispatch.gap(potential, high[i], low[i], difference[i], s[i])


def _over(loop: Any, potential: Any, *arguments: ArrayLike) -> np.ndarray:
    arrays = np.broadcast_arrays(*(np.asarray(a, float) for a in arguments))
    out = np.empty(arrays[0].size)
    # copies: numba would warn about the shared memory of broadcast arrays
    loop(potential, *(np.array(a).reshape(-1) for a in arrays), out)
    return out.reshape(arrays[0].shape)


def value(potential: Any, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
    """f over arrays.

    >>> from burkholder.potentials import Quadratic
    >>> value(Quadratic(), [0.0, 2.0], [1.0, 1.0])
    array([-0.5,  1.5])
    """
    return _over(_values, potential, g, s, top, dead)


def target(potential: Any, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
    """V's part over arrays."""
    return _over(_targets, potential, g, s, top, dead)


def slope(potential: Any, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
    """∂f/∂g over arrays."""
    return _over(_slopes, potential, g, s, top, dead)


def gap(potential: Any, high: ArrayLike, low: ArrayLike, difference: ArrayLike, s: ArrayLike) -> np.ndarray:
    """[f(high) − f(low)]/2 over arrays."""
    return _over(_gaps, potential, high, low, difference, s)
