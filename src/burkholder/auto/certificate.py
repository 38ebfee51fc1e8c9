"""What an Auto guarantees at this moment, from its state alone.

loss ≤ loss of lane k + cost_k for every lane, and through the tangent lanes, for every |u_i| ≤ R,
loss ≤ Σℓ(⟨u, x̂_t⟩, y_t) + 2R·Σ_i sqrt(s_i) + (radius and clipping costs) + cost_k.
The betting lane has no such bound beforehand, but Σδŷ + R·Σ_i|g_i| can be read off its state for every R.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.auto.aggregate import SHARE
from burkholder.auto.plan import BETTING, MIX_LOG, RADII, Plan, lane_names
from burkholder.auto.state import (
    CLIPPED_LABELS,
    ETA,
    FEATURES,
    FULL_ON,
    GAP,
    HEAVY,
    LEARNT_LOSS,
    LOSS,
    RADIUS_SCALE,
    ROUNDS,
    SURPRISE,
    SURPRISES,
    UNIT,
    WEIGHT_SUM,
    State,
)
from burkholder.auto.tangent import square_function
from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Certificate, Guarantee


@dataclass(frozen=True)
class Lane:
    """One lane: its cumulative loss, and how much more the aggregate may have lost at most."""

    name: str
    loss: float
    cost: float
    weight: float


@dataclass(frozen=True)
class Tangent:
    """One tangent lane: against every |u_i| ≤ radius (target units), its regret is at most `bound`.

    `realised` is the same quantity read off the stream, Σδŷ + R·Σ_i|g_i|: never above `bound`. Its two parts hold
    for every radius: the regret against |u_i| ≤ r is at most `paid` + r·`slope`, by convexity alone.
    """

    radius: float
    bound: float
    realised: float
    potential: float
    lane: Lane
    paid: float
    slope: float


@dataclass(frozen=True)
class Betting:
    """The betting lane: its regret on this stream against every |u_i| ≤ R is at most `lean` + R·`push`, for every R."""

    lean: float
    push: float
    lane: Lane

    def realised(self, radius: float) -> float:
        """Σδŷ + R·Σ_i|g_i|, and what rounding cost."""
        return self.lean + radius * self.push


@dataclass(frozen=True)
class AutoCertificate(Certificate):
    """A certificate with every lane's loss, and a regret bound for every radius."""

    lanes: tuple[Lane, ...] = ()
    tangents: tuple[Tangent, ...] = ()
    betting: Betting | None = None
    learnt_loss: float = 0.0  # with labels brought in from far outside, as the lanes learned them

    def bound(self, radius: float) -> float:
        """The regret against every linear u with |u_i| ≤ radius (of x̂; target units) is at most this."""
        if not (math.isfinite(radius) and radius >= 0.0):
            raise BadInput("radius", radius, "give a finite number ≥ 0")
        reaching = [t.bound + t.lane.cost for t in self.tangents if t.radius >= radius * (1.0 - 1e-12)]
        if self.betting is not None:
            reaching.append(self.betting.realised(radius) + self.betting.lane.cost)
        return min(reaching)

    def realised(self, radius: float) -> float:
        """What this very stream shows: the regret against every linear u with |u_i| ≤ radius (of x̂; target units) is at
        most this, for any radius, and never more than `bound` promises.

        A tangent lane's regret is at most Σδŷ − ⟨u, Σδx̂⟩ (convexity), and what Auto lost beyond that lane is known.
        Where labels were brought in from far outside, it holds for the losses with those labels so clipped.
        """
        if not (isinstance(radius, (int, float, np.number)) and math.isfinite(radius) and radius >= 0):
            raise BadInput("radius", radius, "give a finite number ≥ 0")
        shown = [self.learnt_loss - t.lane.loss + t.paid + radius * t.slope for t in self.tangents]
        if self.betting is not None:
            shown.append(self.learnt_loss - self.betting.lane.loss + self.betting.realised(radius))
        return min(shown)

    def to_dict(self) -> dict[str, Any]:
        data = super().to_dict()
        data["lanes"] = [vars(lane).copy() for lane in self.lanes]
        data["tangents"] = [
            {"radius": t.radius, "bound": t.bound + t.lane.cost, "realised": t.realised + t.lane.cost} for t in self.tangents
        ]
        if self.betting is not None:
            data["betting"] = {"lean": self.betting.lean + self.betting.lane.cost, "push": self.betting.push}
        return data


