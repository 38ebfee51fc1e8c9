"""The certificate of a learner with a Burkholder function: what was promised, and what this stream proves.

Three numbers against a comparator w, each an upper bound on Σℓ(ŷ_t, y_t) − Σℓ(⟨w, x_t⟩, y_t):
    bound(w)      A(w), known in advance; rests on the assumptions
    corrected(w)  A(w) + U(ζ), from property 2° alone; holds whatever was played
    realised(w)   Σδŷ − ⟨w, Σδx⟩ (less what curvature gives back), from convexity alone; holds for any predictor
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.learning import ledger as account
from burkholder.learning.certificate import Assumption, Certificate
from burkholder.learning.evidence import NOTHING, Evidence
from burkholder.learning.rounding import above, more

STILL_MERGED = "the realised bound and A(w) + U(ζ), both for the sum of the parts' losses; not the promise A(w)"
STILL = "the realised bound, and A(w) + U(ζ) for every comparator (corrected)"


class Whom(NamedTuple):
    """A comparator as a vector, or everyone within a radius (None: the function's own class, which needs none)."""

    w: np.ndarray | None
    radius: float | None


@dataclass(frozen=True)
class RegretCertificate(Certificate):
    """See the module. `w` is a vector or a dict of names; `radius` asks for the supremum over a ball."""

    function: Any = None  # a BurkholderFunction
    tau: Tau = ()
    evidence: Evidence = NOTHING
    slack: float = 0.0  # what clipping and the general strategy's grid may have cost
    rows: Any = None

    def _whom(self, w: Any, radius: float | None) -> Whom:
        if w is not None:
            return Whom(self.rows.comparator(w, len(self.evidence.g)), None)
        if radius is None and not self.function.has_ball:
            return Whom(np.zeros(len(self.evidence.g)), None)
        return Whom(None, self.comparators.radius if radius is None else radius)

    def _promise(self, whom: Whom) -> float:
        function: BurkholderFunction = self.function
        if whom.w is None and whom.radius == 0.0:
            whom = Whom(np.zeros(len(self.evidence.g)), None)
        number = function.ball(whom.radius, self.tau) if whom.w is None else float(function.bound(whom.w, self.tau))
        return above(number, more(abs(number), self.rounds + 64.0) - abs(number)) if math.isfinite(number) else number

    def _promised(self, whom: Whom) -> float:
        return above(self._promise(whom), self.slack) if self.function.has_bound else math.inf

    def _corrected(self, whom: Whom) -> float:
        """A + U(ζ). `Certificate` never lets it fall below what the stream proves, whatever cancels here."""
        return above(self._promise(whom), float(self.potential or 0.0)) if self.function.has_bound else math.inf

    def _realised(self, whom: Whom) -> float:
        function: BurkholderFunction = self.function
        g = np.asarray(self.evidence.g)
        back = function.refine_error(whom.w, whom.radius, self.tau, self.rounds)
        if whom.w is not None:
            return above(self.evidence.against(whom.w), -float(function.refine(whom.w, self.tau)), back)
        if whom.radius == 0.0:
            return self._realised(Whom(np.zeros(len(g)), None))
        supremum = function.worst(0.0, g, whom.radius, self.tau)
        return above(self.evidence.over(supremum, 1.0 if whom.radius is None else whom.radius), back)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "slack": self.slack}


def assumptions(function: BurkholderFunction, ledger: np.ndarray, size_limit: float, parts: int = 1) -> tuple[Assumption, ...]:
    """Every assumption of the function with what the ledger saw of it."""
    out = []
    if function.needs_lipschitz:
        limit, seen = function.lipschitz, float(ledger[account.STEEPEST])
        out.append(Assumption("derivative", f"|δ| ≤ {limit:g}", limit, seen, int(ledger[account.STEEP]), STILL))
    if math.isfinite(size_limit):
        seen, times = float(ledger[account.LARGEST_SIZE]), int(ledger[account.LARGE])
        out.append(Assumption("features", f"size(x) ≤ {size_limit:g}", size_limit, seen, times, STILL))
    delayed = int(ledger[account.DELAYED])
    still = STILL + "; the realised bound counts what was actually played"
    out.append(Assumption("labels in time", "each label arrives before the next prediction", 0.0, float(delayed), delayed, still))
    capped = int(ledger[account.CAPPED])
    seen = 1e300 if capped else None
    out.append(Assumption("predictions in range", "no prediction reached ±1e300", 1e300, seen, capped, STILL))
    if parts > 1:  # each was fine alone; U of the sum may be above 0
        out.append(Assumption("one stream", "every round saw all earlier rounds", 1.0, float(parts), parts - 1, STILL_MERGED))
    return tuple(out)
