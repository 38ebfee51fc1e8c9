"""Matrix completion as a user sees it: rows and columns by any id, ratings on their own scale."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.protocol import OnlineLearner, State, Stretch
from burkholder.learning.runs import Run
from burkholder.learning.schema import COUNTED
from burkholder.learning.tickets import MAX_PENDING, Played
from burkholder.losses.dispatch import value
from burkholder.matrix import schema, weights
from burkholder.matrix.comparators import ByIds
from burkholder.matrix.default import EXACT, BiasTangentBet
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.ids import (
    Id,
    Pairs,
    checked_id,
    checked_pair,
    checked_pairs,
    is_pairs,
    items,
    nodes,
    refuse_twin,
    refuse_twins,
    spelled,
)
from burkholder.matrix.inputs import played_number
from burkholder.matrix.ratings_certificate import RatingsCertificate, certify, certify_sign_flip
from burkholder.matrix.scale import Scale
from burkholder.matrix.snapshot import Snapshot

CHUNK = 2048


class MatrixCompletion(OnlineLearner):
    """Predict ratings one at a time; nothing to tune.

    >>> movies = MatrixCompletion(low=1, high=5)
    >>> movies.predict("ann", "alien")
    3.0
    >>> movies.update("ann", "alien", 5)
    >>> movies.predict("ann", "brazil") > 3.0
    True
    >>> movies.top("bob", 1)
    [('alien', 5.0)]
    >>> movies.update("ann", "alien", 6)
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: rating = 6 cannot be used: ratings must lie in [1, 5], the range given
    More: docs/matrix.md

    What other learners call x is the pair (row, column) here; wherever a pair is taken, two ids serve as well. Ids are text or
    whole numbers, never tuples, so the two cannot be confused.

    >>> ticket = movies.play("bob", "alien")
    >>> movies.reveal(ticket.id, 4)
    >>> movies.predict_many([("bob", "alien")]).tolist() == [movies.predict(("bob", "alien"))]
    True

    A row or column never seen contributes nothing: the answer is then the mean rating plus what is known of
    the other, and the middle of the range before any rating. A pair may be rated again: it is a stream.

    `fast` stops every Krylov space after four block steps; after `exact` ratings (250,000) the direction that needs one is left
    out, so that a round no longer costs more with every rating, and the low-rank direction goes on alone.
    loss="squared" unless you say "absolute" or "pinball"; with "logistic" the two ends of the range are the only labels (votes, signed
    trust, clicks) and predictions are the log-odds of the higher one.

    >>> votes = MatrixCompletion(low=-1, high=1, loss="logistic")
    >>> votes.update("ann", "yes to trams", 1)
    >>> votes.predict("ann", "yes to trams") > 0.0
    True

    strategy="sign-flip" is the paper's own learner (no bias model) with `loss` ("absolute" unless you say otherwise), `rate`
    ("lowering", "doubling", a number: these need `radius`, about labels in [−1, 1]; or "mixture").
    """

    def __init__(
        self,
        low: float = 1.0,
        high: float = 5.0,
        *,
        strategy: str = "default",
        fast: bool = False,
        tol: float | None = None,
        radius: float | None = None,
        rate: Any = None,
        loss: Any = None,
        kappa: float | None = None,
        exact: int | None = None,
        max_pending: int = MAX_PENDING,
    ) -> None:
        super().__init__(max_pending)
        if not (max(abs(low), abs(high)) <= 1e150 and high - low >= 1e-150):
            raise BadInput("low, high", (low, high), "give the two ends of the rating range, low below high, of ordinary size")
        if tol is not None and not (0.0 < tol <= 1.0):
            raise BadInput("tol", tol, "give a tolerance in (0, 1]")
        self.scale = Scale(float(low), float(high))
        self.engine = _engine(strategy, fast, tol, radius=radius, rate=rate, loss=loss, kappa=kappa, exact=exact)
        self._rows: dict[Id, int] = {}
        self._columns: dict[Id, int] = {}
        self._totals = np.zeros(4)  # rounds, Σ|r̂−r|, Σ(r̂−r)², Σ loss, in rating units

    # -- one rating at a time -----------------------------------------------------------------------------

    def predict(self, x: Any, *column: Id) -> float:
        """The rating expected at (row, column); changes nothing."""
        return float(super().predict(_pair(x, column)))

    def update(self, x: Any, y: Any, *rest: Any, weight: float = 1.0) -> None:
        """Learn a rating: `update(row, column, rating)`, or `update((row, column), rating)`."""
        if isinstance(x, (tuple, list)):
            super().update(x, y, *(rest or (weight,)))
        elif not rest:
            raise BadInput("x", x, "give (row, column) and a rating, or row, column and rating")
        else:
            super().update((x, y), rest[0], *(rest[1:] or (weight,)))

    def play(self, x: Any, *column: Id) -> Any:
        """A prediction whose rating comes later; hand the ticket's id to `reveal`, or to `forget`."""
        return super().play(_pair(x, column))

    def _read(self, x: Any) -> tuple[Id, Id]:
        row, column = checked_pair(x)
        refuse_twin("row", row, self._rows)
        refuse_twin("column", column, self._columns)
        return row, column

    def _play(self, row: tuple[Id, Id]) -> tuple[float, tuple[float, ...]]:
        i, j = self._rows.get(row[0], -1), self._columns.get(row[1], -1)
        played = tuple(np.atleast_1d(self.engine.predict(np.array([i]), np.array([j]))[0]).tolist())
        return float(self._shown(np.array(played_number(played[0])))), played

    def _learn(self, row: tuple[Id, Id], memo: Any, y: Any, weight: float, late: int) -> None:
        label = self.scale.label(y)
        self._refuse_between(np.array([label]), [y])
        weights.refuse(weight)
        i, j = nodes(self._rows, self._columns, [row[0]], [row[1]])
        if not late:
            self._rounds(i, j, np.array([[float(y), label]]))
        elif isinstance(self.engine, SignFlipEntries):
            self.engine.late(int(i[0]), int(j[0]), memo[0], label)
        else:
            self.engine.late(int(i[0]), int(j[0]), memo, label)
        if late:
            self._add_up(self._shown(np.array([memo[0]])), np.array([[float(y), label]]))

    def _rounds(self, i: NDArray[np.int64], j: NDArray[np.int64], targets: NDArray[np.float64]) -> Stretch:
        out = self.engine.rounds(i, j, targets[:, 1])
        predictions = self._shown(out[:, 0])
        details = {"steps": out[:, -2].astype(np.int64), "errors": out[:, -1]}
        if isinstance(self.engine, BiasTangentBet):
            details["bias"] = self._shown(out[:, 1])
        return Stretch(predictions, self._add_up(predictions, targets), details)

    def _shown(self, played: NDArray[np.float64]) -> NDArray[np.float64]:
        """What was played, as the user sees it: a rating, or log-odds."""
        return played if self.loss.odds else np.asarray(self.scale.rating(played))

    def _refuse_between(self, labels: NDArray[np.float64], ratings: Any) -> None:
        """Classes are the two ends of the range."""
        if self.loss.classes and (between := np.flatnonzero(np.abs(labels) != 1.0)).size:
            remedy = f"the {losses.name(self.loss)} loss takes the two ends of the range, {self.low:g} and {self.high:g}"
            raise BadInput("rating", ratings[int(between[0])], remedy)

    def _add_up(self, predictions: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """The losses, and their totals: one by one, so that chunks of any size give the same."""
        odds = self.loss.odds
        goal = targets[:, 1 if odds else 0]
        paid = np.array([value(self.loss, p, r) for p, r in zip(predictions.tolist(), goal.tolist())])
        error = (self.scale.rating(np.tanh(0.5 * predictions)) if odds else predictions) - targets[:, 0]
        for k, terms in enumerate((np.ones(len(error)), np.abs(error), error * error, paid)):
            self._totals[k] = np.cumsum(np.concatenate([self._totals[k : k + 1], terms]))[-1]
        return paid

    # -- whole streams ------------------------------------------------------------------------------------

    def run(
        self, X: Any, y: Any, *rest: Any, weight: Any = None, trace: int = 0, progress: Callable[[int, str], None] | None = None
    ) -> Run:
        """Every rating in turn, as `predict` then `update` would, compiled; all of it, or nothing when an input is bad.

        `run(rows, columns, ratings)`, `run((rows, columns), ratings)` or `run(pairs, ratings)`. The run's `details` are block
        `steps` and `errors` (the last change of u, or of ŷ under the sign flip) and the default learner's `bias`. A
        certificate costs a decomposition, so no moment on the way is noted down unless `trace` asks for some.
        """
        if rest and not is_pairs(X):
            X, y, rest = (X, y), rest[0], rest[1:]
        pairs = checked_pairs(X)._replace(progress=progress)
        return super().run(pairs, y, *(rest or (weight,)), trace=trace)

    def predict_many(self, X: Any, *columns: Any) -> NDArray[np.float64]:
        """The ratings expected at many pairs, compiled: `predict_many(rows, columns)`, or `predict_many(pairs)`."""
        return np.asarray(super().predict_many((X, columns[0]) if columns else X))

    def _table(self, X: Any) -> Pairs:
        pairs = checked_pairs(X)
        refuse_twins("row", pairs.row, self._rows)
        refuse_twins("column", pairs.column, self._columns)
        return pairs

    def _targets(self, y: Any, rows: int) -> NDArray[np.float64]:
        """(rating, label), one row each."""
        ratings = list(items(y))
        if len(ratings) != rows:
            raise BadInput("ratings", f"{len(ratings)} numbers", f"there are {rows} pairs: give one rating for each")
        found = self.scale.labels(ratings)
        self._refuse_between(found[:, 1], ratings)
        return found

    def _run(self, table: Pairs, targets: NDArray[np.float64], given: np.ndarray | None) -> Stretch:
        weights.refuse_many(given)
        parts = []
        for begin in range(0, table.rows, CHUNK):
            part = table.part(begin, begin + CHUNK)
            parts.append(self._rounds(*nodes(self._rows, self._columns, part.row, part.column), targets[begin : begin + CHUNK]))
            if table.progress is not None:
                table.progress(part.rows, f"MAE {self.mae:.4f} RMSE {self.rmse:.4f}")
        joined = {key: np.concatenate([part.details[key] for part in parts]) for key in parts[0].details}
        predictions, paid = (np.concatenate(column) for column in zip(*((part.predictions, part.losses) for part in parts)))
        return Stretch(predictions, paid, joined)

    def _predict_many(self, table: Pairs) -> NDArray[np.float64]:
        out = self.engine.predict(*table.nodes(self._rows, self._columns))
        return self._shown(out.reshape(table.rows, -1)[:, 0] if table.rows else np.zeros(0))

    def _undo(self) -> Callable[[], None]:
        """The ids and the engine; everything else of a run is in the totals."""
        kept = {"_rows": dict(self._rows), "_columns": dict(self._columns), "_totals": self._totals.copy()}
        engine = copy.deepcopy(self.engine)

        def back() -> None:
            self.__dict__.update(kept)
            self.engine = engine

        return back

    def top(self, row: Id, k: int = 10, seen: bool = False, without: Any = None) -> list[tuple[Id, float]]:
        """The k columns of highest predicted rating, without those this row rated unless `seen`; or without the columns named."""
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise BadInput("k", k, "ask for at least one column")
        row = checked_id("row", row)
        refuse_twin("row", row, self._rows)
        with self._lock:
            i, graph = self._rows.get(row, -1), self.engine.graph
            found = np.fromiter(self._columns.values(), np.int64, len(self._columns))
            open_ = np.ones(len(found), bool)
            if without is not None:
                left_out = {self._columns.get(checked_id("without", one), -1) for one in items(without)}
                open_ = ~np.isin(found, list(left_out))
            elif i >= 0 and not seen:
                begin = int(graph.start[i])
                open_ = ~np.isin(found, graph.neighbour[begin : begin + int(graph.length[i])])
            if not open_.any():
                return []
            names = list(itertools.compress(self._columns, open_.tolist()))
            scores = self._shown(self.engine.row(i, found[open_]))
        best = np.argsort(-scores, kind="stable")[:k]
        return [(names[b], float(scores[b])) for b in best]

    def top_many(self, rows: Any, k: int = 10, seen: bool = False) -> dict[Id, list[tuple[Id, float]]]:
        """`top` for many rows, all as things stand now.

        >>> movies = MatrixCompletion(low=1, high=5)
        >>> movies.update("ann", "alien", 5)
        >>> movies.top_many(["ann", "bob"], 1)
        {'ann': [], 'bob': [('alien', 5.0)]}
        """
        with self._lock:
            asked = [checked_id(f"rows[{t}]", row) for t, row in enumerate(items(rows))]
            return {row: self.top(row, k, seen) for row in asked}

    def frozen(self) -> Snapshot:
        """A copy that only answers, for serving: `predict`, `predict_many`, `top`, `top_many`, `certificate`."""
        with self._lock:
            return Snapshot(self)

    @property
    def known_rows(self) -> list[Id]:
        """The ids of the rows seen, in the order they came."""
        return list(self._rows)

    def spelled(self, row: Id) -> Id:
        """A row's id as the ratings had it: text, as files have it, may stand for a number.

        >>> movies = MatrixCompletion()
        >>> movies.update(7, "alien", 5)
        >>> movies.spelled("7")
        7
        """
        return spelled(row, self._rows)

    def spelled_pairs(self, rows: Sequence[Id], columns: Sequence[Id]) -> tuple[list[Id], list[Id]]:
        """Pairs of ids as the ratings had them.

        >>> movies = MatrixCompletion()
        >>> movies.update(7, "alien", 5)
        >>> movies.spelled_pairs(["7", "8"], ["alien", "alien"])
        ([7, '8'], ['alien', 'alien'])
        """
        return [spelled(row, self._rows) for row in rows], [spelled(column, self._columns) for column in columns]

    # -- what it can say of itself ------------------------------------------------------------------------

    @property
    def loss(self) -> Any:
        """The loss, in rating units."""
        return self.engine.record

    @property
    def low(self) -> float:
        """The lowest rating."""
        return self.scale.low

    @property
    def high(self) -> float:
        """The highest rating."""
        return self.scale.high

    @property
    def rows(self) -> int:
        """How many rows were met."""
        return len(self._rows)

    @property
    def columns(self) -> int:
        """How many columns were met."""
        return len(self._columns)

    @property
    def rounds(self) -> int:
        return int(self._totals[0])

    @property
    def cumulative_loss(self) -> float:
        return float(self._totals[3])

    @property
    def mae(self) -> float | None:
        """Progressive mean absolute error, in rating units."""
        return float(self._totals[1] / self._totals[0]) if self.rounds else None

    @property
    def rmse(self) -> float | None:
        """Progressive root mean squared error, in rating units."""
        return math.sqrt(self._totals[2] / self._totals[0]) if self.rounds else None

    def certificate(self) -> RatingsCertificate:
        """Losses and regrets in rating units."""
        with self._lock:
            totals: dict[str, Any] = {
                "rounds": self.rounds,
                "rows": self.rows,
                "columns": self.columns,
                "mae": self.mae,
                "rmse": self.rmse,
                "cumulative_loss": self.cumulative_loss,
                "read": ByIds(dict(self._rows), dict(self._columns)),
            }
            place = (self.scale, np.sort(np.fromiter(self._rows.values(), np.int64, len(self._rows))))
            if isinstance(self.engine, SignFlipEntries):
                return certify_sign_flip(self.engine, *place, **totals)
            return certify(self.engine, *place, **totals)

    def state_dict(self) -> State:
        """(header for JSON, arrays): all that is needed to resume bit for bit."""
        with self._lock:
            header = {
                "kind": "MatrixCompletion",
                "version": schema.VERSION,
                "low": self.low,
                "high": self.high,
                **copy.deepcopy(self.engine.options),
                "tol": self.engine.tol,
                "rows": [[row, node] for row, node in self._rows.items()],
                "columns": [[column, node] for column, node in self._columns.items()],
                "max_pending": self.max_pending,
                "issued": self._tickets.issued,
                "pending": [[id, play.round, *play.row, list(play.memo)] for id, play in self._tickets.waiting.items()],
            }
            arrays = {name: np.array(array) for name, array in self.engine.arrays().items()}
            return header, {**arrays, "totals": self._totals.copy()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MatrixCompletion:
        """The learner that `state_dict` described."""
        schema.check_completion(header, arrays)
        kept = ("low", "high", "strategy", "fast", "exact", "tol", "radius", "rate", "kappa", "max_pending")
        given = {key: header[key] for key in kept if key in header}
        if "loss" in header:
            given["loss"] = losses.get(header["loss"], **header["parameters"])
        learner = cls(**given)
        learner._rows = dict(header["rows"])
        learner._columns = dict(header["columns"])
        learner._totals = np.array(arrays["totals"])
        learner.engine.restore(arrays)
        learner._tickets.issued = header["issued"]
        for id, when, row, column, memo in header["pending"]:
            learner._tickets.waiting[id] = Played((row, column), tuple(map(float, memo)), when)
        return learner


def _pair(x: Any, column: tuple[Id, ...]) -> Any:
    """The pair that was given, whole or as two ids."""
    if not column:
        return x
    if len(column) > 1 or isinstance(x, (tuple, list)):
        raise BadInput("x", (x, *column), "give a row and a column, or the pair (row, column)")
    return x, column[0]


def _engine(strategy: str, fast: bool, tol: float | None, **options: Any) -> BiasTangentBet | SignFlipEntries:
    """The learner of that name; options it does not take are refused."""
    given = {key: option for key, option in options.items() if option is not None}
    if strategy == "default":
        exact = given.pop("exact", EXACT)
        if isinstance(exact, bool) or not isinstance(exact, (int, np.integer)) or not 0 <= exact <= COUNTED:
            raise BadInput("exact", exact, "give a whole number of ratings")
        record = losses.get(given.pop("loss", "squared"))
        for key, option in given.items():
            raise BadInput(key, option, "the default strategy has nothing to tune; strategy='sign-flip' takes it")
        if not (record.homogeneous or record.odds):
            fit = ", ".join(name for name in losses.LOSSES if losses.get(name).homogeneous or losses.get(name).odds)
            raise BadInput("loss", record.name, f"give {fit}; MatrixLearner takes every loss")
        return BiasTangentBet(fast=fast, exact=int(exact), loss=record, **({} if tol is None else {"tol": float(tol)}))
    if strategy != "sign-flip":
        raise BadInput("strategy", strategy, "give 'default' or 'sign-flip'")
    if "exact" in given:
        raise BadInput("exact", given["exact"], "the sign flip computes every Krylov space")
    if fast:
        raise BadInput("fast", fast, "the sign flip keeps its tolerance; raise tol instead")
    record = losses.get(given.get("loss", "absolute"))
    if not record.homogeneous:
        fit = ", ".join(name for name in losses.LOSSES if losses.get(name).homogeneous)
        raise BadInput("loss", record.name, f"ratings have units: give {fit}; MatrixLearner takes every loss")
    if tol is not None:
        given["tol"] = float(tol)
    return SignFlipEntries(**given)
