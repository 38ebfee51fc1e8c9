"""Watches a run for its report: what the certificate said on the way, what the errors were, and the data for hindsight while they fit."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import scipy  # its parts are imported when first used: most runs never do

from burkholder.report import baselines

MOMENTS = 60  # at most twice as many
FIRST_STRIDE = 25  # rows between the first looks, at least
MOST_ENTRIES = 4_000_000  # numbers kept for hindsight
MOST_FEATURES = 20_000
CONSTANTS = 12  # moments at which the best constant is found
BINS = 10
NAMED = 4_000  # features of the first rows whose words are looked up
SHARE = 0.5  # of the run's own time that hindsight may take


class Recorder:
    """Fed between pieces of a run; `room` says how many rows to learn before it wants to look again."""

    def __init__(self, path: str, radius: float | None = None) -> None:
        self.path, self.radius = path, radius
        self.moments: list[dict[str, Any]] = []
        self.stride, self._since = FIRST_STRIDE, 0
        self._y: list[np.ndarray] = []
        self._weight: list[np.ndarray] = []
        self._rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._entries = 0
        self.kept = True  # whether every row so far was kept
        self.skipped = 0  # rows learned by an earlier, interrupted run
        self.rounds = 0  # rows met so far
        self._hits = np.zeros((0, 0), np.int64)  # rows by what they were and what was said, by place
        self._classes: dict[str, int] = {}  # what was or was said → its place
        self.calibration = np.zeros((3, BINS))  # rows, Σ probability, rows of class 1
        self._residual = np.zeros(3)  # since the last look: rows, Σ(y − ŷ), Σ(y − ŷ)²

    @property
    def room(self) -> int:
        return max(1, self.stride - self._since)

    def expects(self, rows: int, share: float | None) -> None:
        """The first rows are so large a share of the data: look as often as the whole of them asks for, and no more often."""
        if not self.moments and share:
            self.stride = max(FIRST_STRIDE, int(rows / min(share, 1.0) / MOMENTS))

    def _keep(self, batch: Any) -> None:
        self.rounds += batch.rows
        self._y.append(np.array(batch.y, float))
        self._weight.append(np.array(batch.weight, float))
        self._entries += len(batch.values)
        if self._entries > MOST_ENTRIES:
            self.kept, self._rows = False, []
        if self.kept:
            self._rows.append((np.diff(batch.indptr), np.array(batch.indices), np.array(batch.values, float)))

    def passed(self, batch: Any) -> None:
        """Rows that an earlier run had learned."""
        self.skipped += batch.rows
        self._keep(batch)

    def learned(self, batch: Any, learner: Any, task: Any, yhat: Any) -> None:
        """Rows that were just learned, and what was predicted for them."""
        self._keep(batch)
        self._judge(batch.y, task, yhat)
        self._since += batch.rows
        if self._since >= self.stride:
            self._look(learner)

    def _judge(self, y: np.ndarray, task: Any, yhat: Any) -> None:
        """Count hits and misses, probabilities, residuals: whatever this kind of label has."""
        if not task.classifies:
            off = y - yhat
            self._residual += [len(off), off.sum(), off @ off]
            return
        was = np.array([self._place(name) for name in task.names])[task.places(y)]
        if task.kind == "many":
            said = np.array([self._place("nothing yet" if label is None else str(label)) for label in yhat], np.int64)
        else:
            said = np.array([self._place(name) for name in task.names[:2]])[(yhat > 0.0).astype(int)]
        size = len(self._classes)
        if size > len(self._hits):
            grown = np.zeros((size, size), np.int64)
            grown[: len(self._hits), : len(self._hits)] = self._hits
            self._hits = grown
        self._hits += np.bincount(was * size + said, minlength=size * size).reshape(size, size)
        if task.kind == "two" and task.loss.odds:
            p = 0.5 * (1.0 + np.tanh(0.5 * yhat))
            place = np.minimum((BINS * p).astype(int), BINS - 1)
            for row, terms in enumerate((np.ones(len(p)), p, (y > 0.0).astype(float))):
                self.calibration[row] += np.bincount(place, weights=terms, minlength=BINS)

    def _place(self, name: str) -> int:
        return self._classes.setdefault(name, len(self._classes))

    @property
    def confusion(self) -> dict[tuple[str, str], int]:
        """(was, said) → rows."""
        names = list(self._classes)
        return {(names[i], names[j]): int(self._hits[i, j]) for i, j in zip(*np.nonzero(self._hits))}

    def _look(self, learner: Any) -> None:
        self._since = 0
        certificate = learner.certificate()
        bounds = {item.name: item.value for item in certificate.guarantees}
        rows, total, squares = self._residual.tolist()
        self._residual = np.zeros(3)
        self.moments.append(
            {
                "rounds": self.rounds,
                "loss": certificate.cumulative_loss,
                "potential": certificate.potential,
                "bounds": {name: value for name, value in bounds.items() if value is not None and math.isfinite(value)},
                "residual": (total / rows, math.sqrt(squares / rows)) if rows and math.isfinite(squares) else None,
            }
        )
        if len(self.moments) > 2 * MOMENTS:
            self.moments = self.moments[1::2]
            self.stride *= 2

    # --- afterwards --------------------------------------------------------------------------------------
    def _matrix(self) -> scipy.sparse.csr_matrix:
        lengths = np.concatenate([part for part, _, _ in self._rows])
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        indices = np.concatenate([part for _, part, _ in self._rows]).astype(np.int64)
        values = np.concatenate([part for _, _, part in self._rows])
        used, places = np.unique(indices, return_inverse=True)
        matrix = scipy.sparse.csr_matrix((values, places, indptr), shape=(len(lengths), max(1, len(used))))
        matrix.sum_duplicates()
        return matrix

    def hindsight(self, learner: Any, seconds: float = math.inf) -> dict[str, Any]:
        """Curves of the baselines: rounds and constant; solved (rounds), linear, regret, against, stated where solved for.

        The best linear comparator is that of all rows, and the solver is stopped after a share of the run's `seconds`: whatever it
        has found by then is a comparator, and the regret against it was really had.
        """
        y, weight = np.concatenate(self._y), np.concatenate(self._weight)
        at = [moment["rounds"] for moment in self.moments]
        out: dict[str, Any] = {"weights": np.cumsum(weight)[np.array(at) - 1].tolist() if at else []}
        if hasattr(learner, "classes"):
            return {**out, "why": "not solved for: several classes"}
        loss = learner.loss
        few = [at[k] for k in np.unique(np.linspace(0, len(at) - 1, min(CONSTANTS, len(at))).astype(int))]
        out |= {"rounds": few, "constant": [baselines.best_constant(loss, y[:n], weight[:n]) for n in few]}
        limits = baselines.limits(learner, self.radius)
        if not self.kept:
            out["why"] = f"not solved for: the stream has more than {MOST_ENTRIES:,} numbers"
        elif limits is None:
            out["why"] = "not solved for: no solver for this learner's comparators is built in"
        else:
            matrix = self._matrix()
            if matrix.shape[1] > MOST_FEATURES:
                out["why"] = f"not solved for: the stream has more than {MOST_FEATURES:,} features"
                return out
            box, ball, words = limits
            w, _ = baselines.best_linear(loss, matrix, y, weight, box, ball, seconds=max(0.25, SHARE * seconds))
            paid = np.cumsum(weight * baselines.each(loss, matrix @ w, y))
            linear = [float(paid[n - 1]) for n in at]
            out |= {
                "solved": at,
                "linear": linear,
                "against": words,
                "stated": box is not None or ball is not None,  # whether these are the comparators the certificate speaks of
                "regret": [moment["loss"] - total for moment, total in zip(self.moments, linear)],
            }
        return out

    def words(self, reading: Any, data: str) -> dict[int, str]:
        """The names of hashed features, from the first rows of the file; none where it cannot be read again."""
        from burkholder.errors import BurkholderError
        from burkholder.streams.readers import open_reader

        if reading is None or data == "-":
            return {}
        try:
            with open_reader(data, reading=reading, labels="ignored", named=True, skip_bad=True) as reader:
                batch = next(iter(reader))
                first = zip((batch.indices - reading.constant).tolist(), reader.names(batch))
                return dict(islice(first, NAMED))
        except (BurkholderError, StopIteration):
            return {}

    def write(self, session: Any, result: dict[str, Any]) -> None:
        """The page, from the session that was watched and what is told of it."""
        from burkholder.report.page import write_page

        if self._since and session.learner is not None:
            self._look(session.learner)
        write_page(self, session, result)
