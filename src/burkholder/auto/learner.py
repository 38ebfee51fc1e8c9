"""Auto, the learner to start with: nothing to tune, and never far from the best of its lanes."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.auto import features, kernel, saving
from burkholder.auto.certificate import AutoCertificate, certify
from burkholder.auto.forest import WIDEST
from burkholder.auto.frozen import Frozen
from burkholder.auto.importance import importances
from burkholder.auto.late import LateRounds, losses_of
from burkholder.auto.nonlinear import START, TREES, Nonlinear
from burkholder.auto.plan import MIX_LOG, Plan, plan_for
from burkholder.auto.reading import Reading
from burkholder.auto.room import tables_of
from burkholder.auto.state import (
    ETA,
    FEATURES,
    HIGH,
    LOSS,
    LOSS_REST,
    LOW,
    ROUNDS,
    UNIT,
    WEIGHT_SUM,
    State,
    copied,
    grown,
    new_state,
    new_work,
)
from burkholder.auto.targets import TINY, Targets
from burkholder.errors import BadInput
from burkholder.learning.keeping import Kept
from burkholder.learning.protocol import Stretch
from burkholder.learning.tickets import MAX_PENDING
from burkholder.learning.weights import checked_weight

FORMAT = 7  # of saved states
ACCURACY = 16.0  # of a loss's formulas, in units of 2⁻⁵³: what `charged` reckons with
SPARE = 1 << 14  # rows of features kept ready at most without counting how many of them are new


class Auto(LateRounds):
    """Online prediction without tuning: linear lanes in one pass, then trees, aggregated with a guarantee.

    loss: logistic or hinge (labels ±1 or 0/1), squared, absolute, huber, pinball or epsilon-insensitive, by name
    (with its options) or as a record of burkholder.losses. Rows are vectors (list, array), sparse (indices, values),
    or dicts of named features (one learner keeps to one kind); names may appear at any time, text becomes
    an indicator, a missing value a feature of its own. Features need no scaling.

    intercept: whether a constant feature is added. low, high: the range of the labels, when it is known
    beforehand (regression); it makes the regret bound hold from the first round. full_features: up to so many
    features, lanes with full covariance run too (0: never). effort: "light" is the linear lanes alone; "default" adds twelve trees
    that weigh all their prunings, four lanes of hats and pairs and two of neighbours, on up to 128 features, asleep while they bring
    nothing; "thorough" has 32 trees, and nothing sleeps.
    max_pending: how many plays may wait for their labels.

    >>> learner = Auto(loss="absolute")
    >>> for t in range(200):
    ...     x = {"hour": t % 24, "warm": t % 2}
    ...     y = 3.0 + 2.0 * (t % 2)
    ...     yhat = learner.predict(x)
    ...     learner.update(x, y)
    >>> abs(learner.predict({"warm": 1, "hour": 3}) - 5.0) < 0.1
    True
    >>> ticket = learner.play({"warm": 0, "hour": 4})
    >>> learner.reveal(ticket.id, 3.0)
    >>> learner.certificate().rounds
    201
    """

    def __init__(
        self,
        loss: Any = "logistic",
        *,
        intercept: bool = True,
        low: float | None = None,
        high: float | None = None,
        full_features: int = 160,
        effort: str = "default",
        max_pending: int = MAX_PENDING,
        **options: float,
    ) -> None:
        super().__init__(max_pending)
        if not isinstance(effort, str) or effort not in TREES:
            raise BadInput("effort", effort, f"give one of {', '.join(TREES)}")
        self.effort = effort
        self.loss = losses.get(loss, **options)
        if not self.loss.compiled:
            raise BadInput("loss", "custom", f"Auto's loops are compiled; use one of {', '.join(losses.LOSSES)}")
        if not self.loss.classes and math.isinf(min(self.loss.smoothness, self.loss.lipschitz(math.inf))):
            raise BadInput("loss", self.loss.name, "Auto needs a loss of bounded slope or bounded second derivative")
        if self.loss.slope_error > ACCURACY:
            raise BadInput("loss", self.loss.name, f"Auto needs formulas that are right to within {ACCURACY:g} units of rounding")
        self.targets = Targets(self.loss, low, high)
        if isinstance(full_features, bool) or not isinstance(full_features, (int, np.integer)) or full_features < 0:
            raise BadInput("full_features", full_features, "give a whole number ≥ 0")
        self.plan: Plan = plan_for(self.loss, bool(intercept), self.targets.low is not None, int(full_features))
        self.state: State = new_state(self.plan)
        self.reading = Reading()
        self._unit_known = self.loss.classes
        self._nonlinear: Nonlinear | None = None
        self._late = 0  # labels that came after others had been learned
        self._late_size = 0.0  # Σ of what such rounds paid, then and now, in internal units
        self._begin()
        self._ready()

    def _begin(self) -> None:
        scalars, low, high = self.state.scalars, self.targets.low, self.targets.high
        scalars[ETA] = 1.0 if self.plan.mixing == MIX_LOG else 0.0
        if low is not None and high is not None:
            scalars[UNIT] = max(abs(low), abs(high))
            scalars[LOW], scalars[HIGH] = low / scalars[UNIT], high / scalars[UNIT]
            self._unit_known = True

    def _ready(self) -> None:
        """Everything that is not part of the state but made from it."""
        self.work = new_work(self.plan, len(self.state.stat), 1 + len(self.state.stat))
        self._tabled: Any = None
        self._inner = self.loss.scaled(float(self.state.scalars[UNIT]))  # for labels in internal units
        # one row at a time: its ends, label and weight in, prediction and loss out
        self._ends, self._given, self._weighed, self._out, self._paid = np.zeros(2, np.int64), *(np.zeros(1) for _ in range(4))

    # --- what it knows of itself -----------------------------------------------------------------------------
    @property
    def rounds(self) -> int:
        """How many labels were learned."""
        return int(self.state.scalars[ROUNDS])

    @property
    def _scalars(self) -> NDArray[np.float64]:
        """Where the loss of what was shown is kept: with the last aggregation there is."""
        return self.state.scalars if self._nonlinear is None else self._nonlinear.blend.scalars

    @property
    def cumulative_loss(self) -> float:
        """The progressive loss so far, in the target's own units, rounds weighted as given."""
        return float(self._scalars[LOSS] + self._scalars[LOSS_REST]) * self._loss_unit

    @property
    def mean_loss(self) -> float:
        """Σ weight·loss over Σ weight; NaN before the first round."""
        total = float(self.state.scalars[WEIGHT_SUM])
        return self.cumulative_loss / total if total else math.nan

    def certificate(self) -> AutoCertificate:
        """What holds now: the loss against linear comparators, and against every lane."""
        with self._lock:
            return certify(self.plan, self.state, self._nonlinear, self.loss, self.reading, (self._late, self._late_size), self.pending)

    def importances(self) -> Any:
        """How far one standard deviation of each feature moves the prediction: by name, or as an array over the indices.

        >>> learner = Auto(loss="squared")
        >>> for t in range(100):
        ...     learner.update({"a": t % 2, "b": t % 3}, 5.0 * (t % 2))
        >>> found = learner.importances()
        >>> bool(found["a"] > 2.0 > found["b"])
        True
        """
        with self._lock:
            return self.reading.by_feature(importances(self.plan, self.state), self.state.slot_of)

    def frozen(self) -> Frozen:
        """A predictor that stays as this learner is now."""
        with self._lock:
            return Frozen(copy.deepcopy(self))

    # --- one round -------------------------------------------------------------------------------------------
    def predict(self, x: Any) -> float:
        """The prediction for one row (log-odds for the logistic loss). Changes nothing."""
        with self._lock:
            known = self.reading.known(x)
            return self._forecast(*(self.reading.places(self._read(x))[:2] if known is None else known))

    def predict_proba(self, x: Any) -> float:
        """The probability of the label 1 (logistic loss)."""
        return losses.probability(self.loss, self.predict(x))

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learn from one row and its label; a bad row or label raises BadInput and changes nothing."""
        with self._lock:
            known = self.reading.known(x)
            if known is not None:
                self._round(*known, *self.targets.one(y, weight, self._unit))
                return
            self._learn(self._read(x), None, y, checked_weight(weight), 0)

    def _read(self, x: Any) -> Any:
        return self.reading.read(x)

    def _play(self, row: Any) -> tuple[float, float]:
        yhat = self._forecast(*self.reading.places(row)[:2])
        return yhat, yhat

    def check_round(self, row: Any, y: Any, weight: float) -> None:
        """Refuse what `_learn` would refuse. Changes nothing."""
        self.targets.one(y, weight, self._unit)
        self.reading.places(row)

    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        label, importance = self.targets.one(y, weight, self._unit)
        indices, values, new = self.reading.places(row)
        self.reading.keep(row.kind, len(values), new)
        learnt = self._tamed(label) if late else label
        self._round(indices, values, label, importance)
        if late:
            self._charge_late(float(memo), label, learnt, importance)

    def _forecast(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> float:
        self._ends[1] = len(indices)
        out = self._out
        kernel.run_rows(*self._arrays(), self._inner, self._ends, indices, values, out, out, out, out, False)
        if self._nonlinear is None:
            return float(out[0])
        rows = (self._ends, indices, values)
        return float(self._nonlinear.predict(self.state, rows, out, self._inner, float(self.state.scalars[UNIT]))[0])

    def _round(self, indices: NDArray[np.int64], values: NDArray[np.float64], label: float, weight: float) -> None:
        """Predict and learn one row, whose label is checked; self._out and self._paid hold what was played and paid."""
        self._make_room(indices)
        if not self._unit_known and label != 0.0:
            self._know_unit(label)
        self._ends[1], self._given[0], self._weighed[0] = len(indices), label / self.state.scalars[UNIT], weight
        arrays = self._arrays()
        kernel.run_rows(*arrays, self._inner, self._ends, indices, values, self._given, self._weighed, self._out, self._paid, True)
        if self._nonlinear is not None:
            rows = (self._ends, indices, values)
            self._out[:], self._paid[:] = self._beyond(rows, self._out, self._given, self._weighed)
        elif self.rounds == START:
            self._open()

    def _beyond(self, rows: Any, linear: Any, y: Any, weight: Any) -> tuple[Any, Any]:
        """(predictions, losses) of all lanes for rows that the linear lanes have played and learned."""
        assert self._nonlinear is not None
        return self._nonlinear.learn(self.state, rows, linear, self._inner, float(self.state.scalars[UNIT]), y, weight)

    def _open(self) -> None:
        """Let the trees begin, unless rows are wide or none are wanted."""
        trees = 0 if self.loss.margin else TREES[self.effort]
        if trees and self.state.scalars[FEATURES] <= WIDEST + 1:
            self._nonlinear = Nonlinear(self.plan, self.state, trees, self.effort == "thorough")

    # --- many rows -------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Any:
        return self.reading.table(X)

    def _targets(self, y: Any, rows: int) -> NDArray[np.float64]:
        return self.targets.many(y, rows, self._unit)

    def _predict_many(self, table: Any) -> NDArray[np.float64]:
        rows = (table.indptr, table.indices, table.values)
        linear = kernel.predict_rows(self._arrays(), self._inner, rows)
        if self._nonlinear is None:
            return linear
        return self._nonlinear.predict(self.state, rows, linear, self._inner, float(self.state.scalars[UNIT]))

    def _weights(self, weight: Any, rows: int) -> NDArray[np.float64] | None:
        weights = super()._weights(weight, rows)
        self.targets.check_weights(weights)
        return weights

    def _run(self, table: Any, targets: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Stretch:
        yhat, paid = self._rounds_of(table, targets, weights)
        if weights is not None:
            paid = losses_of(self.loss, yhat, targets)
        return Stretch(yhat, paid)

    def _rounds_of(
        self, table: Any, targets: NDArray[np.float64], weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self.reading.keep_table(table)
        self._make_room(table.indices[table.indptr[0] : table.indptr[-1]])
        labels = np.where(np.abs(targets) < TINY, 0.0, targets)
        if not self._unit_known and np.any(labels != 0.0):
            self._know_unit(float(labels[np.flatnonzero(labels)[0]]))
        weight = np.ones(len(labels)) if weights is None else weights
        inside = labels / self.state.scalars[UNIT]
        parts: list[tuple[Any, Any]] = []
        start = 0
        while start < len(labels) or not parts:
            # what follows the linear lanes begins after START rounds, so there the rows are cut
            stop = start + START - self.rounds if self.rounds < START else len(labels)
            part = slice(start, min(stop, len(labels)))
            rows = (table.indptr[part.start : part.stop + 1], table.indices, table.values)
            yhat, paid = kernel.learn_rows(self._arrays(), self._inner, rows, inside[part], weight[part])
            if self._nonlinear is not None:
                yhat, paid = self._beyond(rows, yhat, inside[part], weight[part])
            elif self.rounds == START and part.stop > part.start:
                self._open()
            parts.append((yhat, paid))
            start = part.stop
        yhat, paid = (np.concatenate(each) for each in zip(*parts))
        return yhat, paid * self._loss_unit

    def run_batch(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None) -> NDArray[np.float64]:
        """Predictions for a chunk of sparse rows (CSR arrays), each made before its label is learned."""
        with self._lock:
            table = self.reading.compressed(indptr, indices, values)
            targets, weights = self._targets(y, table.rows), self._weights(weight, table.rows)
            return self._rounds_of(table, targets, weights)[0]

    def predict_batch(self, indptr: Any, indices: Any, values: Any) -> NDArray[np.float64]:
        """The prediction for each of some sparse rows (CSR arrays). Changes nothing."""
        with self._lock:
            return self._predict_many(self.reading.compressed(indptr, indices, values))

    # --- room ------------------------------------------------------------------------------------------------
    @property
    def _unit(self) -> float | None:
        return float(self.state.scalars[UNIT]) if self._unit_known else None

    def _know_unit(self, label: float) -> None:
        # until then every label and so every weight was 0: nothing has to be converted
        self.state.scalars[UNIT] = abs(label)
        self._unit_known, self._inner = True, self.loss.scaled(abs(label))

    def _arrays(self) -> tuple[Any, Any, Any]:
        """What the loops read; made anew when an array was replaced."""
        known = self._tabled
        if known is None or known[0] is not self.state or known[1] is not self.work:
            self._tabled = known = (self.state, self.work, tables_of(self.plan, self.state, self.work))
        return known[2]

    def _make_room(self, ids: NDArray[np.int64]) -> None:
        """Grow the arrays for what these rows can bring, so that the compiled loop never has to."""
        if not ids.size:
            return
        top, have = int(ids.max()) + 1, int(self.state.scalars[FEATURES])
        if top > len(self.state.slot_of):
            self.state = grown(self.plan, self.state, 0, top)
        new = min(ids.size, top)
        if have + new > len(self.state.stat):
            if new > SPARE:  # otherwise not worth counting
                new = int(features.count_unseen(self.state.slot_of, np.ascontiguousarray(ids, np.int64)))
            self.state = grown(self.plan, self.state, have + new, top)
        if len(self.work.mark) < len(self.state.stat):
            self.work = new_work(self.plan, len(self.state.stat), 1 + len(self.state.stat))

    def _undo(self) -> Callable[[], None]:
        """Arrays and names as they are; plays and settings are not touched by a run."""
        arrays = Kept(self.state._asdict())
        names, late = self.reading.mark(), (self._unit_known, self._late, self._late_size)
        beyond = self._nonlinear
        learned = None if beyond is None else beyond.kept()

        def back() -> None:
            self.state = State(**{name: copied(array) for name, array in arrays.items()})
            self.reading.back_to(names)
            self._unit_known, self._late, self._late_size = late
            self._nonlinear = beyond
            if beyond is not None and learned is not None:
                beyond.restore(learned)
            self._ready()

        return back

    # --- saved and copied ------------------------------------------------------------------------------------
    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """(header, arrays): plain data for JSON, and numpy arrays. `from_state` resumes bit for bit."""
        return saving.described(self)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray]) -> Auto:
        """The learner that `state_dict` described."""
        return saving.restored(cls, header, arrays)

    def __getstate__(self) -> dict[str, Any]:
        # addresses of this very learner's arrays must not reach a copy
        return {**super().__getstate__(), "work": None, "_tabled": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.state = State(*(copied(array) for array in self.state))
        self._ready()
