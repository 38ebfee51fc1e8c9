"""Matrix prediction with the paper's strategy: any X, any rule for the rate, a certificate at any time."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.certificate import Comparators
from burkholder.learning.protocol import OnlineLearner, State, Stretch
from burkholder.learning.runs import Run
from burkholder.learning.tickets import MAX_PENDING, Played
from burkholder.learning.weights import checked_weight
from burkholder.losses import batch
from burkholder.losses.dispatch import value
from burkholder.matrix import graph, rules, schema, sign_flip, weights
from burkholder.matrix.certificate import NuclearCertificate
from burkholder.matrix.comparators import OfShape
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.general import SMALL, GeneralEngine
from burkholder.matrix.gradient import Gradient
from burkholder.matrix.inputs import Row, Rows, played_number
from burkholder.matrix.sign_flip_certificate import fields, own_radius


class MatrixLearner(OnlineLearner):
    """Predict ⟨W, X⟩ for an unknown W of nuclear norm at most `radius` (`corr:matrix_strategy`).

    X may be a dense or sparse matrix, one entry (i, j) or (i, j, w), or a pair of factors (U, V) meaning UVᵀ.
    `rate`: "lowering" (no restart), "doubling" (the paper's), "mixture" (no radius needed) or a number.
    `strategy`: "sign-flip", or "tangent" (its bound counts Σδ²M(X)).

    >>> learner = MatrixLearner(3, 4, radius=2.0)
    >>> learner.predict((0, 1))
    0.0
    >>> learner.update((0, 1), 1.0)
    >>> learner.predict((0, 1)) > 0.0
    True
    >>> learner.certificate().bound() >= learner.certificate().realised()
    True
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        *,
        radius: float | None = None,
        rate: Any = "lowering",
        strategy: str = "sign-flip",
        loss: Any = "absolute",
        bound: float = 1.0,
        kappa: float = 1.0,
        tol: float = 1e-6,
        method: str = "auto",
        max_pending: int = MAX_PENDING,
    ) -> None:
        super().__init__(max_pending)
        for name, size in (("rows", rows), ("columns", columns)):
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
                raise BadInput(name, size, "give a positive integer")
        if strategy not in ("sign-flip", "tangent"):
            raise BadInput("strategy", strategy, "give 'sign-flip' or 'tangent'")
        if method not in ("auto", "dense", "krylov"):
            raise BadInput("method", method, "give 'auto', 'dense' or 'krylov'")
        if strategy == "tangent" and rate == "mixture":
            raise BadInput("rate", rate, "the mixture belongs to the sign flip; give a number, lowering or doubling")
        if not bound > 0.0:
            raise BadInput("bound", bound, "predictions lie in [-bound, bound]: give a positive number")
        self.shape, self.record = (int(rows), int(columns)), losses.get(loss)
        # without a finite minimiser clipping is not free: such losses are played unclipped
        self.limit = bound if losses.has_minimiser(self.record) else math.inf
        lipschitz = float(self.record.lipschitz(self.limit))
        if not math.isfinite(lipschitz):
            raise BadInput("bound", bound, "this loss needs a finite bound on predictions and targets")
        self.options = {
            "radius": radius,
            "rate": rate,
            "strategy": strategy,
            "bound": bound,
            "kappa": kappa,
            "tol": tol,
            "method": method,
            "loss": losses.name(self.record),
        }
        rule, rates, masses = rules.rule(rate, radius, lipschitz, self.limit, tol, kappa, rules.tie(self.record))
        self.engine: GeneralEngine | SignFlipEntries = GeneralEngine(self.shape, rule, rates, masses, strategy == "tangent", method)
        self._learned, self._paid, self.last_steps = 0, 0.0, 0

    # -- one round ----------------------------------------------------------------------------------------

    def _read(self, x: Any) -> Row:
        return Row(x, self.shape)

    def _play(self, row: Row) -> tuple[float, float]:
        yhat = played_number(float(self._predict_many(Rows([row]))[0]))
        return yhat, yhat

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round: predict, see y, learn."""
        with self._lock:
            self._learn(self._read(x), None, y, checked_weight(weight), 0)

    def _learn(self, row: Row, memo: Any, y: Any, weight: float, late: int) -> None:
        label = losses.label(self.record, y, self.limit)
        weights.refuse(weight)
        self._round(row, memo if late else None, label)

    def _round(self, row: Row, played: float | None, label: float) -> float:
        """Learn from what was played, now if nothing is given; the ŷ that counted."""
        if row.entry is not None and self._compiled_entries():
            assert isinstance(self.engine, SignFlipEntries)
            i, j, weight = row.entry[0], self.shape[0] + row.entry[1], row.entry[2]
            if played is None:
                return float(self._entry_rounds([row], np.array([label]))[0])
            self.engine.late(i, j, played, label, weight)
            self._pay(played, label)
            return played
        engine = self.engine.copy() if isinstance(self.engine, GeneralEngine) else _general(self.engine, self.shape)
        X = row.factors
        engine.prepare(X)
        yhat, spaces, steps = engine.predict(X)
        yhat = played_number(yhat)
        if played is not None:
            yhat = played
            engine.scalars[sign_flip.LATE] += 1.0
        delta, hit = sign_flip.slope(engine.rule, self.record, yhat, label)
        engine.scalars[sign_flip.TIED] += hit
        engine.learn(row, yhat, float(delta), spaces)
        self.engine, self.last_steps = engine, steps
        self._pay(yhat, label)
        return yhat

    def _pay(self, yhat: float, label: float) -> float:
        loss = float(value(self.record, yhat, label))
        self._learned += 1
        self._paid += loss
        return loss

    # -- whole streams ------------------------------------------------------------------------------------

    def run(self, X: Any, y: Any, weight: Any = None, *, trace: int = 0) -> Run:
        """Every X in turn, as `predict` then `update` would (entries compiled); all of it, or nothing when an input is bad.

        A certificate costs a decomposition, so no moment on the way is noted down unless `trace` asks for some.
        """
        return super().run(X, y, weight, trace=trace)

    def _table(self, X: Any) -> Rows:
        listed = []
        for t, x in enumerate(X):
            try:
                listed.append(Row(x, self.shape))
            except BadInput as error:
                raise BadInput(f"X[{t}]", error.value, error.remedy) from None
        return Rows(listed)

    def _targets(self, y: Any, rows: int) -> NDArray[np.float64]:
        labels = batch.labels(self.record, y, self.limit)
        if len(labels) != rows:
            raise BadInput("y", f"{len(labels)} labels", f"there are {rows} matrices: give one label for each")
        return labels

    def _run(self, table: Rows, targets: NDArray[np.float64], given: np.ndarray | None) -> Stretch:
        weights.refuse_many(given)
        if all(row.entry is not None for row in table.listed) and self._compiled_entries():
            predictions = self._entry_rounds(table.listed, targets)
        else:
            predictions = np.empty(table.rows)
            for t, row in enumerate(table.listed):
                try:
                    predictions[t] = self._round(row, None, float(targets[t]))
                except BadInput as error:
                    raise BadInput(f"X[{t}]", error.value, error.remedy) from None
        paid = [float(value(self.record, yhat, label)) for yhat, label in zip(predictions.tolist(), targets.tolist())]
        return Stretch(predictions, np.array(paid))

    def _predict_many(self, table: Rows) -> NDArray[np.float64]:
        out = np.empty(table.rows)
        compiled = isinstance(self.engine, SignFlipEntries)
        entries = [t for t, row in enumerate(table.listed) if compiled and row.entry is not None]
        if entries:
            assert isinstance(self.engine, SignFlipEntries)
            out[entries] = self.engine.predict(*Rows([table.listed[t] for t in entries]).nodes(self.shape[0]))
        for t in sorted(set(range(table.rows)) - set(entries)):
            engine = self.engine.copy() if isinstance(self.engine, GeneralEngine) else _general(self.engine, self.shape)
            X = table.listed[t].factors
            engine.prepare(X)
            out[t] = engine.predict(X)[0]
        return out

    def _compiled_entries(self) -> bool:
        """Whether an entry goes to the compiled engine; a large learner turns to it on its first."""
        if isinstance(self.engine, SignFlipEntries):
            return True
        fresh = self.rounds == 0 and not self.engine.tangent and self.options["method"] == "auto"
        if not fresh or sum(self.shape) <= SMALL:
            return False
        option = self.options
        self.engine = SignFlipEntries(
            option["rate"], option["radius"], self.record, self.limit, option["kappa"], option["tol"], nodes=sum(self.shape)
        )
        return True

    def _entry_rounds(self, listed: list[Row], labels: NDArray[np.float64]) -> NDArray[np.float64]:
        assert isinstance(self.engine, SignFlipEntries)
        i, j, weight = Rows(listed).nodes(self.shape[0])
        out = self.engine.rounds(i, j, labels, weight)
        for yhat, label in zip(out[:, 0].tolist(), labels.tolist()):
            self._pay(yhat, label)
        self.last_steps = int(out[-1, 3])
        return out[:, 0]

    def _undo(self) -> Callable[[], None]:
        """The engine is copied; its matrices are never changed in place, so these are shared."""
        engine = self.engine.copy() if isinstance(self.engine, GeneralEngine) else copy.deepcopy(self.engine)
        kept = (self._learned, self._paid, self.last_steps)

        def back() -> None:
            self.engine = engine
            self._learned, self._paid, self.last_steps = kept

        return back

    # -- what it can say of itself ------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        return self._learned

    @property
    def cumulative_loss(self) -> float:
        return self._paid

    def gradient(self) -> Gradient:
        """ΣδX of all rounds, by its entries, and what it may be wrong by."""
        if isinstance(self.engine, GeneralEngine):
            return self.engine.slopes(self.rounds)
        return _shifted(self.engine.gradient(np.arange(self.shape[0])), self.shape[0])

    def certificate(self) -> NuclearCertificate:
        """What is guaranteed against every W of the ball, and what this stream proves."""
        with self._lock:
            engine, rule = self.engine, self.engine.rule
            return NuclearCertificate(
                learner=f"matrix {self.options['strategy']}, rate {self.options['rate']}",
                loss=str(self.options["loss"]),
                rounds=self.rounds,
                cumulative_loss=self.cumulative_loss,
                potential=engine.value,
                comparators=Comparators("⟨W, X⟩", "‖W‖_Σ", own_radius(rule)),
                read=OfShape(self.shape),
                **fields(rule, engine.scalars, engine.promise(), engine.value, self.gradient(), self.rounds),
            )

    # -- saving -------------------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """(header for JSON, arrays): all that is needed to resume bit for bit."""
        if not self.record.compiled:
            raise BadInput("loss", "custom", "Python functions cannot be saved; use a named loss")
        with self._lock:
            header: dict[str, Any] = {
                "kind": "MatrixLearner",
                "version": schema.VERSION,
                "shape": list(self.shape),
                "entries": isinstance(self.engine, SignFlipEntries),
                "parameters": {key: float(number) for key, number in self.record._asdict().items()},
                **self.options,
                "max_pending": self.max_pending,
                "issued": self._tickets.issued,
                "pending": [],
            }
            arrays = {name: np.array(array) for name, array in self.engine.arrays().items()}
            arrays["totals"] = np.array([self._learned, self._paid, self.last_steps])
            for id, play in self._tickets.waiting.items():
                words, parts = play.row.packed()
                header["pending"].append([id, play.round, play.memo, words])
                arrays |= {f"pending.{id}.{name}": part for name, part in parts.items()}
            return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MatrixLearner:
        """The learner that `state_dict` described."""
        schema.check_learner(header, arrays)
        kept = ("radius", "rate", "strategy", "bound", "kappa", "tol", "method", "max_pending")
        loss = losses.get(header["loss"], **header["parameters"])
        learner = cls(*header["shape"], loss=loss, **{key: header[key] for key in kept})
        if header["entries"]:
            learner._compiled_entries()
        learner.engine.restore(arrays)
        rounds, learner._paid, steps = arrays["totals"].tolist()
        learner._learned, learner.last_steps = int(rounds), int(steps)
        learner._tickets.issued = header["issued"]
        for id, when, memo, words in header["pending"]:
            prefix = f"pending.{id}."
            parts = {name[len(prefix) :]: np.array(part) for name, part in arrays.items() if name.startswith(prefix)}
            learner._tickets.waiting[id] = Played(Row.unpacked(words, parts, learner.shape), float(memo), when)
        return learner


def _shifted(gradient: Gradient, rows: int) -> Gradient:
    """Column nodes as columns."""
    return gradient._replace(columns=gradient.columns - rows)


def _general(entries: SignFlipEntries, shape: tuple[int, int]) -> GeneralEngine:
    """The same state in the general engine: an X that is no single entry has arrived."""
    engine = GeneralEngine(shape, entries.rule, entries.rates, entries.masses, False)
    if isinstance(engine.H, np.ndarray):
        H, diagonal = graph.to_dense(entries.graph)
        engine.H, engine.M = engine._zero() + H, engine._zero() + np.diag(diagonal)
    else:
        engine.H, engine.M = graph.to_sparse(entries.graph, 1.0, 0.0), graph.to_sparse(entries.graph, 0.0, -1.0)
        engine.H.eliminate_zeros()
        engine.M.eliminate_zeros()
        diagonal = entries.graph.diagonal[: entries.graph.nodes]
    engine.log_trace, engine.scalars = entries.log_trace.copy(), entries.scalars.copy()
    gradient = _shifted(entries.gradient(np.arange(shape[0])), shape[0])
    engine.take_over(gradient)
    engine.top = float(diagonal.max())
    engine.widest = math.sqrt(engine.top)
    return engine
