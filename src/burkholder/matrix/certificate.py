"""Regret against matrices by their nuclear norm: what every matrix learner's certificate has in common.

The regret is measured in the loss that the learner reports, between the very numbers that were played, given and compared
with. For labels a learner maps to [−1, 1] first (ratings), `scale` turns the regret on labels into the reported loss, and
`charge` pays for the rounding of the map (`units`). Realised is Σδŷ − ⟨W, ΣδX⟩, or its supremum Σδŷ + ρ‖ΣδX‖, in real
arithmetic: see `learning.evidence` for the sums, `gradient` for ΣδX, `norms` for its norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.learning.certificate import Assumption, Certificate
from burkholder.learning.evidence import Evidence
from burkholder.learning.rounding import UNIT, above, lost, more
from burkholder.matrix import norms
from burkholder.matrix.gradient import Gradient

SLOPE = 16.0 * UNIT  # relative error of a computed derivative
STILL = "the realised figure, which holds for any predictions"


class Charge(NamedTuple):
    """What is added to a regret in the reported loss: once, and for each unit of ‖W‖_Σ."""

    once: float = 0.0
    each: float = 0.0


NOTHING = Charge()


class Matrix(NamedTuple):
    """A comparator by its entries, and a number not below its nuclear norm."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    nuclear: float


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


def units(degree: int, rounds: int, low: float, high: float) -> Charge:
    """What mapping ratings in [low, high] to labels in [−1, 1] and predictions back may cost a regret.

    Let s = max(|low|, |high|), h = (high − low)/2 ≤ s and m the middle. The computed label y of a rating r, and the
    computed prediction r̂ (or bias) of a ŷ in [−1, 1], satisfy r = m + hy + e, r̂ = m + hŷ + e′ with |e| ≤ 8us: seven
    roundings of numbers up to 3s, and cutting off at the ends of the range only helps.
    A loss that is a 1-Lipschitz function of r̂ − r (degree 1) moves by at most 8us for each of r̂, and r twice.
    For (r̂−r)² and a comparator c = base + hW_ij: (r̂−r)² − (c−r)² ≤ 2(r̂−r)(r̂−c), and with 2(r̂−r) = 2h(ŷ−y) + d, |d| ≤
    32us, and r̂ − base = h(ŷ−b) + d′, |d′| ≤ 16us, this is 2h²·(ŷ−y)(ŷ−b−W_ij) up to 4h·16us + 32us·2h + 512(us)² +
    32us·h|W_ij|; |W_ij| ≤ ‖W‖_Σ.
    """
    size = UNIT * max(abs(low), abs(high))
    half = 0.5 * (high - low)
    if degree == 1:
        return Charge(more(32.0 * size * rounds, 16.0))
    return Charge(more(rounds * (130.0 * half * size + 520.0 * size * size), 16.0), more(33.0 * half * size * rounds, 16.0))


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
