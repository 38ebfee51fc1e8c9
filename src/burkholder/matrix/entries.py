"""The sign flip on entries w·e_i e_jᵀ of a matrix of any size: the engine around the compiled rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.matrix import graph, rules, sign_flip
from burkholder.matrix.sign_flip import CLOSED, DOUBLING, MIXTURE, PAID
from burkholder.matrix.workspace import Workspace


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
        dtype: str = "float64",
        nodes: int = 0,
    ) -> None:
        self.record = losses.get(loss)
        self.loss, self.dtype, self.tol, self.fast = losses.name(self.record), dtype, tol, False
        self.options = {"strategy": "sign-flip", "rate": rate, "radius": radius, "loss": self.loss, "kappa": kappa}
        lipschitz = float(self.record.lipschitz(bound))
        self.rule, self.rates, self.masses = rules.rule(rate, radius, lipschitz, bound, tol, kappa)
        self.log_trace = np.full(len(self.rates), -np.inf)
        self.anchor = self.log_trace.copy()
        self.scalars = np.zeros(sign_flip.SCALARS)
        self.steps = np.zeros(len(self.rates), np.int64)
        self.graph = graph.with_nodes(graph.empty(np.dtype(dtype).type), nodes)
        self.workspace = Workspace(dtype, spaces=len(self.rates))
        if nodes:
            sign_flip.join(self.graph, self.rule, self.rates, self.masses, self.log_trace, self.scalars, nodes - 1)

    def predict(self, i: int, j: int, weight: float = 1.0) -> float:
        """ŷ at nodes (i, j); 0 where one of them is unknown (−1) or has no rating yet."""
        if i < 0 or j < 0 or weight == 0.0:
            return 0.0
        room = self.workspace.sized(len(self.graph.start))
        rates, log_trace, scalars, steps = (array.copy() for array in (self.rates, self.log_trace, self.scalars, self.steps))
        if self.rule.kind == DOUBLING:
            most = max(self.graph.diagonal[i], self.graph.diagonal[j]) + weight * weight
            if most > scalars[sign_flip.CEILING] > 0.0:
                return 0.0  # this round restarts, and a fresh start plays 0
        sign_flip.prepare(self.graph, self.rule, rates, log_trace, scalars, i, j, float(weight), *room)
        return float(sign_flip.predict(self.graph, self.rule, rates, self.masses, log_trace, steps, i, j, float(weight), *room)[0])

    def rounds(
        self, i: NDArray[np.int64], j: NDArray[np.int64], y: NDArray[np.float64], weight: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Play and learn these rounds; rows (ŷ, 0, potential, block steps, error of ŷ)."""
        weight = np.ones(len(y)) if weight is None else weight
        self.graph = graph.with_nodes(self.graph, int(max(i.max(), j.max())) + 1)
        self.graph = graph.with_room(self.graph, np.concatenate([i, j]))
        room = self.workspace.sized(len(self.graph.start))
        return sign_flip.rounds(
            self.graph,
            self.rule,
            self.record,
            self.rates,
            self.masses,
            self.log_trace,
            self.anchor,
            self.scalars,
            self.steps,
            i,
            j,
            weight,
            y,
            *room,
        )

    def row(self, i: int, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """ŷ at (i, c) for every column node c, one Krylov space each."""
        return np.array([self.predict(i, int(c)) for c in columns])

    @property
    def top(self) -> float:
        """‖ΣM‖ of the current epoch."""
        return float(self.graph.diagonal[: self.graph.nodes].max()) if self.graph.nodes else 0.0

    def bound(self, nuclear: float | None = None) -> float:
        """What this path's ledger promises against ‖W‖_Σ ≤ r; under the mixture, ≤ nuclear."""
        from burkholder.potentials import spectral_mixture

        if self.rule.kind == MIXTURE:
            # PAID is κ at a fixed dimension; rows and columns that joined may have added to it
            joined = float(self.scalars[PAID]) - self.rule.radius
            return joined + float(
                spectral_mixture.bound_from(
                    0.0 if nuclear is None else nuclear,
                    self.top,
                    max(self.graph.nodes, 1),
                    self.rates,
                    self.masses,
                    self.rule.radius,
                    self.rule.lipschitz,
                )
            )
        quadratic = 0.5 * self.rates[0] * self.rule.lipschitz**2 * self.rule.radius * self.top
        return float(self.scalars[CLOSED] + self.scalars[PAID] + quadratic)

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
        return named

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `arrays` gave."""
        self.graph = graph.Graph(**{key[6:]: np.array(value) for key, value in arrays.items() if key.startswith("graph.")})
        for key in ("rates", "log_trace", "anchor", "scalars", "steps"):
            setattr(self, key, np.array(arrays[key]))
