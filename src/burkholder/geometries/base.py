"""How a vector meets a scalar potential: through a norm with a β-smooth half square, or per coordinate.

`norm(g)` is the norm inside the potential, `size(x)` the norm that measures features, `dual(w)` the norm that
measures comparators, so that ⟨w, g⟩ ≤ dual(w)·norm(g), and
½norm(g+x)² ≤ ½norm(g)² + ⟨∇½norm²(g), x⟩ + (smoothness/2)·size(x)².
Every method takes arrays with any leading batch axes; vectors lie on the last axis.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Geometry(Protocol):
    """What a norm must offer.

    >>> from burkholder import geometries
    >>> l3: Geometry = geometries.get("l3")
    >>> l3.smoothness, float(l3.norm(np.array([1.0, 2.0, 0.0]))) ** 3
    (2.0, 9.0)
    """

    @property
    def smoothness(self) -> float: ...

    @property
    def dual_name(self) -> str:
        """How the norm of comparators is written."""

    @property
    def longest_side(self) -> float:
        """The largest norm of a unit vector."""

    @property
    def dimension(self) -> int | None:
        """How many coordinates a vector may have; None: any number."""

    def norm(self, g: np.ndarray) -> np.ndarray: ...

    def size(self, x: np.ndarray) -> np.ndarray: ...

    def dual(self, w: np.ndarray) -> np.ndarray: ...

    def gradient(self, g: np.ndarray) -> np.ndarray:
        """∇norm(g), and 0 at g = 0."""


def peak(v: np.ndarray) -> np.ndarray:
    """The largest modulus along the last axis, 1 where all is 0: dividing by it keeps powers in range."""
    top = np.max(np.abs(v), axis=-1, keepdims=True, initial=0.0)
    return np.where(top > 0.0, top, 1.0)


def power_norm(v: np.ndarray, p: float) -> np.ndarray:
    """(Σ|v_i|^p)^{1/p} along the last axis, for vectors of any scale.

    >>> float(power_norm(np.array([3e200, 4e200]), 2.0) / 1e200)
    5.0
    """
    top = peak(v)
    if np.isinf(p):
        return np.max(np.abs(v), axis=-1, initial=0.0)
    return top[..., 0] * np.sum(np.abs(v / top) ** p, axis=-1) ** (1.0 / p)


def power_gradient(v: np.ndarray, p: float) -> np.ndarray:
    """The gradient of that norm, 0 at 0."""
    scaled = v / peak(v)
    length = power_norm(scaled, p)[..., None]
    return np.sign(v) * (np.abs(scaled) / np.where(length > 0.0, length, 1.0)) ** (p - 1.0)


def conjugate(p: float) -> float:
    """q with 1/p + 1/q = 1."""
    return 1.0 if np.isinf(p) else (np.inf if p == 1.0 else p / (p - 1.0))
