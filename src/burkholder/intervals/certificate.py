"""What intervals and quantiles can say of themselves: coverage seen and promised, widths, scores, and pinball regret."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.intervals import book, tracker
from burkholder.learning.certificate import Certificate, Comparators, Guarantee
from burkholder.learning.rounding import more


@dataclass(frozen=True)
class BandCertificate(Certificate):
    """The regret is of the loss, against the point forecast shifted by a constant of its own at every level: give the shifts as w,
    or a radius for the worst of them. Coverage needs no comparator: `coverages` holds what was seen and promised.
    """

    levels: np.ndarray = field(default_factory=lambda: np.zeros(0))
    entries: np.ndarray = field(default_factory=lambda: book.empty(0))
    unit: float = 1.0  # what one unit of pinball loss is in the loss that is reported
    radius: float = 0.0
    coverages: tuple[dict[str, Any], ...] = ()

    def _whom(self, w: Any, radius: float | None) -> Any:
        if w is None:
            return None, self.radius if radius is None else radius
        try:
            shifts = np.array(w, dtype=float)
        except (TypeError, ValueError, OverflowError):
            shifts = np.zeros(0)
        if shifts.shape != self.levels.shape or not np.isfinite(shifts).all():
            raise BadInput("w", w, f"give {len(self.levels)} shifts of the point forecast, one a level")
        return shifts, 0.0

    def _realised(self, whom: Any) -> float:
        if not self.rounds:
            return 0.0
        shifts, radius = whom
        each = book.against(self.entries, self.levels, shifts, radius, self.rounds)
        total = self.unit * book.total(each)
        return total + (more(abs(total)) - abs(total)) + 5e-324

    def level_regrets(self) -> dict[float, float]:
        """For each level, its pinball regret against the best shift within the radius, at most."""
        each = book.against(self.entries, self.levels, None, self.radius, self.rounds)
        return dict(zip(self.levels.tolist(), each.tolist()))

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the numbers of the coverage beside the rest."""
        return {**super().to_dict(), **self.told()}

    def told(self) -> dict[str, Any]:
        """What a kind of bands adds to the plain data."""
        return {"levels": list(self.coverages)}


@dataclass(frozen=True)
class CoverageCertificate(BandCertificate):
    """Of intervals and of sets: one coverage."""

    @property
    def coverage(self) -> float:
        """The share of the rounds, weighted, whose label lay in its interval, or whose class was in its set."""
        seen = self.coverages[0]["coverage"]
        return math.nan if seen is None else seen

    @property
    def coverage_bound(self) -> float:
        """|coverage − target| was promised to be at most this, on every path."""
        return self.coverages[0]["coverage_bound"]


@dataclass(frozen=True)
class IntervalsCertificate(CoverageCertificate):
    """One coverage, the mean width, and the interval score."""

    mean_width: float = math.nan

    @property
    def interval_score(self) -> float:
        """The mean Winkler score: width, plus 2/α times how far the label lay outside."""
        return self.mean_loss

    def told(self) -> dict[str, Any]:
        score = None if math.isnan(self.mean_loss) else self.mean_loss
        width = None if math.isnan(self.mean_width) else self.mean_width
        regrets = [float(r) for r in self.level_regrets().values()]
        return {**self.coverages[0], "mean_width": width, "interval_score": score, "pinball_regret": regrets}


def comparators(levels: int, radius: float) -> Comparators:
    """Whom the regret is about."""
    shifts = "(u, v)" if levels == 2 else "u"
    return Comparators(f"ŷ + {shifts}, the point forecast shifted by constants", "max|u|", radius)


def coverage_line(account: np.ndarray, level: float, words: str) -> tuple[Guarantee, dict[str, Any]]:
    """The promise as a line of the certificate, and in numbers."""
    told, numbers = tracker.statement(account, level, words)
    return Guarantee("coverage deviation", told, numbers["coverage_bound"]), numbers


def rests_on(account: np.ndarray) -> str:
    """What the size of the promise depends on, as it was on this path."""
    late = f"; labels came at most {account[tracker.OVERRUN]:g} rounds of weight late" if account[tracker.LATE] else ""
    free = f"; {account[tracker.UNGUIDED]:g} rounds of weight before any width was known" if account[tracker.UNGUIDED] else ""
    return (
        f"the coverage promise rests on nothing but this path's scores, in [{-account[tracker.LOW]:.4g}, "
        f"{account[tracker.HIGH]:.4g}] widths{late}{free}"
    )
