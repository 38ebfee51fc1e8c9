"""What several classes guarantee: the log loss against each of the seven ways to probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from burkholder.auto.classes import PRIOR
from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Certificate, Comparators
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import above, more
from burkholder.learning.rounding import lost as rounding_lost


@dataclass(frozen=True)
class JoinedCertificate(Certificate):
    """Regret against the best of the seven ways; there is no radius to ask for.

    Rounding: every logarithm is that of a probability within 32u of what is meant, so each round is right to 64u times its
    weight and 4u of itself. Losses are summed with their corrections (`rounding.lost`); the few first appearances and what was
    late are plain sums of n numbers at most, right to 2nu of their sizes. Weights are made from differences d of such sums, each right to
    4u·|d| and less than e^−|d| of the largest, so that they are right to 16u: what they mix is right to 32u.
    """

    ways: tuple[float, ...] = ()  # what each way lost, first appearances of classes included
    promise: float = 0.0
    charge: float = 0.0

    def _whom(self, w: Any, radius: float | None) -> None:
        if w is not None or radius is not None:
            raise BadInput("w", w, "the comparators are the seven ways; ask without one")

    def _realised(self, whom: None) -> float:
        return above(self.cumulative_loss, -min(self.ways), self.charge)

    def _promised(self, whom: None) -> float:
        return above(self.promise, self.charge)


def certify_joined(tally: dict[str, float], lost: NDArray[Any], classes: int, pending: int) -> JoinedCertificate:
    """The certificate of a tally and of what the ways lost on rounds of known classes."""
    n, weight, heavy, late = (tally[name] for name in ("rounds", "weight", "heavy", "late"))
    loss, half = tally["loss"] + tally["loss_rest"], len(lost) // 2
    each = lost[:half] + lost[half:]
    plain = abs(tally["fresh"]) + 2.0 * tally["late_cost"]
    size = abs(loss) + 2.0 * plain + float(each.max())  # of all that was summed: a late round goes in as its loss, and out again
    notes = [f"{classes} classes; the first appearance of each is charged ln(known + 1), to every way as well"]
    if late:
        notes.append(f"{int(late)} labels came late: each round is charged with the probabilities that were shown")
    if pending:
        notes.append(f"{pending} predictions still wait for their labels and are not counted")
    light = Assumption("light weights", "no weight above 1", limit=1.0, violations=int(heavy), still_holds="the realised regret")
    return JoinedCertificate(
        learner="auto-multiclass",
        loss="log",
        rounds=int(n),
        cumulative_loss=loss,
        weight=weight,
        comparators=Comparators("three ways of joining one learner a class, three softmax lanes, and their pool"),
        assumptions=(light,),
        notes=tuple(notes),
        ways=tuple(float(one) + tally["fresh"] for one in each),
        promise=-math.log(min(PRIOR)) + tally["late_cost"],
        charge=more(128.0 * U * (n + weight) + 32.0 * U * size + 2.0 * n * U * plain + 2.0 * rounding_lost(n, size), 8.0),
    )
