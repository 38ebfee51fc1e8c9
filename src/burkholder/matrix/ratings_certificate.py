"""What a completion learner guarantees after a stream of ratings: losses and regrets in rating units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from burkholder.learning.certificate import Assumption, Comparators, Guarantee
from burkholder.matrix import bet, norms, tangent
from burkholder.matrix.certificate import NOTHING, NuclearCertificate, evidence, exact_enough, in_time
from burkholder.matrix.default import BiasTangentBet
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.gradient import from_graph
from burkholder.matrix.scale import Scale
from burkholder.matrix.sign_flip_certificate import fields, own_radius

UNITS = "losses and regrets are in rating units; W is about labels in [−1, 1]"


def direction_bound(ceiling: float, dimension: int) -> float:
    """A₁ = 4 log D + 3.13·sqrt((V+4) log D), V the largest Σδ² of a row or column, D fixed from the start.

    For η = min(¼, sqrt(log D/V̄)): ηV + log D/η + the lowering costs are at most 4 log D + sqrt(V log D)
    while the cap rules; afterwards V̄ ≤ 2(V+4), and with v = V̄/(V+4) in [1, 2] the sum is at most (1/√v +
    √v + √v/√2)·sqrt((V+4) log D), whose largest value, at v = 2, is 3.1213.
    """
    log_d = math.log(dimension)
    return 4.0 * log_d + 3.13 * math.sqrt((ceiling + 4.0) * log_d)


def bet_bound(nuclear: float, squares: float, widest: float) -> float:
    """κ + min_k {(ρ/β_k)(ln(33ρ/(κβ_k)) − 1) + ρβ_kΣδ²u²} over β_k = 2^k with β_k·max|u| ≤ ¼."""
    if nuclear == 0.0:
        return bet.KAPPA
    best = math.inf
    for k in range(bet.TANGENTS):
        beta = math.ldexp(1.0, k)
        if beta * widest <= bet.CLIP:
            logarithm = math.log(bet.MULTIPLIERS * nuclear / (bet.KAPPA * beta))
            best = min(best, nuclear / beta * (logarithm - 1.0) + nuclear * beta * squares)
    return bet.KAPPA + best


@dataclass(frozen=True)
class RatingsCertificate(NuclearCertificate):
    """What every completion learner reports besides its guarantees."""

    rows: int = 0
    columns: int = 0
    mae: float | None = None
    rmse: float | None = None

    def to_dict(self) -> dict[str, Any]:
        extra = {"rows": self.rows, "columns": self.columns, "mae": self.mae, "rmse": self.rmse}
        return {**super().to_dict(), **extra}


@dataclass(frozen=True)
class CompletionCertificate(RatingsCertificate):
    """The default learner's: the comparison with every matrix W on top of the bias model."""

    promised: float = 0.0  # A₁ from the ledger of this path
    along: float = 0.0  # Σδu

    def to_dict(self) -> dict[str, Any]:
        extra = {"direction_bound": self.promised, "direction_realised": self.along + self.largest}
        return {**super().to_dict(), **extra}


@dataclass(frozen=True)
class Direction:
    """The promise of direction and bet together, by nuclear norm, on labels."""

    promised: float
    squares: float
    widest: float

    def __call__(self, nuclear: float) -> float:
        return nuclear * self.promised + bet_bound(nuclear, self.squares, self.widest)


@dataclass(frozen=True)
class Followed:
    """Σδ(ŷ−b) − ⟨W, G⟩ with ‖G‖ ≤ log tr exp(A)/η + η·max diagonal: that holds whatever was played."""

    followed: float
    norm: float

    def __call__(self, nuclear: float) -> float:
        return self.followed + nuclear * self.norm


def _computed(exact: int, unseen: int) -> Assumption:
    """The promise against every W needs the tangent direction in every round; that against the bias model does not."""
    still = "the promise to the bias model; the corrected and the realised regret"
    return Assumption("every direction", f"at most {exact:,} ratings, so that each had its Krylov space", float(exact), None, unseen, still)


