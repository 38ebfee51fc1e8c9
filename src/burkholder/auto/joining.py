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


@dataclass(frozen=True)
class JoinedCertificate(Certificate):
    """Regret against the best of the seven ways; there is no radius to ask for.

    Rounding: every logarithm is that of a probability within 16u of what is meant, so each round is right to 32u times its
    weight and 4u of itself; sums of n numbers ≥ 0 are right to 2nu of themselves.
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
    size = 2.0 * abs(tally["loss"]) + abs(tally["fresh"]) + float(lost.min()) + 2.0 * tally["late_cost"]
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
        cumulative_loss=tally["loss"],
        weight=weight,
        comparators=Comparators("three ways of joining one learner a class, three softmax lanes, and their pool"),
        assumptions=(light,),
        notes=tuple(notes),
        ways=tuple(float(one) + tally["fresh"] for one in lost),
        promise=-math.log(min(PRIOR)) + tally["late_cost"],
        charge=more(64.0 * U * (n + weight) + (2.0 * n + 32.0) * U * size, 8.0),
    )
