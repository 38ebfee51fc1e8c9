"""ζ for strongly convex losses, with M⁻¹ kept by rank-one updates: O(d²) a round instead of O(d³)."""

from __future__ import annotations

import numpy as np

from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.states.generic import TauState

REFRESH = 512  # rounds between fresh inversions: rounding in the updates does not pile up


class CurvedState(TauState):
    """The same numbers as the generic state, to rounding."""

    function: StronglyConvex

    def grow(self, dim: int) -> None:
        super().grow(dim)
        self._invert()

    def _invert(self) -> None:
        if self.dim:
            self._inverse = np.linalg.inv(self.function.matrix(self._tau))

    def move(self, indices: np.ndarray, values: np.ndarray) -> tuple[float, float]:
        x = self.dense(indices, values)
        if len(x) != self.dim or not self.dim:
            return super().move(indices, values)
        u = self._inverse @ self._tau[0]
        return float(self.function.rule(u, x, self.strategy.bound)), 0.0

    def learn(self, indices: np.ndarray, values: np.ndarray, yhat: float, delta: float) -> float:
        ratio = super().learn(indices, values, yhat, delta)
        if not self.dim:
            return ratio
        if self.rounds % REFRESH == 0:
            self._invert()
            return ratio
        z = np.concatenate([[-yhat], self.dense(indices, values)])
        image = self._inverse @ z
        weight = self.function.curvature / (1.0 + self.function.curvature * float(z @ image))
        self._inverse -= weight * np.outer(image, image)
        return ratio

    def arrays(self) -> dict[str, np.ndarray]:
        inverse = {"inverse": self._inverse.copy()} if self.dim else {}
        return {**super().arrays(), **inverse}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        super().restore(arrays)
        if self.dim:
            self._inverse = np.array(arrays["inverse"], float)
