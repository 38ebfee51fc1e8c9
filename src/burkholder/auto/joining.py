"""What several classes guarantee: the log loss against each way to probabilities, and against every pruning of a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import several as beyond
from burkholder.auto.classes import PRIOR
from burkholder.auto.grove import costs
from burkholder.auto.several import ALONE, BASED, LINEAR, Several
from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Certificate, Comparators
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import above, more
from burkholder.learning.rounding import lost as rounding_lost


@dataclass(frozen=True)
class JoinedCertificate(Certificate):
    """Regret against the best of the ways: the seven linear ones, then what follows them; there is no radius to ask for.

    Rounding: every logarithm is that of a probability within 32u of what is meant, so each round is right to 64u times its
    weight and 4u of itself. Losses are summed with their corrections (`rounding.lost`); the few first appearances, what was
    late and what was lost before there were trees are plain sums of n numbers at most, right to 2nu of their sizes. Weights are made
    from differences d of such sums, each right to 4u·|d| and less than e^−|d| of the largest, so that they are right to 16u: what they mix
    is right to 32u.
    """

    ways: tuple[float, ...] = ()  # what each way lost, first appearances of classes included
    promise: float = 0.0
    charge: float = 0.0
    ahead: tuple[float, ...] = ()  # of each kind of trees: what was lost more than by their mean, at most
    trees: tuple[tuple[float, ...], ...] = ()  # what the nodes of each tree paid for choosing

    def _whom(self, w: Any, radius: float | None) -> None:
        if w is not None or radius is not None:
            raise BadInput("w", w, "the comparators are the ways to probabilities; ask without one")

    def pruned(self, leaves: int) -> float:
        """At most so much more was lost than by prunings with so many leaves, one of each tree of a kind, on average: their nodes play
        what they played, and one that was not there yet is represented by the node it was split from. Infinite before there are trees.
        """
        if isinstance(leaves, bool) or not isinstance(leaves, (int, np.integer)) or leaves < 1:
            raise BadInput("leaves", leaves, "give a whole number ≥ 1")
        if not self.trees or not self.valid:
            return math.inf
        return above(max(self.ahead), max(math.fsum(tree[: 2 * leaves - 1]) for tree in self.trees), 2.0 * self.charge)

    def _realised(self, whom: None) -> float:
        return above(self.cumulative_loss, -min(self.ways), self.charge)

    def _promised(self, whom: None) -> float:
        return above(self.promise, self.charge)


def certify_joined(tally: dict[str, float], lost: NDArray[Any], several: Several | None, classes: int, pending: int) -> JoinedCertificate:
    """The certificate of a tally, of what the linear ways lost on rounds of known classes, and of what follows them."""
    n, weight, heavy, late = (tally[name] for name in ("rounds", "weight", "heavy", "late"))
    loss, each = tally["loss"] + tally["loss_rest"], told(lost)
    promise = -math.log(min(PRIOR))
    ahead: tuple[float, ...] = ()
    trees: tuple[tuple[float, ...], ...] = ()
    if several is not None:
        # whoever compares with a linear way pays both aggregations; -ln of any other prior weight is less
        promise -= math.log(beyond.PRIOR[LINEAR])
        later = told(several.meeting.lost)
        each = np.concatenate([each, later])
        ahead = tuple(above(loss, -float(later[way]) - tally["fresh"]) for way in (ALONE, BASED))
        trees = tuple(tuple(costs(several.grove, k, n).tolist()) for k in range(len(several.grove.used)))
    plain = abs(tally["fresh"]) + 2.0 * tally["late_cost"] + tally["early"]
    size = abs(loss) + 2.0 * plain + float(each.max())  # of all that was summed: a late round goes in as its loss, and out again
    notes = [f"{classes} classes; the first appearance of each is charged ln(known + 1), to every way as well"]
    if late:
        notes.append(f"{int(late)} labels came late: each round is charged with the probabilities that were shown")
    if pending:
        notes.append(f"{pending} predictions still wait for their labels and are not counted")
    light = Assumption("light weights", "no weight above 1", limit=1.0, violations=int(heavy), still_holds="the realised regret")
    whom = "three ways of joining one learner a class, three softmax lanes, and their pool"
    return JoinedCertificate(
        learner="auto-multiclass",
        loss="log",
        rounds=int(n),
        cumulative_loss=loss,
        weight=weight,
        comparators=Comparators(whom if several is None else f"{whom}; all these, {', '.join(beyond.NAMES[1:-1])}, and a pool of all"),
        assumptions=(light,),
        notes=tuple(notes),
        ways=tuple(float(one) + tally["fresh"] for one in each),
        promise=promise + tally["late_cost"],
        charge=more(128.0 * U * (n + weight) + 32.0 * U * size + 2.0 * n * U * plain + 2.0 * rounding_lost(n, size), 8.0),
        ahead=ahead,
        trees=trees,
    )


def told(lost: NDArray[Any]) -> NDArray[Any]:
    """Sums, from what was added up and what rounding took from it."""
    half = len(lost) // 2
    return lost[:half] + lost[half:]
