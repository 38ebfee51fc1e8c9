"""What rounding may have cost an Auto: everything that separates its sums from the real numbers they stand for.

Let u = 2⁻⁵³, and let all be in internal units: labels z = fl(y/unit), predictions p, losses over unit^degree. A round of weight w
shows ŷ = fl(p·unit); lane k (a tangent lane or the betting lane) puts out o, of which it plays a clipped version, and has the slope
δ = w·ℓ′(o, z). For a comparator c_t = ⟨v, x̂_t⟩, in real numbers,

    Σw[ℓ(ŷ, y) − ℓ(c, y)]  ≤  (loss of Auto − loss of lane k) + (what clipping cost it) + Σδo − ⟨v, Σδx̂⟩

by convexity. Seven things stand between this and the sums that are kept:

    the loss of ŷ    ŷ/unit is within u·B of p, B ≥ |p|, |z|: Σw|δ|·uB + mW(uB)²/2, where Σw|δ| ≤ LW if slopes are at most L,
                     and ≤ sqrt(2mW·loss) if ℓ″ ≤ m (δ² ≤ 2mℓ, Cauchy–Schwarz)                                  `shown`
    the label        y/unit is within e = uB + TINY/unit of z. Slopes at most L: both losses move by at most Le, 2LWe. ℓ″ ≤ m:
                     ℓ(a, y) − ℓ(c, y) moves by at most me|a − c|, so Σ is at most me(WB + Σ_i|v_i|·Σ_t w|x̂_ti|)  `label`
    each loss        evaluated to within 16u of itself (tested against high precision), an insensitive zone to within 8u of its
                     width; lanes under the log loss: factors of a product, within 8u each, 16u(n + W)          `evaluated`
    sums of losses   of terms ≥ 0, carried with their corrections (`rounding`)                                  `summed`
    the slope        within 16u of itself: 16u·Σ|δ|(|o| + |c|); below 1e-100 it is taken for 0                  `Evidence.slope`
    Σδo              products rounded, u·Σ|δo|, which is kept; the sum carried with its correction              `a_error`
    Σδx̂              products rounded, x̂ itself within 512u of x over its height (quotient, and at most 450 times tenfold
                     growth of the height, each rounded); the sum is wrong by u·Σ_t|partial sums|, which is kept  `drift_norm`

Σ_t|δx̂_ti| ≤ sqrt(n_i·s_i) by Cauchy–Schwarz, n_i the rounds in which feature i was not 0. What is kept is Σδo before o is rounded to
its grid, which at most doubles it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.kernel import LIMIT
from burkholder.auto.plan import LOGISTIC, MIX_LOG, RADII, Plan
from burkholder.auto.state import COUNT, FEATURES, HEAVY, HIGH, LEARNT_LOSS, LEARNT_REST, LOW, RADIUS_SCALE, ROUNDS, UNIT, WEIGHT_SUM, State
from burkholder.auto.targets import TINY
from burkholder.learning.evidence import Evidence
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import above, lost, more

EVALUATED = 16.0 * U
SCALED = 512.0 * U
DROPPED = 1e-100  # slopes below this are taken for 0
UNDER = 1e-153  # squares of anything smaller vanish


class Sizes(NamedTuple):
    """Upper bounds on what the charges are made of."""

    rounds: float
    weight: float  # W
    top: float  # B
    smoothness: float  # m; infinite: L it is
    lipschitz: float  # L
    slopes: float  # Σw|δ| at what Auto played
    label: float  # e
    met: NDArray[np.float64]  # n_i
    weighed: float  # Σ_i Σ_t w|x̂_ti|
    idle: float  # width of an insensitive zone


def sizes(plan: Plan, state: State, loss: Any, late: float) -> Sizes:
    """The bounds, from the state; `late` is what late rounds paid besides."""
    s = state.scalars
    n, features = float(s[ROUNDS]), int(s[FEATURES])
    weight = more(float(s[WEIGHT_SUM]), n)
    met = np.abs(state.stat[:features, COUNT])
    met[0] = n if plan.intercept else 0.0
    weighed = float(met.sum()) if s[HEAVY] == 0.0 else weight * features
    if plan.kinds[0] == LOGISTIC:  # labels are exact, and what is shown is what was played
        top = 1.0 if plan.steep else LIMIT
        steepest = float(loss.lipschitz(top))
        return Sizes(n, weight, top, 0.0, steepest, weight * steepest, 0.0, met, more(weighed, features), 0.0)
    top = more(max(abs(float(s[LOW])), abs(float(s[HIGH]))), 64.0)
    paid = more(learnt(state) + late, n)
    bend, steepest = float(loss.smoothness), float(loss.scaled(float(s[UNIT])).lipschitz(math.inf))
    slopes = more(weight * steepest if math.isinf(bend) else math.sqrt(2.0 * bend * weight * paid), 8.0)
    label = more(U * top + TINY / float(s[UNIT]), 8.0)
    idle = max(map(abs, loss.kinks(0.0) or (0.0,))) / float(s[UNIT])
    return Sizes(n, weight, top, bend, steepest, slopes, label, met, more(weighed, features), idle)


def learnt(state: State) -> float:
    """The loss of Auto, with labels as they were learned."""
    return float(state.scalars[LEARNT_LOSS]) + float(state.scalars[LEARNT_REST])


def summed(total: float, rounds: float) -> float:
    """What a sum of so many terms ≥ 0, carried with its correction, may be wrong by."""
    return 2.0 * U * abs(total) + lost(rounds, 2.0 * abs(total))


def played(plan: Plan, state: State, size: Sizes, late: float) -> float:
    """By how much the loss of what was shown may lie above LEARNT_LOSS (labels as learned)."""
    paid = max(learnt(state), 0.0) + 2.0 * late
    cost = EVALUATED * paid + summed(paid, size.rounds) + 8.0 * U * size.weight * size.idle
    if plan.kinds[0] != LOGISTIC:
        smooth = math.isfinite(size.smoothness)
        cost += size.slopes * U * size.top + size.weight * (size.smoothness if smooth else 2.0) * (U * size.top) ** 2
        cost += size.label * size.weight * (size.smoothness * size.top if smooth else 2.0 * size.lipschitz)
    return more(cost, 64.0)


def lane(plan: Plan, size: Sizes, paid: float) -> float:
    """By how much a lane's loss may lie below what was summed up, clipping included."""
    cost = 3.0 * EVALUATED * paid + summed(paid, size.rounds) + 8.0 * U * size.weight * size.idle
    if plan.mixing == MIX_LOG:
        cost += 16.0 * U * (size.rounds + size.weight)
    return more(cost, 64.0)