def certify(plan: Plan, state: State, loss: Any, unit: float) -> AutoCertificate:
    """The certificate of a state; `unit` is what one unit of internal loss is worth."""
    s = state.scalars
    rounds = int(s[ROUNDS])
    costs = lane_costs(plan, state)
    paid = state.lane_loss - np.log(state.likelihood)
    lanes = tuple(
        Lane(name, float(paid[k]) * unit, float(costs[k]) * unit, float(state.weight[k])) for k, name in enumerate(lane_names(plan))
    )
    tangents = tuple(_tangent(plan, state, k, unit, lanes[plan.tangents + k]) for k in range(len(RADII)))
    betting = _betting(plan, state, unit, lanes[plan.tangents + BETTING])
    clipped = int(s[CLIPPED_LABELS])
    best = min(lanes, key=lambda lane: lane.loss + lane.cost)
    learnt = float(s[LEARNT_LOSS]) * unit
    guarantees = [
        Guarantee(
            "against the lanes",
            f"cumulative loss ≤ this: loss of '{best.name}' ({best.loss:.6g}) + its cost",
            best.loss + best.cost,
            clipped == 0 or learnt == float(s[LOSS]) * unit,
        ),
        Guarantee("realised", "cumulative loss − smallest loss of a lane", learnt - min(t.loss for t in lanes)),
    ]
    for t in tangents:
        guarantees.append(
            Guarantee(
                f"regret, |u_i| ≤ {t.radius:g}",
                f"loss − loss of any linear ⟨u, x̂⟩ ≤ this; shown by this very stream: {t.realised + t.lane.cost:.6g}",
                t.bound + t.lane.cost,
                clipped == 0,
            )
        )
    guarantees.append(
        Guarantee(
            "regret, any |u_i| ≤ R",
            f"loss − loss of any linear ⟨u, x̂⟩ ≤ this + R·{betting.push:.6g}, shown by this very stream",
            betting.lean + betting.lane.cost,
            clipped == 0,
        )
    )
    return AutoCertificate(
        learner="auto",
        loss=losses.name(loss),
        rounds=rounds,
        cumulative_loss=float(s[LOSS]) * unit,
        potential=tangents[1].potential,
        guarantees=tuple(guarantees),
        assumptions=_assumptions(plan, clipped),
        notes=_notes(plan, state, unit),
        lanes=lanes,
        tangents=tangents,
        betting=betting,
        learnt_loss=learnt,
    )


def lane_costs(plan: Plan, state: State) -> np.ndarray:
    """How much more than each lane the aggregate may have lost, in internal units."""
    s = state.scalars
    if s[ETA] == 0.0:  # so far every lane lost the same
        return np.zeros(plan.lanes)
    surprise = np.log(1.0 / state.prior[: plan.lanes])
    return (surprise + SHARE * math.log(s[ROUNDS] + 1.0)) / s[ETA] + s[GAP] + s[SURPRISE]


def _tangent(plan: Plan, state: State, k: int, unit: float, lane: Lane) -> Tangent:
    at, features = 16 * plan.groups, int(state.scalars[FEATURES])
    g, s = state.lanes[:features, at + k], state.lanes[:features, at + 4 + k]
    radius = RADII[k] * float(state.scalars[RADIUS_SCALE])
    extra = float(state.clip_cost[k]) + (_log_clip(state) if plan.mixing == MIX_LOG else 0.0)
    bound = 2.0 * radius * float(np.sqrt(s).sum()) + float(state.jump[k]) + extra
    paid, slope = float(state.bias[k]) + extra, float(np.abs(g).sum())
    potential = float(state.bias[k]) + radius * sum(square_function(a, b) for a, b in zip(g, s))
    label_unit = float(state.scalars[UNIT])
    return Tangent(
        radius=radius * label_unit,
        bound=bound * unit,
        realised=(paid + radius * slope) * unit,
        potential=potential * unit,
        lane=lane,
        paid=paid * unit,
        slope=slope * unit / label_unit,
    )


def _log_clip(state: State) -> float:
    """What clipping log-odds to ±30 cost any lane at most."""
    return float(state.scalars[WEIGHT_SUM]) * math.log1p(math.exp(-30.0))


def _betting(plan: Plan, state: State, unit: float, lane: Lane) -> Betting:
    at, features = 16 * plan.groups + BETTING, int(state.scalars[FEATURES])
    push = float(np.abs(state.lanes[:features, at]).sum()) / float(state.scalars[UNIT])
    lean = float(state.bias[BETTING]) + float(state.clip_cost[BETTING])
    return Betting(lean * unit, push * unit, lane)


def _assumptions(plan: Plan, clipped: int) -> tuple[Assumption, ...]:
    if plan.mixing == MIX_LOG or plan.steep or plan.range_given:
        return ()
    return (
        Assumption(
            "steady labels",
            "no label lies more than ten ranges outside the range of those before it",
            limit=0.0,
            worst=float(clipped),
            violations=clipped,
            still_holds="every guarantee, for the losses with those labels brought to the end of that interval",
        ),
    )


def _notes(plan: Plan, state: State, unit: float) -> tuple[str, ...]:
    s = state.scalars
    notes = ["comparators are linear in x̂: each feature over its running maximum" + (", and the constant 1" if plan.intercept else "")]
    if plan.mixing == MIX_LOG:
        notes.append(f"clipping log-odds to ±30 cost at most {_log_clip(state):.2g}, included in the regret bounds")
    elif not plan.steep:
        notes.append(
            f"clipping to the range of labels seen cost a tangent lane at most "
            f"{float(state.clip_cost.max()) * unit:.3g}, included in the regret bounds"
        )
    if s[SURPRISES] > 0:
        cause = "a weight above 1" if plan.mixing == MIX_LOG else "a label outside the range seen or a weight above 1"
        notes.append(
            f"{int(s[SURPRISES])} rounds paid more than the aggregation promises ({cause}): "
            f"{float(s[SURPRISE]) * unit:.4g} in all, measured and included in every cost"
        )
    if s[HEAVY] > 0:
        notes.append(f"{int(s[HEAVY])} rounds had a weight above 1")
    if plan.full_lanes and s[FULL_ON] == 0.0:
        notes.append("the full-covariance lanes became their diagonal twins when the features were too many")
    return tuple(notes)
