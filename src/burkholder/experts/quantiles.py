"""Experts at several levels at once: a pinball mixture a level, put in order, and what that changed kept in account.

Each level's mixture may go beyond all forecasts (`outside`). What is played are the mixtures in order. That never raises the sum
of their pinball losses, so the promise about all levels together (the CRPS) needs no correction; what it adds to one level or
takes from it, Σ(ℓ(played) − ℓ(own)), is summed, and stands in that level's own certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts import rows
from burkholder.experts.levels import QuantileExpertsCertificate, certify
from burkholder.learning.protocol import OnlineLearner, Stretch
from burkholder.learning.rounding import add
from burkholder.learning.runs import Run
from burkholder.learning.schema import Array, Schema, all_of, check_header, check_plays, limit, number, one_of, text, whole, within_sizes
from burkholder.learning.tickets import MAX_PENDING, Played
from burkholder.learning.weights import checked_weights

LOSS, LOSS_REST, CHARGE, CHARGE_REST, CHARGE_SIZE, COVERED = range(6)  # rows of the account; one column a level
ROWS = 6
VERSION = 1


class Row(NamedTuple):
    """One round of forecasts: (levels, experts), NaN where asleep."""

    values: np.ndarray
    names: tuple[str, ...]


class QuantileExperts(OnlineLearner):
    """What `Experts(quantiles=levels)` makes: forecasts of a point or of every level in, a quantile a level out, never crossing.

    A forecast is a number, which stands for every level, or one number a level. The rest is as for `Experts`.

    >>> from burkholder.experts import Experts
    >>> experts = Experts(quantiles=(0.1, 0.5, 0.9))
    >>> for y in (3.0, 2.5, 3.5, 2.0):
    ...     experts.update({"point": 3.1, "ensemble": [2.0, 2.8, 3.4]}, y)
    >>> experts.predict({"point": 3.1, "ensemble": [2.0, 2.8, 3.4]}).shape
    (3,)
    >>> experts.certificate().of(0.9).loss
    'pinball'
    """

    def __init__(self, quantiles: Any, loss: Any = "pinball", *, max_pending: int = MAX_PENDING, **more: Any) -> None:
        from burkholder.experts.learner import Experts

        super().__init__(max_pending)
        try:
            levels = tuple(float(level) for level in quantiles)
        except (TypeError, ValueError, OverflowError):
            levels = ()
        if not levels or not all(a < b for a, b in zip((0.0, *levels), (*levels, 1.0))):
            raise BadInput("quantiles", quantiles, "give numbers strictly between 0 and 1, in rising order")
        if loss not in ("pinball", "absolute"):  # the second is the default of `Experts`
            raise BadInput("loss", loss, "quantiles have the pinball loss: leave it out")
        if "quantile" in more or more.get("lanes"):
            raise BadInput("quantiles", quantiles, "leave out quantile and lanes: every level is a pinball mixture of its own")
        self.levels = np.array(levels)
        self.options = {key: value for key, value in more.items() if key != "lanes"}
        self.inner = [Experts("pinball", quantile=level, **self.options) for level in levels]
        self.account = np.zeros((ROWS, len(levels)))

    # --- the rounds ------------------------------------------------------------------------------------------
    @property
    def names(self) -> tuple[str, ...]:
        """The experts met so far."""
        return self.inner[0].names

    def _read(self, x: Any) -> Row:
        if isinstance(x, Mapping):
            parts = [{key: self._at(item, k, key) for key, item in x.items()} for k in range(len(self.levels))]
        elif isinstance(x, str) or not hasattr(x, "__iter__"):
            parts = [x]
        else:
            items = list(x)
            parts = [[self._at(item, k, j) for j, item in enumerate(items)] for k in range(len(self.levels))]  # type: ignore[misc]
        found = [rows.row(part, self.names) for part in parts]
        return Row(np.stack([one.values for one in found]), found[0].names)

    def _at(self, item: Any, k: int, key: Any) -> Any:
        if isinstance(item, (list, tuple, np.ndarray)) and np.ndim(item):
            if len(item) != len(self.levels):
                raise BadInput(f"x[{key!r}]", item, f"give one number, or {len(self.levels)}: one a level")
            return item[k]
        return item

    def _play(self, row: Row) -> tuple[np.ndarray, tuple[list[np.ndarray], np.ndarray]]:
        said = [one._play(rows.Row(row.values[k], row.names))[1] for k, one in enumerate(self.inner)]
        own = np.array([yhat for _, yhat in said])
        return np.sort(own), ([wide for wide, _ in said], own)

    def _learn(self, row: Row, memo: tuple[list[np.ndarray], np.ndarray], y: Any, weight: float, late: int) -> None:
        undo = self._undo()  # a level may refuse what the ones before it have learned
        try:
            wides, own = memo
            for k, one in enumerate(self.inner):
                one._learn(rows.Row(row.values[k], row.names), (wides[k], float(own[k])), y, weight, late)
            self._enter(own, np.sort(own), float(y), weight)
        except BaseException:
            undo()
            raise

    def _enter(self, own: np.ndarray, played: np.ndarray, y: float, weight: float) -> float:
        """Book a round; twice the mean pinball loss of what was played."""
        paid = _pinball(self.levels, played, y)
        spared = np.where(own == played, 0.0, _pinball(self.levels, own, y))
        for k, column in enumerate(self.account.T):
            add(column, LOSS, LOSS_REST, weight * float(paid[k]))
            if own[k] != played[k]:
                add(column, CHARGE, CHARGE_REST, weight * float(paid[k] - spared[k]))
                column[CHARGE_SIZE] += weight * float(paid[k] + spared[k])
            column[COVERED] += weight if y <= played[k] else 0.0
        return float(2.0 * paid.mean())

    # --- many rows -------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> rows.Table:
        if isinstance(X, (list, tuple)) and any(isinstance(x, Mapping) for x in X):
            return self._listed(X)
        parts = [X] * len(self.levels)
        if isinstance(X, Mapping):
            parts = [{key: self._column(item, k, key) for key, item in X.items()} for k in range(len(self.levels))]
        elif not hasattr(X, "columns") and np.ndim(X) == 3:
            parts = [self._column(np.asarray(X), k, None) for k in range(len(self.levels))]
        found = [rows.table(part, self.names) for part in parts]
        return rows.Table(np.stack([one.values for one in found], axis=1), found[0].names)

    def _column(self, item: Any, k: int, key: Any) -> Any:
        array = item if hasattr(item, "dtype") else np.asarray(item)
        if np.ndim(array) == (3 if key is None else 2):
            if array.shape[-1] != len(self.levels):
                raise BadInput("X" if key is None else f"X[{key!r}]", array.shape, f"give {len(self.levels)} forecasts last, one a level")
            return array[..., k]
        return item

    def _listed(self, X: Any) -> rows.Table:
        found, names = [], self.names
        for t, x in enumerate(X):
            try:
                one = self._read(x)
            except BadInput as error:
                raise BadInput(f"X[{t}]{error.argument[1:]}", error.value, error.remedy) from None
            names = (*names, *(name for name in one.names if name not in names))
            found.append(one)
        full = np.full((len(found), len(self.levels), len(names)), np.nan)
        place = {name: j for j, name in enumerate(names)}
        for t, one in enumerate(found):
            full[t][:, [place[name] for name in one.names]] = one.values
        return rows.Table(full, names)

    def _targets(self, y: Any, rows_: int) -> np.ndarray:
        return self.inner[0]._targets(y, rows_)

    def run(self, X: Any, y: Any, weight: Any = None, *, together: Any = None, trace: int = 100) -> Run:
        """Whole arrays: rounds × experts (points), rounds × experts × levels, a mapping from expert to such columns, a data frame of
        points, or a list of rows; `together` as for `Experts.run`. The run's predictions are rounds × levels, in order in every row.
        """
        with self._lock:
            table = self._table(X)
            table = table._replace(first=rows.blocks(together, table.rows))
            return self._recorded(table, self._targets(y, table.rows), checked_weights(weight, table.rows), trace)

    def _run(self, table: rows.Table, targets: np.ndarray, weights: np.ndarray | None) -> Stretch:
        own = np.empty((table.rows, len(self.levels)))
        for k, one in enumerate(self.inner):
            part = rows.Table(np.ascontiguousarray(table.values[:, k]), table.names, False, table.first)
            own[:, k] = one._run(part, targets, weights).predictions
        played, paid = np.sort(own, axis=1), np.empty(table.rows)
        for t in range(table.rows):
            paid[t] = self._enter(own[t], played[t], float(targets[t]), 1.0 if weights is None else float(weights[t]))
        return Stretch(played, paid, {"targets": targets})

    def _predict_many(self, table: rows.Table) -> np.ndarray:
        parts = [rows.Table(np.ascontiguousarray(table.values[:, k]), table.names) for k in range(len(self.levels))]
        return np.sort(np.column_stack([one._predict_many(part) for one, part in zip(self.inner, parts)]), axis=1)

    def _undo(self) -> Callable[[], None]:
        parts, account = [one._undo() for one in self.inner], self.account.copy()

        def back() -> None:
            for part in parts:
                part()
            self.account = account

        return back

    # --- what it knows -----------------------------------------------------------------------------------------
    @property
    def rounds(self) -> int:
        return self.inner[0].rounds

    @property
    def cumulative_loss(self) -> float:
        """Twice the mean pinball loss over the levels, summed."""
        return float(2.0 * (self.account[LOSS] + self.account[LOSS_REST]).mean())

    def weights(self, x: Any = None) -> dict[float, dict[str, float]]:
        """For each level, the weight of each expert now, with all of them awake, or with those awake in x."""
        with self._lock:
            given = None if x is None else self._read(x)
            asked = [None if given is None else dict(zip(given.names, given.values[k].tolist())) for k in range(len(self.inner))]
            return {level: one.weights(part) for level, one, part in zip(self.levels.tolist(), self.inner, asked)}

    def certificate(self) -> QuantileExpertsCertificate:
        """All levels together, as the CRPS; `of(level)` is that of one."""
        with self._lock:
            return certify(self)

    # --- saved -------------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays."""
        with self._lock:
            states, waiting = [one.state_dict() for one in self.inner], self._tickets.waiting
            header = {
                "version": VERSION,
                "levels": self.levels.tolist(),
                "max_pending": self.max_pending,
                "tickets": self._tickets.issued,
                "pending": [[id, play.round, list(play.row.names)] for id, play in waiting.items()],
                "parts": [words for words, _ in states],
            }
            arrays = {"account": self.account.copy()}
            arrays |= {f"pending.{id}": np.column_stack([play.memo[1], np.stack(play.memo[0])]) for id, play in waiting.items()}
            return header, arrays | {f"{k}/{key}": array for k, (_, inner) in enumerate(states) for key, array in inner.items()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> QuantileExperts:
        """The learner that `state_dict` described."""
        from burkholder.experts.learner import Experts

        check_header(header, _HEADER)
        levels = header["levels"]
        inner = []
        for k, words in enumerate(header["parts"]):
            own = {key.partition("/")[2]: array for key, array in arrays.items() if key.startswith(f"{k}/")}
            inner.append(Experts.from_state(words, own))
        self = cls(levels, max_pending=header["max_pending"])
        alike = {(one.names, one.rounds, one.method, one.outside, one.bound, repr(one.settings), one.lanes) for one in inner}
        if len(inner) != len(levels) or len(alike) != 1 or [one.loss for one in inner] != [one.loss for one in self.inner]:
            raise BadInput("header 'parts'", len(inner), "they are not the levels of one learner")
        if any(one.pending for one in inner) or inner[0].lanes:
            raise BadInput("header 'parts'", "pending", "a level has no plays and no lanes of its own")
        self.inner = inner
        first, rest = inner[0]._first, {key: array for key, array in arrays.items() if "/" not in key}
        strangers = [key for key in arrays if "/" in key and key.partition("/")[0] not in map(str, range(len(levels)))]
        if strangers:
            raise BadInput(f"array {strangers[0]!r}", "there", "this kind of learner has no such array")
        check_plays(header["pending"], header["tickets"], header["max_pending"], self.rounds, (_names,))
        described = {"account": Array((ROWS, len(levels)), low=_LOW[:, None])}
        described |= {f"pending.{id}": Array((len(levels), 1 + first + len(named))) for id, _, named in header["pending"]}
        rules = (("account: not that of a stream", lambda a: _possible(a["account"])),)
        Schema(described, rules).check({key: _awake(array) if key.startswith("pending.") else array for key, array in rest.items()})
        self.account, self._tickets.issued = np.array(arrays["account"], float), header["tickets"]
        for id, when, named in header["pending"]:
            numbers = np.array(arrays[f"pending.{id}"], float)
            memo = [part.copy() for part in numbers[:, 1:]], numbers[:, 0].copy()
            self._tickets.waiting[id] = Played(Row(numbers[:, 1 + first :].copy(), tuple(named)), memo, when)
        return self


def _pinball(levels: np.ndarray, played: np.ndarray, y: float) -> np.ndarray:
    return np.where(y >= played, levels * (y - played), (1.0 - levels) * (played - y))


def _names(value: Any) -> bool:
    return all_of(text)(value) and len(set(value)) == len(value)


def _awake(numbers: np.ndarray) -> np.ndarray:
    """A play with 0 in place of the experts that were asleep: only they may be no number."""
    if numbers.dtype.kind != "f" or numbers.ndim != 2:
        return numbers
    return np.column_stack([numbers[:, :1], np.nan_to_num(numbers[:, 1:], nan=0.0, posinf=np.inf, neginf=-np.inf)])


def _possible(account: np.ndarray) -> bool:
    small = (np.abs(account[LOSS_REST]) <= 1e-6 * account[LOSS] + 1e-300).all()
    return bool(small and within_sizes(account[[CHARGE, CHARGE_REST, CHARGE_SIZE]]))


_LOW = np.array([0.0, -1e300, -1e300, -1e300, 0.0, 0.0])
_HEADER = {
    "version": one_of(VERSION),
    "levels": lambda value: all_of(number)(value) and 0 < len(value) <= 1000,
    "max_pending": limit,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
    "parts": lambda value: type(value) is list and all(type(part) is dict for part in value),
}
