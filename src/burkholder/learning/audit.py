"""The realised certificate for anybody's predictions: feed x, ŷ and y; no algorithm is assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder import geometries, losses
from burkholder.errors import BadInput
from burkholder.functions.base import positive
from burkholder.geometries import Coordinates
from burkholder.learning import ledger
from burkholder.learning.certificate import Certificate, Guarantee
from burkholder.learning.rows import Rows


@dataclass(frozen=True)
class AuditCertificate(Certificate):
    """How far the audited model can be from the best linear comparator, on this very stream."""

    a: float = 0.0
    g: Any = None
    rows: Any = None
    geometry: Any = None

    def realised(self, w: Any = None, radius: float | None = None) -> float:
        """Σδŷ − ⟨w, Σδx⟩, or its supremum over ‖w‖_* ≤ radius (|w_i| ≤ radius for coordinates)."""
        if (w is None) == (radius is None):
            raise BadInput("w", w, "give either a comparator w or a radius")
        if w is not None:
            return float(self.a - self.rows.comparator(w, len(self.g)) @ self.g)
        size = positive("radius", radius)
        norm = np.abs(self.g).sum() if isinstance(self.geometry, Coordinates) else self.geometry.norm(self.g)
        return self.a + size * float(norm)


class Audit:
    """Convexity alone gives Reg(w) ≤ Σδŷ − ⟨w, Σδx⟩ for every w; two running sums are all it takes.

    >>> audit = Audit(loss="squared")
    >>> for x, yhat, y in [([1.0], 0.5, 1.0), ([1.0], 0.7, 1.0)]:
    ...     audit.update(x, yhat, y)
    >>> round(audit.certificate().realised([1.0]), 2)  # the true regret is 0.25 + 0.09 - 0 = 0.34
    0.68
    """

    def __init__(self, loss: Any = "squared", geometry: Any = "l2", intercept: bool = False, **options: float) -> None:
        self.loss = losses.get(loss, **options)
        self.geometry = geometries.get(geometry)
        self.rows = Rows(intercept)
        self.ledger = ledger.empty()
        self._a, self._g = 0.0, np.zeros(0)

    @property
    def rounds(self) -> int:
        return int(self.ledger[ledger.ROUNDS])

    def update(self, x: Any, yhat: float, y: Any, weight: float = 1.0) -> None:
        """One round of the audited model."""
        (indices, values), new = self.rows.read(x)
        target = losses.label(self.loss, y)
        prediction = float(yhat)
        if not math.isfinite(prediction):
            raise BadInput("yhat", yhat, "give the finite number that was predicted")
        if not (math.isfinite(weight) and weight >= 0.0):
            raise BadInput("weight", weight, "give a finite number ≥ 0")
        book = self.ledger.copy()
        _, delta = ledger.settle(book, self.loss, prediction, target, weight, math.inf, math.inf)
        dim = max(len(self._g), int(indices.max()) + 1 if len(indices) else 0)
        g = np.zeros(dim)
        g[: len(self._g)] = self._g
        np.add.at(g, indices, delta * values)
        if not (np.all(np.isfinite(g)) and math.isfinite(book[ledger.LOSS])):
            raise BadInput("x", float(np.max(np.abs(values))), "this round overflows: rescale features or target")
        self._g, self._a = g, self._a + delta * prediction
        self.ledger[:] = book
        self.rows.keep(x, new)

    def certificate(self) -> AuditCertificate:
        """Valid at any moment, for any model."""
        g = self._g.copy() if len(self._g) else np.zeros(1)
        statement = "Σδŷ, against predicting 0"
        return AuditCertificate(
            learner="audited model",
            loss=losses.name(self.loss),
            rounds=self.rounds,
            cumulative_loss=float(self.ledger[ledger.LOSS]),
            guarantees=(Guarantee("realised regret", statement, self._a),),
            a=self._a,
            g=g,
            rows=self.rows,
            geometry=self.geometry,
        )
