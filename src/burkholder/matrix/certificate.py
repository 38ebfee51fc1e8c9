"""What a completion learner guarantees after a stream of ratings, labels mapped to [−1, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Certificate, Guarantee
from burkholder.matrix import bet, graph, sign_flip, tangent
from burkholder.matrix.default import BiasTangentBet
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.rules import mixture_grid
from burkholder.potentials import spectral_mixture


def direction_bound(ceiling: float, dimension: int) -> float:
    """A₁ = 4 log D + 3.13·sqrt((V+4) log D), V the largest Σδ² of a row or column, D fixed from the start.

    For η = min(¼, sqrt(log D/V̄)): ηV + log D/η + the lowering costs are at most 4 log D + sqrt(V log D)
    while the cap rules; afterwards V̄ ≤ 2(V+4), and with v = V̄/(V+4) in [1, 2] the sum is at most (1/√v +
    √v + √v/√2)·sqrt((V+4) log D), whose largest value, at v = 2, is 3.1213.
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
class RatingsCertificate(Certificate):
    """What every completion learner reports besides its guarantees."""

    rows: int = 0
    columns: int = 0
    mae: float | None = None
    rmse: float | None = None

    def bound(self, nuclear: float) -> float:
        """The regret promised, on labels in [−1, 1], against every matrix W with ‖W‖_Σ ≤ nuclear."""
        raise NotImplementedError

    def realised(self, nuclear: float) -> float:
        """What this very stream proves about the same regret."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        extra = {"rows": self.rows, "columns": self.columns, "mae": self.mae, "rmse": self.rmse}
        return {**super().to_dict(), **extra}


@dataclass(frozen=True)
class CompletionCertificate(RatingsCertificate):
    """The default learner's: the comparison with every matrix W on top of the bias model."""

    promised: float = 0.0  # A₁ from the ledger of this path
    along: float = 0.0  # Σδu
    followed: float = 0.0  # Σδ(ŷ − b)
    squares: float = 0.0  # Σδ²u²
    widest: float = 0.0  # max |u|
    spectral: float = 0.0  # ‖Σδ e_i e_jᵀ‖

    def bound(self, nuclear: float) -> float:
        """Regret promised in ½(ŷ−y)² against b + ⟨W, X⟩ for every ‖W‖_Σ ≤ nuclear, labels in [−1, 1]."""
        _nonnegative(nuclear)
        return nuclear * self.promised + bet_bound(nuclear, self.squares, self.widest)

    def realised(self, nuclear: float) -> float:
        """What this stream proves about it: Σδ(ŷ − b) + nuclear·‖Σδ e_i e_jᵀ‖."""
        _nonnegative(nuclear)
        return self.followed + nuclear * self.spectral

    def to_dict(self) -> dict[str, Any]:
        extra = {"direction_bound": self.promised, "direction_realised": self.along + self.spectral}
        return {**super().to_dict(), **extra}


@dataclass(frozen=True)
class SignFlipCertificate(RatingsCertificate):
    """The paper's strategy: regret against matrices of nuclear norm at most `radius` (any norm under the
    mixture).
    """

    radius: float | None = None
    promised: float | None = None
    along: float = 0.0  # Σδŷ
    spectral: float | None = None  # ‖Σδ e_i e_jᵀ‖; unknown once the doubling rule has restarted
    top: float = 0.0  # ‖ΣM‖
    mixture: tuple[float, int, float, float] | None = None  # joined, D, κ, L

    def bound(self, nuclear: float) -> float:
        """Regret promised against every ‖W‖_Σ ≤ nuclear, labels in [−1, 1]."""
        _nonnegative(nuclear)
        if self.mixture is not None:
            joined, dimension, kappa, lipschitz = self.mixture
            rates, masses = mixture_grid(lipschitz)
            return joined + float(spectral_mixture.bound_from(nuclear, self.top, dimension, rates, masses, kappa, lipschitz))
        if self.radius is None or self.promised is None or nuclear > self.radius:
            raise BadInput("nuclear", nuclear, f"this learner was built for radius {self.radius:g}")
        return self.promised

    def realised(self, nuclear: float) -> float:
        """What this stream proves about it: Σδŷ + nuclear·‖Σδ e_i e_jᵀ‖."""
        _nonnegative(nuclear)
        if self.spectral is None:
            raise BadInput("nuclear", nuclear, "the doubling rule forgets Σδ e_i e_jᵀ when it restarts; use rate='lowering'")
        return self.along + nuclear * self.spectral


