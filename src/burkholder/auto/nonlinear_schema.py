"""What the saved trees, additive lanes and blend must be before their compiled loop may trust them."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.auto import sleep
from burkholder.auto import state as slots
from burkholder.auto.additive import COLUMNS, GRID, KNOTS, LEVELS, PAIRS, SCALE, new_cells
from burkholder.auto.blend import blend_plan, new_blend
from burkholder.auto.forest import CHILD, CUT, DEPTH, FEATURE, GAP, HELD, LEAD, MASS, NODES, RANGE, RING, ROUND, WIDEST
from burkholder.auto.knots import CROSSED, SMALLEST
from burkholder.auto.nonlinear import START
from burkholder.auto.plan import Plan
from burkholder.errors import BadInput
from burkholder.learning.schema import COUNTED, LARGEST, SUMMED, Array, Arrays, Schema, like, steady

HUGE = 1e75  # of weights and covariances: products of four stay finite
FAR = 1e120  # of predictions in units of the labels
# scalars that count or measure, and so are never below 0 …
POSITIVE = (
    slots.ROUNDS, slots.UNIT, slots.LABELS, slots.LABEL_SQUARES, slots.RADIUS_SCALE, slots.ETA, slots.GAP, slots.SURPRISE,
    slots.SURPRISES, slots.CLIPPED_LABELS, slots.HEAVY, slots.WEIGHT_SUM, slots.RANGE, slots.HAT_SQUARES, slots.TILDE_SQUARES,
    slots.STEEPEST,
)  # fmt: skip


def check_nonlinear(plan: Plan, trees: int, restless: bool, linear: Arrays, arrays: Arrays) -> None:
    """Refuse arrays that are not those of so many trees after these linear lanes; none where there are no trees yet."""
    rounds, features = (float(linear["scalars"][place]) for place in (slots.ROUNDS, slots.FEATURES))
    wanted = trees > 0 and rounds >= START
    if not arrays:
        if wanted and features <= WIDEST + 1:
            raise BadInput("array 'beyond_nodes'", "missing", "the trees of so many rounds must be there")
        return
    if not wanted:
        raise BadInput("array 'beyond_nodes'", "there", "there are no trees here, or not yet")
    _schema(blend_plan(plan, trees), trees, restless, rounds).check(arrays)


def _schema(plan: Plan, trees: int, restless: bool, rounds: float) -> Schema:
    fresh = new_blend(plan, np.zeros(slots.SCALARS), restless)._asdict()
    low, high = np.full(8, -FAR), np.full(8, FAR)
    low[[MASS, CHILD, FEATURE]], high[[CHILD, FEATURE]] = 0.0, (NODES, WIDEST)
    low[[GAP, RANGE]], high[[LEAD, GAP, RANGE, MASS]] = 0.0, LARGEST
    low[[CUT, LEAD]], high[CUT] = -LARGEST, LARGEST  # cuts lie among a feature's values
    bottom = np.repeat([-HUGE, 0.0], 4)  # weights, then variances
    described = {name: steady(array) if name == "prior" else like(array) for name, array in fresh.items()}
    described |= {name: like(fresh[name], low=-HUGE, high=HUGE) for name in ("stack_w", "stack_p")}
    described |= {name: like(fresh[name], low=0.0) for name in ("residual", "squares", "watch")}
    described |= {
        "scalars": like(fresh["scalars"], **scalar_limits(LARGEST)),
        "weight": like(fresh["weight"], low=0.0, high=2.0),
        "likelihood": like(fresh["likelihood"], low=0.0, high=2.0),
        "errors": like(fresh["errors"], low=-FAR, high=FAR),
        "nodes": Array(("nodes", 8), low=low, high=high),
        "held": Array(("nodes", HELD + 1), low=0.0, high=rounds, whole=True),
        "used": Array((trees,), low=1.0, high=NODES, whole=True),
        "seen": Array((1,), low=0.0, high=WIDEST, whole=True),
        "ring": Array(("rows", "columns")),
        "seed": Array((1,), "<i8", low=-(2**63), high=2**63 - 1),
        "knots": Array(("features", COLUMNS)),
        "hats": Array(("knots", 8), low=bottom, high=HUGE),
        "pairs": Array(("pairs", 2), low=0.0, high=WIDEST, whole=True),
        "crossed": Array(("cells", 8), low=bottom, high=HUGE),
        "specs": steady(new_cells(plan).specs),
        "live": Array((1,), low=0.0, high=WIDEST, whole=True),
    }
    return Schema(
        described,
        (
            ("scalars: rounds that the linear lanes did not see", lambda a: a["scalars"][slots.ROUNDS] == rounds),
            ("scalars: the labels' range is empty", lambda a: a["scalars"][slots.LOW] <= a["scalars"][slots.HIGH]),
            ("weight: they add up to nothing", lambda a: a["weight"].sum() > 0.0),
            ("weight: of a lane that is not there", lambda a: not a["weight"][plan.lanes :].any()),
            ("stack_p: no covariance", lambda a: covariances(a["stack_p"]) and same_both_ways(a["stack_p"])),
            ("squares: not those of rounds", lambda a: _counted(a["squares"], rounds)),
            ("watch: no truth values", lambda a: a["watch"][sleep.RESTLESS] == restless and a["watch"][sleep.RETIRED] in (0.0, 1.0)),
            ("held: more rows than a leaf holds", lambda a: (a["held"][:, 0] < HELD).all()),
            ("ring: no such rows", lambda a: ring_of_rows(a, RING)),
            ("knots: not in order, or more than there are", _knots),
            ("hats: not as many as the features' knots", lambda a: len(a["hats"]) == KNOTS * len(a["knots"])),
            ("pairs: of features without knots", _pairs),
            ("crossed: no power of two", lambda a: len(a["crossed"]) in [1 << k for k in range(CROSSED.bit_length())]),
            ("nodes: these are no trees", lambda a: all(is_tree(a, k, trees, DEPTH, 1.0) for k in range(trees))),
        ),
    )


def scalar_limits(rows: float) -> dict[str, Any]:
    """How small and how large the scalars may be, place by place, with so many rows of features."""
    low, high = np.full(slots.SCALARS, -LARGEST), np.full(slots.SCALARS, LARGEST)
    low[list(POSITIVE)] = 0.0
    low[[slots.UNIT, slots.RADIUS_SCALE]] = 1e-300
    low[slots.FEATURES], high[slots.FEATURES] = 1.0, rows
    low[slots.FULL_ON], high[slots.FULL_ON] = 0.0, 1.0
    high[slots.ROUNDS] = COUNTED
    high[[slots.LOSS, slots.LEARNT_LOSS]] = SUMMED
    low[[slots.LOSS_REST, slots.LEARNT_REST]], high[[slots.LOSS_REST, slots.LEARNT_REST]] = -SUMMED, SUMMED
    high[slots.STEEPEST] = FAR
    high[slots.SURPRISE] = np.inf  # a loss beyond what a number holds is written down as that
    return {"low": low, "high": high}


def covariances(found: np.ndarray) -> bool:
    """The same both ways, and not negative in any direction, but for rounding: steps along another would grow without end."""
    room = 1e-6 * np.diagonal(found, axis1=-2, axis2=-1).max(axis=-1)[..., None]
    turned = np.swapaxes(found, -1, -2)
    if not (room >= 0.0).all() or not (np.abs(found - turned) <= room[..., None]).all():
        return False
    return bool((np.linalg.eigvalsh(0.5 * (found + turned)) >= -room).all())


def same_both_ways(found: np.ndarray) -> bool:
    """To the last bit, as `full.kalman_step` keeps them."""
    return np.array_equal(found, np.swapaxes(found, -1, -2))


def _counted(squares: np.ndarray, rounds: float) -> bool:
    """A sum of squares, and of how many."""
    total, count = squares.tolist()
    return total <= FAR**2 and count == np.floor(count) and count <= rounds and (count > 0.0 or total == 0.0)


def ring_of_rows(arrays: Any, most: int) -> bool:
    """Rows that were learned, a power of two, with room for every feature seen, in eights where there are any."""
    rows, columns = arrays["ring"].shape
    room = columns - ROUND - 1
    if rows not in [1 << k for k in range(most.bit_length())] or room % 8 or not arrays["seen"][0] <= room <= WIDEST:
        return False
    when = arrays["ring"][:, ROUND]
    return bool((when >= 0.0).all() and (when <= 2.0**53).all() and (when == np.floor(when)).all())


def _knots(arrays: Any) -> bool:
    """Of every feature some whole number of them, rising; the rest repeats the last. Sides of cells are of one knot or two."""
    knots, count, grid = arrays["knots"][:, :KNOTS], arrays["knots"][:, LEVELS], arrays["knots"][:, GRID]
    if not (0 < len(knots) <= WIDEST + 1 and (count >= 0.0).all() and (count <= KNOTS).all() and (count == np.floor(count)).all()):
        return False
    steps, inside = np.diff(knots, axis=1), np.arange(1, KNOTS) < count[:, None]
    rising = (steps[inside] > 0.0).all() and (steps[~inside] == 0.0).all()
    hats = float((count > 2.0).sum())
    if (arrays["knots"][:, SCALE] < 0.0).any() or (arrays["knots"][:, SCALE] > 1.0 / SMALLEST).any():
        return False
    return bool(count[0] == 0.0 and rising and np.isin(grid[count > 0.0], (1.0, 2.0)).all() and arrays["live"][0] == hats)


def _pairs(arrays: Any) -> bool:
    """The smaller feature first, both with knots; zeros where there is no pair."""
    pairs = arrays["pairs"].astype(np.int64)
    if not 0 < len(pairs) <= PAIRS or (pairs >= len(arrays["knots"])).any():
        return False
    first, second = pairs.T
    kept = (first < second) & (arrays["knots"][first, LEVELS] >= 2.0) & (arrays["knots"][second, LEVELS] >= 2.0)
    return bool((kept | ((first == 0) & (second == 0))).all())


def is_tree(arrays: Any, k: int, trees: int, deepest: int, lightest: float) -> bool:
    """Every node but the root is the child of one node before it, nothing is too deep or too light, and cuts are of features seen."""
    used = int(arrays["used"][k])
    nodes = arrays["nodes"][k::trees][:used]
    if len(nodes) < used or (nodes[:, MASS] < lightest).any() or (nodes[:, [CHILD, FEATURE]] != np.floor(nodes[:, [CHILD, FEATURE]])).any():
        return False
    inner = np.flatnonzero(nodes[:, CHILD] > 0.0)
    children, features = nodes[inner, CHILD].astype(np.int64), nodes[inner, FEATURE]
    if not np.array_equal(np.sort(children), np.arange(1, used, 2)) or (children <= inner).any():
        return False
    depth = np.ones(used, np.int64)
    for parent, child in zip(inner, children):  # parents come before their children
        depth[child : child + 2] = depth[parent] + 1
    return bool((depth <= deepest).all() and (features >= 1.0).all() and (features <= arrays["seen"][0]).all())
