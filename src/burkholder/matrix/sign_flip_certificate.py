"""What the sums of the paper's strategy (and of the tangent strategy) say, for entries and for any X."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.learning.rounding import UNIT
from burkholder.matrix import norms
from burkholder.matrix.certificate import evidence, exact_enough, in_time
from burkholder.matrix.gradient import Gradient
from burkholder.matrix.rules import mixture_grid
from burkholder.matrix.sign_flip import ALONG, ALONG_LOW, CLOSED, DRIFT, LATE, LEANED, MIXTURE, MOVED, PAID, TIED, Rule
from burkholder.potentials import spectral_mixture

NEAR = 1.0 + 1e-9  # a comparator's nuclear norm is known from above only


@dataclass(frozen=True)
class Ledger:
    """What a path's ledger promises against ‖W‖_Σ ≤ ρ; nothing beyond the radius a learner was built for."""

    rule: Rule
    total: float  # of one rate: closed epochs, what was paid, and (r/η)·damping·‖ΣM‖
    joined: float  # of the mixture: what rows and columns that joined have added to κ
    top: float  # ‖ΣM‖
    dimension: int

    def __call__(self, nuclear: float) -> float:
        if self.rule.kind != MIXTURE:
            return self.total if nuclear <= NEAR * self.rule.radius else math.inf
        rates, masses = mixture_grid(self.rule.lipschitz)
        grid = (max(self.dimension, 1), rates, masses, self.rule.radius, self.rule.lipschitz)
        return self.joined + float(spectral_mixture.bound_from(nuclear, self.top, *grid))


@dataclass(frozen=True)
class Corrected:
    """The promise with the potential as it is."""

    promise: Ledger
    value: float

    def __call__(self, nuclear: float) -> float:
        return self.promise(nuclear) + self.value


def promise(rule: Rule, scalars: np.ndarray, quadratic: float, top: float, dimension: int) -> Ledger:
    """The ledger as it is now; `quadratic` is (r/η)·damping·‖ΣM‖ of the current epoch."""
    paid, closed = float(scalars[PAID]), float(scalars[CLOSED])
    return Ledger(rule, closed + paid + quadratic, paid - rule.radius if dimension else 0.0, top, dimension)


def own_radius(rule: Rule) -> float:
    """The radius of the headline: the learner's own, 1 where every matrix is admitted."""
    return 1.0 if rule.kind == MIXTURE else rule.radius


def fields(rule: Rule, scalars: np.ndarray, promised: Ledger, value: float, gradient: Gradient, rounds: int) -> Any:
    """The fields of a certificate that rest on the ledger of the sign flip."""
    high, low, leaned, moved, drift, hits, late = (float(scalars[place]) for place in (ALONG, ALONG_LOW, LEANED, MOVED, DRIFT, TIED, LATE))
    # a slope found on the wrong side of a kink is one at a point no further than a rounding of ŷ − y
    kinks = 8.0 * UNIT * rule.lipschitz * rule.bound * rounds if math.isfinite(rule.bound) else 0.0
    sums = evidence(high, low, leaned, moved, gradient, rounds, drift, hits + kinks)
    largest, radius = norms.spectral(*gradient[:3]), own_radius(rule)
    limit = promised(radius)
    slack = 1e-9 * (1.0 + abs(limit)) + rule.tol * rule.lipschitz * rounds
    return {
        "sums": sums,
        "gradient": gradient,
        "largest": largest,
        "promise": promised,
        "corrections": Corrected(promised, value),
        "assumptions": (
            exact_enough(f"every prediction is exact to {rule.tol:g}", slack, sums.a + radius * largest - limit, late),
            in_time(late),
        ),
        "notes": (f"a prediction within {rule.tie:g} of its target counts as a hit (δ = 0), and is charged",) if rule.tie else (),
    }
