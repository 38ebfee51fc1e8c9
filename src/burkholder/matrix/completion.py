"""Matrix completion as a user sees it: rows and columns by any id, ratings on their own scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.learning.schema import check_header
from burkholder.losses.dispatch import value
from burkholder.machine.compiling import compiled
from burkholder.matrix import rules, schema
from burkholder.matrix.certificate import RatingsCertificate, certify, certify_sign_flip, root_mean
from burkholder.matrix.default import BiasTangentBet
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.ids import Id, checked_id, items, nodes

CHUNK = 2048


@dataclass(frozen=True)
class CompletionRun:
    """A whole stream: predictions before learning, the bias model's, block steps and the error each round."""

    predictions: NDArray[np.float64]
    bias: NDArray[np.float64]
    steps: NDArray[np.int64]
    errors: NDArray[np.float64]  # last change of the direction u, or of ŷ under the sign flip
    certificate: RatingsCertificate


class MatrixCompletion:
    """Predict ratings one at a time; nothing to tune.

    >>> movies = MatrixCompletion(low=1, high=5)
    >>> movies.predict("ann", "alien")
    3.0
    >>> movies.update("ann", "alien", 5)
    3.0
    >>> movies.predict("ann", "brazil") > 3.0
    True
    >>> movies.top("bob", 1)
    [('alien', 5.0)]
    >>> movies.update("ann", "alien", 6)
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: rating = 6 cannot be used: ratings must lie in [1, 5], the range given

    A row or column never seen contributes nothing: the answer is then the mean rating plus what is known of
    the other, and the middle of the range before any rating. A pair may be rated again: it is a stream.

    `fast` stops every Krylov space after four block steps. strategy="sign-flip" is the paper's own learner
    (no bias model) with `loss` ("absolute"), `rate` ("lowering", "doubling", a number: these need `radius`;
    or "mixture").
    """

    def __init__(
        self,
        low: float = 1.0,
        high: float = 5.0,
        *,
        strategy: str = "default",
        fast: bool = False,
        tol: float | None = None,
        dtype: str = "float64",
        radius: float | None = None,
        rate: Any = None,
        loss: Any = None,
        kappa: float | None = None,
    ) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise BadInput("low, high", (low, high), "give the two ends of the rating range, low below high")
        if tol is not None and not (0.0 < tol <= 1.0):
            raise BadInput("tol", tol, "give a tolerance in (0, 1]")
        if dtype not in ("float64", "float32"):
            raise BadInput("dtype", dtype, "give 'float64' or 'float32'")
        self.low, self.high = float(low), float(high)
        self.engine = _engine(strategy, fast, tol, dtype, radius=radius, rate=rate, loss=loss, kappa=kappa)
        self._rows: dict[Id, int] = {}
        self._columns: dict[Id, int] = {}
        self._totals = np.zeros(4)  # rounds, Σ|ŷ−y|, Σ(ŷ−y)², Σ loss, in rating units

    # -- scale and ids ------------------------------------------------------------------------------------

    def _label(self, rating: Any) -> float:
        try:
            number = float(rating)
        except (TypeError, ValueError):
            raise BadInput("rating", rating, "give a number") from None
        if not self.low <= number <= self.high:
            raise BadInput("rating", rating, f"ratings must lie in [{self.low:g}, {self.high:g}], the range given")
        return (2.0 * number - self.low - self.high) / (self.high - self.low)

    def _rating(self, yhat: Any) -> Any:
        return 0.5 * (self.low + self.high) + 0.5 * (self.high - self.low) * yhat

    @property
    def rows(self) -> int:
        return len(self._rows)

    @property
    def columns(self) -> int:
        return len(self._columns)

    @property
    def rounds(self) -> int:
        return int(self._totals[0])

    # -- one rating at a time -----------------------------------------------------------------------------

    def predict(self, row: Id, column: Id) -> float:
        """The rating expected at (row, column); changes nothing."""
        i, j = self._rows.get(checked_id("row", row), -1), self._columns.get(checked_id("column", column), -1)
        return float(self._rating(self.engine.predict(i, j)))

    def update(self, row: Id, column: Id, rating: float) -> float:
        """Learn a rating; returns the prediction made before it."""
        label = np.array([self._label(rating)])
        i, j = nodes(self._rows, self._columns, [checked_id("row", row)], [checked_id("column", column)])
        return float(self._play(i, j, label)[0, 0])

    def _play(self, i: NDArray[np.int64], j: NDArray[np.int64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        out = self.engine.rounds(i, j, y)
        out[:, :2] = self._rating(out[:, :2])
        # summed one by one, so that chunks of any size give the same totals
        _add_up(self.engine.record, out[:, 0], self._rating(y), self._totals)
        return out

    # -- whole streams ------------------------------------------------------------------------------------

    def run(
        self, rows: Sequence[Id], columns: Sequence[Id], ratings: Sequence[float], progress: Callable[[int, str], None] | None = None
    ) -> CompletionRun:
        """Predict and learn a whole stream, compiled; the same as `update` on each rating in turn.

        Everything is checked before the first round: a bad rating leaves the state as it was.
        """
        rows, columns, ratings = list(items(rows)), list(items(columns)), list(items(ratings))
        if not len(rows) == len(columns) == len(ratings):
            raise BadInput("rows, columns, ratings", (len(rows), len(columns), len(ratings)), "give three sequences of the same length")
        labels = np.empty(len(ratings))
        for t, (row, column, rating) in enumerate(zip(rows, columns, ratings)):
            try:
                rows[t], columns[t], labels[t] = checked_id("row", row), checked_id("column", column), self._label(rating)
            except BadInput as error:
                raise BadInput(f"{error.argument}s[{t}]", error.value, error.remedy) from None
        parts = [np.empty((0, 5))]
        for begin in range(0, len(labels), CHUNK):
            part = slice(begin, begin + CHUNK)
            parts.append(self._play(*nodes(self._rows, self._columns, rows[part], columns[part]), labels[part]))
            if progress is not None:
                progress(len(parts[-1]), f"MAE {self.mae:.4f} RMSE {self.rmse:.4f}")
        out = np.vstack(parts)
        return CompletionRun(out[:, 0], out[:, 1], out[:, 3].astype(np.int64), out[:, 4], self.certificate())

    def top(self, row: Id, k: int = 10, seen: bool = False) -> list[tuple[Id, float]]:
        """The k columns of highest predicted rating, without those this row rated unless `seen`."""
        if k < 1:
            raise BadInput("k", k, "ask for at least one column")
        i = self._rows.get(checked_id("row", row), -1)
        graph = self.engine.graph
        rated: set[int] = set()
        if i >= 0 and not seen:
            begin = int(graph.start[i])
            rated = set(graph.neighbour[begin : begin + int(graph.length[i])].tolist())
        candidates = [(column, node) for column, node in self._columns.items() if node not in rated]
        if not candidates:
            return []
        scores = self._rating(self.engine.row(i, np.array([node for _, node in candidates], np.int64)))
        best = np.argsort(-scores, kind="stable")[:k]
        return [(candidates[b][0], float(scores[b])) for b in best]

    # -- what it can say of itself ------------------------------------------------------------------------

    @property
    def mae(self) -> float | None:
        """Progressive mean absolute error, in rating units."""
        return float(self._totals[1] / self._totals[0]) if self.rounds else None

    @property
    def rmse(self) -> float | None:
        """Progressive root mean squared error, in rating units."""
        return root_mean(float(self._totals[2]), self.rounds)

    def certificate(self) -> RatingsCertificate:
        """Losses in rating units; guarantees on labels mapped to [−1, 1]."""
        totals = {
            "rounds": self.rounds,
            "rows": self.rows,
            "columns": self.columns,
            "mae": self.mae,
            "rmse": self.rmse,
            "cumulative_loss": float(self._totals[3]),
        }
        if isinstance(self.engine, SignFlipEntries):
            return certify_sign_flip(self.engine, **totals)
        return certify(self.engine, **totals)

    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(header for JSON, arrays): all that is needed to resume bit for bit."""
        header = {
            "kind": "MatrixCompletion",
            "version": 1,
            "low": self.low,
            "high": self.high,
            **self.engine.options,
            "tol": self.engine.tol,
            "dtype": self.engine.dtype,
            "rows": [[row, node] for row, node in self._rows.items()],
            "columns": [[column, node] for column, node in self._columns.items()],
        }
        arrays = {name: np.array(value) for name, value in self.engine.arrays().items()}
        return header, {**arrays, "totals": self._totals.copy()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MatrixCompletion:
        """The learner that `state_dict` described."""
        plain = type(header) is dict and header.get("strategy") == "default"
        check_header(header, schema.COMPLETION | (schema.DEFAULT if plain else schema.SIGN_FLIP))
        nodes, dtype = schema.nodes_of(header), header["dtype"]
        if plain:
            schema.check_default(arrays, nodes, dtype)
        else:
            schema.check_entries(arrays, nodes, dtype, rules.MIXTURE_RATES if header["rate"] == "mixture" else 1, 4)
        kept = ("low", "high", "strategy", "fast", "tol", "dtype", "radius", "rate", "loss", "kappa")
        learner = cls(**{key: header[key] for key in kept if key in header})
        learner._rows = dict(header["rows"])
        learner._columns = dict(header["columns"])
        learner._totals = np.array(arrays["totals"])
        learner.engine.restore(arrays)
        return learner


def _engine(strategy: str, fast: bool, tol: float | None, dtype: str, **options: Any) -> BiasTangentBet | SignFlipEntries:
    """The learner of that name; options it does not take are refused."""
    given = {key: option for key, option in options.items() if option is not None}
    if strategy == "default":
        for key, option in given.items():
            raise BadInput(key, option, "the default strategy has nothing to tune; strategy='sign-flip' takes it")
        return BiasTangentBet(fast=fast, dtype=dtype, **({} if tol is None else {"tol": float(tol)}))
    if strategy != "sign-flip":
        raise BadInput("strategy", strategy, "give 'default' or 'sign-flip'")
    if fast:
        raise BadInput("fast", fast, "the sign flip keeps its tolerance; raise tol instead")
    if tol is not None:
        given["tol"] = float(tol)
    return SignFlipEntries(dtype=dtype, **given)


@compiled
def _add_up(loss, yhat, y, totals):  # type: ignore[no-untyped-def]
    """One by one, so that chunks of any size give the same totals."""
    for t in range(y.size):
        error = yhat[t] - y[t]
        totals[0] += 1.0
        totals[1] += abs(error)
        totals[2] += error * error
        totals[3] += value(loss, yhat[t], y[t])
