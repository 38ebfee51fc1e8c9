"""The realised certificate for anybody's predictions: feed x, ŷ and y; no algorithm is assumed."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder import geometries, losses
from burkholder.errors import BadInput
from burkholder.geometries import Coordinates
from burkholder.learning import ledger, rounding
from burkholder.learning.certificate import Certificate, Comparators
from burkholder.learning.evidence import NOTHING, Evidence
from burkholder.learning.protocol import State
from burkholder.learning.rows import LARGEST, Rows, Table
from burkholder.learning.saved import audit_in, audit_out
from burkholder.learning.weights import checked_weight, checked_weights
from burkholder.losses.batch import labels
from burkholder.machine.compiling import compiled


@dataclass(frozen=True)
class AuditCertificate(Certificate):
    """How far the audited model can be from the best linear comparator, on this very stream. Nothing was promised."""

    evidence: Evidence = NOTHING
    rows: Any = None
    geometry: Any = None

    def _whom(self, w: Any, radius: float | None) -> tuple[np.ndarray | None, float]:
        if w is not None:
            return self.rows.comparator(w, len(self.evidence.g)), 0.0
        return None, float(self.comparators.radius or 0.0) if radius is None else radius

    def _realised(self, whom: tuple[np.ndarray | None, float]) -> float:
        """Σδŷ − ⟨w, Σδx⟩, or its supremum over ‖w‖_* ≤ radius (|w_i| ≤ radius for coordinates)."""
        w, radius = whom
        if w is not None:
            return self.evidence.against(w)
        # adding zeros rounds nothing: room for features far apart costs nothing
        return self.evidence.over(radius * _norm(self.geometry, self.evidence.g), radius, int(np.count_nonzero(self.evidence.g)))


@compiled
def _charge(book, loss, yhat, y, weight, delta):
    for t in range(y.size):
        _, delta[t] = ledger.settle(book, loss, yhat[t], y[t], weight[t], np.inf, np.inf)


@compiled
def _enter(sums, lean, indptr, indices, values, yhat, delta):
    """Σδx with its correction, and Σ|δx|, a row each of `sums`; Σδŷ with its correction and Σ|δŷ| in `lean`."""
    for t in range(delta.size):
        rounding.add(lean, 0, 1, delta[t] * yhat[t])
        lean[2] += abs(delta[t] * yhat[t])
        for k in range(indptr[t], indptr[t + 1]):
            i, step = indices[k], delta[t] * values[k]
            before = sums[0, i]
            after = before + step
            part = after - before
            sums[1, i] += (before - (after - part)) + (step - part)
            sums[0, i] = after
            sums[2, i] += abs(step)


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
        self.sums, self.lean = np.zeros((3, 0)), np.zeros(3)  # see `_enter`
        self._lock = threading.RLock()

    @property
    def rounds(self) -> int:
        """How many rounds were audited."""
        return int(self.ledger[ledger.ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        """The audited model's loss so far, rounds weighted as given."""
        return ledger.loss_of(self.ledger)

    @property
    def errors(self) -> int:
        """Rounds whose label had the other sign (classification)."""
        return int(self.ledger[ledger.ERRORS])

    def update(self, x: Any, yhat: float, y: Any, weight: float = 1.0) -> None:
        """One round of the audited model."""
        with self._lock:
            row = self.rows.read(x)
            target, importance = losses.label(self.loss, y), checked_weight(weight)
            try:
                prediction = float(yhat)
            except (TypeError, ValueError, OverflowError):
                prediction = math.nan
            if not math.isfinite(prediction):
                raise BadInput("yhat", yhat, "give the finite number that was predicted")
            indices, values, new = self.rows.places(row)
            table = Table(np.array([0, len(values)]), indices, values, row.kind, len(values), new)
            self._add(table, np.array([prediction]), np.array([target]), np.array([importance]))

    def run(self, X: Any, yhat: Any, y: Any, weight: Any = None) -> AuditCertificate:
        """Many rounds of the audited model at once: all of them, or none when an input is bad."""
        with self._lock:
            self._many(self.rows.table(X), yhat, y, weight)
            return self.certificate()

    def run_batch(self, indptr: Any, indices: Any, values: Any, yhat: Any, y: Any, weight: Any = None) -> None:
        """The same for rows in compressed form (scipy's CSR arrays)."""
        with self._lock:
            self._many(self.rows.compressed(indptr, indices, values), yhat, y, weight)

    def _many(self, table: Table, yhat: Any, y: Any, weight: Any) -> None:
        targets, weights = labels(self.loss, y), checked_weights(weight, table.rows)
        try:
            predictions = np.array(yhat, dtype=float).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("yhat", yhat, "give the finite numbers that were predicted") from None
        for name, array in (("y", targets), ("yhat", predictions)):
            if len(array) != table.rows:
                raise BadInput(name, f"{len(array)} numbers", f"there are {table.rows} rows: give one for each")
        good = np.isfinite(predictions)
        if not good.all():
            place = int(np.argmin(good))
            raise BadInput(f"yhat[{place}]", float(predictions[place]), "give the finite number that was predicted")
        fits = np.abs(table.values[int(table.indptr[0]) : int(table.indptr[-1])]) <= LARGEST  # false for NaN too
        if not fits.all():
            entry = int(np.argmin(fits)) + int(table.indptr[0])
            row = int(np.searchsorted(table.indptr, entry, "right")) - 1
            raise BadInput(f"X[{row}]", float(table.values[entry]), f"give finite numbers of size at most {LARGEST:g}")
        self._add(table, predictions, targets, np.ones(table.rows) if weights is None else weights)

    def _add(self, table: Table, yhat: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Ledger and Σδŷ on the side, Σδx in place; what was touched is put back unless all of it is numbers."""
        book, lean, delta = self.ledger.copy(), self.lean.copy(), np.empty(len(y))
        if self.loss.compiled:
            _charge(book, self.loss, yhat, y, weight, delta)
        else:
            for t in range(len(y)):
                _, delta[t] = ledger.settle(book, self.loss, float(yhat[t]), float(y[t]), float(weight[t]), math.inf, math.inf)
        indptr = np.ascontiguousarray(table.indptr, np.int64)
        here = slice(int(indptr[0]), int(indptr[-1]))
        indices, values = np.ascontiguousarray(table.indices[here], np.int64), np.ascontiguousarray(table.values[here], float)
        dim = max(self.sums.shape[1], int(indices.max(initial=-1)) + 1)
        room = self._room(dim)
        touched = indices if indices.size < dim else slice(0, dim)
        before = room[:, touched].copy()
        try:
            _enter(room, lean, indptr - indptr[0], indices, values, yhat, delta)
            if not (np.isfinite(room[:, touched]).all() and np.isfinite(book).all() and np.isfinite(lean).all()):
                good = np.isfinite(values) & (np.abs(values) <= 1e150)
                culprit = float(values[np.argmin(good)]) if len(values) and not good.all() else float(yhat[np.argmax(np.abs(yhat))])
                raise BadInput("x" if not good.all() else "yhat", culprit, "these rounds overflow: rescale features or target")
        except BaseException:
            room[:, touched] = before
            raise
        self.sums, self.lean = room[:, :dim], lean
        self.ledger[:] = book
        new = tuple(key for key in table.new if key not in self.rows.names and key not in self.rows.far)
        self.rows.keep(table.kind, table.length, new)

    def _room(self, dim: int) -> np.ndarray:
        """The array behind `sums`, with at least that many columns; those behind the last feature are 0."""
        for room in (self.sums.base, self.sums):
            if isinstance(room, np.ndarray) and room.ndim == 2 and room.shape[1] >= dim and room.flags.c_contiguous and len(room) == 3:
                return room
        larger = np.zeros((3, max(dim, 2 * self.sums.shape[1])))
        larger[:, : self.sums.shape[1]] = self.sums
        return larger

    def certificate(self) -> AuditCertificate:
        """Valid at any moment, for any model."""
        with self._lock:
            return AuditCertificate(
                learner="audited model",
                loss=losses.name(self.loss),
                rounds=self.rounds,
                cumulative_loss=self.cumulative_loss,
                weight=float(self.ledger[ledger.WEIGHT]),
                comparators=Comparators("⟨w, x⟩", self.geometry.dual_name, 1.0),
                evidence=self._evidence(),
                rows=self.rows,
                geometry=self.geometry,
            )

    def _evidence(self) -> Evidence:
        """The products are rounded, the sums corrected; norms are taken of bounds coordinate by coordinate."""
        rounds, unit = self.rounds, rounding.UNIT
        g = self.sums[0] + self.sums[1] if self.sums.shape[1] else np.zeros(1)
        moved = self.sums[2] * (1.0 + 1e-9) if self.sums.shape[1] else np.zeros(1)
        leaned = rounding.more(float(self.lean[2]), rounds)
        drift = (2.0 * unit + 4.0 * ((rounds + 4.0) * unit) ** 2) * moved + unit * np.abs(g) + rounds * rounding.SUBNORMAL
        reach = 1.0001 * self.geometry.longest_side
        return Evidence(
            a=float(self.lean[0] + self.lean[1]),
            g=g,
            a_error=rounding.lost(rounds, leaned) + unit * leaned,
            leaned=leaned,
            slope=(self.loss.slope_error + 2.0) * unit,
            moved=moved,
            drift=drift,
            moved_norm=reach * float(moved.sum()),  # Σ|δ|·‖x‖ ≤ Σ_i ‖e_i‖·Σ|δx_i|
            drift_norm=reach * float(drift.sum()),
        )

    def state_dict(self) -> State:
        """(header, arrays): plain data, and numpy arrays. `from_state` resumes bit for bit."""
        with self._lock:
            return audit_out(self)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Audit:
        """The audit that `state_dict` described."""
        return audit_in(cls, header, arrays)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()


def _norm(geometry: Any, g: np.ndarray) -> float:
    """The norm that pairs with comparators of size 1."""
    return float(np.abs(g).sum() if isinstance(geometry, Coordinates) else geometry.norm(g))
