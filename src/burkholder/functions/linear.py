"""Potential ∘ geometry: U(a, g, s) = a + f(‖g‖/√β, s), or a + Σ_i f(g_i, s_i).

One class for most of the catalogue. The clock says what s counts:
"square" Σ(L·size(x))² (strategy S3), "gradient" Σ(δ·size(x))² (strategy S4), "count" the rounds (S3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder import geometries, potentials
from burkholder.errors import BadInput
from burkholder.functions.base import SIGN_FLIP, TANGENT, BurkholderFunction, Tau, positive, wide
from burkholder.geometries import Coordinates
from burkholder.potentials import batch
from burkholder.potentials.dispatch import LARGEST

CLOCKS = ("square", "gradient", "count")


class Linear(BurkholderFunction):
    """A linear learner's Burkholder function, from a potential, a geometry and a clock.

    >>> from burkholder.potentials import SquareRoot
    >>> function = Linear("AdaGrad", SquareRoot(radius=2.0), "coordinates", "gradient")
    >>> import burkholder as bk
    >>> bk.Learner(function, loss="absolute").predict({"a": 1.0})
    0.0
    """

    def __init__(
        self, name: str, potential: Any, geometry: Any, clock: str, lipschitz: float = 1.0, feature_bound: float = math.inf
    ) -> None:
        self.name, self.potential, self.geometry, self.clock = name, potential, geometries.get(geometry), clock
        self.lipschitz = positive("lipschitz", lipschitz)
        self.feature_bound = feature_bound  # X: what size(x) must stay below (inf: nothing assumed)
        self.separable = isinstance(self.geometry, Coordinates)
        self.remembers = potential.atoms > 0
        self.root = math.sqrt(self.geometry.smoothness)
        # tangent rules of U_sq and of the quadratic never look at L
        self.needs_lipschitz = clock != "gradient" or self.remembers
        if clock not in CLOCKS:
            raise BadInput("clock", clock, f"choose one of {', '.join(CLOCKS)}")
        if clock == "count" and self.separable:
            raise BadInput("geometry", "coordinates", "a potential that counts rounds needs a norm, such as 'l2'")
        played = potentials.has_slope(potential) and potential.tangent
        usable = played if clock == "gradient" else potentials.has_gap(potential)
        if not usable:
            raise BadInput("clock", clock, f"the {type(potential).__name__} potential has no strategy for this clock")
        self.structure = frozenset({TANGENT if clock == "gradient" else SIGN_FLIP})

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "generalised" if self.remembers else ("time-indexed" if self.clock == "count" else "additive")

    # --- statistic ---------------------------------------------------------------------------------------
    def zero(self, dim: int = 1) -> Tau:
        s = np.zeros(dim) if self.separable else np.zeros(())
        memory = (np.zeros_like(s), np.zeros_like(s)) if self.remembers else ()
        return (np.zeros(()), np.zeros(dim), s, *memory)

    def _size(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x) if self.separable else self.geometry.size(x)

    def _tick(self, x: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """What s grows by."""
        if self.clock == "count":
            return np.ones(np.broadcast_shapes(x.shape[:-1], np.shape(delta)))
        size = self._size(x)
        if self.clock == "square":
            return np.square(self.lipschitz * size)
        return np.square((delta[..., None] if self.separable else delta) * size)

    def statistic(self, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        x, yhat, delta = np.asarray(x, float), np.asarray(yhat, float), np.asarray(delta, float)
        if self.remembers:
            raise BadInput("statistic", self.name, "this function is generalised: use advance")
        return delta * yhat, delta[..., None] * x, self._tick(x, delta)

    def memory(self, tau: Tau, x: np.ndarray) -> Tau:
        """(top, dead) once x was seen: potentials that delete atoms do so before they play."""
        if not self.remembers:
            zero = np.zeros_like(tau[2])
            return zero, zero
        return _anchored(tau[3], tau[4], self.potential.atoms, self.lipschitz * self._size(x))

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        if not self.remembers:
            return super().advance(tau, x, yhat, delta)
        x, yhat, delta = np.asarray(x, float), np.asarray(yhat, float), np.asarray(delta, float)
        top, dead = self.memory(tau, x)
        return tau[0] + delta * yhat, tau[1] + delta[..., None] * x, tau[2] + self._tick(x, delta), top, dead

    # --- U, V, A -----------------------------------------------------------------------------------------
    def _reduced(self, g: np.ndarray) -> np.ndarray:
        return np.abs(g) if self.separable else self.geometry.norm(g) / self.root

    def _total(self, formula: Any, tau: Tau) -> np.ndarray:
        memory = tau[3:] if self.remembers else (0.0, 0.0)
        out = formula(self.potential, self._reduced(tau[1]), tau[2], *memory)
        return tau[0] + (out.sum(axis=-1) if self.separable else out)

    def value(self, tau: Tau) -> np.ndarray:
        return self._total(batch.value, tau)

    def target(self, tau: Tau) -> np.ndarray:
        return self._total(batch.target, tau)

    def magnitude(self, tau: Tau) -> np.ndarray:
        g, s = self._reduced(tau[1]), tau[2]
        size = self.potential.magnitude(g, s, *(tau[3:] or (0.0, 0.0)))
        return np.abs(tau[0]) + (size.sum(axis=-1) if self.separable else size)

    def _cost(self, size: np.ndarray, tau: Tau) -> np.ndarray:
        """A from the comparator's norm (per coordinate, or ‖w‖_* alone)."""
        memory = tau[3:] if self.remembers else (0.0, 0.0)
        out = self.potential.bound(size * self.root, tau[2], *memory)
        return out.sum(axis=-1) if self.separable else out

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        w = np.asarray(w, float)
        return self._cost(np.abs(w) if self.separable else self.geometry.dual(w), tau)

    @property
    def dimension(self) -> int | None:  # type: ignore[override]
        """How many features it takes; None: any number."""
        return self.geometry.dimension

    @property
    def comparator_norm(self) -> str:  # type: ignore[override]
        return self.geometry.dual_name

    def longest_side(self, dim: int) -> float:
        return self.geometry.longest_side

    def own_radius(self) -> float | None:
        own = self.default_radius()
        return 1.0 if own is None else own

    def default_radius(self) -> float | None:
        """R of the function's own ball, in the comparators' norm; None when every comparator is admitted."""
        radius = self.potential.radius
        return None if radius is None else radius / self.root

    def _radius(self, radius: float | None) -> float:
        chosen = self.default_radius() if radius is None else radius
        if chosen is None:
            raise BadInput("radius", radius, f"{self.name} admits every comparator: give a radius")
        return positive("radius", chosen)

    def ball(self, radius: float | None, tau: Tau) -> float:
        """A over |w_i| ≤ radius (per coordinate) or ‖w‖_* ≤ radius."""
        size = self._radius(radius)
        return float(self._cost(np.full(np.shape(tau[1])[-1], size) if self.separable else np.asarray(size), tau))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        size = self._radius(radius)
        return float(size * (np.abs(g).sum() if self.separable else self.geometry.norm(g)))

    # --- strategies --------------------------------------------------------------------------------------
    def sign_flip(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, float)
        d, s = self.lipschitz * x, tau[2] + self._tick(x, np.full(x.shape[:-1], self.lipschitz))
        high, low = self._reduced(tau[1] + d), self._reduced(tau[1] - d)
        if self.separable:
            difference = 2.0 * np.sign(tau[1]) * np.sign(d) * np.minimum(np.abs(tau[1]), np.abs(d))
        elif isinstance(self.geometry, geometries.Euclidean):
            total = high + low
            safe = np.where(total > 0.0, total, 1.0)
            # (high² − low²)/(high + low), with 4⟨g, d⟩ in place of a difference of squares
            difference = 4.0 * np.einsum("...i,...i->...", tau[1] / safe[..., None], d)
        else:
            difference = high - low
        out = batch.gap(self.potential, high, low, difference, s)
        return -(out.sum(axis=-1) if self.separable else out) / self.lipschitz

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, float)
        slope = batch.slope(self.potential, self._reduced(tau[1]), tau[2], *self.memory(tau, x))
        if self.separable:
            with np.errstate(over="ignore"):  # far outside what play reaches: held below 1e300, as in a stream
                return -np.clip(np.sign(tau[1]) * slope * x, -LARGEST, LARGEST).sum(axis=-1)
        along = np.einsum("...i,...i->...", self.geometry.gradient(tau[1]), x)
        return -slope * along / self.root

    # --- where the properties must hold ---------------------------------------------------------------------
    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        x = wide(rng, count, dim)
        # states within a few hundred features of x, and far outside
        ratio = 10.0 ** rng.uniform(-3, 3, (count, 1))
        g = wide(rng, count, dim, 0.0) * np.max(np.abs(x), axis=-1, keepdims=True) * ratio
        if self.clock == "count":
            x = x / np.maximum(self._size(x), 1e-300)[..., None] * self.feature_bound
            x *= np.where(rng.random((count, 1)) < 0.5, 1.0, rng.random((count, 1)))
            t = np.floor(10.0 ** rng.uniform(0, 7, count)) - 1.0
            g = wide(rng, count, dim, 0.0)
            norm = np.maximum(self._reduced(g), 1e-300)[..., None]
            reach = self.lipschitz * self.feature_bound * np.minimum(t, 25.0 * np.sqrt(t))
            g = g / norm * (reach * rng.random(count))[:, None]
            return (np.zeros(count), g, t), x
        reduced = np.maximum(self._reduced(g), 1e-300)
        s = np.square(reduced * 10.0 ** rng.uniform(-2, 2, reduced.shape))
        shrink = np.minimum(1.0, self.potential.reach(s) / reduced)
        g = g * (shrink if self.separable else shrink[..., None])
        if not self.remembers:
            return (np.zeros(count), g, s), x
        # sizes seen before x: any, and half of the time like x itself, where atoms are about to be deleted
        near = np.where(rng.random(np.shape(s)) < 0.5, 0.3, 1.0)
        size = self.lipschitz * self._size(x) * 10.0 ** (near * rng.uniform(-2, 3, np.shape(s)))
        top = np.where(size > 0, 0.5 / np.where(size > 0, size, 1.0), 0.0)
        dead = np.floor((self.potential.atoms + 1) * rng.random(np.shape(s)) ** 4)  # few more often than many
        # g in units of the largest rate, or of the largest that x leaves alive: the one that decides
        live = np.where(rng.random(np.shape(s)) < 0.5, top, np.exp2(-self.memory((g, g, s, top, dead), x)[1]) * top)
        scale = np.where(live > 0, 10.0 ** rng.uniform(-2, 1.5, np.shape(s)) / np.where(live > 0, live, 1.0), 0.0)
        g = np.sign(g) * scale if self.separable else g / reduced[..., None] * scale[..., None]
        s = np.square(scale * 10.0 ** rng.uniform(-2.0, 1.5, np.shape(s)))
        return (np.zeros(count), g, s, top, dead), x

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        w = wide(rng, count, dim)
        radius = self.default_radius()
        if radius is None:
            return w
        if self.separable:
            return radius * np.sign(w) * rng.choice([1.0, 1.0, 0.5], w.shape)
        return w / np.maximum(self.geometry.dual(w), 1e-300)[..., None] * radius

    def sizes(self, x: np.ndarray) -> dict[str, tuple[np.ndarray, float]]:
        if math.isinf(self.feature_bound):
            return {}
        return {"feature norm": (self._size(x), self.feature_bound)}


_anchored = np.vectorize(potentials.anchored, otypes=[float, float])
