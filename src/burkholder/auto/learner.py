"""Auto, the learner to start with: nothing to tune, and never far from the best of its lanes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.auto import features, kernel, rows, schema
from burkholder.auto.certificate import AutoCertificate, certify
from burkholder.auto.chosen import Chosen, chosen
from burkholder.auto.plan import MIX_LOG, Plan, plan_for
from burkholder.auto.result import Run
from burkholder.auto.state import ETA, FEATURES, HIGH, LOSS, LOW, ROUNDS, UNIT, State, copied, grown, new_state, new_work
from burkholder.errors import BadInput

FORMAT = 2  # of saved states
TINY = 1e-140  # smaller labels are taken for 0, larger ones than HUGE overflow when squared
HUGE = 1e140
SPARE = 1 << 14  # rows of features kept ready at most without counting how many of them are new


class Auto:
    """Online linear prediction without tuning: several lanes in one pass, aggregated with a guarantee.

    loss: logistic or hinge (labels ±1 or 0/1), squared, absolute, huber, pinball or epsilon-insensitive, by name
    (with its options) or as a record of burkholder.losses. Rows are dense (list, array), sparse (indices, values),
    or dicts of named features (one learner keeps to dicts, or to indices); names may appear at any time, text becomes
    an indicator. Features need no scaling.

    intercept: whether a constant feature is added. low, high: the range of the labels, when it is known
    beforehand (regression); it makes the regret bound hold from the first round. full_features: up to so many
    features, lanes with full covariance run too (0: never).

    >>> learner = Auto(loss="absolute")
    >>> for t in range(200):
    ...     x = {"hour": t % 24, "warm": t % 2}
    ...     y = 3.0 + 2.0 * (t % 2)
    ...     yhat = learner.predict(x)
    ...     learner.update(x, y)
    >>> abs(learner.predict({"warm": 1, "hour": 3}) - 5.0) < 0.1
    True
    >>> learner.certificate().rounds
    200
    """

    def __init__(
        self,
        loss: Any = "logistic",
        *,
        intercept: bool = True,
        low: float | None = None,
        high: float | None = None,
        full_features: int = 64,
        **options: float,
    ) -> None:
        self.loss = losses.get(loss, **options)
        if isinstance(self.loss, losses.Custom):
            raise BadInput("loss", "custom", f"Auto's loops are compiled; use one of {', '.join(losses.LOSSES)}")
        self.low, self.high = _check_range(self.loss, low, high)
        if isinstance(full_features, bool) or int(full_features) != full_features or full_features < 0:
            raise BadInput("full_features", full_features, "give a whole number ≥ 0")
        self.plan: Plan = plan_for(self.loss, bool(intercept), self.low is not None, int(full_features))
        self.state: State = new_state(self.plan)
        self.names = rows.Names()
        self._unit_known = losses.is_classification(self.loss)
        self._begin()
        self._fit_work(1)

    def _begin(self) -> None:
        scalars = self.state.scalars
        scalars[ETA] = 1.0 if self.plan.mixing == MIX_LOG else 0.0
        if self.low is not None and self.high is not None:
            scalars[UNIT] = max(abs(self.low), abs(self.high))
            scalars[LOW], scalars[HIGH] = self.low / scalars[UNIT], self.high / scalars[UNIT]
            self._unit_known = True

    @property
    def rounds(self) -> int:
        """How many labels were seen."""
        return int(self.state.scalars[ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        """The progressive loss so far, in the target's own units, rounds weighted as given."""
        return float(self.state.scalars[LOSS]) * self._loss_unit()

    @property
    def mean_loss(self) -> float:
        """Progressive loss a round; NaN before the first."""
        return self.cumulative_loss / self.rounds if self.rounds else math.nan

    def predict(self, x: Any) -> float:
        """The prediction for one row (log-odds for the logistic loss). Changes nothing."""
        ids, values = rows.row(x, self.names, grow=False)
        return self._predict(ids, values)

    def predict_proba(self, x: Any) -> float:
        """The probability of the label 1 (logistic loss)."""
        if not isinstance(self.loss, losses.Logistic):
            raise BadInput("loss", losses.name(self.loss), "probabilities need the logistic loss")
        margin = self.predict(x)
        e = math.exp(-abs(margin))
        return 1.0 / (1.0 + e) if margin > 0 else e / (1.0 + e)

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learn from one row and its label; a bad row or label raises BadInput and changes nothing."""
        label, w = self._label(y), _check_weight(weight)
        rows.row(x, self.names, grow=False)  # refuse a bad row before any of its names is taken in
        ids, values = rows.row(x, self.names, grow=True)
        self._learn(np.array([0, len(ids)]), ids, values, np.array([label]), np.array([w]))

    def run(self, X: Any, y: Any, weight: Any = None) -> Run:
        """Predict, then learn, on every row of a scipy sparse matrix or dense array: the loop, compiled.

        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> run = Auto(loss="squared").run(X, X @ [1.0, -2.0, 0.5])
        >>> bool(run.losses[-100:].mean() < 0.01)
        True
        """
        if self.names.table is not None:
            self.names.table.row(X)  # refuses a bare matrix
        indptr, indices, values = rows.matrix(X)
        labels, weights = self._labels(y), _weights(weight, len(indptr) - 1)
        if len(labels) != len(indptr) - 1:
            raise BadInput("y", f"{len(labels)} labels", f"give one a row: {len(indptr) - 1}")
        self.names.keep_to("indexed", grow=True)
        indices = rows.large_ids(indices, self.names, grow=True)
        yhat, losses_ = self._learn(indptr, indices, values, labels, weights)
        return Run(yhat, losses_, labels, self.certificate())

    def run_batch(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None) -> NDArray[np.float64]:
        """Predictions for a chunk of sparse rows (CSR arrays), each made before its label is learned."""
        starts = rows.check_ids(indptr, "indptr")
        ids, numbers = rows.check_ids(indices), rows.numbers(values, "values")
        labels = self._labels(y)
        if len(starts) != len(labels) + 1 or starts[0] != 0 or starts[-1] != len(ids) or np.any(np.diff(starts) < 0):
            raise BadInput("indptr", indptr, "it must rise from 0 to len(indices), with one entry more than y")
        if len(ids) != len(numbers):
            raise BadInput("values", f"{len(numbers)} values", f"give one for each of the {len(ids)} indices")
        weights = _weights(weight, len(labels))
        self.names.keep_to("indexed", grow=True)
        return self._learn(starts, rows.large_ids(ids, self.names, grow=True), numbers, labels, weights)[0]

    def certificate(self) -> AutoCertificate:
        """What holds now: the loss against every lane, and against linear comparators."""
        return certify(self.plan, self.state, self.loss, self._loss_unit())

    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """(header, arrays): plain data for JSON, and numpy arrays. `from_state` resumes bit for bit."""
        header = {
            "learner": "auto",
            "format": FORMAT,
            "loss": losses.name(self.loss),
            "options": dict(self.loss._asdict()),
            "intercept": bool(self.plan.intercept),
            "low": self.low,
            "high": self.high,
            "full_features": self.plan.full_features,
            "unit_known": self._unit_known,
            "names": list(self.names.ids),
            "rows": self.names.kind,
        }
        return header, {name: array.copy() for name, array in self.state._asdict().items()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray]) -> Auto:
        """The learner that `state_dict` described."""
        schema.check(header, arrays, FORMAT)
        learner = cls(
            header["loss"],
            intercept=header["intercept"],
            low=header["low"],
            high=header["high"],
            full_features=header["full_features"],
            **header["options"],
        )
        copies = {name: copied(arrays[name]) for name in State._fields}
        learner.state = State(**copies)
        learner.names = rows.Names({name: place for place, name in enumerate(header["names"])}, header["rows"])
        learner._unit_known = header["unit_known"]
        learner._fit_work(1)
        return learner

    @property
    def _degree(self) -> int:
        """The loss of labels twice as large is 2^degree times as large."""
        return 2 if isinstance(self.loss, (losses.Squared, losses.Huber)) else 1

    def _loss_unit(self) -> float:
        """What one unit of internal loss is worth: labels are divided by the first nonzero one."""
        return float(self.state.scalars[UNIT]) ** self._degree

    def _inner_loss(self) -> Chosen:
        """The loss for labels in internal units: thresholds are divided by the unit of the labels too."""
        inner = chosen(self.loss)
        if isinstance(self.loss, (losses.Huber, losses.EpsilonInsensitive)):
            inner = inner._replace(parameter=inner.parameter / float(self.state.scalars[UNIT]))
        return inner

    def _label(self, y: Any) -> float:
        label = losses.label(self.loss, y)
        if abs(label) > HUGE and self._degree == 2:
            raise BadInput("y", y, f"its square overflows; divide the targets so that they stay below {HUGE:g}")
        if self.low is not None and self.high is not None and not self.low <= label <= self.high:
            raise BadInput("y", y, f"targets must lie in [{self.low:g}, {self.high:g}], the range given")
        return label

    def _labels(self, y: Any) -> NDArray[np.float64]:
        labels = np.asarray(y)
        if labels.ndim != 1:
            raise BadInput("y", labels.shape, "give one label a row")
        good = np.zeros(len(labels), dtype=bool)
        if labels.dtype.kind in "biuf":
            numbers = labels.astype(np.float64)
            if losses.is_classification(self.loss):
                good = (numbers == 1.0) | (numbers == -1.0) | (numbers == 0.0)
            elif self.low is not None and self.high is not None:
                good = (numbers >= self.low) & (numbers <= self.high)
            else:
                good = np.abs(numbers) <= (HUGE if self._degree == 2 else np.finfo(np.float64).max)
        if not good.all():
            for label in np.unique(labels[~good]):  # refuses the first bad one; text may hold numbers
                self._label(label)
            numbers = labels.astype(np.float64)
        return np.where(numbers == 1.0, 1.0, -1.0) if losses.is_classification(self.loss) else numbers

    def _predict(self, ids: NDArray[np.int64], values: NDArray[np.float64]) -> float:
        if len(ids) + 1 + int(self.state.dense_count[0]) > len(self.work.slot):
            self._fit_work(len(ids))
        return float(kernel.predict_row(self.plan, self.state, self.work, ids, values))

    def _learn(
        self,
        indptr: NDArray[np.int64],
        ids: NDArray[np.int64],
        values: NDArray[np.float64],
        labels: NDArray[np.float64],
        weight: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self._make_room(indptr, ids)
        scalars = self.state.scalars
        labels = np.where(np.abs(labels) < TINY, 0.0, labels)
        if not self._unit_known and np.any(labels != 0.0):
            # until then every label and so every weight was 0: nothing has to be converted
            scalars[UNIT] = abs(labels[np.flatnonzero(labels)[0]])
            self._unit_known = True
        yhat, paid = np.empty(len(labels)), np.empty(len(labels))
        kernel.run_rows(
            self.plan, self._inner_loss(), self.state, self.work, indptr, ids, values, labels / scalars[UNIT], weight, yhat, paid
        )
        return yhat, paid * self._loss_unit()

    def _make_room(self, indptr: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Grow the arrays for what these rows can bring, so that the compiled loop never has to."""
        top = int(ids.max()) + 1 if ids.size else 0
        self.state = grown(self.plan, self.state, 0, top)
        new = min(ids.size, top)
        if new > SPARE:  # otherwise not worth counting
            new = int(features.count_unseen(self.state.slot_of, ids))
        self.state = grown(self.plan, self.state, int(self.state.scalars[FEATURES]) + new, top)
        longest = int(np.diff(indptr).max()) if len(indptr) > 1 else 0
        room = longest + 1 + len(self.state.stat)
        if len(self.work.mark) < len(self.state.stat) or len(self.work.slot) < room:
            self._fit_work(longest)

    def _fit_work(self, touched: int) -> None:
        self.work = new_work(self.plan, len(self.state.stat), touched + 1 + len(self.state.stat))


def _check_range(loss: Any, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    if low is None and high is None:
        return None, None
    if losses.is_classification(loss):
        raise BadInput("low", low, "a range is for regression; classes are -1 and 1")
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadInput("low, high", (low, high), "give both, finite, low < high")
    return float(low), float(high)


def _check_weight(weight: float) -> float:
    if not (isinstance(weight, (int, float, np.number)) and math.isfinite(weight) and weight >= 0):
        raise BadInput("weight", weight, "give a finite number ≥ 0")
    return float(weight)


def _weights(weight: Any, rounds: int) -> NDArray[np.float64]:
    if weight is None:
        return np.ones(rounds)
    array = np.ascontiguousarray(weight, dtype=np.float64)
    if array.shape != (rounds,) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise BadInput("weight", weight, "give one finite number ≥ 0 a row")
    return array
