"""ζ for strongly convex losses, with M⁻¹ kept by rank-one updates: O(d²) a round instead of O(d³)."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.rounds.generic import LARGEST_FEATURE, TauState
from burkholder.rounds.schema import largest

REFRESH = 512  # rounds between fresh inversions: rounding in the updates does not pile up


class CurvedState(TauState):
    """The same numbers as the generic state, to rounding."""

    function: StronglyConvex
    inverts = True

    @classmethod
    def fits(cls, function: Any, strategy: Any) -> bool:
        return isinstance(function, StronglyConvex) and strategy.name == "closed-form"

    def grow(self, dim: int) -> None:
        if dim > self.dim:
            super().grow(dim)
            self._invert()

    def take_sums(self, *sums: Any) -> None:
        super().take_sums(*sums)
        self._invert()

    def _invert(self) -> None:
        if self.dim:
            self._inverse = self.function.inverse(self._tau)

    def move(self, indices: np.ndarray, values: np.ndarray) -> tuple[float, float]:
        x = self.dense(indices, values)
        if len(x) != self.dim or not self.dim:
            return super().move(indices, values)
        u = self._inverse @ self._tau[0]
        return float(self.function.rule(u, x, self.strategy.bound)), 0.0

    def learn(self, indices: np.ndarray, values: np.ndarray, yhat: float, delta: float, weight: float = 1.0) -> float:
        """T is a vector and a rank-one matrix: added in place, with M⁻¹ kept in step (Sherman and Morrison)."""
        x = self.dense(indices, values)
        if not len(x):
            return super().learn(indices, values, yhat, delta, weight)
        seen_x, seen_yhat, seen_delta = self.scaled(x, yhat, delta, weight)
        z = np.concatenate([[-seen_yhat], seen_x])
        reach = float(np.max(np.abs(z)))
        if not reach * max(reach, abs(seen_delta)) < LARGEST_FEATURE:
            raise BadInput("x", reach, "this round's statistic overflows: rescale the features")
        if not float(np.max(np.abs(self._seen(x)[1]))) + reach * reach <= largest((2,)):
            raise BadInput("x", reach, "with what was learned before, this round's statistic overflows: rescale the features")
        self.grow(len(x))
        self._tau[0][...] += seen_delta * z
        self._tau[1][...] += np.multiply.outer(z, z)
        self.enter(x, yhat, delta)
        self.rounds += 1
        if self.rounds % REFRESH == 0:
            self._invert()
            return 0.0
        image = self._inverse @ z
        share = self.function.curvature / (1.0 + self.function.curvature * float(z @ image))
        self._inverse -= np.multiply.outer(share * image, image)
        return 0.0

    def arrays(self) -> dict[str, np.ndarray]:
        inverse = {"inverse": self._inverse.copy()} if self.dim else {}
        return {**super().arrays(), **inverse}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        super().restore(arrays)
        if self.dim:
            self._inverse = np.array(arrays["inverse"], float)
