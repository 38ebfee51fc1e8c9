"""The algebra of Burkholder functions (`app:algebra`): operations that take functions and return one.

    combine   Σ λ_i U_i                                          A = Σ λ_i A_i
    minimum   min_i U_i                                          A of the member that is least at the end
    softmax   (1/η) ln Σ_a exp(ηF_a − ½η²γ_a) − ln|A|/η + a      A = min_a A_a + ½ηγ_a + ln|A|/η
Each member keeps its own state; the states are laid side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy  # its parts are imported when first used: most runs never do

from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, SIGN_FLIP, TANGENT, BurkholderFunction, Tau, positive


class _Members(BurkholderFunction):
    """What the three operations share: members that move together."""

    kind = "generalised"

    def __init__(self, members: Sequence[BurkholderFunction], operation: str) -> None:
        if len(members) < 1:
            raise BadInput("members", members, "give at least one function")
        if len({member.lipschitz for member in members}) > 1:
            raise BadInput("members", [member.lipschitz for member in members], "all must have the same lipschitz")
        if any(member.in_expectation for member in members):
            raise BadInput("members", [m.name for m in members], "randomised functions cannot be combined")
        self.members = tuple(members)
        self.lipschitz = members[0].lipschitz
        self.growable = all(member.growable for member in members)
        self.needs_lipschitz = any(member.needs_lipschitz for member in members)
        # open when a member's L is: a learner then takes it from its loss
        opened = any(getattr(m, "options", {}).get("lipschitz", 1.0) is None for m in members)
        self.options = {"lipschitz": None if opened else self.lipschitz}
        self.name = f"{operation}({', '.join(member.name for member in members)})"
        self._cuts = np.cumsum([0] + [len(member.zero(self._probe(member))) for member in members])

    def fitted(self, lipschitz: float, curvature: float) -> BurkholderFunction:
        return self._with(tuple(member.fitted(lipschitz, curvature) for member in self.members))

    def _with(self, members: Sequence[BurkholderFunction]) -> BurkholderFunction:
        """The same operation on other members."""
        raise NotImplementedError

    @staticmethod
    def _probe(member: BurkholderFunction) -> int:
        shape = getattr(member, "shape", None)
        return 1 if shape is None else shape[0] * shape[1]

    def parts(self, tau: Tau) -> list[Tau]:
        """The members' own states."""
        return [tau[i:j] for i, j in zip(self._cuts[:-1], self._cuts[1:])]

    def zero(self, dim: int = 1) -> Tau:
        return tuple(part for member in self.members for part in member.zero(dim))

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        return tuple(piece for member, part in zip(self.members, self.parts(tau)) for piece in member.advance(part, x, yhat, delta))

    def magnitude(self, tau: Tau) -> np.ndarray:
        return self._stack("magnitude", tau).sum(axis=-1)

    def linearised(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self.members[0].linearised(w, self.parts(tau)[0])

    def _stack(self, method: str, tau: Tau) -> np.ndarray:
        return np.stack([getattr(m, method)(part) for m, part in zip(self.members, self.parts(tau))], axis=-1)

    def _bounds(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return np.stack([m.bound(w, part) for m, part in zip(self.members, self.parts(tau))], axis=-1)

    def _balls(self, radius: float | None, tau: Tau) -> np.ndarray:
        return np.array([m.ball(radius, part) for m, part in zip(self.members, self.parts(tau))])

    def _plays(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        moves = [m.tangent(part, x) if TANGENT in m.structure else m.sign_flip(part, x) for m, part in zip(self.members, self.parts(tau))]
        return np.stack(moves, axis=-1)

    @property
    def comparator_norm(self) -> str:  # type: ignore[override]
        return self.members[0].comparator_norm

    @property
    def dimension(self) -> int | None:  # type: ignore[override]
        limits = [member.dimension for member in self.members if member.dimension is not None]
        return min(limits, default=None)

    @property
    def has_ball(self) -> bool:
        return all(member.has_ball for member in self.members)

    @property
    def has_bound(self) -> bool:
        return all(member.has_bound for member in self.members)

    def longest_side(self, dim: int) -> float:
        return self.members[0].longest_side(dim)

    def own_radius(self) -> float | None:
        """The largest ball that every member states a bound over."""
        radii = [member.own_radius() for member in self.members]
        return None if None in radii else min(radius for radius in radii if radius is not None)

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return self.members[0].support(g, radius)

    def features(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        return self.members[0].features(rng, count, dim)

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        return self.members[0].comparators(rng, count, dim)

    def sizes(self, x: np.ndarray) -> dict[str, Any]:
        return {key: item for member in self.members for key, item in member.sizes(x).items()}


class Combination(_Members):
    """Σ λ_i U_i with λ in the simplex: S3 of S3 members, S4 of S4 members, and the moves average too."""

    def __init__(self, members: Sequence[BurkholderFunction], weights: Sequence[float] | None = None) -> None:
        super().__init__(members, "combine")
        shares = np.full(len(members), 1.0 / len(members)) if weights is None else np.asarray(weights, float)
        if shares.shape != (len(members),) or np.any(shares < 0) or abs(shares.sum() - 1.0) > 1e-9:
            raise BadInput("weights", weights, f"give {len(members)} numbers ≥ 0 that sum to 1")
        self.weights = shares
        kinds = [m.structure & {SIGN_FLIP, TANGENT} for m in members]
        # a member's S3 move and another's S4 move both keep their own U from rising, but not each other's
        self.structure = frozenset.intersection(*kinds)

    def _with(self, members: Sequence[BurkholderFunction]) -> BurkholderFunction:
        return Combination(members, self.weights.tolist())

    def value(self, tau: Tau) -> np.ndarray:
        return self._stack("value", tau) @ self.weights

    def target(self, tau: Tau) -> np.ndarray:
        return self._stack("target", tau) @ self.weights

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self._bounds(w, tau) @ self.weights

    def ball(self, radius: float | None, tau: Tau) -> float:
        return float(self._balls(radius, tau) @ self.weights)

    def sign_flip(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        return self._plays(tau, x) @ self.weights

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        return self._plays(tau, x) @ self.weights


class Minimum(_Members):
    """min_i U_i. Convexity is lost, so S3 on the minimum is invalid; playing the least member's move is valid."""

    structure = frozenset({CLOSED})

    def __init__(self, members: Sequence[BurkholderFunction]) -> None:
        super().__init__(members, "minimum")
        for member in members:
            if not member.structure & {SIGN_FLIP, TANGENT}:
                raise BadInput("members", member.name, "the minimum needs members with a sign-flip or tangent move")

    def _with(self, members: Sequence[BurkholderFunction]) -> BurkholderFunction:
        return Minimum(members)

    def value(self, tau: Tau) -> np.ndarray:
        return self._stack("value", tau).min(axis=-1)

    def target(self, tau: Tau) -> np.ndarray:
        return self._stack("target", tau).min(axis=-1)

    def _least(self, tau: Tau) -> np.ndarray:
        return self._stack("value", tau).argmin(axis=-1)[..., None]

    def closed_form(self, tau: Tau, x: np.ndarray, bound: float) -> np.ndarray:
        move = np.take_along_axis(self._plays(tau, x), self._least(tau), axis=-1)[..., 0]
        return np.clip(move, -bound, bound)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        """In advance: the largest member's. U(ζ) ≤ 0 then means that one member's inequality holds."""
        return self._bounds(w, tau).max(axis=-1)

    def ball(self, radius: float | None, tau: Tau) -> float:
        return float(self._balls(radius, tau).max())


class Softmax(_Members):
    """The paper's meta-function over members, with −½η² in place of −η² (Hoeffding on |X_a| ≤ √C[a])."""

    structure = frozenset({SIGN_FLIP})

    def __init__(self, members: Sequence[BurkholderFunction], rate: float) -> None:
        super().__init__(members, "softmax")
        self.rate = positive("rate", rate)
        for member in members:
            if SIGN_FLIP not in member.structure:
                raise BadInput("members", member.name, "softmax needs members with sign-flip structure")

    def _with(self, members: Sequence[BurkholderFunction]) -> BurkholderFunction:
        return Softmax(members, self.rate)

    def zero(self, dim: int = 1) -> Tau:
        return (*super().zero(dim), np.zeros(len(self.members)))

    def parts(self, tau: Tau) -> list[Tau]:
        return super().parts(tau[:-1])

    def _free(self, parts: Sequence[Tau]) -> np.ndarray:
        """F_a = U_a without the δŷ term."""
        return np.stack([m.value(part) - part[0] for m, part in zip(self.members, parts)], axis=-1)

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        parts = self.parts(tau)
        still, zero = self._free(parts), np.zeros(np.shape(x)[:-1])
        jumps = [
            np.abs(self._free([m.advance(p, x, zero, zero + s) for m, p in zip(self.members, parts)]) - still)
            for s in (self.lipschitz, -self.lipschitz)
        ]
        charge = np.square(np.maximum(*jumps))
        return (*super().advance(tau, x, yhat, delta), tau[-1] + charge)

    def value(self, tau: Tau) -> np.ndarray:
        exponent = self.rate * self._free(self.parts(tau)) - 0.5 * self.rate**2 * tau[-1]
        return tau[0] + (scipy.special.logsumexp(exponent, axis=-1) - math.log(len(self.members))) / self.rate

    def target(self, tau: Tau) -> np.ndarray:
        own = self._stack("target", tau) - 0.5 * self.rate * tau[-1]
        return own.max(axis=-1) - math.log(len(self.members)) / self.rate

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        paid = 0.5 * self.rate * tau[-1] + math.log(len(self.members)) / self.rate
        return (self._bounds(w, tau) + paid).min(axis=-1)

    def ball(self, radius: float | None, tau: Tau) -> float:
        paid = 0.5 * self.rate * tau[-1] + math.log(len(self.members)) / self.rate
        return float((self._balls(radius, tau) + paid).min())


def combine(*members: BurkholderFunction, weights: Sequence[float] | None = None) -> Combination:
    """A convex combination.

    >>> from burkholder.functions import SquareFunction
    >>> f = combine(SquareFunction(radius=1.0), SquareFunction(radius=10.0))
    >>> f.ball(1.0, f.zero(2))
    0.0
    """
    return Combination(members, weights)


def minimum(*members: BurkholderFunction) -> Minimum:
    """The pointwise minimum.

    >>> import burkholder as bk
    >>> both = minimum(bk.SquareFunction(radius=1.0), bk.SquareFunction(radius=2.0))
    >>> zero = both.zero(1)
    >>> float(both.value(zero)) <= 0.0
    True
    """
    return Minimum(members)


def softmax(*members: BurkholderFunction, rate: float) -> Softmax:
    """The soft maximum with second-order charges: nearly as good as the best member.

    >>> import burkholder as bk
    >>> both = softmax(bk.SquareFunction(radius=1.0), bk.SquareFunction(radius=2.0), rate=0.1)
    >>> len(both.members)
    2
    """
    return Softmax(members, rate)
