"""Trees whose prunings are all weighed at once: lanes for what is not linear.

A node v plays base + b_v, its running correction of a base: 0 in every second tree, what the linear lanes play in the others
(log-odds, or in the units of the labels). On its way down a row meets nodes v₀, …, v_m; from the leaf up, p̄_m = p_m and

    p̄_v = (1 − s)·p_v + s·p̄_child,   s = σ(η·LEAD_v),   LEAD_v = Σ (loss of p_v − loss of p̄_child) since v was split,

probabilities under the log loss, where η = 1. So every node chooses between itself and what lies below it, and pays for that
choice at most COST_v = ln 2/η + GAP_v: GAP_v is what p̄_v paid above its mix loss (0 for the log loss and weights up to 1), and for other
losses η = ln 2/GAP_v as in AdaHedge. Summed over the nodes of a pruning: on every stream the tree's loss is at most

    loss of the pruning + Σ of COST_v over its 2k − 1 nodes       (log loss: (2k − 1)·ln 2 for k leaves),

where a node of the pruning that was not there yet is represented by the one it was split from.

A leaf is split once HELD rows lie in it, at the best of CANDIDATES random cuts by how much better two corrections fit those rows
than one. Rows are kept in a ring; nodes are bounded by a budget. Memory is bounded, whatever the stream.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.auto.aggregate import NARROWEST
from burkholder.auto.plan import MIX_LOG, Plan
from burkholder.auto.remembered import BASE, LABEL, ROUND, SIDE, WEIGHT, entry, longer_ring, new_ring, place_of_round
from burkholder.auto.state import aligned
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import more
from burkholder.losses import value
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import log, sigmoid
from burkholder.machine.memory import Cube, Matrix, Vector, Whole
from burkholder.machine.vectors import all8, least, load8, most, row8, store, total8, where_positive

# columns of `nodes`, a row a node: b_v, how many rows it rests on, LEAD, GAP, the largest difference of losses, where it was
# split: the cut, the feature, the left child (0: it is a leaf; the right child is the next one)
OFFSET, MASS, LEAD, GAP, RANGE, CUT, FEATURE, CHILD = range(8)
NODES = 2047  # a tree
HELD = 40
CANDIDATES = 60
DEPTH = 64
RING = 1 << 14  # rows that are remembered
WIDEST = 128  # features at most
FLOOR = 0.5  # of the largest difference of losses: no η is larger than ln 2 over this
LEAST = 1e-3  # curvature of a saturated prediction
LN2 = math.log(2.0)
SURE = 1e-13  # no probability is nearer to 0 or 1


class Forest(NamedTuple):
    """All trees. Node i of tree k has row i·trees + k, so that more room is more rows."""

    nodes: Matrix
    held: Matrix  # a row a node: how many rows of the stream it holds, and their rounds
    used: Vector  # nodes of each tree
    seen: Vector  # how many features were seen
    ring: Cube  # see `remembered`
    seed: Whole


class Walk(NamedTuple):
    """Scratch: the row as a vector, and the ways of all trees through it, step by step: first all roots, then what follows them, …"""

    x: Vector
    base: Vector  # of each tree
    steps: Whole  # how many there are
    node: Whole
    after: Whole  # the step that follows in the same tree; the last one follows itself
    last: Whole  # step of each tree
    depth: Whole  # how many steps a tree has
    open: Whole  # trees that go on
    own: Vector  # what the node plays
    share: Vector  # s
    mixed: Vector  # p̄
    alone: Vector  # the loss of what the node plays
    below: Vector  # the loss of p̄
    rest: Vector
    mass: Vector
    rows: Whole  # where in the ring the rows of a leaf stand
    laid: Matrix  # their features, a row a feature; whether this was done, in the last column


def new_forest(trees: int) -> Forest:
    """Roots only."""
    nodes = aligned(trees, 8)
    nodes[:, MASS] = 1.0
    return Forest(nodes, aligned(trees, HELD + 1), np.ones(trees), np.zeros(1), new_ring(), np.array([1], np.int64))


def new_walk(trees: int, width: int) -> Walk:
    """Scratch for rows of so many features."""
    most = trees * DEPTH + 8
    one, node, after, last, depth, open_, rows = (np.zeros(size, np.int64) for size in (1, most, most, trees, trees, trees, HELD))
    own, share, mixed, alone, below = (aligned(most) for _ in range(5))
    steps = (one, node, after, last, depth, open_, own, share, mixed, alone, below)
    return Walk(aligned(width + 1), aligned(trees), *steps, aligned(HELD), aligned(HELD), rows, aligned(width + 1, HELD + 8))


def roomy(forest: Forest, rounds: int, rows: int, width: int) -> Forest:
    """The same with room for so many more rows after so many rounds, of features up to place `width`."""
    trees = len(forest.used)
    wanted = int(min(NODES, forest.used.max() + 2 * rows))
    if wanted * trees > len(forest.nodes):
        size = min(NODES, max(wanted, 2 * len(forest.nodes) // trees)) * trees
        forest = forest._replace(nodes=longer(forest.nodes, size), held=longer(forest.held, size))
    ring = longer_ring(forest.ring, RING, rounds, rows, width)
    return forest if ring is forest.ring else forest._replace(ring=ring)


def longer(array: np.ndarray, size: int) -> np.ndarray:
    """The same with so many rows."""
    out = aligned(size, array.shape[1])
    out[: len(array)] = array
    return out


@inlined
def chance(z):
    """σ(z)."""
    e = math.exp(-abs(z))
    return 1.0 / (1.0 + e) if z > 0.0 else e / (1.0 + e)


@inlined
def rate(plan, forest, node):
    """η of a node."""
    if plan.mixing == MIX_LOG:
        return 1.0
    scale = max(forest.nodes[node, GAP], FLOOR * forest.nodes[node, RANGE])
    return LN2 / scale if scale > NARROWEST else 0.0


@inlined
def descend(plan, forest, walk):
    """The ways through all trees, a level at a time: while the node of one is on its way from memory, others are looked at."""
    nodes, trees = forest.nodes, forest.used.shape[0]
    for k in range(trees):
        walk.open[k], walk.last[k], walk.depth[k], walk.node[k] = k, k, 0, k
    left, step = trees, 0
    while left > 0:
        still, following = 0, step + left
        for i in range(left):
            k, node = walk.open[i], walk.node[step]
            walk.last[k], walk.after[step] = step, step
            walk.depth[k] += 1
            walk.own[step] = walk.base[k] + nodes[node, OFFSET]
            walk.share[step] = rate(plan, forest, node) * nodes[node, LEAD]
            side = 0 if walk.x[int(nodes[node, FEATURE])] <= nodes[node, CUT] else 1
            down = int(nodes[node, CHILD])
            walk.open[still], walk.node[following + still] = k, (down + side) * trees + k  # to stay, if the way goes on
            walk.after[step] = following + still if down > 0 else step
            still += 1 if down > 0 else 0
            step += 1
        left = still
    walk.steps[0] = step


@inlined
def mix(plan, walk):
    """p̄ of every step: probabilities under the log loss, else predictions. Those of the trees stand first."""
    for j in range(0, walk.steps[0], 8):  # what stands behind the last step is never read
        store(walk.share, j, sigmoid(load8(walk.share, j)))
        own = load8(walk.own, j)
        if plan.mixing == MIX_LOG:
            own = least(most(sigmoid(own), all8(SURE)), all8(1.0 - SURE))
            store(walk.own, j, own)
        store(walk.mixed, j, own)
    for j in range(walk.steps[0] - 1, -1, -1):
        walk.mixed[j] = walk.own[j] + walk.share[j] * (walk.mixed[walk.after[j]] - walk.own[j])


@inlined
def spend(plan, loss, walk, y):
    """The losses of what every node on the way plays, and of p̄ there: of a probability of y = 1, or of a prediction."""
    if plan.mixing == MIX_LOG:
        one, sign = all8(0.0 if y > 0.0 else 1.0), all8(1.0 if y > 0.0 else -1.0)
        for j in range(0, walk.steps[0], 8):
            store(walk.alone, j, all8(0.0) - log(one + sign * load8(walk.own, j)))
            store(walk.below, j, all8(0.0) - log(one + sign * load8(walk.mixed, j)))
        return
    for j in range(walk.steps[0]):
        walk.alone[j], walk.below[j] = value(loss, walk.own[j], y), value(loss, walk.mixed[j], y)


@inlined
def learn(plan, loss, forest, walk, y, usual, weight):
    """Every node on the ways takes the label, cut to the `usual` range, after its choice was charged for the label as it is."""
    nodes = forest.nodes
    spend(plan, loss, walk, y)
    for j in range(walk.steps[0]):
        at, own, after = walk.node[j], walk.own[j], walk.after[j]
        if after > j:
            charge(plan, forest, at, weight * walk.alone[j], weight * walk.below[after], weight * walk.below[j], weight)
        if plan.mixing == MIX_LOG:
            nodes[at, MASS] += weight * max(own * (1.0 - own), LEAST)
            nodes[at, OFFSET] += weight * ((1.0 if y > 0.0 else 0.0) - own) / nodes[at, MASS]
        else:
            nodes[at, MASS] += weight
            nodes[at, OFFSET] += weight * (usual - own) / nodes[at, MASS]


@inlined
def charge(plan, forest, at, mine, below, mixed, weight):
    """LEAD and GAP of a node, from the losses of its own prediction, of what lies below, and of their mixture."""
    nodes = forest.nodes
    nodes[at, RANGE] = max(nodes[at, RANGE], abs(mine - below))
    eta = rate(plan, forest, at)
    if eta > 0.0 and (plan.mixing != MIX_LOG or weight > 1.0):
        share, lower = chance(eta * nodes[at, LEAD]), min(mine, below)
        mix = lower - math.log((1.0 - share) * math.exp(eta * (lower - mine)) + share * math.exp(eta * (lower - below))) / eta
        nodes[at, GAP] += max(0.0, mixed - mix)
    nodes[at, LEAD] += mine - below


@inlined
def draw(forest):
    """A number in [0, 1), from a linear congruence of 64 bits."""
    forest.seed[0] = forest.seed[0] * 6364136223846793005 + 1442695040888963407
    return float((forest.seed[0] >> 33) & 0x3FFFFFFF) / 1073741824.0


@inlined
def hold(plan, forest, walk, k, based, now):
    """The leaf of the way holds the row of this round as well, and is split when it holds enough."""
    leaf, held = walk.node[walk.last[k]], forest.held
    count = int(held[leaf, 0]) + 1
    held[leaf, count], held[leaf, 0] = now, float(count)
    if count < HELD:
        return
    count = 0
    for i in range(1, HELD + 1):  # rows that are no longer in the ring are forgotten
        if held[leaf, i] > now - float(SIDE * forest.ring.shape[0]):
            count += 1
            held[leaf, count] = held[leaf, i]
    if count == HELD and walk.depth[k] < DEPTH and int(forest.used[k]) + 2 <= NODES and split(plan, forest, walk, k, leaf, based):
        return
    half = HELD // 2 if count == HELD else count
    for i in range(1, half + 1):
        held[leaf, i] = held[leaf, count - half + i]
    held[leaf, 0] = float(half)


@inlined
def lay(forest, walk, feature):
    """What the rows of a leaf have of a feature, side by side; once a leaf."""
    if walk.laid[feature, HELD] == 0.0:
        for i in range(HELD):
            walk.laid[feature, i] = entry(forest.ring, walk.rows[i], ROUND + feature)
        walk.laid[feature, HELD] = 1.0


@inlined
def gain(walk, feature, cut, total, mass):
    """By how much two corrections fit the rows up to a cut, and those beyond."""
    push, weight, where = all8(0.0), all8(0.0), all8(cut)
    for i in range(0, HELD, 8):
        beyond = row8(walk.laid, feature, i) - where
        push = push + where_positive(beyond, all8(0.0), load8(walk.rest, i))
        weight = weight + where_positive(beyond, all8(0.0), load8(walk.mass, i))
    left, mine = total8(push), total8(weight)
    return left * left / (mine + 1.0) + (total - left) * (total - left) / (mass - mine + 1.0)


@inlined
def split(plan, forest, walk, k, leaf, based):
    """Try random cuts of a leaf, and make the best one; whether there was any."""
    nodes, held, ring = forest.nodes, forest.held, forest.ring
    total, mass = 0.0, 0.0
    for i in range(HELD):
        row = place_of_round(ring, held[leaf, i + 1])
        walk.rows[i] = row
        own, label, weight = based * entry(ring, row, BASE) + nodes[leaf, OFFSET], entry(ring, row, LABEL), entry(ring, row, WEIGHT)
        if plan.mixing == MIX_LOG:
            p = chance(own)
            walk.rest[i] = weight * ((1.0 if label > 0.0 else 0.0) - p)
            walk.mass[i] = weight * max(p * (1.0 - p), LEAST)
        else:
            walk.rest[i], walk.mass[i] = weight * (label - own), weight
        total, mass = total + walk.rest[i], mass + walk.mass[i]
    for feature in range(1, int(forest.seen[0]) + 1):
        walk.laid[feature, HELD] = 0.0
    best, where, cut = total * total / (mass + 1.0), 0, 0.0
    for _ in range(CANDIDATES):
        feature = 1 + int(draw(forest) * forest.seen[0])
        lay(forest, walk, feature)
        one, other = walk.laid[feature, int(draw(forest) * HELD)], walk.laid[feature, int(draw(forest) * HELD)]
        low, high = min(one, other), max(one, other)
        at = low + draw(forest) * (high - low)
        at = at if at < high else low
        if low < high:
            gained = gain(walk, feature, at, total, mass)
            if gained > best:
                best, where, cut = gained, feature, at
    if where == 0:
        return False
    child, trees = int(forest.used[k]), forest.used.shape[0]
    forest.used[k] += 2.0
    nodes[leaf, CUT], nodes[leaf, FEATURE], nodes[leaf, CHILD], held[leaf, 0] = cut, float(where), float(child), 0.0
    for side in range(2):
        node, count, push, weight = (child + side) * trees + k, 0, 0.0, 1.0
        for i in range(HELD):
            if (walk.laid[where, i] <= cut) == (side == 0):
                count += 1
                held[node, count] = held[leaf, i + 1]
                push, weight = push + walk.rest[i], weight + walk.mass[i]
        held[node, 0] = float(count)
        nodes[node, OFFSET], nodes[node, MASS] = nodes[leaf, OFFSET] + push / weight, weight
    return True


def costs(plan: Plan, forest: Forest, k: int, rounds: float) -> np.ndarray:
    """COST_v of every node of tree k that was split, the largest first; with what n rounds of rounding may have moved its choice:
    LEAD is a plain sum of n differences, none above RANGE_v."""
    nodes = forest.nodes[k :: len(forest.used)][: int(forest.used[k])]
    inner = nodes[nodes[:, CHILD] > 0.0]
    share = np.full(len(inner), LN2) if plan.mixing == MIX_LOG else np.maximum(inner[:, GAP], FLOOR * inner[:, RANGE])
    moved = np.where(inner[:, RANGE] > NARROWEST, 16.0 * rounds * U, 1.0) * rounds * inner[:, RANGE]  # too narrow to choose: all of it
    return more(1.0, rounds) * np.sort(share + inner[:, GAP] + moved)[::-1]
