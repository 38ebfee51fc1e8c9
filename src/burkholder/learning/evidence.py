"""What a stream proves about linear comparators, from two sums: Σδŷ and Σδx, with what rounding may have cost.

Convexity gives Σℓ(ŷ_t, y_t) − Σℓ(⟨w, x_t⟩, y_t) ≤ Σδ_tŷ_t − ⟨w, Σδ_t x_t⟩ for any predictor, in real numbers. Stored are
doubles, so three things are charged: the sums themselves (`a_error`, `drift`), the derivative, which is computed
(`slope`, a relative error: slope·Σ|δ|(|ŷ| + |⟨w, x⟩|)), and the last steps made here (`rounding.dot`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.learning.rounding import UNIT, above, dot, more

SUPPORT_ERROR = 256.0  # operations a coordinate behind a norm or a singular value, generously


@dataclass(frozen=True)
class Evidence:
    """`moved` bounds Σ_t|δ_t x_ti| and `drift` |g_i − Σδx_i|, coordinate by coordinate; `moved_norm` and `drift_norm`
    bound Σ_t|δ_t|·‖x_t‖ and ‖g − Σδx‖ in the norm in which comparators of dual norm 1 pair with features.
    """

    a: float = 0.0
    g: Any = None
    a_error: float = 0.0
    leaned: float = 0.0  # Σ|δŷ|
    slope: float = 0.0
    moved: Any = 0.0
    drift: Any = 0.0
    moved_norm: float = 0.0
    drift_norm: float = 0.0
    dual: Callable[[np.ndarray], Any] | None = None  # where the norm says more than the coordinates do

    def against(self, w: np.ndarray) -> float:
        """A number certainly not below Σδŷ − ⟨w, Σδx⟩ in real arithmetic."""
        inner, error = dot(w, self.g)
        if self.dual is not None:
            size = more(float(self.dual(w)), SUPPORT_ERROR * len(w))
            moved, drift = size * self.moved_norm, size * self.drift_norm
        else:
            moved, drift = (dot(np.abs(w), np.broadcast_to(part, np.shape(w)))[0] for part in (self.moved, self.drift))
        return above(self.a, -inner, error, self._cost(moved, drift))

    def over(self, support: float, radius: float, terms: int | None = None) -> float:
        """The same for the supremum over a ball: `support` is sup⟨w, −g⟩ over it, `radius` its size. `terms`: how many numbers
        `support` was summed from, where they are fewer than the coordinates.
        """
        terms = max(np.size(self.g) if terms is None else terms, 1)
        widened = above(support, 4.0 * (SUPPORT_ERROR * terms) * UNIT * abs(support))
        return above(self.a, widened, self._cost(radius * self.moved_norm, radius * self.drift_norm))

    def _cost(self, moved: float, drift: float) -> float:
        return more(self.a_error + UNIT * abs(self.a) + self.slope * (self.leaned + moved) + drift, 64.0)


NOTHING = Evidence(g=np.zeros(1))  # before the first round
