"""Watches a run for its report: what the certificate said on the way, and the data for hindsight while they fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from burkholder.report import baselines

MOMENTS = 160  # at most twice as many
FIRST_STRIDE = 25
MOST_ENTRIES = 4_000_000  # numbers kept for hindsight
MOST_FEATURES = 20_000
SOLVED = 12  # moments at which hindsight is solved for


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

    @property
    def room(self) -> int:
        return max(1, self.stride - self._since)

    def _keep(self, batch: Any) -> None:
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

    def learned(self, batch: Any, learner: Any) -> None:
        """Rows that were just learned."""
        self._keep(batch)
        self._since += batch.rows
        if self._since >= self.stride:
            self._look(learner)

    def _look(self, learner: Any) -> None:
        self._since = 0
        certificate = learner.certificate()
        bounds = {item.name: item.value for item in certificate.guarantees}
        self.moments.append(
            {
                "rounds": sum(map(len, self._y)),
                "loss": certificate.cumulative_loss,
                "potential": certificate.potential,
                "bounds": {name: value for name, value in bounds.items() if value is not None and math.isfinite(value)},
            }
        )
        if len(self.moments) > 2 * MOMENTS:
            self.moments = self.moments[1::2]
            self.stride *= 2

    # --- afterwards --------------------------------------------------------------------------------------
    def _matrix(self) -> sparse.csr_matrix:
        lengths = np.concatenate([part for part, _, _ in self._rows])
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        indices = np.concatenate([part for _, part, _ in self._rows]).astype(np.int64)
        values = np.concatenate([part for _, _, part in self._rows])
        used, places = np.unique(indices, return_inverse=True)
        matrix = sparse.csr_matrix((values, places, indptr), shape=(len(lengths), max(1, len(used))))
        matrix.sum_duplicates()
        return matrix

    def hindsight(self, learner: Any) -> dict[str, Any]:
        """Curves of the baselines: rounds and constant; solved (rounds), linear, regret, against where solved for."""
        y, weight = np.concatenate(self._y), np.concatenate(self._weight)
        at = [moment["rounds"] for moment in self.moments]
        loss = learner.loss
        few = [at[k] for k in np.unique(np.linspace(0, len(at) - 1, min(40, len(at))).astype(int))]
        out: dict[str, Any] = {
            "rounds": few,
            "constant": [baselines.best_constant(loss, y[:n], weight[:n]) for n in few],
            "weights": np.cumsum(weight)[np.array(at) - 1].tolist() if at else [],
        }
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
            places = np.unique(np.linspace(0, len(at) - 1, min(SOLVED, len(at))).astype(int))
            w, linear = None, []
            for n in (at[k] for k in places):
                w, total = baselines.best_linear(loss, matrix[:n], y[:n], weight[:n], box, ball, w)
                linear.append(total)
            out |= {
                "solved": [at[k] for k in places],
                "linear": linear,
                "against": words,
                "regret": [self.moments[k]["loss"] - total for k, total in zip(places, linear)],
            }
        return out

    def write(self, session: Any) -> None:
        """The page, from the session that was watched."""
        from burkholder.report.page import write_page

        if self._since and session.learner is not None:
            self._look(session.learner)
        write_page(self, session)
