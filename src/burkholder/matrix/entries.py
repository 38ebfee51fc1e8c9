"""The sign flip on entries w·e_i e_jᵀ of a matrix of any size: the engine around the compiled rounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.matrix import graph, rules, sign_flip
from burkholder.matrix.consistency import check_anchor, check_given, check_rate, check_trace
from burkholder.matrix.gradient import Gradient, collected, from_graph
from burkholder.matrix.sign_flip import DOUBLING, LOWERING
from burkholder.matrix.sign_flip_certificate import Ledger, own_radius, promise
from burkholder.matrix.workspace import Workspace

Nodes = NDArray[np.int64]
SLOPES = ("slopes.row", "slopes.column", "slopes.value")


class SignFlipEntries:
    """Plays and learns on nodes 0, 1, 2, …; `nodes` of them exist from the start, others may join."""

    name = "sign flip"

    def __init__(
        self,
        rate: Any = "lowering",
        radius: float | None = None,
        loss: Any = "absolute",
        bound: float = 1.0,
        kappa: float = 1.0,
        tol: float = 1e-6,
        nodes: int = 0,
    ) -> None:
        self.record = losses.get(loss)
        self.loss, self.tol, self.fast = losses.name(self.record), tol, False
        parameters = {key: float(number) for key, number in self.record._asdict().items()} if self.loss != "custom" else {}
        self.options = {
            "strategy": "sign-flip",
            "rate": rate,
            "radius": radius,
            "loss": self.loss,
            "parameters": parameters,
            "kappa": kappa,
        }
        lipschitz = float(self.record.lipschitz(bound))
        self.rule, self.rates, self.masses = rules.rule(rate, radius, lipschitz, bound, tol, kappa, rules.tie(self.record))
        self.log_trace = np.full(len(self.rates), -np.inf)
        self.anchor = self.log_trace.copy()
        self.scalars = np.zeros(sign_flip.SCALARS)
        self.steps = np.zeros(len(self.rates), np.int64)
        self.graph = graph.with_nodes(graph.empty(), nodes)
        self.workspace = Workspace(spaces=len(self.rates))
        # the doubling rule restarts without its slopes; a certificate needs them all
        self._history = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        if nodes:
            sign_flip.join(self.graph, self.rule, self.rates, self.masses, self.log_trace, self.scalars, nodes - 1)

    def predict(self, i: Nodes, j: Nodes, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """ŷ at each pair of nodes; 0 where one of them is unknown (−1) or has no rating yet."""
        weight = np.ones(len(i)) if weight is None else weight
        room = self.workspace.sized(len(self.graph.start))
        state = (self.rates, self.masses, self.log_trace, self.scalars, self.steps)
        return sign_flip.predict_many(self.graph, self.rule, *state, i, j, weight, *room)

    def rounds(self, i: Nodes, j: Nodes, y: NDArray[np.float64], weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Play and learn these rounds; rows (ŷ, δw, potential, block steps, error of ŷ)."""
        weight = np.ones(len(y)) if weight is None else weight
        room = self._room(i, j)
        state = (self.rates, self.masses, self.log_trace, self.anchor, self.scalars, self.steps)
        out = sign_flip.rounds(self.graph, self.rule, self.record, *state, i, j, weight, y, *room)
        self._note(i, j, out[:, 1])
        return out

    def late(self, i: int, j: int, yhat: float, y: float, weight: float = 1.0) -> None:
        """Learn from ŷ, played some rounds ago."""
        delta, hit = sign_flip.slope(self.rule, self.record, yhat, y)
        room = self._room(np.array([i]), np.array([j]))
        state = (self.rates, self.masses, self.log_trace, self.anchor, self.scalars, self.steps)
        sign_flip.late(self.graph, self.rule, *state, i, j, weight, yhat, float(delta), *room)
        self.scalars[sign_flip.TIED] += hit
        self._note(np.array([i]), np.array([j]), np.array([float(delta) * weight]))

    def _room(self, i: Nodes, j: Nodes) -> Any:
        """Room for these rounds in the state, and a workspace to match."""
        self.graph = graph.with_nodes(self.graph, int(max(i.max(), j.max())) + 1)
        self.graph = graph.with_room(self.graph, np.concatenate([i, j]))
        return self.workspace.sized(len(self.graph.start))

    def _note(self, i: Nodes, j: Nodes, slopes: NDArray[np.float64]) -> None:
        if self.rule.kind == DOUBLING:
            self._history.append((i, j, slopes.copy()))

    @property
    def history(self) -> tuple[Nodes, Nodes, NDArray[np.float64]]:
        """Every slope so far, (row node, column node, δw), under the doubling rule."""
        i, j, slopes = zip(*self._history)
        self._history = [(np.concatenate(i), np.concatenate(j), np.concatenate(slopes))]
        return self._history[0]

    def gradient(self, rows: Nodes) -> Gradient:
        """ΣδX over all rounds; `rows` are the nodes of rows, columns keep the numbers of their nodes."""
        return collected(*self.history) if self.rule.kind == DOUBLING else from_graph(self.graph, rows)

    def row(self, i: int, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """ŷ at (i, c) for every column node c, one Krylov space each."""
        return self.predict(np.full(len(columns), i), columns)

    @property
    def top(self) -> float:
        """‖ΣM‖ of the current epoch."""
        return float(self.graph.diagonal[: self.graph.nodes].max()) if self.graph.nodes else 0.0

    def promise(self) -> Ledger:
        """What this path's ledger promises now, by nuclear norm."""
        quadratic = 0.5 * self.rates[0] * self.rule.lipschitz**2 * self.rule.radius * self.top
        return promise(self.rule, self.scalars, quadratic, self.top, self.graph.nodes)

    def bound(self, nuclear: float | None = None) -> float:
        """The promise against ‖W‖_Σ ≤ nuclear; the learner's own radius if not given."""
        return self.promise()(own_radius(self.rule) if nuclear is None else nuclear)

    @property
    def value(self) -> float:
        """U of the current epoch: at most 0 and never rising, up to the tolerance."""
        if not self.graph.nodes:
            return 0.0
        return float(sign_flip.value(self.rule, self.rates, self.masses, self.log_trace, self.scalars, self.graph.nodes))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changes, by name."""
        named: dict[str, NDArray[Any]] = {f"graph.{key}": value for key, value in self.graph._asdict().items()}
        for key in ("rates", "log_trace", "anchor", "scalars", "steps"):
            named[key] = getattr(self, key)
        if self.rule.kind == DOUBLING:
            named |= dict(zip(SLOPES, self.history))
        return named

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `arrays` gave."""
        check_given(self.rule, arrays["rates"], self.rates)
        self.graph = graph.Graph(**{key[6:]: np.array(value) for key, value in arrays.items() if key.startswith("graph.")})
        for key in ("rates", "log_trace", "anchor", "scalars", "steps"):
            setattr(self, key, np.array(arrays[key]))
        if self.rule.kind == DOUBLING:
            i, j, slopes = (np.array(arrays[key]) for key in SLOPES)
            self._history = [(i, j, slopes)]
        self._check(float(arrays["totals"][0]))

    def _check(self, rounds: float) -> None:
        """Refuse what no stream of so many rounds leaves behind."""
        if not self.graph.nodes:
            return
        rule, H, diagonal = self.rule, graph.to_sparse(self.graph, 1.0, 0.0), self.graph.diagonal[: self.graph.nodes]
        check_anchor(self.log_trace, self.anchor)
        if rule.kind in (DOUBLING, LOWERING):
            ceiling = float(self.scalars[sign_flip.CEILING])
            most = sign_flip.optimal_rate(rule, ceiling, self.graph.nodes) if ceiling > 0.0 else math.inf
            check_rate(float(self.rates[0]), most, self.top, ceiling)
        for rate, log_trace in zip(self.rates.tolist(), self.log_trace.tolist()):
            check_trace(log_trace, rate, 0.5 * (rate * rule.lipschitz) ** 2, H, diagonal, rule.tol * rounds)
