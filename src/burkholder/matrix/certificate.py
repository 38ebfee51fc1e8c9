"""Regret against matrices by their nuclear norm: what every matrix learner's certificate has in common.

The regret is measured in the loss that the learner reports, between the very numbers that were played, given and compared
with. For labels a learner maps to [−1, 1] first (ratings), `scale` turns the regret on labels into the reported loss, and
`charge` pays for the rounding of the map (`scale`). Realised is Σδŷ − ⟨W, ΣδX⟩, or its supremum Σδŷ + ρ‖ΣδX‖, in real
arithmetic: see `learning.evidence` for the sums, `gradient` for ΣδX, `norms` for its norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from burkholder.learning.certificate import Assumption, Certificate
from burkholder.learning.evidence import Evidence
from burkholder.learning.rounding import UNIT, above, lost, more
from burkholder.matrix import norms
from burkholder.matrix.comparators import Matrix
from burkholder.matrix.gradient import Gradient

SLOPE = 16.0 * UNIT  # relative error of a computed derivative
STILL = "the realised figure, which holds for any predictions"


class Charge(NamedTuple):
    """What is added to a regret in the reported loss: once, and for each unit of ‖W‖_Σ."""

    once: float = 0.0
    each: float = 0.0


NOTHING = Charge()


def evidence(
    high: float, low: float, leaned: float, moved: float, gradient: Gradient, rounds: int, drift: float = 0.0, hits: float = 0.0
) -> Evidence:
    """The sums of a stream with what rounding may have cost them.

    Each term of Σδŷ is a product of at most two rounded numbers, so it is wrong by at most 4u of itself; the sum is corrected.
    `leaned` and `moved` are sums of numbers ≥ 0. `drift` is in units of u; `hits` is paid as it is. Comparators meet features in
    the Frobenius norm, in which `moved` and the error of the gradient are bounded; a nuclear norm is not below it.
    """
    leaned, moved = more(leaned, 2.0 * rounds), more(moved, 2.0 * rounds)
    return Evidence(
        a=math.fsum((high, low)),
        g=gradient.values,
        a_error=more(4.0 * UNIT * leaned + 2.0 * UNIT * abs(high) + lost(rounds, leaned) + more(hits, 2.0 * rounds), 16.0),
        leaned=leaned,
        slope=SLOPE,
        moved_norm=moved,
        drift_norm=more(gradient.error + UNIT * more(drift, 2.0 * rounds), 16.0),
        dual=norms.frobenius,
    )


@dataclass(frozen=True)
class NuclearCertificate(Certificate):
    """A learner adds what it promises: `promise` and `corrections` give it against ‖W‖_Σ ≤ ρ, on labels."""

    sums: Evidence = field(default_factory=Evidence)
    gradient: Gradient | None = None
    largest: float = 0.0  # a number not below ‖ΣδX‖
    scale: float = 1.0
    charge: Charge = NOTHING
    promise: Callable[[float], float] | None = None
    corrections: Callable[[float], float] | None = None  # the promise with the potential as it is
    read: Callable[[Any], Matrix] | None = None  # how a comparator is given

    def _whom(self, w: Any, radius: float | None) -> tuple[Matrix | None, float]:
        if w is not None:
            assert self.read is not None
            W = self.read(w)
            return W, W.nuclear
        own = self.comparators.radius
        return None, radius if radius is not None else (1.0 if own is None else own)

    def _realised(self, whom: Any) -> float:
        W, radius = whom
        if W is None:
            regret = self.sums.over(more(radius * self.largest), radius)
        else:
            assert self.gradient is not None
            regret = replace(self.sums, g=self.gradient.at(W.rows, W.columns)).against(W.values)
        return self._reported(regret, radius)

    def _corrected(self, whom: Any) -> float:
        return math.inf if self.corrections is None else self._reported(self.corrections(whom[1]), whom[1])

    def _promised(self, whom: Any) -> float:
        return math.inf if self.promise is None else self._reported(self.promise(whom[1]), whom[1])

    def _reported(self, regret: float, radius: float) -> float:
        """A regret on labels as the reported loss counts it."""
        regret = self.scale * regret
        return above(regret, 16.0 * UNIT * abs(regret), self.charge.once, more(radius * self.charge.each))


def in_time(late: float) -> Assumption:
    """Promises are about labels that come before the next prediction."""
    return Assumption(
        "labels in time",
        "each label arrives before the next prediction",
        0.0,
        late,
        int(late),
        STILL + ", late labels included: it counts what was actually played",
    )


def exact_enough(statement: str, limit: float, excess: float, late: float) -> Assumption:
    """Promises rest on the Krylov spaces; the stream itself tells whether they were kept (late labels may break them as well)."""
    return Assumption("krylov", statement, limit, excess, int(excess > limit and not late), STILL)
