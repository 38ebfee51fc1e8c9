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

    def run_batch(self, indptr: Any, indices: Any, values: Any, yhat: Any, y: Any, weight: Any = None) -> None:
        """Rounds of the audited model, rows in compressed form. Bad input leaves the audit as it was."""
        targets = labels(self.loss, y)
        predictions = np.ascontiguousarray(yhat, dtype=float)
        weights = np.ones(len(targets)) if weight is None else np.ascontiguousarray(weight, dtype=float)
        if not np.isfinite(predictions).all():
            place = int(np.argmin(np.isfinite(predictions)))
            raise BadInput(f"yhat[{place}]", float(predictions[place]), "give the finite number that was predicted")
        where, numbers = np.asarray(indices), np.asarray(values, dtype=float)
        book, delta = self.ledger.copy(), np.empty(len(targets))
        _charge(book, self.loss, predictions, targets, weights, delta)
        products = np.repeat(delta, np.diff(indptr)) * numbers
        dim = max(len(self._g), int(where.max()) + 1 if len(where) else 0)
        g = np.zeros(dim)
        g[: len(self._g)] = self._g
        np.add.at(g, where, products)
        a = self._a + float(delta @ predictions)
        if not (np.isfinite(g).all() and math.isfinite(book[ledger.LOSS]) and math.isfinite(a)):
            raise BadInput("x", float(np.max(np.abs(numbers))), "these rounds overflow: rescale features or target")
        self._g, self._a = g, a
        self.ledger[:] = book
        self.rows.keep((), [])
