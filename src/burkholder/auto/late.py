"""Labels that come after others were learned: the lanes learn them now, and what was shown then is what counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.auto import kernel
from burkholder.auto.nonlinear import START
from burkholder.auto.plan import LOGISTIC, Plan
from burkholder.auto.reading import Reading
from burkholder.auto.state import LEARNT_LOSS, LEARNT_REST, LOSS, LOSS_REST, SURPRISE, UNIT, State
from burkholder.learning import together
from burkholder.learning.rounding import add
from burkholder.learning.rows import Rows
from burkholder.learning.tickets import Played
from burkholder.learning.together import Plays, Together


class LateRounds(Together):
    """What an Auto does where labels are late."""

    loss: Any
    plan: Plan
    state: State
    reading: Reading
    _unit_known: bool
    _out: NDArray[np.float64]  # what was played last
    _late: int  # labels that came after others had been learned
    _late_size: float  # Σ of what such rounds paid, then and now, in internal units

    @property
    def rows(self) -> Rows:
        """How rows are read, as every learner reads them."""
        return self.reading.rows

    @property
    def _loss_unit(self) -> float:
        """What one unit of internal loss is worth: labels are divided by the first nonzero one."""
        return float(self.state.scalars[UNIT]) ** self.loss.degree

    @property
    @abstractmethod
    def _scalars(self) -> NDArray[np.float64]:
        """Where the loss of what was shown is kept."""

    @abstractmethod
    def _rounds_of(
        self, table: Any, targets: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(predictions, losses) of rows that are played and learned."""

    def _tamed(self, label: float) -> float:
        """The label as the lanes would learn it now."""
        if self.plan.kinds[0] == LOGISTIC or not self._unit_known:
            return label
        unit = float(self.state.scalars[UNIT])
        inside = kernel.tame(self.plan, self.state, label / unit)
        return label if inside == label / unit else float(inside) * unit

    def _charge_late(self, shown: float, label: float, learnt: float, weight: float) -> None:
        """The loss of a late round is that of the prediction that was shown, not of the one the lanes make now.

        The difference goes into both sums of losses; where it is positive, into what aggregating may have cost, so that
        every inequality about the lanes' losses stays true.
        """
        now, unit = float(self._out[0]), self._loss_unit
        then, paid = ([weight * losses.value(self.loss, yhat, y) / unit for y in (label, learnt)] for yhat in (shown, now))
        self._shown_then(then, paid)

    def _shown_then(self, then: Sequence[float], paid: Sequence[float]) -> None:
        """Enter a late round's losses (of the label, and as it was learned): those of what was shown, in place of those paid."""
        scalars = self._scalars
        add(scalars, LOSS, LOSS_REST, then[0] - paid[0])
        add(scalars, LEARNT_LOSS, LEARNT_REST, then[1] - paid[1])
        scalars[SURPRISE] += max(0.0, then[1] - paid[1])
        self._late += 1
        self._late_size += max(then) + max(paid)

    @property
    def at_once(self) -> bool:
        """Whether, with rows as they are, many labels are learned by one compiled loop.

        Numbers are not: a late one is tamed by what was learned just before it.
        """
        return self.rows.kind == "vector" and self.plan.kinds[0] == LOGISTIC

    def _plays(self, X: Any) -> Plays | None:
        matrix = together.vectors(self.rows, X)
        if matrix is None:
            return None
        shown = self._predict_many(self.reading.table(matrix)).tolist()
        return together.rows_of(matrix), shown, shown

    def _learn_late(self, plays: list[Played], y: Any, weights: NDArray[np.float64] | None) -> bool:
        begins = self.rounds < START <= self.rounds + len(plays)  # the trees, and with them other sums of losses
        table = together.again(self.rows, plays) if self.at_once and not begins else None
        if table is None:
            return False
        targets, late = self._targets(y, table.rows), together.late(plays, self.rounds) > 0
        now, _ = self._rounds_of(self.reading.checked(table), targets, weights)
        shown, weight = np.array([play.memo for play in plays]), np.ones(len(late)) if weights is None else weights
        then, paid = (weight * losses_of(self.loss, yhat, targets) / self._loss_unit for yhat in (shown, now))
        for one, other in zip(then[late].tolist(), paid[late].tolist()):
            self._shown_then((one, one), (other, other))
        return True


def losses_of(loss: Any, yhat: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """ℓ(ŷ_t, y_t) of every round, without its weight."""
    from burkholder.losses.batch import values

    return values(loss, yhat, labels)
