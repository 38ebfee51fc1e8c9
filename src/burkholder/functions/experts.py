"""Experts (`ex:experts`): comparators w in the simplex, experts' advice x.

plain         U = a + (1/η) ln((1/d)Σ_j e^{−ηg_j}) − ½ηL²X²t          |x_j| ≤ X
second order  U = a + (1/η) ln((1/d)Σ_j e^{−ηg_j − ½η²L²s_j})          s_j = Σx_j², any scale
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # its parts are imported when first used: most runs never do

from burkholder.errors import BadInput
from burkholder.functions.base import SIGN_FLIP, BurkholderFunction, Tau, positive, wide


class ExpertAdvice(BurkholderFunction):
    """Exponential weights as a Burkholder function; `second_order` measures each expert by its own squares.

    >>> f = ExpertAdvice(rate=0.1)
    >>> round(float(f.sign_flip(f.zero(2), np.array([1.0, 1.0]))), 12)  # experts that agree are followed
    1.0
    """

    structure = frozenset({SIGN_FLIP})
    growable = False  # the prior 1/d is spread over the experts present at the start

    def __init__(
        self,
        rate: float | None = None,
        horizon: int | None = None,
        experts: int | None = None,
        feature_bound: float = 1.0,
        second_order: bool = False,
        lipschitz: float | None = None,
    ) -> None:
        self.options = {
            "rate": rate,
            "horizon": horizon,
            "experts": experts,
            "feature_bound": feature_bound,
            "second_order": second_order,
            "lipschitz": lipschitz,
        }
        self.lipschitz = positive("lipschitz", lipschitz or 1.0)
        self.feature_bound = positive("feature_bound", feature_bound)
        self.second_order = bool(second_order)
        if rate is None:
            if horizon is None or experts is None:
                raise BadInput("rate", rate, "give a rate, or both horizon and experts to derive it from")
            steep = self.lipschitz * self.feature_bound
            log = math.log(max(2.0, float(experts)))
            rate = math.sqrt(2.0 * log / (float(horizon) * steep * steep))
        self.rate = positive("rate", rate)
        self.name = "experts (second order)" if second_order else "experts"

    def zero(self, dim: int = 1) -> Tau:
        return np.zeros(()), np.zeros(dim), np.zeros(dim) if self.second_order else np.zeros(())

    def statistic(self, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        x, yhat, delta = np.asarray(x, float), np.asarray(yhat, float), np.asarray(delta, float)
        clock = np.square(x) if self.second_order else np.ones(np.broadcast_shapes(x.shape[:-1], delta.shape))
        return delta * yhat, delta[..., None] * x, clock

    def _exponent(self, g: np.ndarray, clock: np.ndarray) -> np.ndarray:
        paid = 0.5 * np.square(self.rate * self.lipschitz) * clock if self.second_order else 0.0
        return -self.rate * g - paid

    def value(self, tau: Tau) -> np.ndarray:
        a, g, clock = tau
        log = (scipy.special.logsumexp(self._exponent(g, clock), axis=-1) - math.log(g.shape[-1])) / self.rate
        if self.second_order:
            return a + log
        return a + log - 0.5 * self.rate * np.square(self.lipschitz * self.feature_bound) * clock

    def magnitude(self, tau: Tau) -> np.ndarray:
        size = np.abs(tau[0]) + np.max(np.abs(self._exponent(tau[1], tau[2])), axis=-1) / self.rate + 1.0 / self.rate
        return size if self.second_order else size + self._price(tau[1], tau)

    def sign_flip(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        """The log-ratio of two moment generating functions under the current weights: no cancellation."""
        x = np.asarray(x, float)
        clock = tau[2] + np.square(x) if self.second_order else tau[2]
        weights = scipy.special.log_softmax(self._exponent(tau[1], clock), axis=-1)
        step = self.rate * self.lipschitz * x
        up, down = scipy.special.logsumexp(weights - step, axis=-1), scipy.special.logsumexp(weights + step, axis=-1)
        return -(up - down) / (2.0 * self.lipschitz * self.rate)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        w = np.asarray(w, float)
        if np.any(w < 0) or np.any(np.abs(w.sum(axis=-1) - 1.0) > 1e-9):
            raise BadInput("w", w, "comparators of experts are probability vectors")
        divergence = scipy.special.xlogy(w, w).sum(axis=-1) + math.log(w.shape[-1])
        return divergence / self.rate + self._price(w, tau)

    def _price(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        if self.second_order:
            return 0.5 * self.rate * self.lipschitz**2 * np.einsum("...i,...i->...", w, tau[2])
        return 0.5 * self.rate * np.square(self.lipschitz * self.feature_bound) * tau[2]

    comparator_norm = "w in the simplex"

    def longest_side(self, dim: int) -> float:
        return 1.0

    def ball(self, radius: float | None, tau: Tau) -> float:
        """A over the whole simplex: attained at a single expert."""
        d = np.shape(tau[1])[-1]
        return float(np.max(math.log(d) / self.rate + self._price(np.eye(d), tau)))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return float(np.max(-g))

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        x = self.features(rng, count, dim)
        g = wide(rng, count, dim, 3.0) / self.rate
        t = np.floor(10.0 ** rng.uniform(0, 6, count)) - 1.0
        if self.second_order:
            t = np.square(wide(rng, count, dim, 2.0) / (self.rate * self.lipschitz))
        return (np.zeros(count), g, t), x

    def features(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        if self.second_order:
            return wide(rng, count, dim, 3.0) / (self.rate * self.lipschitz)
        x = rng.uniform(-1, 1, (count, dim))
        return self.feature_bound * np.where(rng.random((count, 1)) < 0.5, np.sign(x), x)

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        w = rng.dirichlet(np.full(dim, 0.5), count)
        corner = np.eye(dim)[rng.integers(0, dim, count)]
        return np.where(rng.random((count, 1)) < 0.3, corner, w)

    def sizes(self, x: np.ndarray) -> dict[str, tuple[np.ndarray, float]]:
        if self.second_order:
            return {}
        return {"advice": (np.max(np.abs(x), axis=-1, initial=0.0), self.feature_bound)}
