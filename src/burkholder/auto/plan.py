"""Which lanes run. Diagonal lanes come in groups of eight: four on x̂, four on x̃, one group a kind of step."""

from __future__ import annotations

from typing import Any, NamedTuple

from burkholder import losses

# Kinds of step a lane makes towards the label.
SQUARED, QUANTILE, LOGISTIC = 0, 1, 2
STEP_NAMES = ("squared", "quantile", "logistic")

# Kinds of final aggregation.
MIX_LOG, MIX_SQUARE, HEDGE = 0, 1, 2

STACK_SHARE, TANGENT_SHARE = 0.25, 0.05  # prior mass of the stacks, and of all tangent lanes together

# (prior variance v₀, drift Q a round). The 0.1 lane is for very wide rows, where a prior variance of 1 for every
# feature lets a single row decide.
HAT = ((1.0, 1e-4), (10.0, 1e-3), (100.0, 0.1), (1000.0, 10.0))
TILDE = ((0.1, 0.0), (1.0, 1e-4), (10.0, 1e-3), (100.0, 0.1))
GROUP = HAT + TILDE
# (on x̃, v₀, Q, the lane of its group that it turns into when there are too many features)
FULL = ((0, 100.0, 0.01, 2), (1, 1.0, 1e-4, 5), (1, 10.0, 1e-3, 6))
RADII = (0.1, 1.0, 10.0, 100.0)


class Plan(NamedTuple):
    """The lanes in order: groups of diagonal lanes, full covariance, tangent, stacks. Counts and switches."""

    groups: int
    kinds: tuple[int, int]  # the step kind of each group, and of each stack; always two, for one compiled type
    full_lanes: int
    full_features: int  # the full-covariance lanes run while there are at most this many features
    mixing: int
    quantile: float
    steep: float  # 0: outputs as they are; else clip(steep·output, ±1), what the hinge loss wants
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
    return [
        (tilde, v0, q, 8 * group + twin, kind)
        for group, kind in enumerate(plan.kinds[: plan.groups]) for tilde, v0, q, twin in FULL
    ]


def lane_names(plan: Plan) -> list[str]:
    """A readable name for every lane, in order."""
    listed = []
    for kind in plan.kinds[: plan.groups]:
        for k, (v, q) in enumerate(GROUP):
            scale = "max-scaled" if k < 4 else "standardised"
            listed.append(f"diagonal {scale} v0={v:g} q={q:g} {STEP_NAMES[kind]}")
    for tilde, v, q, _, kind in full_lane_specs(plan):
        listed.append(f"full {'standardised' if tilde else 'max-scaled'} v0={v:g} q={q:g} {STEP_NAMES[kind]}")
    listed += [f"tangent R={radius:g}" for radius in RADII]
    return listed + [f"stack {STEP_NAMES[kind]}" for kind in plan.kinds[: plan.groups]]


def prior(plan: Plan) -> list[float]:
    """Prior weight of every lane: stacks 0.25, tangents 0.05, the Kalman lanes the rest."""
    diagonal, tangents, stacks = 8 * plan.groups, len(RADII), plan.groups
    each = (1.0 - STACK_SHARE - TANGENT_SHARE) / (diagonal + plan.full_lanes)
    return (
        [each] * (diagonal + plan.full_lanes) + [TANGENT_SHARE / tangents] * tangents
        + [STACK_SHARE / stacks] * stacks
    )


def plan_for(loss: Any, intercept: bool, range_given: bool, full_features: int) -> Plan:
    """The lanes for a loss: logistic steps for classes, squared steps for squared, both kinds otherwise."""
    if losses.is_classification(loss):
        kinds: tuple[int, ...] = (LOGISTIC,)
    elif isinstance(loss, losses.Squared):
        kinds = (SQUARED,)
    else:
        kinds = (SQUARED, QUANTILE)
    mixing = MIX_SQUARE if isinstance(loss, losses.Squared) else HEDGE
    if isinstance(loss, losses.Logistic):
        mixing = MIX_LOG
    full_lanes = len(FULL) * len(kinds) if full_features else 0
    full = 8 * len(kinds)
    tangents = full + full_lanes
    stacks = tangents + len(RADII)
    return Plan(
        groups=len(kinds), kinds=(kinds[0], kinds[-1]), full_lanes=full_lanes, full_features=full_features, mixing=mixing,
        quantile=loss.quantile if isinstance(loss, losses.Pinball) else 0.5,
        steep=4.0 if isinstance(loss, losses.Hinge) else 0.0,
        intercept=int(intercept), range_given=int(range_given),
        full=full, tangents=tangents, stacks=stacks, lanes=stacks + len(kinds),
    )
