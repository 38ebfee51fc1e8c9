"""Auto, the learner to start with: nothing to tune, and never far from the best of its lanes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.auto import kernel
from burkholder.auto.plan import MIX_SQUARE, plan_for
from burkholder.auto.rows import Names, check_ids, large_ids, matrix, row
from burkholder.auto.state import (
    ETA, FEATURES, HIGH, LOSS, LOW, ROUNDS, State, UNIT, grown, new_state, new_work,
)
from burkholder.errors import BadInput


class Auto:
    def __init__(self, loss: Any = "logistic", *, intercept: bool = True, low: float | None = None,
                 high: float | None = None, full_features: int = 64, **options: float) -> None:
        self.loss = losses.get(loss, **options)
        if isinstance(self.loss, losses.Custom):
            raise BadInput("loss", "custom", "Auto's loops are compiled: use one of the named losses")
        self.low, self.high = low, high
        given = low is not None
        self.plan = plan_for(self.loss, intercept, given, full_features)
        self.state = new_state(self.plan)
        self.names = Names()
        self._fit_work(1)
        self.unit_set = losses.is_classification(self.loss)
        scalars = self.state.scalars
        scalars[ETA] = 1.0
        if self.plan.mixing == MIX_SQUARE:
            scalars[ETA] = 0.0
        if given:
            unit = max(abs(low), abs(high)) or 1.0
            scalars[UNIT], scalars[LOW], scalars[HIGH] = unit, low / unit, high / unit
            self.unit_set = True
            if self.plan.mixing == MIX_SQUARE:
                scalars[ETA] = 2.0 / (scalars[HIGH] - scalars[LOW]) ** 2

    def _fit_work(self, touched: int) -> None:
        self.work = new_work(self.plan, len(self.state.stat), touched + 1 + len(self.state.stat))

    @property
    def degree(self):
        return 2 if isinstance(self.loss, (losses.Squared, losses.Huber)) else 1

    @property
    def rounds(self) -> int:
        return int(self.state.scalars[ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        return float(self.state.scalars[LOSS] * self.state.scalars[UNIT] ** self.degree)

    def _inner_loss(self):
        unit = float(self.state.scalars[UNIT])
        if isinstance(self.loss, losses.Huber):
            return losses.Huber(self.loss.threshold / unit)
        if isinstance(self.loss, losses.EpsilonInsensitive):
            return losses.EpsilonInsensitive(self.loss.epsilon / unit)
        return self.loss

    def predict(self, x: Any) -> float:
        ids, values = row(x, self.names, grow=False)
        if len(ids) + 1 + self.state.dense_count[0] > len(self.work.slot):
            self._fit_work(len(ids))
        return float(kernel.predict_row(self.plan, self.state, self.work, ids, values))

    def update(self, x: Any, y: float, weight: float = 1.0) -> None:
        label = losses.label(self.loss, y)
        ids, values = row(x, self.names, grow=True)
        self.run_batch(np.array([0, len(ids)]), ids, values, np.array([label]), np.array([weight]))

    def run_batch(self, indptr, indices, values, y, weight=None):
        n = len(y)
        weight = np.ones(n) if weight is None else weight
        labels = np.asarray(y, np.float64)
        self._make_room(indptr, indices)
        if not self.unit_set and np.any(labels != 0):
            self.state.scalars[UNIT] = abs(labels[np.flatnonzero(labels)[0]])
            self.unit_set = True
        yhat, paid = np.empty(n), np.empty(n)
        unit = self.state.scalars[UNIT]
        kernel.run_rows(self.plan, self._inner_loss(), self.state, self.work, indptr, indices, values,
                        labels / unit, weight, yhat, paid)
        self.paid = paid * unit ** self.degree
        return yhat

    def _make_room(self, indptr, indices) -> None:
        state = self.state
        ids = int(indices.max()) + 1 if indices.size else 0
        if ids > len(state.slot_of):
            self.state = state = grown(self.plan, state, 0, ids)
        unseen = indices[state.slot_of[indices] < 0]
        new = len(np.unique(unseen)) if unseen.size else 0
        have = int(state.scalars[FEATURES])
        self.state = grown(self.plan, state, have + new, ids)
        longest = int(np.diff(indptr).max()) if len(indptr) > 1 else 0
        if len(self.work.mark) < len(self.state.stat) or len(self.work.slot) < longest + 1 + len(self.state.stat):
            self._fit_work(longest)

    def run(self, X, y, weight=None):
        indptr, indices, values = matrix(X)
        labels = np.array([losses.label(self.loss, v) for v in y])
        return self.run_batch(indptr, indices, values, labels, weight)
