"""What an Auto guarantees at this moment, from its state alone.

Comparators are linear in x̂: |u_i| ≤ R. Every tangent lane, and the betting lane, has Σδŷ and Σδx̂ in its state, so that
    realised   what Auto lost beyond that lane, plus Σδŷ + R·Σ_i|Σδx̂_i| of it (or −⟨u, Σδx̂⟩): convexity alone; the least over the lanes
    corrected  what aggregating may cost against a tangent lane of radius at least R, plus its 2R·Σ_i sqrt(s_i) and its potential
    bound      the same with the potential at what raising its radius cost, which is known in advance to be at least as much
Rounding is charged (`charged`): realised is true of real numbers, and the other two are at least that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.auto import charged
from burkholder.auto.aggregate import SHARE
from burkholder.auto.blend import Blend, blend_names
from burkholder.auto.forest import costs as forest_costs
from burkholder.auto.nonlinear import Nonlinear
from burkholder.auto.plan import BETTING, LOGISTIC, MIX_LOG, RADII, Plan, lane_names
from burkholder.auto.reading import Reading
from burkholder.auto.state import (
    CLIPPED_LABELS,
    ETA,
    FEATURES,
    FULL_ON,
    GAP,
    HEAVY,
    LEARNT_LOSS,
    LEARNT_REST,
    LOSS,
    LOSS_REST,
    RADIUS_SCALE,
    ROUNDS,
    SURPRISE,
    SURPRISES,
    UNIT,
    WEIGHT_SUM,
    State,
)
from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Certificate, Comparators, Guarantee
from burkholder.learning.evidence import Evidence
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import above, more
from burkholder.potentials import SquareRoot
from burkholder.potentials import batch as potentials

SPACE = "⟨u, x̂⟩ (x̂: each feature over its running maximum)"
NORM = "|u_i|"


@dataclass(frozen=True)
class Lane:
    """One lane: its cumulative loss, and how much more the aggregate may have lost at most."""

    name: str
    loss: float
    cost: float
    weight: float


@dataclass(frozen=True)
class Tree:
    """What Auto lost beyond a tree, and what each of the tree's nodes paid for choosing, the largest first; internal units."""

    ahead: float
    costs: np.ndarray


@dataclass(frozen=True)
class Linear:
    """What a tangent lane or the betting lane shows about linear comparators; internal units but for `radius`.

    `ahead`: what Auto lost beyond this lane, with what clipping cost the lane; rounding charged.
    """

    radius: float | None  # target units; None: the betting lane, which promises nothing
    evidence: Evidence
    ahead: float
    cost: float  # what aggregating may have cost against this lane, with clipping
    potential: float
    promise: float  # 2R·Σ sqrt(s_i)
    jump: float  # what raising the radius cost


@dataclass(frozen=True)
class AutoCertificate(Certificate):
    """A certificate with every lane's loss, and the regret against linear comparators of every radius, or any one of them."""

    lanes: tuple[Lane, ...] = ()
    linear: tuple[Linear, ...] = field(default=(), repr=False)
    sizes: charged.Sizes | None = field(default=None, repr=False)
    units: tuple[float, float] = (1.0, 1.0)  # of labels and of losses
    brought_in: int = 0  # labels from far outside, which were learned from nearer by
    trees: tuple[Tree, ...] = field(default=(), repr=False)
    reading: Reading | None = field(default=None, repr=False)
    slot_of: Any = field(default=None, repr=False)
    intercept: bool = True

    def _whom(self, w: Any, radius: float | None) -> tuple[Any, float]:
        """(u over the slots or None, the largest |u_i|), both in internal units."""
        if w is None:
            asked = radius if radius is not None else (self.comparators.radius or 0.0)
            return None, more(asked / self.units[0])
        assert self.reading is not None
        u = self.reading.comparator(w, self.intercept, len(self.linear[0].evidence.g), self.slot_of)
        return u, more(charged.largest_entry(u) / self.units[0])

    def _realised(self, whom: tuple[Any, float]) -> float:
        return math.inf if self.brought_in else self._shown(whom)

    def _shown(self, whom: tuple[Any, float]) -> float:
        """The realised regret, for the losses with labels as they were learned."""
        u, largest = whom
        found = math.inf
        for lane in self.linear:
            if u is None:
                regret = lane.evidence.over(largest * math.fsum(np.abs(lane.evidence.g)), largest)
            else:
                # u over the unit of labels is rounded: one more unit in the last place of every coordinate
                inner = u / self.units[0]
                regret = above(lane.evidence.against(inner), 2.0 * U * largest * math.fsum(np.abs(lane.evidence.g)))
            found = min(found, above(lane.ahead, regret))
        if self.sizes is not None:
            found = above(found, charged.comparators(self.sizes, largest))
        return charged.scaled(found, self.units[1])

    def _reaching(self, largest: float) -> list[Linear]:
        radius = largest * self.units[0] * (1.0 - 1e-12)
        return [lane for lane in self.linear if lane.radius is not None and lane.radius >= radius]

    def _corrected(self, whom: tuple[Any, float]) -> float:
        found = [lane.cost + lane.potential + lane.promise for lane in self._reaching(whom[1])]
        return charged.scaled(min(found, default=math.inf), self.units[1])

    def _promised(self, whom: tuple[Any, float]) -> float:
        found = [lane.cost + lane.jump + lane.promise for lane in self._reaching(whom[1])]
        return charged.scaled(min(found, default=math.inf), self.units[1])

    def pruned(self, leaves: int) -> float:
        """At most so much more was lost than by any pruning with so many leaves, of any tree, whose nodes play what they played.

        A pruning cuts a tree off at some of its nodes; one that was not there yet is represented by the node it was split from.
        Infinite before there are trees.

        >>> import numpy as np
        >>> from burkholder import Auto
        >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, 2))
        >>> certificate = Auto("logistic").run(X, X[:, 0] * X[:, 1]).certificate
        >>> certificate.pruned(4) < 20.0  # four leaves tell the four corners apart, which no line does
        True
        """
        if isinstance(leaves, bool) or not isinstance(leaves, (int, np.integer)) or leaves < 1:
            raise BadInput("leaves", leaves, "give a whole number ≥ 1")
        if not self.trees or self.brought_in:
            return math.inf
        worst = max(above(tree.ahead, math.fsum(tree.costs[: 2 * leaves - 1])) for tree in self.trees)
        return charged.scaled(worst, self.units[1])

    def to_dict(self) -> dict[str, Any]:
        data = super().to_dict()
        data["prunings"] = [{"leaves": k, "bound": _told(self.pruned(k))} for k in (1, 4, 16, 64)] if self.trees else []
        data["lanes"] = [vars(lane).copy() for lane in self.lanes]
        data["radii"] = [
            {"radius": r, "bound": _told(self.bound(radius=r)), "realised": _told(self.realised(radius=r))}
            for r in (lane.radius for lane in self.linear)
            if r is not None
        ]
        return data


