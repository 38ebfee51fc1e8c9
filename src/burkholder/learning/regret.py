"""The certificate of a learner with a Burkholder function: what was promised, and what this stream proves.

Three numbers against a comparator w, each an upper bound on Σℓ(ŷ_t, y_t) − Σℓ(⟨w, x_t⟩, y_t):
    bound(w)      A(w), known in advance; rests on the assumptions
    corrected(w)  A(w) + U(ζ), from property 2° alone; holds whatever was played
    realised(w)   Σδŷ − ⟨w, Σδx⟩, from convexity alone; holds for any predictor, and is never above corrected(w)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.learning import ledger as account
from burkholder.learning.certificate import Assumption, Certificate, Guarantee

STILL = "the realised bound, and A(w) + U(ζ) for every comparator (corrected)"


@dataclass(frozen=True)
class RegretCertificate(Certificate):
    """See the module. `w` is a vector or a dict of names; `radius` asks for the supremum over a ball."""

    function: BurkholderFunction | None = None
    tau: Tau = ()
    a: float = 0.0
    g: Any = None
    slack: float = 0.0  # what clipping and the general strategy's grid may have cost
    rows: Any = None

    def _comparator(self, w: Any) -> np.ndarray:
        return self.rows.comparator(w, len(self.g))

    def _promise(self, w: Any, radius: float | None) -> float:
        assert self.function is not None
        if w is not None and radius is not None:
            raise BadInput("radius", radius, "give either w or radius, not both")
        if w is None:
            return self.function.ball(radius, self.tau)
        return float(self.function.bound(self._comparator(w), self.tau))

    def bound(self, w: Any = None, radius: float | None = None, nominal: bool = False) -> float:
        """A(w) (plus the cost of clipping). Infinite once an assumption was violated, unless `nominal`."""
        if not self.valid and not nominal:
            return math.inf
        return self._promise(w, radius) + self.slack

    def corrected(self, w: Any = None, radius: float | None = None) -> float:
        """A(w) + U(ζ): valid on every path, whatever happened to the assumptions."""
        return self._promise(w, radius) + float(self.potential or 0.0)

    def realised(self, w: Any = None, radius: float | None = None) -> float:
        """Σδŷ − ⟨w, Σδx⟩ (less what curvature gives back), or its supremum over the ball."""
        assert self.function is not None
        if w is not None and radius is not None:
            raise BadInput("radius", radius, "give either w or radius, not both")
        if w is None:
            return self.function.worst(self.a, np.asarray(self.g), radius, self.tau)
        vector = self._comparator(w)
        return float(self.a - vector @ self.g - self.function.refine(vector, self.tau))

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "slack": self.slack}


def assumptions(function: BurkholderFunction, ledger: np.ndarray, size_limit: float, size_name: str = "size(x)") -> tuple[Assumption, ...]:
    """Every assumption of the function with what the ledger saw of it."""
    out = []
    if function.needs_lipschitz:
        out.append(
            Assumption(
                "derivative",
                f"|δ| ≤ {function.lipschitz:g}",
                function.lipschitz,
                float(ledger[account.STEEPEST]),
                int(ledger[account.STEEP]),
                STILL,
            )
        )
    if math.isfinite(size_limit):
        out.append(
            Assumption(
                "features",
                f"{size_name} ≤ {size_limit:g}",
                size_limit,
                float(ledger[account.LARGEST_SIZE]),
                int(ledger[account.LARGE]),
                STILL,
            )
        )
    delayed = int(ledger[account.DELAYED])
    out.append(
        Assumption(
            "labels in time",
            "each label arrives before the next prediction",
            0.0,
            float(delayed),
            delayed,
            STILL + "; the realised bound counts what was actually played",
        )
    )
    capped = int(ledger[account.CAPPED])
    out.append(Assumption("predictions in range", "no prediction reached ±1e300", 1e300, 1e300 if capped else None, capped, STILL))
    return tuple(out)


def guarantees(certificate: RegretCertificate) -> tuple[Guarantee, ...]:
    """The headline numbers: over the function's own ball, or over radius 1 where every comparator is admitted."""
    function = certificate.function
    assert function is not None
    where = "its own ball of comparators"
    radius = None
    try:
        function.ball(None, certificate.tau)
    except BadInput:
        radius, where = 1.0, "comparators of norm 1"
    try:
        average = " in expectation" if function.in_expectation else ""
        curved = type(function).refine is not BurkholderFunction.refine
        realised = "sup of Σδŷ − ⟨w, Σδx⟩ − (ρ/2)Σ(ŷ−⟨w,x⟩)²" if curved else "Σδŷ + sup⟨−w, Σδx⟩"
        return (
            Guarantee("promised regret", f"A over {where}{average}", certificate.bound(radius=radius, nominal=True), certificate.valid),
            Guarantee("corrected regret", f"A + U(ζ) over {where}, on this path", certificate.corrected(radius=radius)),
            Guarantee("realised regret", f"{realised} over {where}", certificate.realised(radius=radius)),
        )
    except BadInput:
        zero = np.zeros(len(certificate.g))
        return (Guarantee("realised regret", "Σδŷ, against predicting 0", certificate.realised(zero)),)
