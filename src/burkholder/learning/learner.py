"""The learner: the only thing that changes. It owns ζ, plays, observes, and can always say what it guarantees."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from burkholder import functions, losses
from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction
from burkholder.functions.linear import Linear
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.geometries import Coordinates, Euclidean, PNorm, Supremum
from burkholder.learning import ledger
from burkholder.learning.regret import RegretCertificate, assumptions, guarantees
from burkholder.learning.rows import Row, Rows
from burkholder.learning.runs import Run, record
from burkholder.losses.batch import labels
from burkholder.rounds.curved import CurvedState
from burkholder.rounds.dicts import NamedRow
from burkholder.rounds.generic import TauState
from burkholder.rounds.plain import KNOWN
from burkholder.rounds.state import LinearState
from burkholder.strategies import choose


class Ticket(NamedTuple):
    """A prediction whose label is still to come."""

    id: int
    prediction: float


class _Pending(NamedTuple):
    x: Any  # read again when its label comes: other rows may have named its features by then
    raw: float
    error: float
    played_at: int


class Learner:
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
        dtype: Any = np.float64,
        strategy_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        own = {key: options.pop(key) for key in ("quantile", "threshold", "epsilon") if key in options}
        self.loss = losses.get(loss, **own)
        self.bound = math.inf if bound is None else float(bound)
        if not self.bound > 0.0:
            raise BadInput("bound", bound, "predictions live in [-bound, bound]: give a positive number")
        built = functions.get(function, **options)
        # comparators may predict outside [-B, B], so only curvature on the whole line counts
        steep, curved = self.loss.lipschitz(self.bound), self.loss.curvature(math.inf)
        if isinstance(built, StronglyConvex) and not curved > 0.0 and built.options["curvature"] is None:
            remedy = "this function needs a loss that is curved on the whole line, such as squared"
            raise BadInput("loss", losses.name(self.loss), remedy)
        if math.isinf(steep) and built.needs_lipschitz and built.options.get("lipschitz", 1.0) is None:
            remedy = f"the {losses.name(self.loss)} loss is Lipschitz only on a range: give bound"
            raise BadInput("bound", bound, remedy)
        self.function = built.fitted(steep, curved) if math.isfinite(steep) else built
        self.requested = function if isinstance(function, str) else None
        self.options, self.seed = options, int(seed)
        self.strategy, self.detected = choose(self.function, self.loss, self.bound, strategy, **(strategy_options or {}))
        # what `storage` needs to make this learner again
        self.made = {"strategy": strategy, "strategy_options": dict(strategy_options or {}), "dtype": np.dtype(dtype).str}
        self.features = features
        self.rows = Rows(intercept)
        self.ledger = ledger.empty()
        self.state = self._fresh(dtype)
        # dicts of numbers in one compiled call, where loss and function are compiled
        self._quick = features is None and not isinstance(self.loss, losses.Custom) and isinstance(self.state, LinearState)
        self._named: NamedRow | None = None  # while the features have names, or may yet have
        self._pending: dict[int, _Pending] = {}
        self._tickets = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_named": None}  # tied to this very state and ledger: a copy makes its own

    def _fresh(self, dtype: Any) -> Any:
        compiled = isinstance(self.function, Linear) and self.strategy.name in ("tangent", "sign-flip")
        if compiled and isinstance(self.function.geometry, (Coordinates, Euclidean, PNorm, Supremum)):  # type: ignore[attr-defined]
            return LinearState(self.function, dtype=dtype)  # type: ignore[arg-type]
        if isinstance(self.function, StronglyConvex) and self.strategy.name == "closed-form":
            return CurvedState(self.function, self.strategy, seed=self.seed)
        return TauState(self.function, self.strategy, seed=self.seed)

    # --- one round ---------------------------------------------------------------------------------------
    def _mapped(self, x: Any) -> Any:
        return x if self.features is None else self.features(x)

    def _move(self, row: Row) -> tuple[float, float]:
        if isinstance(self.state, LinearState):
            return self.state.play(*row), 0.0
        return self.state.move(*row)

    def _open(self) -> NamedRow | None:
        """Compiled rounds on dicts, where there are such."""
        if self._quick and KNOWN and self.rows.kind in (None, "names"):
            book, intercept = self.ledger, self.rows.intercept
            self._named = NamedRow(self.state, self.rows.names, self.loss, self.bound, book, intercept)
        return self._named

    def predict(self, x: Any) -> float:
        """ŷ for these features. Predicting changes nothing."""
        if type(x) is dict and (named := self._named or self._open()):
            yhat = named.play(x)
            if yhat == yhat:
                return yhat
        row, _ = self.rows.read(self._mapped(x))
        return min(max(self._move(row)[0], -self.bound), self.bound)

    def play(self, x: Any) -> Ticket:
        """A prediction whose label comes later; hand the ticket's id to `reveal`."""
        mapped = self._mapped(x)
        row, _ = self.rows.read(mapped)
        raw, error = self._move(row)
        self._tickets += 1
        self._pending[self._tickets] = _Pending(mapped, raw, error, self.rounds)
        return Ticket(self._tickets, min(max(raw, -self.bound), self.bound))

    def reveal(self, id: int, y: Any, weight: float = 1.0) -> None:
        """The label of an earlier play: learn from exactly what was played then."""
        if id not in self._pending:
            known = isinstance(id, int) and 0 < id <= self._tickets
            raise BadInput("id", id, "its label was already revealed" if known else "no play has this id")
        pending = self._pending[id]
        row, new = self.rows.read(pending.x)
        self._learn(pending.x, row, new, pending.raw, pending.error, y, weight, self.rounds - pending.played_at)
        del self._pending[id]

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round: predict, see y, learn. A bad input leaves the learner exactly as it was."""
        if type(x) is dict and (named := self._named or self._open()):
            try:
                count = named.learn(x, y, weight)
            except (TypeError, ValueError, OverflowError):
                count = math.nan  # y or weight is not a number
            if count == 0.0:
                return
            if count == count:  # new names
                self.rows.keep(x, [name for name in x if name not in self.rows.names])
                return
        mapped = self._mapped(x)
        row, new = self.rows.read(mapped)
        raw, error = self._move(row)
        self._learn(mapped, row, new, raw, error, y, weight, 0)

    def _learn(self, x: Any, row: Row, new: list[str], raw: float, error: float, y: Any, weight: float, late: int) -> None:
        target = losses.label(self.loss, y, self.bound)
        try:
            importance = float(weight)
        except (TypeError, ValueError, OverflowError):
            importance = math.nan
        if not (math.isfinite(importance) and importance >= 0.0):
            raise BadInput("weight", weight, "give a finite number ≥ 0")
        book = self.ledger.copy()
        yhat, delta = ledger.settle(book, self.loss, raw, target, importance, self.bound, self.function.lipschitz)
        if not (math.isfinite(delta) and math.isfinite(book[ledger.LOSS])):
            raise BadInput("y", y, f"the loss at the prediction {yhat:g} overflows: rescale the target")
        size = self.state.learn(*row, yhat, delta)  # raises before it changes anything
        if math.isfinite(self._size_limit):
            ledger.measure(book, size, self._size_limit)
        book[ledger.DELAYED] += float(late > 0)
        book[ledger.ERROR] += error
        self.ledger[:] = book
        self._keep(x, new)

    def _keep(self, x: Any, new: list[str]) -> None:
        self.rows.keep(x, new)
        if self.rows.kind != "names":
            self._named = None

    # --- whole streams -----------------------------------------------------------------------------------
    def run(self, X: Any, y: Any, weight: Any = None, trace: int = 100) -> Run:
        """Every row in turn, as `predict` then `update` would; compiled where the function allows it.

        `trace` is the number of moments at which loss, potential and realised regret are noted down.
        """
        return record(self, X, y, weight, trace)

    def run_batch(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None) -> np.ndarray:
        """Rows in compressed form (scipy's CSR arrays); returns the progressive predictions."""
        self.rows.check_kind("sparse")
        targets = labels(self.loss, y, self.bound)
        weights = np.ones(1) if weight is None else np.asarray(weight, float)
        if isinstance(self.state, LinearState) and self.features is None:
            if self.rows.intercept:
                indptr, indices, values = with_intercept(indptr, indices, values)
            out = self.state.run(indptr, indices, values, targets, weights, self.loss, self.bound, self.ledger)
            self._keep((), [])
            return out
        out = np.empty(len(targets))
        table, self.rows.table = self.rows.table, None  # these rows are what its reader made of lines
        try:
            for t in range(len(targets)):
                row = (np.asarray(indices[indptr[t] : indptr[t + 1]], np.int64), values[indptr[t] : indptr[t + 1]])
                out[t] = self.predict(row)
                self.update(row, targets[t], float(weights[min(t, len(weights) - 1)]))
        finally:
            self.rows.table = table
        return out

    # --- what it knows of itself -------------------------------------------------------------------------
    @property
    def rounds(self) -> int:
        return int(self.ledger[ledger.ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        return float(self.ledger[ledger.LOSS])

    @property
    def errors(self) -> int:
        """Rounds whose label had the other sign (classification)."""
        return int(self.ledger[ledger.ERRORS])

    @property
    def pending(self) -> int:
        """Plays whose label has not come yet."""
        return len(self._pending)

    @property
    def _size_limit(self) -> float:
        if isinstance(self.state, LinearState):
            return self.function.feature_bound  # type: ignore[attr-defined]
        limited = self.function.sizes(np.zeros(max(self.state.dim, 1)))
        return 1.0 if limited else math.inf  # generic states report seen ÷ limit

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
        notes = []
        slack = float(self.ledger[ledger.SLACK] + self.ledger[ledger.ERROR])
        if self.ledger[ledger.SLACK] > 0.0:
            notes.append(f"clipping cost {self.ledger[ledger.SLACK]:.6g}, included in the promised regret")
        if self.strategy.randomised or self.function.in_expectation:
            notes.append("the promise holds in expectation over the learner's own coins; realised and corrected regret hold on this path")
        if self.ledger[ledger.ERROR] > 0.0:
            notes.append(f"the strategy's grid and solver may have cost {self.ledger[ledger.ERROR]:.6g}, included")
        if self.detected:
            notes.append("the strategy rests on structure found by sampling, which is not a proof")
        if self._pending:
            notes.append(f"{len(self._pending)} predictions still wait for their labels and are not counted")
        name = self.requested or self.function.name
        certificate = RegretCertificate(
            learner=name,
            loss=losses.name(self.loss),
            rounds=self.rounds,
            cumulative_loss=self.cumulative_loss,
            potential=self.potential(),
            assumptions=assumptions(self.function, self.ledger, self._size_limit),
            notes=tuple(notes),
            function=self.function,
            tau=self.state.tau(),
            a=self.state.a,
            g=self.state.g if self.state.dim else np.zeros(1),
            slack=slack,
            rows=self.rows,
        )
        return replace(certificate, guarantees=guarantees(certificate))


def with_intercept(indptr: Any, indices: Any, values: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same rows with a constant 1 in front, as feature 0."""
    indptr, indices, values = np.asarray(indptr, np.int64), np.asarray(indices), np.asarray(values)
    starts = indptr[:-1] - indptr[0]
    indices, values = indices[indptr[0] : indptr[-1]], values[indptr[0] : indptr[-1]]
    out_indices = np.insert(indices.astype(np.int64) + 1, starts, 0)
    out_values = np.insert(values.astype(values.dtype if values.dtype.kind == "f" else float), starts, 1.0)
    return indptr - indptr[0] + np.arange(len(indptr)), out_indices, out_values