def _told(number: float) -> float | None:
    return number if math.isfinite(number) else None


def certify(
    plan: Plan, state: State, beyond: Nonlinear | None, loss: Any, reading: Reading, late: tuple[int, float], pending: int
) -> AutoCertificate:
    """The certificate of a state. late: how many labels came late, and what those rounds paid, in internal units."""
    names, lost, costs, weights = lane_names(plan), lane_losses(plan, state), lane_costs(plan, state), state.weight[: plan.lanes]
    if beyond is not None:
        # whoever follows the linear lanes pays both aggregations
        last = lane_costs(beyond.plan, beyond.blend)
        names = names + blend_names(beyond.plan)
        lost = np.concatenate([lost, lane_losses(beyond.plan, beyond.blend)])
        costs = np.concatenate([costs + last[0], last])
        weights = np.concatenate([weights * beyond.blend.weight[0], beyond.blend.weight[: beyond.plan.lanes]])
        state = state._replace(scalars=_shown(state, beyond))
    s = state.scalars
    label_unit = float(s[UNIT])
    unit = label_unit**loss.degree
    size = charged.sizes(plan, state, loss, late[1])
    learnt, slack = charged.learnt(state), charged.played(plan, state, size, late[1])
    behind = np.array([above(learnt, slack, -float(lost[k]), charged.lane(plan, size, float(lost[k]))) for k in range(len(lost))])
    costs = np.maximum(costs, behind)
    lanes = tuple(Lane(name, float(lost[k]) * unit, float(costs[k]) * unit, float(weights[k])) for k, name in enumerate(names))
    linear = tuple(_linear(plan, state, size, k, float(behind[plan.tangents + k]), float(costs[plan.tangents + k])) for k in range(4))
    clipped = int(s[CLIPPED_LABELS])
    trees: tuple[Tree, ...] = ()
    if beyond is not None:
        first, ways = plan.lanes + 1, range(len(beyond.forest.used))
        trees = tuple(Tree(float(behind[first + k]), forest_costs(beyond.plan, beyond.forest, k, float(s[ROUNDS]))) for k in ways)
    whom = Comparators(SPACE, NORM, linear[1].radius)
    certificate = AutoCertificate(
        learner="auto",
        loss=losses.name(loss),
        rounds=int(s[ROUNDS]),
        cumulative_loss=float(s[LOSS] + s[LOSS_REST]) * unit,
        weight=float(s[WEIGHT_SUM]),
        potential=linear[1].potential * unit,
        comparators=whom,
        assumptions=_assumptions(plan, clipped),
        notes=_notes(plan, state, unit, late[0], pending),
        lanes=lanes,
        linear=linear,
        sizes=size,
        units=(label_unit, unit),
        brought_in=clipped,
        trees=trees,
        reading=reading,
        slot_of=state.slot_of,  # slots given out later lie beyond the features of this certificate
        intercept=bool(plan.intercept),
    )
    object.__setattr__(certificate, "others", _others(certificate, behind * unit))
    return certificate


def _shown(state: State, beyond: Nonlinear) -> np.ndarray:
    """The linear lanes' scalars, with the losses of what was shown."""
    scalars = state.scalars.copy()
    places = [LOSS, LOSS_REST, LEARNT_LOSS, LEARNT_REST]
    scalars[places] = beyond.blend.scalars[places]
    return scalars


