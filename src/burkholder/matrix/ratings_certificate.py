"""What a completion learner guarantees after a stream of ratings: losses and regrets in rating units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.learning.certificate import Comparators, Guarantee
from burkholder.matrix import bet, norms, tangent
from burkholder.matrix.certificate import Matrix, NuclearCertificate, evidence, exact_enough, in_time, units
from burkholder.matrix.default import BiasTangentBet
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.gradient import from_graph
from burkholder.matrix.ids import Id, checked_entries
from burkholder.matrix.sign_flip_certificate import fields, own_radius

DEGREES = {"absolute": 1, "pinball": 1, "squared": 2}  # ℓ(h·ŷ, h·y) = h^degree·ℓ(ŷ, y): only these have units


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
class Entries:
    """How a comparator is read: {(row, column): W_ij}; an id never seen has never mattered."""

    rows: dict[Id, int]
    columns: dict[Id, int]

    def __call__(self, W: Any) -> Matrix:
        found = [(pair, value) for pair, value in checked_entries(W) if pair[0] in self.rows and pair[1] in self.columns]
        i = np.array([self.rows[row] for (row, _), _ in found], np.int64)
        j = np.array([self.columns[column] for (_, column), _ in found], np.int64)
        values = np.array([value for _, value in found])
        return Matrix(i, j, values, norms.nuclear(i, j, values))


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


def _comparator(low: float, high: float, base: str) -> str:
    """How a comparator predicts a rating, W being about labels in [−1, 1]."""
    half = 0.5 * (high - low)
    return f"{base}⟨W, X⟩" if half == 1.0 else f"{base}{half:g}·⟨W, X⟩"


def certify(engine: BiasTangentBet, low: float, high: float, rows: Any, **totals: Any) -> CompletionCertificate:
    """The certificate of the default learner. On labels the loss is ½(ŷ−y)², so (r̂−r)² is 2h² of it."""
    scalars, nodes, rounds = engine.scalars, engine.graph.nodes, totals["rounds"]
    along, paid, rate = (float(scalars[tangent.ALONG]), float(scalars[tangent.PAID]), float(scalars[tangent.RATE]))
    followed = float(scalars[tangent.FOLLOWED])
    promised = paid + rate * (float(engine.graph.diagonal[:nodes].max()) if nodes else 0.0)
    level = along + float(scalars[tangent.LOG_TRACE]) / rate - paid if nodes else 0.0
    squares, widest, late = (float(scalars[place]) for place in (tangent.SQUARES, tangent.WIDEST, tangent.LATE))
    gradient = from_graph(engine.graph, rows)
    largest = norms.spectral(*gradient[:3])
    correction, leaned, moved = (float(scalars[place]) for place in (tangent.FOLLOWED_LOW, tangent.LEANED, tangent.MOVED))
    # The ledger is exact when every trace is: the state itself tells whether the promise was kept.
    excess = along + largest - promised
    error = float(scalars[tangent.ERROR])
    scale = 2.0 * (0.5 * (high - low)) ** 2
    certificate = CompletionCertificate(
        learner=f"matrix completion, {engine.name}" + (" (fast)" if engine.fast else ""),
        loss=engine.loss,
        potential=scale * level,
        comparators=Comparators(_comparator(low, high, "b + ") + " (b: the bias model)", "‖W‖_Σ", 1.0),
        assumptions=(
            exact_enough("the Krylov error is small enough for the promise", 1e-9 * (1.0 + abs(promised)), excess, late),
            in_time(late),
        ),
        notes=(
            "losses and regrets are in rating units; W is about labels in [−1, 1]",
            f"Krylov error of Σδu, by the last block step of each round: at most {error:.3g} beside |Σδu| = {abs(along):.3g}",
        ),
        sums=evidence(followed, correction, leaned, moved, gradient, rounds),
        gradient=gradient,
        largest=largest,
        scale=scale,
        charge=units(2, rounds, low, high),
        promise=Direction(promised, squares, widest),
        corrections=Followed(followed, promised + level - along),
        promised=promised,
        along=along,
        **totals,
    )
    bias = Comparators("b (the bias model)")
    wealth = math.exp(min(bet.log_mean(engine.log_wealth), 700.0))
    others = (
        Guarantee("never worse than", f"by more than this on any path (κ = {bet.KAPPA:g} on labels)", scale * bet.KAPPA, not late, bias),
        Guarantee(
            "wealth of the bet", "κ(1 − mean wealth), which bounds the line below", scale * bet.KAPPA * (1.0 - wealth), not late, bias
        ),
        Guarantee("realised regret", "read off this very stream, for any direction u", certificate.realised(radius=0.0), True, bias),
    )
    object.__setattr__(certificate, "others", others)
    return certificate


def certify_sign_flip(engine: SignFlipEntries, low: float, high: float, rows: Any, **totals: Any) -> RatingsCertificate:
    """The certificate of the paper's strategy."""
    rounds, half, degree = totals["rounds"], 0.5 * (high - low), DEGREES[engine.loss]
    scale = half**degree
    middle = 0.5 * (low + high)
    parts = fields(engine.rule, engine.scalars, engine.promise(), engine.value, engine.gradient(rows), rounds)
    notes = ("losses and regrets are in rating units; W is about labels in [−1, 1]", *parts.pop("notes"))
    return RatingsCertificate(
        learner=f"matrix completion, {engine.name}, rate {engine.options['rate']}",
        loss=engine.loss,
        potential=scale * engine.value,
        comparators=Comparators(_comparator(low, high, f"{middle:g} + " if middle else ""), "‖W‖_Σ", own_radius(engine.rule)),
        notes=notes,
        scale=scale,
        charge=units(degree, rounds, low, high),
        **parts,
        **totals,
    )
