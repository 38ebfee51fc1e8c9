"""From a found U straight to a learner, for the problems that have a prediction side.

    zigzag    U(|X_i|, |Y_i|) summed over coordinates, Y = Σεδx; in expectation over the learner's signs ε
    general   E|f|^p ≤ C·E S^p: U(|X_i|, s_i) summed over coordinates, s = Σ(δx)²; on every path
    smooth    U = a + (‖g‖² − C·Σδ²‖x‖²)/2c for the norm and the dimension that were proved
    strongly-convex  the constant C·L²/ρ in front of the logarithm; rank-one steps reduce matrices to scalars
A dyadic U bounds fair signs alone: it need not be convex in δ, so it promises nothing against |δ| < L.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burkholder.checker import parse
from burkholder.discovery.result import FoundFunction
from burkholder.errors import BadInput
from burkholder.functions.base import TANGENT, BurkholderFunction, Tau, positive, wide
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.geometries.base import conjugate, power_norm

if TYPE_CHECKING:
    from burkholder.discovery.result import Found


def as_function(found: Found, **options: Any) -> BurkholderFunction:
    """The Burkholder function of a learner that plays with the found U."""
    problem = found.problem
    powers = [k for m in parse(problem.target or "0") for name, k in m if name == "x"]
    p = max(powers, default=0)
    try:
        if problem.martingale == "smooth" and parse(problem.norm) == parse(
            " + ".join(f"{name}**{problem.p}" for name in sorted(parse(problem.norm).variables()))
        ):
            return FoundNorm(found, **options)
        if problem.martingale == "zigzag" and parse(problem.target) == parse(f"x**{p} - C*y**{p}"):
            return FoundPower(found, p, 1, **options)
        square = {"x": parse("a"), "s": parse("a**2")}
        if (
            problem.martingale == "general"
            and p % 2 == 0
            and problem.steps == square
            and parse(problem.target) == parse(f"x**{p} - C*s**{p // 2}")
        ):
            return FoundPower(found, p, 2, **options)
        if problem.martingale == "logarithmic" and problem.power == 1 and parse(problem.target) == parse("x**2/2"):
            return FoundLogarithm(found.constant, **options)
    except TypeError as error:
        raise BadInput("options", options, f"{found.name} does not take these: {error}") from None
    raise BadInput(
        "problem",
        found.name,
        "it has no prediction side: a learner needs zigzag, a general square function, an l_p smoothness or strongly-convex",
    )


class FoundPower(BurkholderFunction):
    """Regret over ‖w‖_{p/(p−1)} ≤ R from E|f|^p ≤ C·E|g|^p, per coordinate, by |x| ≤ k[(|x|/k)^p/p + (p−1)/p].

    The unit k, unless given, starts at the size of the first gradient and doubles when outgrown; the sums restart
    then, the finished part of U is kept in `frozen` and its price in `spent`, as in `burkholder.functions.zigzag`.
    """

    kind = "generalised"
    structure = frozenset({TANGENT})
    needs_lipschitz = False  # the tangent majorant was proved for steps of any size

    def __init__(
        self, found: Found, p: int, weight: int, radius: float = 1.0, unit: float | None = None, lipschitz: float | None = None
    ) -> None:
        self.options = {"found": found, "p": p, "weight": weight, "radius": radius, "unit": unit, "lipschitz": lipschitz}
        self.p, self.weight, self.constant = p, weight, found.constant
        self.radius, self.lipschitz = positive("radius", radius), positive("lipschitz", lipschitz or 1.0)
        self.unit = None if unit is None else positive("unit", unit)
        self.u = found.function
        self.slope = FoundFunction(self.u.polynomial.d("x"), self.u.state)
        self.terms = FoundFunction(type(self.u.polynomial)({m: abs(c) for m, c in self.u.polynomial.items()}), self.u.state)
        self.in_expectation = weight == 1
        self.name = f"found {found.name}"

    def zero(self, dim: int = 1) -> Tau:
        unit = np.asarray(0.0 if self.unit is None else self.unit)
        return np.zeros(()), np.zeros(dim), np.zeros(dim), np.zeros(()), unit, np.zeros(())

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray, sign: float | np.ndarray = 1.0) -> Tau:
        a, big_x, y, frozen, unit, spent = tau
        delta = np.asarray(delta, float)
        step = delta[..., None] * np.asarray(x, float)
        a, big_x = a + delta * yhat, big_x + step
        y = y + (np.asarray(sign)[..., None] * step if self.weight == 1 else np.square(step))
        if self.unit is not None:
            return a, big_x, y, frozen, unit, spent
        size = self._size(y)
        unit = np.where(unit == 0.0, size, unit)
        outgrown = size > unit
        frozen = np.where(outgrown, frozen + self._scaled(self.u, big_x, y, unit), frozen)
        spent = np.where(outgrown, spent + self._price(y, unit), spent)
        ratio = np.maximum(size / np.where(unit > 0.0, unit, 1.0), 1.0)
        keep = ~outgrown[..., None]
        grown = np.where(outgrown, unit * 2.0 ** np.ceil(np.log2(ratio)), unit)
        return a, big_x * keep, y * keep, frozen, grown, spent

    def _size(self, y: np.ndarray) -> np.ndarray:
        """(C·Σ|Y_i|^p)^{1/p}, the best unit in hindsight; |Y_i| = √s_i for the square function."""
        return self.constant ** (1.0 / self.p) * power_norm(np.abs(y) ** (1.0 / self.weight), float(self.p))

    def _units(self, big_x: np.ndarray, y: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        safe = np.where(unit > 0.0, unit, 1.0)[..., None]
        return np.abs(big_x / safe), np.abs(y / safe / (safe if self.weight == 2 else 1.0))

    def _scaled(self, u: FoundFunction, big_x: np.ndarray, y: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """(Rk/p)·Σ_i U(|X_i|/k, |Y_i|/k)."""
        return self.radius * unit / self.p * np.sum(u(*self._units(big_x, y, unit)), axis=-1)

    def _price(self, y: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """R·k·[C‖Y/k‖_p^p/p + (p−1)/p], the A of one stretch."""
        grown = (self._size(y) / np.where(unit > 0.0, unit, 1.0)) ** self.p
        return self.radius * unit * (grown + self.p - 1.0) / self.p

    def value(self, tau: Tau) -> np.ndarray:
        return tau[0] + tau[3] + self._scaled(self.u, tau[1], tau[2], tau[4])

    def target(self, tau: Tau) -> np.ndarray:
        x, y = self._units(tau[1], tau[2], tau[4])
        grown = np.sum(x**self.p - self.constant * y ** (self.p / self.weight), axis=-1)
        return tau[0] + tau[3] + self.radius * tau[4] / self.p * grown

    def magnitude(self, tau: Tau) -> np.ndarray:
        return np.abs(tau[0]) + np.abs(tau[3]) + tau[5] + self._scaled(self.terms, tau[1], tau[2], tau[4])

    def expected(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> np.ndarray:
        signs = (1.0, -1.0) if self.in_expectation else (1.0,)
        return np.mean([self.value(self.advance(tau, x, yhat, delta, np.full(np.shape(delta), sign))) for sign in signs], axis=0)

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        slope = np.sign(tau[1]) * self.slope(*self._units(tau[1], tau[2], tau[4]))
        along = np.einsum("...i,...i->...", slope, np.asarray(x, float))
        return -self.radius / self.p * np.where(tau[4] > 0.0, along, 0.0)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        size = power_norm(np.asarray(w, float), conjugate(float(self.p)))
        return np.where(size <= self.radius * (1 + 1e-12), tau[5] + self._price(tau[2], tau[4]), np.inf)

    def ball(self, radius: float | None, tau: Tau) -> float:
        outside = radius is not None and radius > self.radius * (1 + 1e-12)
        return float("inf") if outside else float(tau[5] + self._price(tau[2], tau[4]))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return (self.radius if radius is None else positive("radius", radius)) * float(power_norm(g, float(self.p)))

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        w = wide(rng, count, dim)
        return w / np.maximum(power_norm(w, conjugate(float(self.p))), 1e-300)[..., None] * self.radius

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        x = wide(rng, count, dim, 2.0) * (1.0 if self.unit is None else self.unit)
        unit = np.full(count, self.unit) if self.unit else np.max(np.abs(x), axis=-1) * 10.0 ** rng.uniform(-1, 2, count) + 1e-300
        scale = unit[:, None] * 10.0 ** rng.uniform(-2, 1, (count, 1))
        big_x, y = (wide(rng, count, dim, 0.0) * scale for _ in range(2))
        y = y if self.weight == 1 else np.square(y)
        return (np.zeros(count), big_x, y, np.zeros(count), unit, np.zeros(count)), x


class FoundNorm(BurkholderFunction):
    """U = a + (‖g‖_p² − C·Σδ²‖x‖_p²)/2c; A(w) = (c/2)‖w‖²_{p/(p−1)} + CΣδ²‖x‖²/2c, up to the dimension proved."""

    structure = frozenset({TANGENT})
    growable = False
    needs_lipschitz = False

    def __init__(self, found: Found, strength: float = 1.0, lipschitz: float | None = None) -> None:
        self.options = {"found": found, "strength": strength, "lipschitz": lipschitz}
        self.p, self.constant, self.name = float(found.problem.p), found.constant, f"found {found.name}"
        self.dimension = len(parse(found.problem.norm).variables())
        self.strength, self.lipschitz = positive("strength", strength), positive("lipschitz", lipschitz or 1.0)

    def zero(self, dim: int = 1) -> Tau:
        if self.dimension is not None and dim > self.dimension:
            raise BadInput("dim", dim, f"{self.name} was proved in dimension {self.dimension}: discover it with d")
        return np.zeros(()), np.zeros(dim), np.zeros(())

    def statistic(self, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        x, delta = np.asarray(x, float), np.asarray(delta, float)
        return delta * yhat, delta[..., None] * x, np.square(delta * power_norm(x, self.p))

    def value(self, tau: Tau) -> np.ndarray:
        return tau[0] + (np.square(power_norm(tau[1], self.p)) - self.constant * tau[2]) / (2.0 * self.strength)

    def magnitude(self, tau: Tau) -> np.ndarray:
        return np.abs(tau[0]) + (np.square(power_norm(tau[1], self.p)) + self.constant * tau[2]) / self.strength

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        """∇½‖g‖² = ‖g‖·sgn(g)(|g|/‖g‖)^{p−1}."""
        size = power_norm(tau[1], self.p)
        share = np.abs(tau[1]) / np.where(size > 0.0, size, 1.0)[..., None]
        gradient = size[..., None] * np.sign(tau[1]) * share ** (self.p - 1.0)
        return -np.einsum("...i,...i->...", gradient, np.asarray(x, float)) / self.strength

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        """Half of them next to equality: coordinates of one size, the step across them."""
        g, x = wide(rng, count, dim, 0.0), wide(rng, count, dim, 0.0)
        sharp = rng.random((count, 1)) < 0.5
        signs = rng.choice([-1.0, 1.0], (2, count, dim))
        g = np.where(sharp, signs[0] * (1.0 + 0.1 * g), g)
        x = np.where(sharp, signs[1] * 10.0 ** rng.uniform(-2, 0, (count, 1)), x)
        scale = 10.0 ** rng.uniform(-6, 6, (count, 1))
        return (np.zeros(count), g * scale, (rng.random(count) * scale[:, 0]) ** 2), x * scale

    def _cost(self, size: Any, tau: Tau) -> Any:
        return 0.5 * self.strength * np.square(size) + self.constant * tau[2] / (2.0 * self.strength)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self._cost(power_norm(np.asarray(w, float), conjugate(self.p)), tau)

    def ball(self, radius: float | None, tau: Tau) -> float:
        return float(self._cost(positive("radius", 1.0 if radius is None else radius), tau))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return positive("radius", 1.0 if radius is None else radius) * float(power_norm(g, self.p))


class FoundLogarithm(StronglyConvex):
    """Strongly convex losses with the constant that was found, C·L²/ρ, in front of the logarithm."""

    name = "found strongly-convex"

    def __init__(self, factor: float, ridge: float = 1.0, curvature: float | None = None, lipschitz: float | None = None) -> None:
        super().__init__(ridge, curvature, lipschitz)
        self.options = {"factor": factor, "ridge": ridge, "curvature": curvature, "lipschitz": lipschitz}
        self.constant = factor * self.lipschitz**2 / self.curvature