def lane_losses(plan: Plan, state: State | Blend) -> np.ndarray:
    """The cumulative loss of every lane, in internal units."""
    return state.lane_loss[: plan.lanes] + (state.lane_rest[: plan.lanes] - np.log(state.likelihood[: plan.lanes]))


def lane_costs(plan: Plan, state: State | Blend) -> np.ndarray:
    """How much more than each lane the aggregate may have lost, in internal units.

    Weights are changed by factors within 64u of what is meant, so that n rounds move (1/η)·ln w by at most 64nu/η.
    """
    s = state.scalars
    if s[ETA] == 0.0:  # so far every lane lost the same
        return np.full(plan.lanes, float(s[SURPRISE]))
    surprise = np.log(1.0 / state.prior[: plan.lanes])
    n = float(s[ROUNDS])
    paid = (surprise + SHARE * math.log(n + 1.0) + 64.0 * n * U) / s[ETA]
    return (paid + s[GAP] + s[SURPRISE]) * (1.0 + 4.0 * n * U)


def _linear(plan: Plan, state: State, size: charged.Sizes, k: int, behind: float, cost: float) -> Linear:
    """The evidence of lane k; what Auto lost beyond it is `behind`."""
    s, at, features = state.scalars, 16 * plan.groups, int(state.scalars[FEATURES])
    clipping = more(float(state.clip_cost[k]) + (log_clip(state) if plan.mixing == MIX_LOG else 0.0), size.rounds)
    evidence = charged.evidence(plan, state, size, k)
    if k == BETTING:
        return Linear(None, evidence, above(behind, clipping), above(cost, clipping), 0.0, math.inf, 0.0)
    radius = RADII[k] * float(s[RADIUS_SCALE])
    g, square = evidence.g, state.lanes[:features, at + 4 + k]
    promise = more(2.0 * radius * math.fsum(np.sqrt(square)), features)
    return Linear(
        radius=radius * float(s[UNIT]),
        evidence=evidence,
        ahead=above(behind, clipping),
        cost=above(cost, clipping, evidence.over(0.0, radius) - evidence.a),
        potential=evidence.a + radius * math.fsum(potentials.value(SquareRoot(1.0, 2.0), np.abs(g), square)),
        promise=promise,
        jump=float(state.jump[k]),
    )


def log_clip(state: State) -> float:
    """What clipping log-odds to ±30 cost any lane at most."""
    return float(state.scalars[WEIGHT_SUM]) * math.log1p(math.exp(-30.0))


def _others(certificate: AutoCertificate, behind: np.ndarray) -> tuple[Guarantee, ...]:
    """What is known about the lanes, and about labels that were brought in."""
    best = min(range(len(behind)), key=lambda k: certificate.lanes[k].loss)
    lane, held = certificate.lanes[best], certificate.brought_in == 0
    lines = [
        Guarantee("cost of aggregating", "known in advance", lane.cost, held, Comparators(f"the best lane, {lane.name}")),
        Guarantee("lost to it", "on this very stream", float(behind[best]), held, Comparators(f"the best lane, {lane.name}")),
    ]
    if not held:
        whom = Comparators(f"{SPACE}, on the labels as they were learned,", NORM, certificate.comparators.radius)
        shown = certificate._shown(certificate._whom(None, None))
        lines.append(Guarantee("realised regret, labels brought in", "read off this very stream", shown, True, whom))
    return tuple(lines)


def _assumptions(plan: Plan, clipped: int) -> tuple[Assumption, ...]:
    if plan.kinds[0] == LOGISTIC or plan.range_given:
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


def _notes(plan: Plan, state: State, unit: float, late: int, pending: int) -> tuple[str, ...]:
    s = state.scalars
    notes = ["x̂ is taken when the label comes" + ("; the constant 1 is one of its coordinates" if plan.intercept else "")]
    if plan.mixing == MIX_LOG:
        notes.append(f"clipping log-odds to ±30 cost at most {log_clip(state):.2g}, included")
    elif not plan.steep:
        limits = "log-odds to ±30" if plan.kinds[0] == LOGISTIC else "to the range of labels seen"
        notes.append(f"clipping {limits} cost a tangent lane at most {float(state.clip_cost.max()) * unit:.3g}, included")
    if s[SURPRISES] > 0:
        cause = "a weight above 1" if plan.mixing == MIX_LOG else "a label outside the range seen or a weight above 1"
        notes.append(
            f"{int(s[SURPRISES])} rounds paid more than the aggregation promises ({cause}): "
            f"{float(s[SURPRISE]) * unit:.4g} in all, measured and included in every cost"
        )
    if late:
        notes.append(f"{late} labels came late: each round is charged with the prediction that was shown")
    if s[HEAVY] > 0:
        notes.append(f"{int(s[HEAVY])} rounds had a weight above 1")
    if plan.full_lanes and s[FULL_ON] == 0.0:
        notes.append("the full-covariance lanes became their diagonal twins when the features were too many")
    if pending:
        notes.append(f"{pending} predictions still wait for their labels and are not counted")
    return tuple(notes)