def comparators(size: Sizes, largest: float) -> float:
    """What the rounding of labels may cost against comparators no larger than this in any coordinate."""
    return more(size.smoothness * size.label * largest * size.weighed, 8.0) if math.isfinite(size.smoothness) else 0.0


def evidence(plan: Plan, state: State, size: Sizes, k: int) -> Evidence:
    """Σδo and Σδx̂ of tangent lane k (or the betting lane), with what they may be wrong by."""
    at, features = 16 * plan.groups, len(size.met)
    g, s = state.lanes[:features, at + k].copy(), state.lanes[:features, at + 4 + k]
    each = np.sqrt(size.met * s) * (1.0 + 4.0 * size.rounds * U)
    moved = more(math.fsum(each) + UNDER * size.rounds * features, features)
    leaned = more(2.0 * float(state.bias_size[k]), size.rounds)
    partial = more(float(state.strain[k]), size.rounds * features)
    a = float(state.bias[k]) + float(state.bias_rest[k])
    farthest = size.top + 2.0 * max(RADII) * float(state.scalars[RADIUS_SCALE]) * features
    wrong = 4.0 * U * leaned + lost(size.rounds, leaned) + DROPPED * size.rounds * farthest
    return Evidence(
        a=a,
        g=g,
        a_error=more(wrong, 64.0),
        leaned=leaned,
        slope=EVALUATED,
        moved_norm=moved,
        drift_norm=more(U * partial + (SCALED + 4.0 * U) * moved + DROPPED * size.rounds * features, 8.0),
        dual=largest_entry,
    )


def largest_entry(u: NDArray[np.float64]) -> float:
    """max_i |u_i|: pairs with Σ_t|δ_t|·Σ_i|x̂_ti|."""
    return float(np.abs(u).max()) if len(u) else 0.0


def scaled(number: float, unit: float) -> float:
    """A number in internal units in the target's own, not too small."""
    if not math.isfinite(number):
        return number
    return above(number * unit, 4.0 * U * abs(number * unit))
