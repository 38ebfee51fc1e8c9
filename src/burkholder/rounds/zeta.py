"""ζ of a linear learner in two flat arrays: what it says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import TANGENT, Tau
from burkholder.functions.linear import Linear
from burkholder.learning import rounding
from burkholder.learning.evidence import Evidence
from burkholder.potentials import batch
from burkholder.rounds import layout


class Zeta:
    """The cells, `width` of them a coordinate, and what is one number; see `layout`."""

    function: Linear
    separable: bool
    width: int
    frame: layout.Frame
    cells: np.ndarray
    scalars: np.ndarray

    @property
    def dim(self) -> int:
        """1 + the largest index seen (at least the `dim` asked for)."""
        return int(self.scalars[layout.DIM])

    def _column(self, field: int, dim: int) -> np.ndarray:
        column = np.zeros(dim)
        stored = self.cells[field :: self.width][:dim]
        column[: stored.size] = stored
        return column

    @property
    def a(self) -> float:
        """Σδŷ."""
        return float(self.scalars[layout.A] + self.scalars[layout.A_LOW])

    @property
    def g(self) -> np.ndarray:
        """Σδx."""
        return self._column(0, self.dim)

    def tau(self, dim: int | None = None) -> Tau:
        """ζ as `Linear.value` takes it, over the first `dim` coordinates (all that were seen)."""
        dim = self.dim if dim is None else dim
        fields = (layout.S, layout.TOP, layout.DEAD)[: 3 if self.function.remembers else 1]
        if self.separable:
            rest = tuple(self._column(k + 1, dim) for k in range(len(fields)))
        else:
            rest = tuple(np.array(self.scalars[k]) for k in fields)
        return (np.array(self.a), self._column(0, dim), *rest)

    def weights(self, dim: int | None = None) -> np.ndarray:
        """w with ŷ = ⟨w, x⟩, for tangent functions (features no larger than those already seen)."""
        if TANGENT not in self.function.structure:
            raise BadInput("weights", self.function.name, "sign-flip predictions are not linear in x: use play")
        tau = self.tau(dim)
        memory = tau[3:] or (0.0, 0.0)
        if self.separable:
            return -np.sign(tau[1]) * batch.slope(self.function.potential, np.abs(tau[1]), tau[2], *memory)
        norm = self.function.geometry.norm(tau[1]) / self.function.root
        slope = batch.slope(self.function.potential, norm, tau[2], *memory)
        return -slope * self.function.geometry.gradient(tau[1]) / self.function.root

    @property
    def drift(self) -> float:
        """Bound on the relative rounding error of the running norm since it was last summed; 0 per coordinate."""
        power = self.scalars[layout.POWER]
        if self.separable or power == 0.0:
            return 0.0
        return float(self.scalars[layout.DRIFT] / power) / getattr(self.frame.geometry, "p", 2.0)

    def evidence(self, loss: Any, rounds: int, steepest: float) -> Evidence:
        """Σδŷ and Σδx with what rounding may have cost; `steepest` is the largest |δ| seen.

        Per coordinate Σ|δx_i| ≤ √(n·Σ(δx_i)²), which the clock knows; each step rounds δx_i and g_i once, by at most
        u = 2⁻⁵³ of them, and Σ_t|g_ti| is at most n·Σ|δx_i| and was summed besides (DRIFTED).
        """
        scalars, g = self.scalars, self.g if self.dim else np.zeros(1)
        leaned, moved = (rounding.more(float(scalars[slot]), rounds) for slot in (layout.LEANED, layout.MOVED))
        drifted = 1.001 * float(scalars[layout.DRIFTED])  # a carried norm is good to 1e-10
        moved += 1e-150 * rounds * steepest  # squares below 1e-300 were lost
        unit = rounding.UNIT
        if not self.separable:
            facts: dict[str, Any] = {"moved_norm": moved, "drift_norm": unit * (drifted + moved), "dual": self.function.geometry.dual}
        else:
            s = self._column(1, self.dim) if self.dim else np.zeros(1)
            ratio = 1.0 if self.function.clock == "gradient" else max(steepest / self.function.lipschitz, 1.0)
            each = np.minimum(1.001 * ratio * np.sqrt(rounds * (s + 1e-300 * rounds)), moved)
            most = min(rounding.more(float(each.sum()), len(each)), moved * math.sqrt(len(g)))
            facts = {
                "moved": each,
                "drift": unit * (np.minimum(drifted, rounds * each) + each),
                "moved_norm": most,
                "drift_norm": unit * (min(drifted, rounds * most) + most),
            }
        return Evidence(
            a=self.a,
            g=g,
            a_error=rounding.lost(rounds, leaned) + unit * leaned,
            leaned=leaned,
            slope=(loss.slope_error + 2.0) * unit,
            **facts,
        )
