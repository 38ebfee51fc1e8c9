"""What a completion learner guarantees after a stream of ratings, labels mapped to [−1, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.certificates import Assumption, Certificate, Guarantee
from burkholder.errors import BadInput
from burkholder.matrix import bet, graph, tangent
from burkholder.matrix.default import BiasTangentBet


def direction_bound(ceiling: float, dimension: int) -> float:
    """A₁ = 4 log D + 3.13·sqrt((V+4) log D), V the largest Σδ² of a row or column, D fixed from the start.

    For η = min(¼, sqrt(log D/V̄)): ηV + log D/η + the lowering costs are at most 4 log D + sqrt(V log D) while the cap
    rules; afterwards V̄ ≤ 2(V+4), and with v = V̄/(V+4) in [1, 2] the sum is at most (1/√v + √v + √v/√2)·sqrt((V+4) log D),
    whose largest value, at v = 2, is 3.1213.
    """
    log_d = math.log(dimension)
    return 4.0 * log_d + 3.13 * math.sqrt((ceiling + 4.0) * log_d)


def bet_bound(nuclear: float, squares: float, widest: float) -> float:
    """κ + min_k {(ρ/β_k)(ln(25ρ/(κβ_k)) − 1) + ρβ_kΣδ²u²} over β_k = 2^k with β_k·max|u| ≤ ¼."""
    if nuclear == 0.0:
        return bet.KAPPA
    best = math.inf
    for k in range(bet.MULTIPLIERS):
        beta = math.ldexp(1.0, k)
        if beta * widest <= bet.CLIP:
            logarithm = math.log(bet.MULTIPLIERS * nuclear / (bet.KAPPA * beta))
            best = min(best, nuclear / beta * (logarithm - 1.0) + nuclear * beta * squares)
    return bet.KAPPA + best


@dataclass(frozen=True)
class CompletionCertificate(Certificate):
    """Adds the comparison with every matrix W of ratings on top of the bias model."""

    rows: int = 0
    columns: int = 0
    mae: float | None = None
    rmse: float | None = None
    promised: float = 0.0  # A₁ from the ledger of this path
    along: float = 0.0  # Σδu
    followed: float = 0.0  # Σδ(ŷ − b)
    squares: float = 0.0  # Σδ²u²
    widest: float = 0.0  # max |u|
    spectral: float = 0.0  # ‖Σδ e_i e_jᵀ‖

    def bound(self, nuclear: float) -> float:
        """The regret promised against b + ⟨W, ·⟩, in ½(ŷ−y)² on labels in [−1, 1], for any W with ‖W‖_Σ ≤ nuclear."""
        _nonnegative(nuclear)
        return nuclear * self.promised + bet_bound(nuclear, self.squares, self.widest)

    def realised(self, nuclear: float) -> float:
        """What this stream proves about the same regret: Σδ(ŷ − b) + nuclear·‖Σδ e_i e_jᵀ‖, for any predictor."""
        _nonnegative(nuclear)
        return self.followed + nuclear * self.spectral

    def to_dict(self) -> dict[str, Any]:
        extra = {"rows": self.rows, "columns": self.columns, "mae": self.mae, "rmse": self.rmse,
                 "direction_bound": self.promised, "direction_realised": self.along + self.spectral}
        return {**super().to_dict(), **extra}


def _nonnegative(nuclear: float) -> None:
    if not (nuclear >= 0.0 and math.isfinite(nuclear)):
        raise BadInput("nuclear", nuclear, "give the comparator's nuclear norm, a finite number that is not negative")


def certify(engine: BiasTangentBet, **totals: Any) -> CompletionCertificate:
    """The certificate of the default learner."""
    scalars = engine.scalars
    nodes = engine.graph.nodes
    mean_wealth = math.exp(min(bet.log_mean(engine.log_wealth), 700.0))
    diagonal = float(engine.graph.diagonal[:nodes].max()) if nodes else 0.0
    spectral = graph.spectral_norm(engine.graph)
    along, paid, rate = float(scalars[tangent.ALONG]), float(scalars[tangent.PAID]), float(scalars[tangent.RATE])
    promised = paid + rate * diagonal
    followed = float(scalars[tangent.FOLLOWED])
    potential = along + float(scalars[tangent.LOG_TRACE]) / rate - paid if nodes else 0.0
    guarantees = (
        Guarantee("never worse than the bias model", "Σ½(ŷ−y)² − Σ½(b−y)² ≤ κ on every path, labels in [−1, 1]",
                  bet.KAPPA),
        Guarantee("against the bias model, realised", "Σ½(ŷ−y)² − Σ½(b−y)² ≤ Σδ(ŷ−b) ≤ κ(1 − mean wealth)",
                  followed),
        Guarantee("wealth of the bet", "κ(1 − mean W), the limit of the line above", bet.KAPPA * (1.0 - mean_wealth)),
        Guarantee("direction, promised", "Σδu − Σδ⟨W,X⟩ ≤ A₁ for every ‖W‖_Σ ≤ 1 (ledger of this path)", promised),
        Guarantee("direction, realised", "Σδu + ‖Σδ e_i e_jᵀ‖, the largest value of that left side", along + spectral),
    )
    # The ledger is exact when every trace is: the state itself tells whether the promise was kept.
    excess = along + spectral - promised
    assumptions = (
        Assumption("krylov", "the Krylov error is small enough for the direction's promise", 0.0, excess,
                   int(excess > 1e-9 * (1.0 + abs(promised))),
                   "the first three lines (they hold for any direction u) and every realised figure"),
    )
    notes = ("bound(nuclear) and realised(nuclear) compare with b + ⟨W, X⟩ for every W of that nuclear norm",)
    return CompletionCertificate(
        learner=f"matrix completion, {engine.name}" + (" (fast)" if engine.fast else ""), loss=engine.loss,
        potential=potential, guarantees=guarantees, assumptions=assumptions, notes=notes, promised=promised,
        along=along, followed=followed, squares=float(scalars[tangent.SQUARES]),
        widest=float(scalars[tangent.WIDEST]), spectral=spectral, **totals,
    )


def root_mean(total: float, rounds: int) -> float | None:
    """sqrt(total/rounds), None before the first round."""
    return float(np.sqrt(total / rounds)) if rounds else None