def certify_sign_flip(engine: SignFlipEntries, **totals: Any) -> SignFlipCertificate:
    """The certificate of the paper's strategy."""
    mixture = engine.rule.kind == sign_flip.MIXTURE
    along, restarted = float(engine.scalars[sign_flip.ALONG]), engine.scalars[sign_flip.CLOSED] != 0.0
    spectral = None if restarted else graph.spectral_norm(engine.graph)
    radius = None if mixture else engine.rule.radius
    promised = engine.bound(0.0 if mixture else None)
    ball = "against W = 0" if radius is None else f"against every ‖W‖_Σ ≤ {radius:g}"
    guarantees = [Guarantee("regret, promised", f"{ball}, labels in [−1, 1] (ledger of this path)", promised)]
    excess: float | None = None  # unknown once a restart has forgotten the slopes
    if spectral is not None:
        realised = along + (radius or 0.0) * spectral
        excess = realised - promised
        guarantees.append(Guarantee("regret, realised", "Σδŷ + r‖Σδ e_i e_jᵀ‖, which this stream proves", realised))
    slack = 1e-9 * (1.0 + abs(promised)) + engine.tol * engine.rule.lipschitz * totals["rounds"]
    assumptions = (
        Assumption(
            "krylov",
            f"every prediction is exact to {engine.tol:g}",
            slack,
            excess,
            int(excess is not None and excess > slack),
            "the realised figure, which holds for any predictions",
        ),
    )
    joined = float(engine.scalars[sign_flip.PAID]) - engine.rule.radius if engine.graph.nodes else 0.0
    grid = (joined, max(engine.graph.nodes, 1), engine.rule.radius, engine.rule.lipschitz) if mixture else None
    return SignFlipCertificate(
        learner=f"matrix completion, {engine.name}, rate {engine.options['rate']}",
        loss=engine.loss,
        potential=engine.value,
        guarantees=tuple(guarantees),
        assumptions=assumptions,
        notes=("a prediction within 1e-7 of its rating counts as a hit (δ = 0)",),
        radius=radius,
        promised=promised,
        along=along,
        spectral=spectral,
        top=engine.top,
        mixture=grid,
        **totals,
    )


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
    along, paid, rate = (float(scalars[tangent.ALONG]), float(scalars[tangent.PAID]), float(scalars[tangent.RATE]))
    promised = paid + rate * diagonal
    followed = float(scalars[tangent.FOLLOWED])
    level = along + float(scalars[tangent.LOG_TRACE]) / rate - paid if nodes else 0.0
    guarantees = (
        Guarantee("never worse than the bias model", "Σ½(ŷ−y)² − Σ½(b−y)² ≤ κ on every path, labels in [−1, 1]", bet.KAPPA),
        Guarantee("against the bias model, realised", "Σ½(ŷ−y)² − Σ½(b−y)² ≤ Σδ(ŷ−b) ≤ κ(1 − mean wealth)", followed),
        Guarantee("wealth of the bet", "κ(1 − mean W), the limit of the line above", bet.KAPPA * (1.0 - mean_wealth)),
        Guarantee("direction, promised", "Σδu − Σδ⟨W,X⟩ ≤ A₁ for every ‖W‖_Σ ≤ 1 (ledger of this path)", promised),
        Guarantee("direction, realised", "Σδu + ‖Σδ e_i e_jᵀ‖, the largest value of that left side", along + spectral),
    )
    # The ledger is exact when every trace is: the state itself tells whether the promise was kept.
    excess = along + spectral - promised
    assumptions = (
        Assumption(
            "krylov",
            "the Krylov error is small enough for the direction's promise",
            0.0,
            excess,
            int(excess > 1e-9 * (1.0 + abs(promised))),
            "the first three lines (they hold for any direction u) and every realised figure",
        ),
    )
    error = float(scalars[tangent.ERROR])
    notes = (
        "bound(nuclear) and realised(nuclear) compare with b + ⟨W, X⟩ for every W of that nuclear norm",
        f"Krylov error of Σδu, by the last block step of each round: at most {error:.3g} beside |Σδu| = {abs(along):.3g}",
    )
    return CompletionCertificate(
        learner=f"matrix completion, {engine.name}" + (" (fast)" if engine.fast else ""),
        loss=engine.loss,
        potential=level,
        guarantees=guarantees,
        assumptions=assumptions,
        notes=notes,
        promised=promised,
        along=along,
        followed=followed,
        squares=float(scalars[tangent.SQUARES]),
        widest=float(scalars[tangent.WIDEST]),
        spectral=spectral,
        **totals,
    )


def root_mean(total: float, rounds: int) -> float | None:
    """sqrt(total/rounds), None before the first round."""
    return float(np.sqrt(total / rounds)) if rounds else None
