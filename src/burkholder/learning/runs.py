"""A whole stream learned in one go, and what it looked like on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its parts are imported when first used

from burkholder.errors import BadInput, MissingExtra
from burkholder.losses.batch import labels, values


@dataclass(frozen=True)
class Run:
    """Progressive predictions and losses, the certificate at the end, and a trace of the way there."""

    predictions: np.ndarray
    losses: np.ndarray
    certificate: Any
    trace: dict[str, np.ndarray]

    @property
    def mean_loss(self) -> float:
        return float(np.mean(self.losses)) if len(self.losses) else float("nan")

    def plot(self, path: str | None = None) -> Any:
        """Mean loss, certificate and potential over time; saved when a path is given."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("matplotlib", "report") from None
        figure = Figure(figsize=(9, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(self.trace["rounds"], self.trace["mean_loss"])
        left.set(xlabel="rounds", ylabel="mean loss so far", title=self.certificate.learner)
        for key, label in (("promised", "promised in advance"), ("realised", "realised on this stream")):
            right.plot(self.trace["rounds"], self.trace[key] / self.trace["rounds"], label=label)
        right.set(xlabel="rounds", ylabel="regret per round, at most", yscale="symlog")
        right.legend(frameon=False)
        if path is not None:
            figure.savefig(path, dpi=130)
        return figure


def arrays_of(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, bool]:
    """(indptr, indices, values, columns, dense?) of a matrix of rows."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if scipy.sparse.issparse(X):
        matrix = scipy.sparse.csr_matrix(X)
        return matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], False
    try:
        rows = np.ascontiguousarray(X, dtype=float)
    except (TypeError, ValueError):
        raise BadInput("X", type(X).__name__, "give a matrix of numbers, one row a round") from None
    if rows.ndim != 2:
        raise BadInput("X", rows.shape, "give a matrix, one row a round")
    n, d = rows.shape
    return np.arange(n + 1) * d, np.tile(np.arange(d), n), rows.reshape(-1), d, True


def record(learner: Any, X: Any, y: Any, weight: Any, moments: int) -> Run:
    """Run the learner over all rows, in as many pieces as there are moments to note."""
    if learner.rows.table is not None:
        learner.rows.table.row(X)  # refuses a bare matrix
    indptr, indices, data, columns, dense = arrays_of(X)
    n = len(indptr) - 1
    targets = np.asarray(y).reshape(-1)
    if len(targets) != n:
        raise BadInput("y", f"{len(targets)} labels", f"X has {n} rows: give one label for each")
    weights = None if weight is None else np.asarray(weight, float).reshape(-1)
    if weights is not None and len(weights) != n:
        raise BadInput("weight", f"{len(weights)} numbers", f"X has {n} rows: give one weight for each")
    before = learner.rounds
    if dense and learner.rows.kind is None:
        learner.rows.kind, learner.rows.length = "vector", columns
    elif dense and (learner.rows.kind != "vector" or learner.rows.length != columns):
        raise BadInput("X", f"{columns} columns", f"this learner was started with {learner.rows.length or 'other'} rows")
    kind, out, notes = learner.rows.kind, np.empty(n), []
    cuts = np.unique(np.linspace(0, n, max(1, min(moments, n)) + 1).astype(int)) if n else np.zeros(1, int)
    learner.rows.kind = "sparse" if kind in (None, "vector") else kind
    try:
        for start, stop in zip(cuts[:-1], cuts[1:]):
            part = slice(start, stop)
            out[part] = learner.run_batch(
                indptr[start : stop + 1], indices, data, targets[part], None if weights is None else weights[part]
            )
            notes.append(_moment(learner))
    finally:
        learner.rows.kind = kind or "sparse"
        if before == learner.rounds:
            learner.rows.kind = kind
    trace = {key: np.array([note[key] for note in notes]) for key in (notes[0] if notes else ())}
    return Run(out, values(learner.loss, out, labels(learner.loss, targets)), learner.certificate(), trace)


def _moment(learner: Any) -> dict[str, float]:
    certificate = learner.certificate()
    numbers = {item.name: item.value for item in certificate.guarantees}
    return {
        "rounds": certificate.rounds,
        "mean_loss": certificate.mean_loss,
        "potential": float("nan") if certificate.potential is None else certificate.potential,
        "promised": numbers.get("promised regret", float("nan")),
        "realised": numbers.get("realised regret", float("nan")),
    }
