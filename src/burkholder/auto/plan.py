"""Which lanes run. Diagonal lanes come in groups of eight: four on x̂, four on x̃, one group a kind of step."""

from __future__ import annotations

from typing import Any, NamedTuple

# Kinds of step a lane makes towards the label.
SQUARED, QUANTILE, LOGISTIC = 0, 1, 2
STEP_NAMES = ("squared", "quantile", "logistic")

# Kinds of final aggregation.
MIX_LOG, HEDGE = 0, 1

# prior mass of the stacks, of all tangent lanes together, and of the betting lane
STACK_SHARE, TANGENT_SHARE, BETTING_SHARE = 0.25, 0.05, 0.05

# (prior variance v₀, drift Q a round, by width). By width: the features are divided by the root of the mean ‖x‖², so
# that v₀ is the prior variance of the prediction, however many features a row has. Without that, a prior variance
# of 1 for every feature lets a single wide row decide. Q = 0 is for streams that do not change.
HAT = ((10.0, 0.0, 1), (10.0, 1e-3, 0), (100.0, 0.1, 0), (1000.0, 10.0, 0))
TILDE = ((1.0, 0.0, 1), (10.0, 1e-3, 1), (1.0, 1e-5, 0), (100.0, 0.1, 0))
GROUP = HAT + TILDE
# (on x̃, v₀, Q, the lane of its group that it turns into when there are too many features)
FULL = ((0, 100.0, 0.01, 2), (1, 1.0, 0.0, 4), (1, 10.0, 1e-3, 5))
RADII = (0.1, 1.0, 10.0)  # of the tangent lanes; the betting lane comes after them and needs none
BETTING = len(RADII)


class Plan(NamedTuple):
    """The lanes in order: groups of diagonal lanes, full covariance, three tangent, betting, stacks. Counts and switches."""

    groups: int
    kinds: tuple[int, int]  # the step kind of each group, and of each stack; always two, for one compiled type
    full_lanes: int
    full_features: int  # the full-covariance lanes run while there are at most this many features
    mixing: int
    quantile: float
    steep: float  # 0: outputs as they are; else clip(steep·output, ±1), what losses with a margin want
    intercept: int
    range_given: int
    full: int  # place of the first full lane
    tangents: int  # place of the first tangent lane; the lanes before it feed the stack
    stacks: int  # place of the first stack
    lanes: int  # how many lanes in all


def full_lane_specs(plan: Plan) -> list[tuple[int, float, float, int, int]]:
    """(on x̃, v₀, Q, twin's place, step kind) of each full-covariance lane."""
    if not plan.full_lanes:
        return []
    return [(tilde, v0, q, 8 * group + twin, kind) for group, kind in enumerate(plan.kinds[: plan.groups]) for tilde, v0, q, twin in FULL]


def lane_names(plan: Plan) -> list[str]:
    """A readable name for every lane, in order."""
    listed = []
    for kind in plan.kinds[: plan.groups]:
        for k, (v, q, wide) in enumerate(GROUP):
            scale = ("max-scaled" if k < 4 else "standardised") + (" by width" if wide else "")
            listed.append(f"diagonal {scale} v0={v:g} q={q:g} {STEP_NAMES[kind]}")
    for tilde, v, q, _, kind in full_lane_specs(plan):
        listed.append(f"full {'standardised' if tilde else 'max-scaled'} v0={v:g} q={q:g} {STEP_NAMES[kind]}")
    listed += [f"tangent R={radius:g}" for radius in RADII] + ["betting"]
    return listed + [f"stack {STEP_NAMES[kind]}" for kind in plan.kinds[: plan.groups]]


def prior(plan: Plan) -> list[float]:
    """Prior weight of every lane: stacks 0.25, tangents 0.05, betting 0.05, the Kalman lanes the rest."""
    diagonal, tangents, stacks = 8 * plan.groups, len(RADII), plan.groups
    each = (1.0 - STACK_SHARE - TANGENT_SHARE - BETTING_SHARE) / (diagonal + plan.full_lanes)
    return [each] * (diagonal + plan.full_lanes) + [TANGENT_SHARE / tangents] * tangents + [BETTING_SHARE] + [STACK_SHARE / stacks] * stacks


def steps_for(loss: Any) -> dict[str, Any]:
    """What the class of a loss says of its lanes: logistic steps for classes, squared steps for means, both kinds for quantiles."""
    kinds = (LOGISTIC,) if loss.classes else (SQUARED,) if loss.quantile is None else (SQUARED, QUANTILE)
    return {"groups": len(kinds), "kinds": (kinds[0], kinds[-1]), "mixing": MIX_LOG if loss.log else HEDGE}


def plan_for(loss: Any, intercept: bool, range_given: bool, full_features: int) -> Plan:
    """The lanes for a loss."""
    steps = steps_for(type(loss))
    groups = steps["groups"]
    full_lanes = len(FULL) * groups if full_features else 0
    full = 8 * groups
    tangents = full + full_lanes
    stacks = tangents + len(RADII) + 1
    return Plan(
        **steps,
        full_lanes=full_lanes,
        full_features=full_features,
        quantile=0.5 if loss.quantile is None else loss.quantile,
        steep=4.0 if loss.margin else 0.0,
        intercept=int(intercept),
        range_given=int(range_given),
        full=full,
        tangents=tangents,
        stacks=stacks,
        lanes=stacks + groups,
    )
