"""ZigZag (`sec:further`): Burkholder's U_p for martingale transforms, summed over coordinates.

    U_p(x, y) = α_p(|x| − β_p|y|)(|x|+|y|)^{p−1},  β_p = p*−1,  α_p = p(1−1/p*)^{p−1},  p* = max(p, p/(p−1))
    state a = Σδŷ, X = Σδx, Y = Σεδx, with the learner's own signs ε, drawn after δ is fixed.
With the unit k (c = k^{1−p}), U = a + (Rk/p)·U_p(X/k, Y/k): everything is a number of order one. Unless a unit is
given, k starts at β_p‖δx‖_p of the first gradient and doubles when ‖Y‖_p outgrows k/β_p; X and Y restart then, the
finished part of U is kept in `frozen` and its price in `spent`. Guarantees hold in expectation over ε.
"""

from __future__ import annotations

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import TANGENT, BurkholderFunction, Tau, positive, wide
from burkholder.geometries.base import conjugate, power_norm


class ZigZag(BurkholderFunction):
    """Regret over ‖w‖_{p/(p−1)} ≤ R, in expectation R·β_p·(E‖Y‖_p^p)^{1/p} for the best unit.

    >>> import burkholder as bk
    >>> learner = bk.Learner(ZigZag(), loss="absolute", bound=1.0)
    >>> learner.update([0.5], 1.0)
    >>> learner.rounds
    1
    """

    kind = "generalised"
    structure = frozenset({TANGENT})
    in_expectation = True
    needs_lipschitz = False  # zigzag concavity holds for δ of any size

    def __init__(self, p: float = 2.0, radius: float = 1.0, unit: float | None = None, lipschitz: float | None = None) -> None:
        if not 1.0 < p < 100.0:
            raise BadInput("p", p, "give 1 < p < 100")
        self.options = {"p": p, "radius": radius, "unit": unit, "lipschitz": lipschitz}
        self.p, self.radius = float(p), positive("radius", radius)
        self.unit = None if unit is None else positive("unit", unit)
        self.lipschitz = positive("lipschitz", lipschitz or 1.0)
        star = max(self.p, self.p / (self.p - 1.0))
        self.beta = star - 1.0
        self.alpha = self.p * (1.0 - 1.0 / star) ** (self.p - 1.0)
        self.name = f"zigzag (p = {p:g})"

    def zero(self, dim: int = 1) -> Tau:
        unit = np.asarray(0.0 if self.unit is None else self.unit)
        return np.zeros(()), np.zeros(dim), np.zeros(dim), np.zeros(()), unit, np.zeros(())

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray, sign: float | np.ndarray = 1.0) -> Tau:
        a, big_x, big_y, frozen, unit, spent = tau
        delta = np.asarray(delta, float)
        step = delta[..., None] * np.asarray(x, float)
        a = a + delta * yhat
        big_x = big_x + step
        big_y = big_y + np.asarray(sign)[..., None] * step
        if self.unit is not None:
            return a, big_x, big_y, frozen, unit, spent
        size = self.beta * power_norm(big_y, self.p)
        unit = np.where(unit == 0.0, size, unit)
        outgrown = size > unit
        safe = np.where(unit > 0.0, unit, 1.0)
        frozen = np.where(outgrown, frozen + self._scaled(big_x, big_y, unit), frozen)
        spent = np.where(outgrown, spent + self._price(big_y, unit), spent)
        doubled = unit * 2.0 ** np.ceil(np.log2(np.maximum(size / safe, 1.0)))
        keep = ~outgrown[..., None]
        return a, big_x * keep, big_y * keep, frozen, np.where(outgrown, doubled, unit), spent

    def _scaled(self, big_x: np.ndarray, big_y: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """(Rk/p)·U_p(X/k, Y/k)."""
        safe = np.where(unit > 0.0, unit, 1.0)[..., None]
        x, y = np.abs(big_x / safe), np.abs(big_y / safe)
        return self.radius * unit / self.p * np.sum(self.alpha * (x - self.beta * y) * (x + y) ** (self.p - 1.0), axis=-1)

    def _price(self, big_y: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """R·k·[β^p‖Y/k‖_p^p/p + (p−1)/p], the A of one stretch."""
        safe = np.where(unit > 0.0, unit, 1.0)
        grown = (self.beta * power_norm(big_y / safe[..., None], self.p)) ** self.p
        return self.radius * unit * (grown + self.p - 1.0) / self.p

    def value(self, tau: Tau) -> np.ndarray:
        return tau[0] + tau[3] + self._scaled(tau[1], tau[2], tau[4])

    def target(self, tau: Tau) -> np.ndarray:
        safe = np.where(tau[4] > 0.0, tau[4], 1.0)[..., None]
        grown = np.sum(np.abs(tau[1] / safe) ** self.p - (self.beta * np.abs(tau[2] / safe)) ** self.p, axis=-1)
        return tau[0] + tau[3] + self.radius * tau[4] / self.p * grown

    def magnitude(self, tau: Tau) -> np.ndarray:
        safe = np.where(tau[4] > 0.0, tau[4], 1.0)[..., None]
        total = np.abs(tau[1] / safe) + np.abs(tau[2] / safe)
        size = self.radius * tau[4] / self.p * self.alpha * (1.0 + self.beta) * np.sum(total**self.p, axis=-1)
        return np.abs(tau[0]) + np.abs(tau[3]) + tau[5] + size

    def expected(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> np.ndarray:
        up = self.value(self.advance(tau, x, yhat, delta, np.ones(np.shape(delta))))
        down = self.value(self.advance(tau, x, yhat, delta, -np.ones(np.shape(delta))))
        return 0.5 * (up + down)

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        safe = np.where(tau[4] > 0.0, tau[4], 1.0)[..., None]
        big_x, y = tau[1] / safe, np.abs(tau[2] / safe)
        total = np.abs(big_x) + y
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (
                self.alpha
                * np.sign(big_x)
                * np.where(total > 0.0, total ** (self.p - 2.0) * (self.p * np.abs(big_x) + (1.0 - (self.p - 1.0) * self.beta) * y), 0.0)
            )
        along = np.einsum("...i,...i->...", slope, np.asarray(x, float))
        return -self.radius / self.p * np.where(tau[4] > 0.0, along, 0.0)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        size = power_norm(np.asarray(w, float), conjugate(self.p))
        return np.where(size <= self.radius * (1 + 1e-12), tau[5] + self._price(tau[2], tau[4]), np.inf)

    @property
    def comparator_norm(self) -> str:  # type: ignore[override]
        return f"‖w‖_{conjugate(self.p):.4g}"

    def longest_side(self, dim: int) -> float:
        return 1.0

    def own_radius(self) -> float | None:
        return float(self.radius)

    def ball(self, radius: float | None, tau: Tau) -> float:
        if radius is not None and radius > self.radius * (1 + 1e-12):
            return float("inf")
        return float(tau[5] + self._price(tau[2], tau[4]))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return float((self.radius if radius is None else positive("radius", radius)) * power_norm(g, self.p))

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        w = wide(rng, count, dim)
        return w / np.maximum(power_norm(w, conjugate(self.p)), 1e-300)[..., None] * self.radius

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        x = wide(rng, count, dim, 6.0)
        unit = np.max(np.abs(x), axis=-1) * 10.0 ** rng.uniform(-1, 2, count) + 1e-300
        if self.unit is not None:
            unit = np.full(count, self.unit)
            x = wide(rng, count, dim, 2.0) * self.unit
        scale = unit[:, None] * 10.0 ** rng.uniform(-2, 1, (count, 1))
        big_x, big_y = (wide(rng, count, dim, 0.0) * scale for _ in range(2))
        return (np.zeros(count), big_x, big_y, np.zeros(count), unit, np.zeros(count)), x
