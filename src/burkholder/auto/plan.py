"""Which lanes run: a record of tuples, so that compiled loops know every length beforehand."""

from __future__ import annotations

from typing import Any, NamedTuple

from burkholder import losses

# Kinds of step a lane makes towards the label.
SQUARED, QUANTILE, LOGISTIC = 0, 1, 2

# Kinds of final aggregation.
MIX_LOG, MIX_SQUARE, HEDGE = 0, 1, 2

STACK_SHARE, TANGENT_SHARE = 0.25, 0.05  # prior mass of the stacks, and of all tangent lanes together

# (prior variance v₀, drift Q a round). The 0.1 lanes are for very wide sparse rows, where a prior variance
# of 1 a feature lets a single row decide.
HAT = ((0.1, 1e-5), (1.0, 1e-4), (10.0, 1e-3), (100.0, 0.1), (1000.0, 10.0))
TILDE = ((0.1, 0.0), (1.0, 0.0), (1.0, 1e-4), (10.0, 1e-3), (100.0, 0.1))
# (on x̃, v₀, Q, diagonal twin: which of HAT or TILDE it turns into when there are too many features)
FULL = ((0, 100.0, 0.01, 3), (1, 1.0, 1e-4, 2), (1, 10.0, 1e-3, 3))
RADII = (0.1, 1.0, 10.0, 100.0)


class Plan(NamedTuple):
    """The lanes in order: diagonal on x̂, diagonal on x̃, tangent, full covariance, stacks."""

    hat_v0: tuple[float, ...]
    hat_q: tuple[float, ...]
    tilde_v0: tuple[float, ...]
    tilde_q: tuple[float, ...]
    kinds: tuple[int, ...]  # step kind of each diagonal lane
    radii: tuple[float, ...]
    stack_kinds: tuple[int, ...]
    full_lanes: int
    full_features: int  # the full-covariance lanes run while there are at most this many features
    mixing: int
    quantile: float
    steep: float  # 0: outputs as they are; else clip(steep·output, ±1), what the hinge loss wants
    intercept: int
    range_given: int


def lane_count(plan: Plan) -> int:
    """How many lanes, stacks included."""
    return len(plan.kinds) + len(plan.radii) + plan.full_lanes + len(plan.stack_kinds)


def full_lane_specs(plan: Plan) -> list[tuple[int, float, float, int, int]]:
    """(on x̃, v₀, Q, twin's lane number, step kind) of each full-covariance lane."""
    if not plan.full_lanes:
        return []
    specs = []
    for s, kind in enumerate(plan.stack_kinds):
        for tilde, v0, q, twin in FULL:
            place = len(plan.hat_v0) + s * len(TILDE) + twin if tilde else s * len(HAT) + twin
            specs.append((tilde, v0, q, place, kind))
    return specs


def lane_names(plan: Plan) -> list[str]:
    """A readable name for every lane, in order."""
    step = {SQUARED: "squared", QUANTILE: "quantile", LOGISTIC: "logistic"}
    specs = [("max-scaled", v, q) for v, q in zip(plan.hat_v0, plan.hat_q)]
    specs += [("standardised", v, q) for v, q in zip(plan.tilde_v0, plan.tilde_q)]
    listed = [f"diagonal {scale} v0={v:g} q={q:g} {step[k]}" for (scale, v, q), k in zip(specs, plan.kinds)]
    listed += [f"tangent R={radius:g}" for radius in plan.radii]
    for tilde, v, q, _, kind in full_lane_specs(plan):
        listed.append(f"full {'standardised' if tilde else 'max-scaled'} v0={v:g} q={q:g} {step[kind]}")
    return listed + [f"stack {step[kind]}" for kind in plan.stack_kinds]


def prior(plan: Plan) -> list[float]:
    """Prior weight of every lane: stacks 0.25, tangents 0.05, the Kalman lanes the rest."""
    diagonal, tangents, stacks = len(plan.kinds), len(plan.radii), len(plan.stack_kinds)
    each = (1.0 - STACK_SHARE - TANGENT_SHARE) / (diagonal + plan.full_lanes)
    return (
        [each] * diagonal + [TANGENT_SHARE / tangents] * tangents
        + [each] * plan.full_lanes + [STACK_SHARE / stacks] * stacks
    )


def plan_for(loss: Any, intercept: bool, range_given: bool, full_features: int) -> Plan:
    """The lanes for a loss: logistic steps for classes, squared steps for squared, both kinds otherwise."""
    if losses.is_classification(loss):
        steps: tuple[int, ...] = (LOGISTIC,)
    elif isinstance(loss, losses.Squared):
        steps = (SQUARED,)
    else:
        steps = (SQUARED, QUANTILE)
    hat, tilde = HAT * len(steps), TILDE * len(steps)
    kinds = [step for step in steps for _ in HAT] + [step for step in steps for _ in TILDE]
    mixing = MIX_SQUARE if isinstance(loss, losses.Squared) else HEDGE
    if isinstance(loss, losses.Logistic):
        mixing = MIX_LOG
    return Plan(
        hat_v0=tuple(v for v, _ in hat), hat_q=tuple(q for _, q in hat),
        tilde_v0=tuple(v for v, _ in tilde), tilde_q=tuple(q for _, q in tilde),
        kinds=tuple(kinds), radii=RADII, stack_kinds=steps,
        full_lanes=len(FULL) * len(steps) if full_features else 0, full_features=full_features, mixing=mixing,
        quantile=loss.quantile if isinstance(loss, losses.Pinball) else 0.5,
        steep=4.0 if isinstance(loss, losses.Hinge) else 0.0,
        intercept=int(intercept), range_given=int(range_given),
    )