def certify(engine: BiasTangentBet, unit: Scale, row_nodes: Any, **totals: Any) -> CompletionCertificate:
    """The certificate of the default learner. Slopes on labels are `share` of the loss's, and ratings are h times as large."""
    scalars, nodes, rounds = engine.scalars, engine.graph.nodes, totals["rounds"]
    along, paid, rate = (float(scalars[tangent.ALONG]), float(scalars[tangent.PAID]), float(scalars[tangent.RATE]))
    followed = float(scalars[tangent.FOLLOWED])
    promised = paid + rate * (float(engine.graph.diagonal[:nodes].max()) if nodes else 0.0)
    level = along + float(scalars[tangent.LOG_TRACE]) / rate - paid if nodes else 0.0
    squares, widest, late = (float(scalars[place]) for place in (tangent.SQUARES, tangent.WIDEST, tangent.LATE))
    unseen = int(scalars[tangent.UNSEEN])
    gradient = from_graph(engine.graph, row_nodes)
    largest = norms.spectral(*gradient[:3])
    correction, leaned, moved = (float(scalars[place]) for place in (tangent.FOLLOWED_LOW, tangent.LEANED, tangent.MOVED))
    # The ledger is exact when every trace is: the state itself tells whether the promise was kept.
    excess = along + largest - promised
    error = float(scalars[tangent.ERROR])
    odds, degree = engine.aim.odds, engine.record.degree
    scale = (1.0 if odds else unit.half**degree) / engine.aim.share
    units = "losses and regrets are in nats, predictions and W in log-odds" if odds else UNITS
    base = "b + ⟨W, X⟩" if odds else unit.comparator("b")
    certificate = CompletionCertificate(
        learner=f"matrix completion, {engine.name}" + (" (fast)" if engine.fast else ""),
        loss=engine.loss,
        potential=None if unseen else scale * level,
        comparators=Comparators(base + " (b: the bias model)", "‖W‖_Σ", 1.0),
        assumptions=(
            exact_enough("the Krylov error is small enough for the promise", 1e-9 * (1.0 + abs(promised)), excess, late or unseen),
            in_time(late),
            _computed(engine.exact, unseen),
        ),
        notes=(units, f"Krylov error of Σδu, by the last block step of each round: at most {error:.3g} beside |Σδu| = {abs(along):.3g}"),
        sums=evidence(followed, correction, leaned, moved, gradient, rounds),
        gradient=gradient,
        largest=largest,
        scale=scale,
        charge=NOTHING if odds else unit.charge(degree, rounds),
        promise=Direction(promised, squares, widest),
        corrections=Followed(followed, largest if unseen else promised + level - along),
        promised=promised,
        along=along,
        **totals,
    )
    bias = Comparators("b (the bias model)")
    wealth = math.exp(min(bet.log_mean(engine.log_wealth), 700.0))
    realised = certificate.realised(radius=0.0)
    corrected = max(realised, scale * bet.KAPPA * (1.0 - wealth))
    others = (
        Guarantee(
            "promised regret", f"{scale:g}·κ, κ = 1: never worse by more, on any path", max(corrected, scale * bet.KAPPA), not late, bias
        ),
        Guarantee("corrected regret", f"{scale:g}·κ(1 − mean wealth of the bet)", corrected, not late, bias),
        Guarantee("realised regret", "read off this very stream, for any direction u", realised, True, bias),
    )
    object.__setattr__(certificate, "others", others)
    return certificate


def certify_sign_flip(engine: SignFlipEntries, unit: Scale, row_nodes: Any, **totals: Any) -> RatingsCertificate:
    """The certificate of the paper's strategy."""
    rounds, degree = totals["rounds"], engine.record.degree
    scale = unit.half**degree
    parts = fields(engine.rule, engine.scalars, engine.promise(), engine.value, engine.gradient(row_nodes), rounds)
    notes = (UNITS, *parts.pop("notes"))
    return RatingsCertificate(
        learner=f"matrix completion, {engine.name}, rate {engine.options['rate']}",
        loss=engine.loss,
        potential=scale * engine.value,
        comparators=Comparators(unit.comparator(f"{unit.middle:g}" if unit.middle else ""), "‖W‖_Σ", own_radius(engine.rule)),
        notes=notes,
        scale=scale,
        charge=unit.charge(degree, rounds),
        **parts,
        **totals,
    )
