"""What a Burkholder function is: T, U, V and A, pure and vectorised over leading batch axes.

A state `tau` is a tuple of float arrays; every array carries the same leading batch axes. Additive functions
add `statistic` to it; generalised ones override `advance`. A clock t inside `tau` makes a function
time-indexed without any other change.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.certificate import Comparators

Tau = tuple[np.ndarray, ...]

# Declared structure, from cheapest to dearest strategy. It picks the strategy; verification checks it.
TANGENT = "tangent"  # S4: U(τ+T) ≤ U(τ) + δŷ + δ⟨∇_τ, x⟩ for every δ in [-L, L]
SIGN_FLIP = "sign-flip"  # S3: U(τ+T) = δŷ + F(τ, x, δ) with F convex in δ
CONVEX = "convex"  # S2: ŷ ↦ U(τ + T(x, ŷ, ∂ℓ(ŷ, y))) convex for every y
CLOSED = "closed-form"  # the function brings its own deterministic rule


class BurkholderFunction:
    """The base of the catalogue and of a user's own functions.

    Only `zero`, `statistic` (or `advance`) and `value` are needed. `target` defaults to `value`; a function
    without `bound` still plays and still has realised certificates, but promises nothing in advance.

    >>> import burkholder as bk
    >>> function = bk.SquareFunction(radius=2.0)
    >>> isinstance(function, BurkholderFunction), float(function.value(function.zero(3))) <= 0.0
    (True, True)
    """

    name: str = "unnamed"
    kind: ClassVar[str] = "additive"  # or "time-indexed", "generalised"
    structure: frozenset[str] = frozenset()
    lipschitz: float = 1.0  # L: |δ| never exceeds it
    options: dict[str, Any] = {}  # noqa: RUF012  what the function was built with; None means open
    growable: bool = True  # whether new coordinates may appear, as zeros, at any time
    needs_lipschitz: bool = True  # whether the guarantee rests on |δ| ≤ L
    in_expectation: bool = False  # the guarantee holds on average over the learner's own coins
    needs_curvature: bool = False  # whether it is made for losses that are curved on the whole line
    dimension: int | None = None  # how many coordinates a row may have; None: any number
    comparator_space: str = "⟨w, x⟩"
    comparator_norm: str = "‖w‖"

    @property
    def has_bound(self) -> bool:
        """Whether it states A(w)."""
        return self._has("bound")

    @property
    def has_ball(self) -> bool:
        """Whether it states A over a whole class of comparators."""
        return self._has("ball") and self._has("support")

    def _has(self, method: str) -> bool:
        return method in self.__dict__ or getattr(type(self), method) is not getattr(BurkholderFunction, method)

    def fitted(self, lipschitz: float, curvature: float) -> BurkholderFunction:
        """This function with L (and ρ) taken from the loss, where its options left them open."""
        facts = {"lipschitz": lipschitz, "curvature": curvature}
        options = self.options
        open_ones = {key: facts[key] for key in facts if key in options and options[key] is None}
        return type(self)(**{**options, **open_ones}) if open_ones else self

    # --- the mathematics -------------------------------------------------------------------------------
    def zero(self, dim: int = 1) -> Tau:
        """ζ₀, the state before the first round, for features of that dimension."""
        raise NotImplementedError

    def statistic(self, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        """T(x, ŷ, δ)."""
        raise NotImplementedError

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        """The next state; τ + T(x, ŷ, δ) unless the function is generalised."""
        return tuple(old + new for old, new in zip(tau, self.statistic(x, yhat, delta), strict=True))

    def value(self, tau: Tau) -> np.ndarray:
        """U(τ)."""
        raise NotImplementedError

    def target(self, tau: Tau) -> np.ndarray:
        """V(τ): what the regret inequality is bounded by."""
        return self.value(tau)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        """A(w), the promise against the comparator w, given the final statistics."""
        raise BadInput("w", w, f"{self.name} states no bound; use the realised certificate")

    def ball(self, radius: float | None, tau: Tau) -> float:
        """sup of A over comparators of that norm (the function's own ball when radius is None)."""
        raise BadInput("radius", radius, f"{self.name} has no bound over a ball; give a comparator w")

    def own_radius(self) -> float | None:
        """The radius of the function's own ball of comparators; None when its class needs no radius, or has none."""
        return None

    def longest_side(self, dim: int) -> float:
        """The largest |w_i| among comparators of size 1 (of its own class, where that needs no radius)."""
        size, longest, side = None if self.own_radius() is None else 1.0, 0.0, np.zeros(dim)
        for i in range(dim):
            for sign in (1.0, -1.0):
                side[i] = sign
                longest = max(longest, self.support(side, size))
            side[i] = 0.0
        return longest

    def comparator_class(self) -> Comparators:
        """Whom the headline numbers of a certificate are about."""
        if not self.has_ball:
            return Comparators("the prediction 0")
        return Comparators(self.comparator_space, self.comparator_norm, self.own_radius())

    def support(self, g: np.ndarray, radius: float | None) -> float:
        """sup of ⟨w, −g⟩ over that ball: what turns Σδx into the realised certificate."""
        raise BadInput("radius", radius, f"{self.name} has no ball of comparators; give a comparator w")

    def worst(self, a: float, g: np.ndarray, radius: float | None, tau: Tau) -> float:
        """sup of Σδŷ − ⟨w, Σδx⟩ − refine(w, τ) over that ball: the realised certificate against all of it."""
        return a + self.support(g, radius)

    def unpaid(self, g: np.ndarray, tau: Tau) -> float:
        """sup of ⟨w, −g⟩ − A(w) over its own class: what the promise leaves of it."""
        return self.support(g, None) - self.ball(None, tau)

    # --- for strategies: overridden where a stable closed form exists ------------------------------------
    def sign_flip(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        """S3, unclipped: −(F(τ, x, L) − F(τ, x, −L)) / 2L, where F is U without the δŷ term."""
        up = self.value(self.advance(tau, x, np.zeros(x.shape[:-1]), np.full(x.shape[:-1], self.lipschitz)))
        down = self.value(self.advance(tau, x, np.zeros(x.shape[:-1]), np.full(x.shape[:-1], -self.lipschitz)))
        return -(up - down) / (2.0 * self.lipschitz)

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        """S4: −⟨∇_τ, x⟩."""
        raise NotImplementedError

    def closed_form(self, tau: Tau, x: np.ndarray, bound: float) -> np.ndarray:
        """A rule of the function's own, already within [-bound, bound]."""
        raise NotImplementedError

    def steepness(self, tau: Tau, x: np.ndarray, bound: float) -> tuple[float, float] | None:
        """How fast U(τ + T(x, ŷ, δ)) can change with ŷ and with δ, over |ŷ| ≤ bound and |δ| ≤ L.

        Two bounds, for strategies that play on a grid without sign-flip or tangent structure; None where none are known,
        and then what the grid costs is an estimate.
        """
        return None

    # --- for verification: where the properties must hold -------------------------------------------------
    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        """States and features of many scales at which 2° and 3° are to be searched.

        Unless a function knows its domain better: states that random play reaches from ζ₀.
        """
        x = self.features(rng, count, dim)
        tau = tuple(np.broadcast_to(part, (count, *part.shape)).copy() for part in self.zero(dim))
        for _ in range(int(rng.integers(0, 12))):
            past = x if rng.random() < 0.5 else self.features(rng, count, dim)
            delta = self.lipschitz * rng.choice([-1.0, 1.0, 0.3], count)
            tau = self.advance(tau, past, np.zeros(count), delta)
        return tau, x

    def features(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        """Features that the function admits."""
        return wide(rng, count, dim, 2.0)

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        """Comparators against which V must bound linearised regret."""
        return wide(rng, count, dim)

    def plays(self, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        """Predictions to go with searched points; 0 where U depends on ŷ through δŷ alone."""
        return np.zeros(x.shape[:-1])

    def magnitude(self, tau: Tau) -> np.ndarray:
        """The size of the terms U is made of: what rounding errors are relative to."""
        return np.abs(self.value(tau))

    def linearised(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        """Σδŷ − ⟨w, Σδx⟩ less what curvature gives back: an upper bound on regret, from the state alone."""
        return tau[0] - np.einsum("...i,...i->...", w, tau[1]) - self.refine(w, tau)

    def refine(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        """What curvature takes off the linearised regret against w; 0 for losses that are merely convex."""
        return np.zeros(np.shape(w)[:-1])

    def refine_error(self, w: np.ndarray | None, radius: float | None, tau: Tau, rounds: int) -> float:
        """What rounding may have added to `refine`, against w or over a ball."""
        return 0.0

    def sizes(self, x: np.ndarray) -> dict[str, tuple[np.ndarray, float]]:
        """Assumptions on features: name -> (what was seen of x, its limit)."""
        return {}

    def expected(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """E U after a round, over the learner's own coins where it has any."""
        return self.value(self.advance(tau, x, yhat, delta))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def wide(rng: np.random.Generator, count: int, dim: int, decades: float = 9.0) -> np.ndarray:
    """Vectors of every scale within ±`decades`, dense and sparse, with coordinates of unequal scale."""
    scale = 10.0 ** rng.uniform(-decades, decades, (count, 1))
    spread = 10.0 ** (rng.uniform(-1, 1, (count, dim)) * rng.choice([0.0, 0.0, 1.0, 4.0], (count, 1)))
    mask = rng.random((count, dim)) < rng.choice([1.0, 1.0, 0.5], (count, 1))
    return np.asarray(rng.standard_normal((count, dim)) * scale * spread * mask, float)


def positive(name: str, number: Any) -> float:
    """The number as a positive finite float, or a clear error."""
    try:
        result = float(number)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(name, number, "give a positive number") from None
    if not (result > 0.0 and np.isfinite(result)):
        raise BadInput(name, number, "give a positive finite number")
    return result
