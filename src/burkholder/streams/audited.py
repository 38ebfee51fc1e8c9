"""An audit fed in batches: the same sums as `Audit.update`, a block of rows at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import ledger
from burkholder.learning.audit import Audit
from burkholder.losses.batch import labels
from burkholder.machine.compiling import compiled
from burkholder.streams.readers.batch import with_intercept

DIRECT = 1 << 22  # features from here on are summed in the order they appear


@compiled
def _charge(book, loss, yhat, y, weight, delta):  # type: ignore[no-untyped-def]
    for t in range(y.size):
        _, delta[t] = ledger.settle(book, loss, yhat[t], y[t], weight[t], np.inf, np.inf)


class StreamAudit(Audit):
    """`Audit` with `run_batch`.

    >>> audit = StreamAudit(loss="squared")
    >>> audit.run_batch([0, 1, 2], [0, 0], [1.0, 1.0], yhat=[0.5, 0.7], y=[1.0, 1.0])
    >>> round(audit.certificate().realised([1.0]), 2)
    0.68
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._far: dict[int, int] = {}  # places of features whose numbers are too large to be places

    def run_batch(self, indptr: Any, indices: Any, values: Any, yhat: Any, y: Any, weight: Any = None) -> None:
        """Rounds of the audited model, rows in compressed form. Bad input leaves the audit as it was."""
        targets = labels(self.loss, y)
        predictions = np.ascontiguousarray(yhat, dtype=float)
        weights = np.ones(len(targets)) if weight is None else np.ascontiguousarray(weight, dtype=float)
        if not np.isfinite(predictions).all():
            place = int(np.argmin(np.isfinite(predictions)))
            raise BadInput(f"yhat[{place}]", float(predictions[place]), "give the finite number that was predicted")
        where, numbers, bounds = np.asarray(indices), np.asarray(values, dtype=float), np.asarray(indptr, dtype=np.int64)
        if self.rows.intercept:
            bounds, where, numbers = with_constant(bounds, where, numbers)
        book, delta = self.ledger.copy(), np.empty(len(targets))
        _charge(book, self.loss, predictions, targets, weights, delta)
        places, fresh = self._places(where)
        g = np.zeros(max(len(self._g), int(places.max()) + 1 if len(places) else 0))
        g[: len(self._g)] = self._g
        np.add.at(g, places, np.repeat(delta, np.diff(bounds)) * numbers)
        a = self._a + float(delta @ predictions)
        if not (np.isfinite(g).all() and math.isfinite(book[ledger.LOSS]) and math.isfinite(a)):
            raise BadInput("x", float(np.max(np.abs(numbers))), "these rounds overflow: rescale features or target")
        self._g, self._a = g, a
        self.ledger[:] = book
        self.rows.keep((), [])
        self._far |= fresh

    def _places(self, where: np.ndarray) -> tuple[np.ndarray, dict[int, int]]:
        """Where each feature is summed, and the far ones among them that are new: memory follows the features seen."""
        far = where >= DIRECT
        if not far.any():
            return where, {}
        known, places = self._far, where.astype(np.int64)
        fresh: dict[int, int] = {}
        ids, back = np.unique(where[far], return_inverse=True)
        for id in ids.tolist():
            if id not in known:
                fresh[id] = DIRECT + len(known) + len(fresh)
        places[far] = np.array([known.get(id, fresh.get(id, -1)) for id in ids.tolist()])[back]
        return places, fresh


def with_constant(bounds: np.ndarray, where: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same rows with the constant 1 in front, as feature 0."""
    rows, size = len(bounds) - 1, len(numbers) + len(bounds) - 1
    out = np.empty(rows + 1, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size)
    with_intercept(bounds, where, numbers, *out)
    return out
