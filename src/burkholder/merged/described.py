"""Ratings with features of who rates and what is rated: completion, and an Auto that sees the features and what completion says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from burkholder.auto import Auto
from burkholder.errors import BadInput
from burkholder.experts.models import copied
from burkholder.learning.kinds import parts_in, parts_out
from burkholder.learning.protocol import Stretch
from burkholder.learning.schema import check_header, limit, one_of, text, whole
from burkholder.learning.tickets import MAX_PENDING
from burkholder.matrix import weights
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.ids import Id, Pairs, checked_pair, checked_pairs, items
from burkholder.merged import schema
from burkholder.merged.described_certificate import DescribedCertificate, certify
from burkholder.merged.lanes import SLOT, Lanes
from burkholder.merged.mixing import labels_of

VERSION = 1
SAID = "ratings say"  # the feature that holds what completion predicts
FEATURES, RATINGS = "features", "ratings"  # the parts, and the lanes
_HEADER = {
    "version": one_of(VERSION),
    "max_pending": limit,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
    "parts": lambda value: type(value) is dict and all(map(text, value)),
}


class Described(NamedTuple):
    """Many rows: pairs, and the features of each."""

    pairs: Pairs
    features: list[dict[str, Any]]

    @property
    def rows(self) -> int:
        return self.pairs.rows

    def part(self, start: int, stop: int) -> Described:
        return Described(self.pairs.part(start, stop), self.features[start:stop])


class Goals(NamedTuple):
    """Labels as the lanes take them, and as the aggregation does."""

    features: Any
    ratings: np.ndarray
    labels: np.ndarray

    def __getitem__(self, part: Any) -> Any:
        return Goals(self.features[part], self.ratings[part], self.labels[part])


class DescribedCompletion(Lanes):
    """`MatrixCompletion` for ratings that come with features: new rows and columns are judged by what is known of them.

    A row is (row, column, features), features a dict of numbers and words. Two lanes are aggregated: completion, which sees the
    pair, and an `Auto`, which sees the features and what completion says. Whatever happens, the whole is never far behind
    completion alone, and the certificate says how far.

    >>> movies = DescribedCompletion(low=1, high=5)
    >>> for t in range(60):
    ...     movies.update((f"u{t % 7}", f"i{t % 20}", {"genre": "war" if t % 20 < 10 else "love"}), 1.0 if t % 20 < 10 else 5.0)
    >>> movies.predict(("u1", "new", {"genre": "love"})) > 4.0 > 2.0 > movies.predict(("u1", "new", {"genre": "war"}))
    True
    >>> movies.top("u1", {"one": {"genre": "war"}, "two": {"genre": "love"}}, 1)[0][0]
    'two'
    """

    def __init__(
        self,
        low: float = 1.0,
        high: float = 5.0,
        *,
        loss: Any = "squared",
        effort: str = "default",
        fast: bool = False,
        exact: int | None = None,
        max_pending: int = MAX_PENDING,
    ) -> None:
        ratings = MatrixCompletion(low, high, loss=loss, fast=fast, exact=exact, max_pending=max_pending)
        ends: dict[str, Any] = {} if ratings.loss.classes else {"low": ratings.low, "high": ratings.high}
        named: dict[str, Any] = {"loss": ratings.loss.name, **ratings.loss._asdict()}
        self._join(Auto(**named, **ends, effort=effort, max_pending=max_pending), ratings, max_pending)

    def _join(self, features: Auto, ratings: MatrixCompletion, max_pending: int) -> None:
        super().__init__([features, ratings], ratings.loss, max_pending)

    @property
    def features(self) -> Auto:
        """The lane that sees the features."""
        return self.lanes[0]

    @property
    def ratings(self) -> MatrixCompletion:
        """The lane that sees the pairs."""
        return self.lanes[1]

    # --- one round ---------------------------------------------------------------------------------------------
    def _read(self, x: Any) -> tuple[Id, Id, dict[str, Any]]:
        if not isinstance(x, (tuple, list)) or len(x) not in (2, 3):
            raise BadInput("x", x, "give (row, column, features)")
        row, column = checked_pair(x[:2])
        features = _features("features", x[2] if len(x) == 3 else {})
        self.features._read({**features, SAID: 0.0})
        return row, column, features

    def _for_lanes(self, row: Any) -> list[Any]:
        return [{**row[2], SAID: self.ratings.predict(row[:2])}, row[:2]]

    def _told(self, y: Any) -> list[Any]:
        return [self.ratings.scale.label(y) if self.loss.odds else y, y]

    def _safely(self) -> Callable[[], None]:
        return self.features._undo()  # the other lane comes last, and what refuses is itself as it was

    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        labels = self._checked(y, weight)[1]  # after this, ratings refuse nothing
        for lane, one, label in zip(self.lanes, self._for_lanes(row), self._told(y)):
            lane.update(one, label)
        self.mixer.learn(SLOT, np.array([memo]), labels, np.ones(1))

    # --- many rows ---------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Described:
        if isinstance(X, tuple) and len(X) == 3 and not any(isinstance(part, (str, int)) for part in X):
            pairs, given = checked_pairs((X[0], X[1])), _records(X[2])
        else:
            rows = [self._told_apart(t, x) for t, x in enumerate(items(X))]
            pairs, given = checked_pairs([x[:2] for x in rows]), [x[2] if len(x) == 3 else {} for x in rows]
        if len(given) != pairs.rows:
            raise BadInput("features", f"{len(given)} rows", f"there are {pairs.rows} pairs: give the features of each")
        features = [_features(f"features[{t}]", one) for t, one in enumerate(given)]
        self._rows_of_features(features, np.zeros(len(features)))
        return Described(pairs, features)

    def _told_apart(self, t: int, x: Any) -> Any:
        if not isinstance(x, (tuple, list)) or len(x) not in (2, 3):
            raise BadInput(f"X[{t}]", x, "give (row, column, features)")
        return x

    def _rows_of_features(self, features: list[dict[str, Any]], said: np.ndarray) -> Any:
        return self.features._table([{**one, SAID: float(b)} for one, b in zip(features, said)])

    def _targets(self, y: Any, rows: int) -> Goals:
        ratings = self.ratings._targets(y, rows)
        labels = labels_of(ratings, self.loss)
        return Goals(self.features._targets(labels, rows), ratings, labels)

    def _weights(self, weight: Any, rows: int) -> None:
        weights.refuse_many(super()._weights(weight, rows))

    def _run(self, table: Described, targets: Goals, given: np.ndarray | None) -> Stretch:
        if not table.rows:
            return Stretch(np.zeros(0), np.zeros(0))
        told = self.ratings._run(table.pairs, targets.ratings, None)
        said = self.features._run(self._rows_of_features(table.features, told.predictions), targets.features, None).predictions
        forecasts = np.column_stack([said, told.predictions])
        played, paid = self.mixer.learn_checked(np.zeros(table.rows, np.int64), forecasts, targets.labels, np.ones(table.rows))
        return Stretch(played, paid, {"features": forecasts[:, 0], "ratings": forecasts[:, 1]})

    def _predict_many(self, table: Described) -> np.ndarray:
        if not table.rows:
            return np.zeros(0)
        told = self.ratings._predict_many(table.pairs)
        said = self.features._predict_many(self._rows_of_features(table.features, told))
        return self.mixer.mix(np.zeros(table.rows, np.int64), np.column_stack([said, told]))

    def top(self, row: Id, columns: Mapping[Id, Any], k: int = 10) -> list[tuple[Id, float]]:
        """The k of these columns, each with its features, of highest predicted rating."""
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise BadInput("k", k, "ask for at least one column")
        names = list(columns)
        scores = self.predict_many([(row, name, columns[name]) for name in names])
        return [(names[b], float(scores[b])) for b in np.argsort(-scores, kind="stable")[:k]]

    # --- what it knows of itself -------------------------------------------------------------------------------
    @property
    def rounds(self) -> int:
        """How many ratings were learned."""
        return self.mixer.rounds_of(0)

    @property
    def cumulative_loss(self) -> float:
        """The progressive loss so far."""
        return self.mixer.loss_of(0)

    def certificate(self) -> DescribedCertificate:
        """What holds against the bias model plus any matrix W, and against each lane."""
        with self._lock:
            return certify(self.ratings, self.mixer, self.features)

    # --- saved -------------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays. `from_state` resumes bit for bit."""
        with self._lock:
            words, arrays = parts_out({FEATURES: self.features, RATINGS: self.ratings})
            header = {"version": VERSION, "max_pending": self.max_pending, "tickets": self._tickets.issued}
            return {**header, "pending": self._plays(), "parts": words}, arrays | schema.out(self.mixer)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> DescribedCompletion:
        """The learner that `state_dict` described; everything is checked before it is handed out."""
        check_header(header, _HEADER)
        inside = {name: array for name, array in arrays.items() if "/" in name}
        parts = parts_in(header["parts"], inside, ("Auto", "MatrixCompletion"))
        kinds = {name: type(part).__name__ for name, part in parts.items()}
        if kinds != {FEATURES: "Auto", RATINGS: "MatrixCompletion"}:
            raise BadInput("header 'parts'", kinds, "an Auto and a MatrixCompletion stand there")
        features, ratings = parts[FEATURES], parts[RATINGS]
        if repr(features.loss) != repr(ratings.loss) or features.rounds != ratings.rounds:
            raise BadInput("header 'parts'", [features.rounds, ratings.rounds], "both have the same loss and learned the same rounds")
        learner = cls.__new__(cls)
        learner._join(features, ratings, header["max_pending"])
        schema.fill(learner.mixer, {name: array for name, array in arrays.items() if "/" not in name}, 1, [ratings.rounds])
        learner._take_plays(header)
        return learner


def _features(argument: str, given: Any) -> dict[str, Any]:
    """A copy of the features of one row."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadInput(argument, given, "features are a dict of names and values")
    if SAID in given:
        raise BadInput(argument, SAID, "this name is taken: it holds what the ratings say")
    return dict(copied(dict(given)))


def _records(given: Any) -> list[Any]:
    """A dict a row, from dicts or a frame."""
    frame = getattr(given, "to_dict", None)
    return list(frame("records")) if frame is not None and hasattr(given, "columns") else list(items(given))
