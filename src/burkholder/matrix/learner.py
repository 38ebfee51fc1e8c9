"""Matrix prediction with the paper's strategy: any X, any rule for the rate, a certificate at any time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Guarantee
from burkholder.learning.schema import check_header
from burkholder.losses.dispatch import derivative, value
from burkholder.matrix import graph, inputs, rules, schema, sign_flip
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.general import SMALL, SPARSE, GeneralEngine
from burkholder.matrix.general_certificate import MatrixCertificate
from burkholder.matrix.sign_flip import TIE


class MatrixLearner:
    """Predict ⟨W, X⟩ for an unknown W of nuclear norm at most `radius` (`corr:matrix_strategy`).

    X may be a dense or sparse matrix, one entry (i, j) or (i, j, w), or a pair of factors (U, V) meaning UVᵀ.
    `rate`: "lowering" (no restart), "doubling" (the paper's), "mixture" (no radius needed) or a number.
    `strategy`: "sign-flip", or "tangent" (its bound counts Σδ²M(X)).

    >>> learner = MatrixLearner(3, 4, radius=2.0)
    >>> learner.predict((0, 1))
    0.0
    >>> learner.update((0, 1), 1.0)
    0.0
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
    ) -> None:
        for name, size in (("rows", rows), ("columns", columns)):
            if not isinstance(size, (int, np.integer)) or size < 1:
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
        rule, rates, masses = rules.rule(rate, radius, lipschitz, self.limit, tol, kappa)
        self.engine: GeneralEngine | SignFlipEntries = GeneralEngine(self.shape, rule, rates, masses, strategy == "tangent", method)
        self.rounds, self.cumulative_loss, self.last_steps = 0, 0.0, 0

    # -- one round ----------------------------------------------------------------------------------------

    def predict(self, X: Any) -> float:
        """ŷ for X; changes nothing."""
        entry = inputs.entry(X, self.shape)
        if isinstance(self.engine, SignFlipEntries):
            if entry is not None:
                return self.engine.predict(entry[0], self.shape[0] + entry[1], entry[2])
            return _played(_general(self.engine, self), inputs.factors(X, self.shape))
        return _played(self.engine.copy(), inputs.factors(X, self.shape))

    def update(self, X: Any, y: float) -> float:
        """Learn (X, y); returns the prediction made before."""
        label = losses.label(self.record, y, self.limit)
        entry = inputs.entry(X, self.shape)
        if entry is not None and self._compiled_entries():
            i, j = np.array([entry[0]]), np.array([self.shape[0] + entry[1]])
            yhat = self._entry_rounds(i, j, np.array([entry[2]]), np.array([label]))[0]
            return float(yhat)
        factors = inputs.factors(X, self.shape)
        engine = _general(self.engine, self) if isinstance(self.engine, SignFlipEntries) else self.engine
        engine.prepare(factors)
        yhat, spaces, self.last_steps = engine.predict(factors)
        delta = float(derivative(self.record, yhat, label)) if abs(yhat - label) >= TIE else 0.0
        engine.learn(factors, yhat, delta, spaces)
        self.engine = engine
        self.rounds += 1
        self.cumulative_loss += float(value(self.record, yhat, label))
        return yhat

    def run(self, X: Sequence[Any], y: Sequence[float]) -> NDArray[np.float64]:
        """Predictions for a whole stream, each made before its y is learned; entries run compiled."""
        if len(X) != len(y):
            raise BadInput("X, y", (len(X), len(y)), "give as many X as y")
        labels = np.array([losses.label(self.record, target, self.limit) for target in y])
        entries = [inputs.entry(x, self.shape) for x in X]
        found = [entry for entry in entries if entry is not None]
        if len(found) == len(X) and found and self._compiled_entries():
            table = np.array(found)
            i, j = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64) + self.shape[0]
            return self._entry_rounds(i, j, table[:, 2].copy(), labels)
        return np.array([self.update(x, target) for x, target in zip(X, y)])

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

    def _entry_rounds(self, i: Any, j: Any, weight: Any, y: Any) -> NDArray[np.float64]:
        assert isinstance(self.engine, SignFlipEntries)
        out = self.engine.rounds(i, j, y, weight)
        self.rounds += len(y)
        self.cumulative_loss += float(sum(value(self.record, yhat, label) for yhat, label in zip(out[:, 0], y)))
        self.last_steps = int(out[-1, 3])
        return out[:, 0]

    # -- what it can say of itself ------------------------------------------------------------------------

    def certificate(self) -> MatrixCertificate:
        """What is guaranteed against every W of the ball, and what this stream proves."""
        engine, rule = self.engine, self.engine.rule
        d1 = self.shape[0]
        restarted = engine.scalars[sign_flip.CLOSED] != 0.0
        H = graph.to_dense(engine.graph)[0] if isinstance(engine, SignFlipEntries) else engine.H
        gradient = None if restarted else np.asarray(H[:d1, d1:] if isinstance(H, np.ndarray) else H[:d1, d1:].toarray())
        mixture = rule.kind == sign_flip.MIXTURE
        promised = engine.bound(0.0 if mixture else None)
        ball = "against W = 0" if mixture else f"against every ‖W‖_Σ ≤ {rule.radius:g}"
        along = float(engine.scalars[sign_flip.ALONG])
        guarantees = [Guarantee("regret, promised", f"{ball} (ledger of this path)", promised)]
        violated, excess = 0, None  # unknown once a restart has forgotten the slopes
        slack = 1e-9 * (1.0 + abs(promised)) + rule.tol * rule.lipschitz * self.rounds
        if gradient is not None:
            radius = 0.0 if mixture else rule.radius
            realised = along + radius * float(np.linalg.norm(gradient, 2))
            guarantees.append(Guarantee("regret, realised", "Σδŷ + r‖ΣδX‖, proved by this stream", realised))
            excess = realised - promised
            violated = int(excess > slack)
        assumption = Assumption(
            "krylov",
            f"every prediction is exact to {rule.tol:g}",
            slack,
            excess,
            violated,
            "the realised figure, which holds for any predictions",
        )
        return MatrixCertificate(
            learner=f"matrix {self.options['strategy']}, rate {self.options['rate']}",
            loss=str(self.options["loss"]),
            rounds=self.rounds,
            cumulative_loss=self.cumulative_loss,
            potential=engine.value,
            guarantees=tuple(guarantees),
            assumptions=(assumption,),
            notes=(f"a prediction within {TIE:g} of its target counts as a hit (δ = 0)",),
            radius=None if mixture else rule.radius,
            promised=promised,
            along=along,
            gradient=gradient,
            _engine=engine if mixture else None,
        )

    # -- saving -------------------------------------------------------------------------------------------

    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(header for JSON, arrays): all that is needed to resume bit for bit."""
        header = {
            "kind": "MatrixLearner",
            "version": 1,
            "shape": list(self.shape),
            "entries": isinstance(self.engine, SignFlipEntries),
            "parameters": {key: float(number) for key, number in self.record._asdict().items()},
            **self.options,
        }
        totals = np.array([self.rounds, self.cumulative_loss, self.last_steps])
        return header, {**{name: np.array(value) for name, value in self.engine.arrays().items()}, "totals": totals}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MatrixLearner:
        """The learner that `state_dict` described."""
        check_header(header, schema.LEARNER)
        dimension, rates = sum(header["shape"]), rules.MIXTURE_RATES if header["rate"] == "mixture" else 1
        if header["entries"]:
            schema.check_entries(arrays, dimension, "float64", rates, 3)
        else:
            schema.check_general(arrays, dimension, rates, dimension > SPARSE)
        kept = ("radius", "rate", "strategy", "bound", "kappa", "tol", "method")
        loss = losses.get(header["loss"], **header["parameters"])
        learner = cls(*header["shape"], loss=loss, **{key: header[key] for key in kept})
        if header["entries"]:
            learner._compiled_entries()
        learner.engine.restore(arrays)
        rounds, learner.cumulative_loss, steps = arrays["totals"].tolist()
        learner.rounds, learner.last_steps = int(rounds), int(steps)
        return learner


def _played(engine: GeneralEngine, X: inputs.Factors) -> float:
    """ŷ of an engine that nobody else uses."""
    engine.prepare(X)
    return engine.predict(X)[0]


def _general(entries: SignFlipEntries, learner: MatrixLearner) -> GeneralEngine:
    """The same state in the general engine: an X that is no single entry has arrived."""
    engine = GeneralEngine(learner.shape, entries.rule, entries.rates, entries.masses, False)
    H, diagonal = graph.to_dense(entries.graph)
    engine.H, engine.M = engine._zero() + H, engine._zero() + np.diag(diagonal)
    engine.log_trace, engine.scalars = entries.log_trace.copy(), entries.scalars.copy()
    engine.top = float(diagonal.max())
    engine.widest = math.sqrt(engine.top)
    return engine
