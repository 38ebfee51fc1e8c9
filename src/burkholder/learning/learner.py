"""The learner of one Burkholder function. It owns ζ, plays, observes, and can always say what it guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder import functions, losses
from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction
from burkholder.learning import ledger, together
from burkholder.learning.protocol import State, Stretch
from burkholder.learning.regret import RegretCertificate, assumptions
from burkholder.learning.rows import Row, Rows, Table
from burkholder.learning.saved import learner_in, learner_out
from burkholder.learning.tickets import MAX_PENDING
from burkholder.learning.together import Plays, Together
from burkholder.learning.weights import checked_weights
from burkholder.losses.batch import labels, values
from burkholder.rounds.choice import state_for
from burkholder.rounds.dicts import NamedRow
from burkholder.rounds.plain import KNOWN, quiet
from burkholder.rounds.state import LinearState
from burkholder.strategies import choose


class Learner(Together):
    """A Burkholder function, a loss, and the state that links them.

    `bound` is B: predictions are clipped to [-B, B]. `strategy` overrides the cheapest valid one. L (and the
    curvature) come from the loss where the function leaves them open.

    >>> learner = Learner("adagrad", loss="absolute", bound=1.0, radius=2.0)
    >>> for x, y in [([1.0, 0.5], 1.0), ([0.5, -1.0], -1.0)] * 50:
    ...     prediction = learner.predict(x)
    ...     learner.update(x, y)
    >>> certificate = learner.certificate()
    >>> certificate.rounds, certificate.realised([0.0, 1.0]) <= certificate.bound([0.0, 1.0])
    (100, True)
    """

    def __init__(
        self,
        function: str | BurkholderFunction = "square-function",
        loss: Any = "absolute",
        bound: float | None = None,
        strategy: str | None = None,
        features: Any = None,
        intercept: bool = False,
        seed: int = 0,
        strategy_options: dict[str, Any] | None = None,
        max_pending: int = MAX_PENDING,
        **options: Any,
    ) -> None:
        super().__init__(max_pending)
        of_the_loss = losses.parameters() if isinstance(loss, str) else frozenset()
        self.loss = losses.get(loss, **{key: options.pop(key) for key in of_the_loss & options.keys()})
        self.bound = _bound(bound)
        self.function = _fitted(functions.get(function, **options), self.loss, self.bound)
        self.requested = function if isinstance(function, str) else None
        self.options, self.seed = options, int(seed)
        self.strategy, self.detected = choose(self.function, self.loss, self.bound, strategy, **(strategy_options or {}))
        # what `state_dict` needs to make this learner again
        self.made: dict[str, Any] = {"strategy": strategy, "strategy_options": dict(strategy_options or {})}
        self.features = features
        self.rows = Rows(intercept)
        self.ledger = ledger.empty()
        self.parts = 1  # learners that were merged into this one
        self.state = state_for(self.function, self.strategy, self.seed)
        # dicts of numbers in one compiled call, where loss and function are compiled
        self._quick = features is None and self.loss.compiled and isinstance(self.state, LinearState)
        self._named: NamedRow | None = None  # while the features have names, or may yet have

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_named": None}  # tied to this very state and ledger: a copy makes its own

    # --- one round ---------------------------------------------------------------------------------------
    def _read(self, x: Any) -> Row:
        return self.rows.read(x if self.features is None else self.features(x))

    def _move(self, row: Row) -> tuple[float, float]:
        return self.state.move(*self.rows.places(row)[:2])

    def _play(self, row: Row) -> tuple[float, tuple[float, float]]:
        raw, error = self._move(row)
        return min(max(raw, -self.bound), self.bound), (raw, error)

    def _open(self) -> NamedRow | None:
        """Compiled rounds on dicts, where there are such."""
        if self._quick and KNOWN and self.rows.kind in (None, "names") and self.rows.source is None:
            if quiet(self.rows.names):
                self._named = NamedRow(self.state, self.rows.names, self.loss, self.bound, self.ledger, self.rows.intercept, self._lock)
            else:
                self._quick = False
        return self._named

    def predict(self, x: Any) -> float:
        """ŷ for these features. Predicting changes nothing."""
        if type(x) is dict and (named := self._named) is not None:
            yhat = named.glance(x)
            if yhat == yhat:
                return yhat
        with self._lock:
            if type(x) is dict and (named := self._named or self._open()):
                yhat = named.play(x)
                if yhat == yhat:
                    return yhat
            return self._play(self._read(x))[0]

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round: predict, see y, learn. A bad input leaves the learner exactly as it was."""
        if type(x) is dict and (named := self._named) is not None and named.step is not None:
            try:
                if named.step(x, y, weight) == 0.0:
                    return
            except (TypeError, ValueError, OverflowError):
                pass  # y or weight is not a number
        with self._lock:
            if type(x) is dict and (named := self._named or self._open()):
                try:
                    count = named.learn(x, y, weight)
                except (TypeError, ValueError, OverflowError):
                    count = math.nan
                if count == 0.0:
                    return
                if count == count:
                    self.rows.keep("names", None, tuple(name for name in x if name not in self.rows.names))
                    return
            super().update(x, y, weight)

    def _learn(self, row: Row, memo: tuple[float, float], y: Any, weight: float, late: int) -> None:
        raw, error = memo
        target = losses.label(self.loss, y, self.bound)
        indices, numbers, new = self.rows.places(row)
        book = self.ledger.copy()
        settle = ledger.settle_one if self.loss.compiled else ledger.settle
        yhat, delta = settle(book, self.loss, float(raw), float(target), weight, float(self.bound), float(self.function.lipschitz))
        if not (math.isfinite(delta) and math.isfinite(book[ledger.LOSS])):
            raise BadInput("y", y, f"the loss at the prediction {yhat:g} overflows: rescale the target")
        size = self.state.learn(indices, numbers, yhat, delta, weight)  # raises before it changes anything
        if math.isfinite(self.state.size_limit):
            ledger.measure(book, size, self.state.size_limit)
        book[ledger.DELAYED] += float(late > 0)
        book[ledger.ERROR] += error
        self.ledger[:] = book
        self.rows.keep_row(row, new)
        self._forget_names(new)

    @property
    def at_once(self) -> bool:
        """Whether, with rows as they are, many labels are learned by one compiled loop."""
        return self.rows.kind == "vector" and bool(self.loss.compiled) and isinstance(self.state, LinearState)

    def _plays(self, X: Any) -> Plays | None:
        matrix = together.vectors(self.rows, X) if self.features is None and isinstance(self.state, LinearState) else None
        if matrix is None:
            return None
        raw = self.state.plays(self.rows.table(matrix), self.loss, math.inf, self.ledger)
        shown = np.clip(raw, -self.bound, self.bound).tolist()
        return together.rows_of(matrix), shown, [(one, 0.0) for one in raw.tolist()]

    def _learn_late(self, plays: list[Any], y: Any, weights: np.ndarray | None) -> bool:
        table = together.again(self.rows, plays) if self.at_once else None
        if table is None:
            return False
        late = together.late(plays, self.rounds)
        raw = np.array([play.memo[0] for play in plays])
        self.state.settle(table, raw, self._targets(y, table.rows), weights, self.loss, self.bound, self.ledger)
        self.ledger[ledger.DELAYED] += float(np.count_nonzero(late > 0))
        self.rows.keep(table.kind, table.length, ())
        self._forget_names()
        return True

    def _forget_names(self, new: tuple[Any, ...] = ()) -> None:
        """No compiled rounds on dicts where rows have no names, or a name that came to them has code of its own."""
        if self.rows.kind != "names" or not quiet(new):
            self._named = None

    # --- whole streams -----------------------------------------------------------------------------------
    def _table(self, X: Any) -> Table:
        if self.features is not None:
            return self.rows.table([self.features(x) for x in _one_by_one(X)])
        return self.rows.table(X)

    def _targets(self, y: Any, rows: int) -> np.ndarray:
        targets = labels(self.loss, y, self.bound)
        if len(targets) != rows:
            raise BadInput("y", f"{len(targets)} labels", f"X has {rows} rows: give one label for each")
        return targets

    def _undo(self) -> Callable[[], None]:
        back, rows = self.state.keep(self.ledger), self.rows
        kind, length, names, far = rows.kind, rows.length, dict(rows.names), dict(rows.far)

        def undo() -> None:
            back()
            for known, kept in ((rows.names, names), (rows.far, far)):  # in place: compiled rounds look names up there
                known.clear()
                known.update(kept)
            rows.kind, rows.length = kind, length
            self._forget_names()

        return undo

    def _run(self, table: Table, targets: np.ndarray, weights: np.ndarray | None) -> Stretch:
        predictions = self._advance(table, targets, weights)
        return Stretch(predictions, values(self.loss, predictions, targets))

    def _advance(self, table: Table, targets: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        predictions = self.state.run(table, targets, weights, self.loss, self.bound, self.ledger)
        if table.rows:  # no rows have no kind
            new = tuple(key for key in table.new if key not in self.rows.names and key not in self.rows.far)
            self.rows.keep(table.kind, table.length, new)
            self._forget_names(new)
        return predictions

    def _predict_many(self, table: Table) -> np.ndarray:
        return self.state.plays(table, self.loss, self.bound, self.ledger)

    def run_batch(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None) -> np.ndarray:
        """Rows in compressed form (scipy's CSR arrays); returns the progressive predictions. All of them, or none."""
        with self._lock:
            table = self.rows.compressed(indptr, indices, values)
            targets, weights = self._targets(y, table.rows), checked_weights(weight, table.rows)
            undo = None if self.state.atomic else self._undo()
            try:
                return self._advance(table, targets, weights)
            except BaseException:
                if undo is not None:
                    undo()
                raise

    def predict_batch(self, indptr: Any, indices: Any, values: Any) -> np.ndarray:
        """The prediction for each of some rows in compressed form (scipy's CSR arrays). Changes nothing."""
        with self._lock:
            return self._predict_many(self.rows.compressed(indptr, indices, values))

    # --- what it knows of itself -------------------------------------------------------------------------
    @property
    def rounds(self) -> int:
        return int(self.ledger[ledger.ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        return ledger.loss_of(self.ledger)

    @property
    def errors(self) -> int:
        """Rounds whose label had the other sign (classification)."""
        return int(self.ledger[ledger.ERRORS])

    def potential(self) -> float:
        """U(ζ): at most 0 (plus slack) while every assumption holds."""
        return float(self.function.value(self.state.tau()))

    def weights(self) -> Any:
        """The current linear weights of a tangent learner, by name where features have names."""
        vector = self.state.weights()
        if self.rows.kind != "names":
            return vector
        return {name: float(vector[place]) if place < len(vector) else 0.0 for name, place in self.rows.names.items()}

    def certificate(self) -> RegretCertificate:
        """What was promised, what this stream proves, and each assumption with what was seen of it."""
        with self._lock:
            book = self.ledger
            rounds = self.rounds
            return RegretCertificate(
                learner=self.requested or self.function.name,
                loss=losses.name(self.loss),
                rounds=rounds,
                cumulative_loss=self.cumulative_loss,
                weight=float(book[ledger.WEIGHT]),
                potential=self.potential(),
                comparators=self.function.comparator_class(),
                assumptions=assumptions(self.function, book, self.state.size_limit, self.parts),
                notes=self._notes(),
                function=self.function,
                tau=self.state.tau(),
                evidence=self.state.evidence(self.loss, rounds, float(book[ledger.STEEPEST])),
                slack=float(book[ledger.SLACK] + book[ledger.ERROR]),
                rows=self.rows,
            )

    def _notes(self) -> tuple[str, ...]:
        book, notes = self.ledger, []
        if book[ledger.SLACK] > 0.0:
            notes.append(f"clipping cost {book[ledger.SLACK]:.6g}, included in the promised regret")
        if self.strategy.randomised or self.function.in_expectation:
            notes.append("the promise holds in expectation over the learner's own coins; realised and corrected regret hold on this path")
        if book[ledger.ERROR] > 0.0:
            kind = "" if self.strategy.bounded else " (read off the grid: an estimate, since the function states no `steepness`)"
            notes.append(f"the strategy's grid and solver may have cost {book[ledger.ERROR]:.6g}, included{kind}")
        if self.detected:
            notes.append("the strategy rests on structure found by sampling, which is not a proof")
        if not self.loss.compiled:
            notes.append("the loss is a function of your own: that it is convex, and its slope right, is taken on trust")
        if self.parts > 1:
            notes.append(
                f"{self.parts} learners merged: realised and corrected regret bound the sum of their losses less the "
                "comparator's over all their data; the bound promised to one stream does not carry over"
            )
        if self.pending:
            notes.append(f"{self.pending} predictions still wait for their labels and are not counted")
        return tuple(notes)

    # --- keeping it ----------------------------------------------------------------------------------------
    def state_dict(self) -> State:
        """(header, arrays): everything that changes, and how it was made."""
        with self._lock:
            return learner_out(self)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], **given: Any) -> Learner:
        """The learner that `state_dict` described; parts that were Python code of your own are to be given again."""
        return learner_in(cls, header, arrays, **given)


def _bound(bound: float | None) -> float:
    number = math.inf if bound is None else float(bound)
    if not number > 0.0:
        raise BadInput("bound", bound, "predictions live in [-bound, bound]: give a positive number")
    return number


def _fitted(built: BurkholderFunction, loss: Any, bound: float) -> BurkholderFunction:
    """The function with L and ρ from the loss, where its options leave them open."""
    # comparators may predict outside [-B, B], so only curvature on the whole line counts
    steep, curved = loss.lipschitz(bound), loss.curvature(math.inf)
    if built.needs_curvature and not curved > 0.0 and built.options["curvature"] is None:
        raise BadInput("loss", losses.name(loss), "this function needs a loss that is curved on the whole line, such as squared")
    if math.isinf(steep) and built.needs_lipschitz and built.options.get("lipschitz", 1.0) is None:
        raise BadInput("bound", bound, f"the {losses.name(loss)} loss is Lipschitz only on a range: give bound")
    return built.fitted(steep, curved) if math.isfinite(steep) else built


def _one_by_one(X: Any) -> Any:
    """The rows of a matrix, one at a time, as a feature map takes them."""
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        matrix = X.tocsr()
        return [(matrix[t].indices, matrix[t].data) for t in range(matrix.shape[0])]
    return X.to_numpy() if hasattr(X, "to_numpy") else X
