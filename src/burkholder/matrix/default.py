"""The default completion learner, nothing to tune: bias model + unit-radius tangent direction + low-rank direction + bet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.experts.huber_root import HuberRoot
from burkholder.matrix import aims, bet, bias, factors, graph, rows, stream, tangent
from burkholder.matrix.consistency import check_rate, check_trace
from burkholder.matrix.lanczos import DEPTH
from burkholder.matrix.workspace import Workspace

FAST_STEPS = 4
FAST_PROBES = 8
TOLERANCE = 1e-5
EXACT = 250_000  # ratings after which the tangent direction is no longer computed
NONE, NEVER = np.empty(0), np.empty((0, 4))  # no labels, and no plays of earlier


class BiasTangentBet:
    """Plays and learns on nodes 0, 1, 2, … (rows and columns in order of arrival), labels in [−1, 1]."""

    name = "bias + tangent + bet"

    def __init__(self, fast: bool = False, tol: float = TOLERANCE, exact: int = EXACT, loss: Any = "squared") -> None:
        self.record = losses.get(loss)
        self.aim = aims.aim(self.record)
        self.fast, self.tol, self.exact = fast, tol, exact
        self.most = FAST_STEPS if fast else DEPTH
        self.probes = FAST_PROBES if fast else 0
        self.graph = graph.empty()
        self.scalars, self.bias, self.log_wealth = tangent.start(), bias.start(self.aim.odds, self.aim.median), bet.start()
        self.factors = factors.start()
        self.workspace = Workspace()

    @property
    def options(self) -> dict[str, Any]:
        """What to build the same learner from."""
        return {
            "strategy": "default",
            "fast": self.fast,
            "exact": self.exact,
            "loss": losses.name(self.record),
            "parameters": self.record._asdict(),
        }

    @property
    def loss(self) -> str:
        return losses.name(self.record)

    def predict(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows (ŷ, b, u, v) at each pair of nodes; −1 is a row or column never seen: then the bias alone answers."""
        return self._loop(i, j, NONE, NEVER)[:, :4]

    def rounds(self, i: NDArray[np.int64], j: NDArray[np.int64], y: NDArray[np.float64], played: Any = None) -> NDArray[np.float64]:
        """Play and learn these rounds; one row (ŷ, b, u, v, block steps, last change of u) for each.

        `played` holds rows (ŷ, b, u, v) of earlier plays whose labels come only now.
        """
        self._make_room(i, j)
        return self._loop(i, j, y, NEVER if played is None else np.array(played, float))

    def _loop(self, i: Any, j: Any, y: Any, played: Any) -> NDArray[np.float64]:
        state = (self.graph, self.scalars, self.bias, self.log_wealth, self.factors, self.aim)
        room = self.workspace.sized(len(self.graph.start))
        return stream.rounds(*state, i, j, y, played, self.exact, self.tol, self.most, self.probes, *room)

    def late(self, i: int, j: int, played: tuple[float, ...], y: float) -> None:
        """Learn from what was played, (ŷ, b, u, v), some rounds ago."""
        self.rounds(np.array([i]), np.array([j]), np.array([y]), [played])

    def _make_room(self, i: NDArray[np.int64], j: NDArray[np.int64]) -> None:
        """Room for these rounds in the state."""
        self.graph = graph.with_nodes(self.graph, int(max(i.max(), j.max())) + 1)
        self.graph = graph.with_room(self.graph, np.concatenate([i, j]))
        self.bias = bias.with_nodes(self.bias, len(self.graph.start))
        self.factors = factors.with_room(self.factors, len(self.graph.start), len(i))

    def row(self, i: int, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """ŷ at (i, c) for every column node c, from one exponential applied to e_i."""
        u, v = np.zeros(len(columns)), np.zeros(len(columns))
        if i >= 0:
            v = factors.along(self.factors, i, columns)
        if i >= 0 and self._followed:
            rate = self.scalars[tangent.RATE]
            u = -2.0 * np.exp(-self.scalars[tangent.LOG_TRACE]) * rows.exponential(self.graph, rate, rate**2, i)[columns]
        return rows.scores(self.bias, self.aim, self.log_wealth, i, columns, u, v)

    @property
    def _followed(self) -> bool:
        """Whether the tangent direction is still computed."""
        return int(self.factors.counts[0]) < self.exact and not self.scalars[tangent.UNSEEN]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changes, by name."""
        named: dict[str, NDArray[Any]] = {f"graph.{key}": value for key, value in self.graph._asdict().items()}
        named |= {f"factors.{key}": value for key, value in factors.kept(self.factors, self.graph.nodes).items()}
        named["scalars"], named["log_wealth"] = self.scalars, self.log_wealth
        for key, value in self.bias._asdict().items():
            if key != "experts":
                named[f"bias.{key}"] = value
        for key, value in self.bias.experts._asdict().items():
            named[f"experts.{key}"] = np.asarray(value)
        return named

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `arrays` gave."""

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {key[len(prefix) + 1 :]: np.array(value) for key, value in arrays.items() if key.startswith(prefix + ".")}

        experts = part("experts")
        known = bool(experts.pop("known"))
        self.graph = graph.Graph(**part("graph"))
        self.bias = bias.Bias(**part("bias"), experts=HuberRoot(**experts, known=known))
        self.scalars, self.log_wealth = np.array(arrays["scalars"]), np.array(arrays["log_wealth"])
        self.factors = factors.restored(part("factors"))
        if self.graph.nodes and not self.scalars[tangent.UNSEEN]:
            self._check(float(arrays["totals"][0]))

    def _check(self, rounds: float) -> None:
        """Refuse what no stream of so many rounds leaves behind."""
        rate, ceiling = float(self.scalars[tangent.RATE]), float(self.scalars[tangent.CEILING])
        H, diagonal = graph.to_sparse(self.graph, 1.0, 0.0), self.graph.diagonal[: self.graph.nodes]
        most = math.sqrt(math.log(self.graph.nodes) / ceiling) if ceiling > tangent.LIPSCHITZ**2 else tangent.CAP
        check_rate(rate, min(most, tangent.CAP), float(diagonal.max()), ceiling)
        check_trace(float(self.scalars[tangent.LOG_TRACE]), rate, rate * rate, H, diagonal, rounds * (0.1 if self.fast else self.tol))
