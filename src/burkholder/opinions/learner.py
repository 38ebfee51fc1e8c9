"""Probabilities: what several experts say of the outcomes, as one, never far behind the best of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.protocol import Listed, OnlineLearner, State, Stretch
from burkholder.learning.tickets import MAX_PENDING
from burkholder.opinions import book as books
from burkholder.opinions import mixing, pools, schema
from burkholder.opinions.certificate import OpinionsCertificate, certify
from burkholder.opinions.rows import FLOOR, Reader, Row, checked_outcomes, label_place
from burkholder.suggestions import did_you_mean

HEAVIEST = 1e40
Memo = tuple[np.ndarray, np.ndarray]  # what everybody said, and p̂


class Probabilities(OnlineLearner):
    """Combine probabilities over two or more outcomes, round by round or whole streams at once; nothing to tune.

    A row says what each expert thinks: a mapping from expert to probabilities (a mapping from outcome to number, an array, or of two
    outcomes one number, that of the second), or an array (experts × outcomes). An expert that is missing, None or NaN is asleep;
    experts may appear at any time. The label is the outcome.

    loss       "log" or "brier"
    outcomes   their names; by default those of the first row, or 0, 1, …
    odds       rows are bookmakers' decimal odds: their inverses are taken and made to sum to 1

    The answer is the experts' aggregate by Vovk's algorithm, beside them their mean, their geometric mean and two log-linear pools that
    learn to sharpen, flatten and weigh them. Regret to the best of all is at most the logarithm of four times their number.

    >>> books = Probabilities("log", outcomes=("home", "draw", "away"), odds=True)
    >>> row = {"first": [1.9, 3.5, 4.2], "second": {"home": 2.0, "draw": 3.4, "away": 4.0}}
    >>> for result in ("home", "draw", "home"):
    ...     p = books.predict(row)
    ...     books.update(row, result)
    >>> sorted(p), round(sum(p.values()), 12)
    (['away', 'draw', 'home'], 1.0)
    >>> certificate = books.certificate()
    >>> certificate.realised("first") <= certificate.bound("first") < 3.2
    True
    """

    def __init__(self, loss: str = "log", *, outcomes: Any = None, odds: bool = False, max_pending: int = MAX_PENDING) -> None:
        super().__init__(max_pending)
        if not isinstance(loss, str) or loss not in mixing.LOSSES:
            raise BadInput("loss", loss, f"{did_you_mean(str(loss), mixing.LOSSES)}probabilities have these: {', '.join(mixing.LOSSES)}")
        if not isinstance(odds, bool):
            raise BadInput("odds", odds, "give True or False")
        self.loss, self.odds = loss, odds
        self.outcomes = checked_outcomes(outcomes)
        self.names: tuple[str, ...] = ()
        self._kind = mixing.LOSSES[loss]
        self._book = books.start(0, len(self.outcomes) or 2)

    # --- one round ---------------------------------------------------------------------------------------------
    def _reader(self) -> Reader:
        return Reader(self.odds, self._kind, self.names, self.outcomes)

    def _read(self, x: Any) -> Row:
        return self._reader().row(x)

    def _with(self, names: tuple[str, ...], outcomes: tuple[Any, ...]) -> books.Book:
        """The book with room for these; the learner's own when it knows them."""
        if not self.names:
            return books.start(len(names), len(outcomes)) if not self.rounds else books.grown(self._book, len(names), len(outcomes))
        return self._book if len(names) == len(self.names) else books.grown(self._book, len(names), len(outcomes))

    def _said(self, row: Row) -> tuple[dict[Any, float], np.ndarray, Memo]:
        book = self._with(row.names, row.outcomes)
        full = np.concatenate([np.full((pools.COUNT, len(row.outcomes)), math.nan), row.values])
        weights, p = np.empty(len(full)), np.empty(len(row.outcomes))
        books.play(book, self._kind, FLOOR, full, weights, p)
        return dict(zip(row.outcomes, p.tolist())), weights, (full, p)

    def _play(self, row: Row) -> tuple[dict[Any, float], Memo]:
        answer, _, memo = self._said(row)
        return answer, memo

    def _learn(self, row: Row, memo: Memo, y: Any, weight: float, late: int) -> None:
        place = label_place(y, row.outcomes)
        if weight > HEAVIEST:
            raise BadInput("weight", weight, f"give weights of at most {HEAVIEST:g}")
        if self.outcomes and row.outcomes != self.outcomes:
            raise BadInput("x", list(row.outcomes), f"the outcomes are {', '.join(map(str, self.outcomes))}")
        everyone, full = row.names, memo[0]
        short = np.concatenate([np.zeros(pools.COUNT), row.short])
        if row.names[: len(self.names)] != self.names:  # others were met since it was played
            everyone = (*self.names, *(one for one in row.names if one not in self.names))
            full = np.full((pools.COUNT + len(everyone), len(row.outcomes)), math.nan)
            short = np.zeros(len(full))
            full[: pools.COUNT] = memo[0][: pools.COUNT]
            for j, one in enumerate(row.names):
                place_of = pools.COUNT + everyone.index(one)
                full[place_of], short[place_of] = memo[0][pools.COUNT + j], row.short[j]
        book = self._with(everyone, row.outcomes)
        books.learn(book, books.SHARES, pools.DRIFTS, self._kind, FLOOR, full, memo[1], place, weight, late)
        books.shorten(book, self._kind, full, short, memo[1], place, weight)
        self._book, self.names, self.outcomes = book, everyone, row.outcomes

    # --- many rows -----------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Listed:
        if isinstance(X, (str, dict)) or X is None:
            raise BadInput("X", X, "give a row a round: an array (rounds × experts × outcomes), or a list of rows")
        reader, out = self._reader(), []
        try:
            given = list(X)
        except TypeError:
            raise BadInput("X", X, "give a row a round: an array (rounds × experts × outcomes), or a list of rows") from None
        for t, x in enumerate(given):
            try:
                row = reader.row(x)
            except BadInput as error:
                raise BadInput(f"X[{t}]", error.value, error.remedy) from None
            reader = reader._replace(names=row.names, outcomes=row.outcomes)
            out.append(row)
        return Listed(out)

    def _targets(self, y: Any, rows: int) -> list[Any]:
        labels = list(y)
        if len(labels) != rows:
            raise BadInput("y", f"{len(labels)} labels", f"there are {rows} rows: give one label for each")
        return labels

    def _run(self, table: Listed, targets: list[Any], weights: np.ndarray | None) -> Stretch:
        played, losses = [], np.empty(table.rows)
        for t, (row, y) in enumerate(zip(table.values, targets)):
            place = label_place(y, row.outcomes, f"y[{t}]")
            weight = 1.0 if weights is None else float(weights[t])
            if weight > HEAVIEST:
                raise BadInput(f"weight[{t}]", weight, f"give weights of at most {HEAVIEST:g}")
            answer, memo = self._play(row)
            self._learn(row, memo, y, weight, 0)
            losses[t] = mixing.paid(self._kind, memo[1], place)
            played.append(answer)
        return Stretch(played, losses)

    def _predict_many(self, table: Listed) -> list[dict[Any, float]]:
        return [self._play(row)[0] for row in table.values]

    def _undo(self) -> Callable[[], None]:
        kept = books.copied(self._book), self.names, self.outcomes

        def back() -> None:
            self._book, self.names, self.outcomes = kept

        return back

    # --- what it knows -------------------------------------------------------------------------------------------
    @property
    def columns(self) -> tuple[str, ...]:
        """The user's experts, then those made from them."""
        return (*self.names, *pools.NAMES)

    @property
    def rounds(self) -> int:
        """How many labels were learned."""
        return int(self._book.totals[books.ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        """The progressive loss so far."""
        return float(self._book.totals[books.LOSS] + self._book.totals[books.LOSS_REST])

    def weights(self, x: Any = None) -> dict[str, float]:
        """The weight of each expert now, with all of them awake, or with those awake in x."""
        with self._lock:
            if x is None:
                even = np.full(len(self.outcomes) or 2, 1.0 / (len(self.outcomes) or 2))
                row = Row(np.tile(even, (len(self.names), 1)), self.names, self.outcomes or (0, 1), np.zeros(len(self.names)))
            else:
                row = self._read(x)
            weights = np.roll(self._said(row)[1], -pools.COUNT)
            return dict(zip((*row.names, *pools.NAMES), weights.tolist()))

    def certificate(self) -> OpinionsCertificate:
        """What holds now: against every expert, mixtures and sequences of them."""
        with self._lock:
            return certify(self._book, self.loss, self.columns if self.names else (), len(self.outcomes) or 2)

    # --- saved -----------------------------------------------------------------------------------------------------
    def state_dict(self) -> State:
        """(header, arrays): plain data, and numpy arrays."""
        with self._lock:
            return schema.out(self)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Probabilities:
        """The learner that `state_dict` described."""
        return schema.back(cls, header, arrays)
