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
from burkholder.auto.state import aligned, padded
from burkholder.auto.window import enter, lately_of
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import more
from burkholder.losses import value
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import exp_down, log, sigmoid
from burkholder.machine.memory import Cube, Matrix, Vector, Whole
from burkholder.machine.vectors import all8, least, load8, most, row8, store, total8, where_positive

# columns of `nodes`, a row a node: b_v, how many rows it rests on, LEAD, GAP, the largest difference of losses, where it was
# split: the cut, the feature, the left child (0: it is a leaf; the right child is the next one)
OFFSET, MASS, LEAD, GAP, RANGE, CUT, FEATURE, CHILD = range(8)
NODES = 2047  # a tree
HELD = 40
CANDIDATES = 120
DEPTH = 64
BASE, LABEL, WEIGHT, ROUND = range(4)  # columns of `ring` before the features, whose places are counted from 1
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
    ring: Matrix
    seed: Whole


class Walk(NamedTuple):
    """Scratch: the row as a vector, and the ways of all trees through it, step by step: first all roots, then what follows them, …"""

    x: Vector
    base: Vector  # of each tree
    steps: Whole  # how many there are
    node: Whole
    after: Whole  # the step that follows in the same tree; the last one follows itself
    leaf: Whole  # where the way through each tree ends
    depth: Whole  # how many steps a tree has
    open: Whole  # trees that go on
    own: Vector  # what the node plays
    lead: Vector  # its LEAD, GAP and RANGE
    gap: Vector
    range: Vector
    share: Vector  # s
    mixed: Vector  # p̄
    alone: Vector  # the loss of what the node plays
    below: Vector  # the loss of p̄
    next: Vector  # the loss of p̄ a step further
    rest: Vector
    mass: Vector
    rows: Whole  # where in the ring the rows of a leaf stand
    asked: Vector  # how many splits were tried, then which of them asked for each feature last
    values: Matrix  # of the features asked for: what they are in the rows of a leaf
    lately: Cube  # see `window`
    point: Vector
    far: Vector


def new_forest(trees: int) -> Forest:
    """Roots only."""
    nodes = aligned(trees, 8)
    nodes[:, MASS] = 1.0
    return Forest(nodes, aligned(trees, HELD + 1), np.ones(trees), np.zeros(1), aligned(1, ROUND + 1), np.array([1], np.int64))


def new_walk(forest: Forest) -> Walk:
    """Scratch for these trees."""
    trees, side = len(forest.used), WIDEST + 9
    most = trees * DEPTH + 8
    steps, node, after, leaf, depth, open_, rows = (np.zeros(size, np.int64) for size in (1, most, most, trees, trees, trees, HELD))
    own, lead, gap, spread, share, mixed, alone, below, ahead = (aligned(most) for _ in range(9))
    paid = (own, lead, gap, spread, share, mixed, alone, below, ahead)
    leaves = (aligned(HELD), aligned(HELD), rows, aligned(side), aligned(side, HELD))
    lately = (lately_of(forest.ring, ROUND), aligned(side), aligned(16))
    return Walk(aligned(side), aligned(trees), steps, node, after, leaf, depth, open_, *paid, *leaves, *lately)


def roomy(forest: Forest, rounds: int, rows: int, width: int) -> Forest:
    """The same with room for so many more rows after so many rounds, of features up to place `width`."""
    trees = len(forest.used)
    wanted = int(min(NODES, forest.used.max() + 2 * rows))
    if wanted * trees > len(forest.nodes):
        size = min(NODES, max(wanted, 2 * len(forest.nodes) // trees)) * trees
        forest = forest._replace(nodes=longer(forest.nodes, size), held=longer(forest.held, size))
    have, columns = forest.ring.shape
    length, width = min(RING, max(have, power(rounds + rows))), max(columns, ROUND + 1 + padded(width))
    if (length, width) == (have, columns):
        return forest
    ring = aligned(length, width)
    kept = forest.ring[forest.ring[:, ROUND] > 0.0]
    ring[kept[:, ROUND].astype(np.int64) % length, :columns] = kept
    return forest._replace(ring=ring)


def power(number: int) -> int:
    """The next power of two, at least four."""
    return 1 << max(number - 1, 3).bit_length()


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
def rates(plan, gap, spread):
    """η of eight nodes."""
    if plan.mixing == MIX_LOG:
        return all8(1.0)
    scale = most(gap, all8(FLOOR) * spread)
    chosen = scale - all8(NARROWEST)
    return where_positive(chosen, all8(LN2) / where_positive(chosen, scale, all8(1.0)), all8(0.0))


@inlined
def descend(forest, walk):
    """The ways through all trees, a level at a time: while the node of one is on its way from memory, others are looked at."""
    nodes, trees = forest.nodes, forest.used.shape[0]
    for k in range(trees):
        walk.open[k], walk.depth[k], walk.node[k] = k, 0, k
    left, step = trees, 0
    while left > 0:
        still, following = 0, step + left
        for i in range(left):
            k, node = walk.open[i], walk.node[step]
            walk.depth[k], walk.leaf[k] = walk.depth[k] + 1, node
            walk.own[step], walk.lead[step] = walk.base[k] + nodes[node, OFFSET], nodes[node, LEAD]
            walk.gap[step], walk.range[step] = nodes[node, GAP], nodes[node, RANGE]
            down, side = int(nodes[node, CHILD]), 0 if walk.x[int(nodes[node, FEATURE])] <= nodes[node, CUT] else 1
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
        store(walk.share, j, sigmoid(rates(plan, load8(walk.gap, j), load8(walk.range, j)) * load8(walk.lead, j)))
        own = load8(walk.own, j)
        if plan.mixing == MIX_LOG:
            own = least(most(sigmoid(own), all8(SURE)), all8(1.0 - SURE))
            store(walk.own, j, own)
        store(walk.mixed, j, own)
    for j in range(walk.steps[0] - 1, -1, -1):
        walk.mixed[j] = walk.own[j] + walk.share[j] * (walk.mixed[walk.after[j]] - walk.own[j])


@inlined
def spend(plan, loss, walk, y, weight):
    """What every node on the way pays for what it plays, and for p̄: for a probability of y = 1, or for a prediction."""
    if plan.mixing == MIX_LOG:
        one, sign, minus = all8(0.0 if y > 0.0 else 1.0), all8(1.0 if y > 0.0 else -1.0), all8(0.0 - weight)
        for j in range(0, walk.steps[0], 8):
            store(walk.alone, j, minus * log(one + sign * load8(walk.own, j)))
            store(walk.below, j, minus * log(one + sign * load8(walk.mixed, j)))
    else:
        for j in range(walk.steps[0]):
            walk.alone[j], walk.below[j] = weight * value(loss, walk.own[j], y), weight * value(loss, walk.mixed[j], y)
    for j in range(walk.steps[0]):
        walk.next[j] = walk.below[walk.after[j]]


@inlined
def charge(plan, walk, weight):
    """LEAD, GAP and RANGE of the nodes that chose, eight at a time, from what they paid for what they play, for what lies below, and for
    both mixed. Where a way ends, all three are the same, and nothing changes."""
    for j in range(0, walk.steps[0], 8):
        mine, below, lead = load8(walk.alone, j), load8(walk.next, j), load8(walk.lead, j)
        spread = most(load8(walk.range, j), abs(mine - below))
        if plan.mixing != MIX_LOG or weight > 1.0:
            eta = rates(plan, load8(walk.gap, j), spread)
            share, lower = sigmoid(eta * lead), least(mine, below)
            own, other = exp_down(eta * (lower - mine)), exp_down(eta * (lower - below))
            total = most(own + share * (other - own), all8(1e-300))
            gap = most(load8(walk.below, j) - lower + log(total) / where_positive(eta, eta, all8(1.0)), all8(0.0))
            store(walk.gap, j, load8(walk.gap, j) + where_positive(eta, gap, all8(0.0)))
        store(walk.range, j, spread)
        store(walk.lead, j, lead + (mine - below))


@inlined
def learn(plan, loss, forest, walk, y, usual, weight):
    """Every node on the ways takes the label, cut to the `usual` range, after its choice was charged for the label as it is."""
    nodes = forest.nodes
    spend(plan, loss, walk, y, weight)
    charge(plan, walk, weight)
    for j in range(walk.steps[0]):
        at, own = walk.node[j], walk.own[j]
        nodes[at, LEAD], nodes[at, GAP], nodes[at, RANGE] = walk.lead[j], walk.gap[j], walk.range[j]
        if plan.mixing == MIX_LOG:
            nodes[at, MASS] += weight * max(own * (1.0 - own), LEAST)
            nodes[at, OFFSET] += weight * ((1.0 if y > 0.0 else 0.0) - own) / nodes[at, MASS]
        else:
            nodes[at, MASS] += weight
            nodes[at, OFFSET] += weight * (usual - own) / nodes[at, MASS]


@inlined
def remember(forest, walk, base, y, weight, now):
    """Put the row into the ring."""
    ring = forest.ring
    at = int(now) & (ring.shape[0] - 1)
    ring[at, BASE], ring[at, LABEL], ring[at, WEIGHT], ring[at, ROUND] = base, y, weight, now
    for i in range(1, ring.shape[1] - ROUND):
        ring[at, ROUND + i] = walk.x[i] if i < walk.x.shape[0] else 0.0
    enter(walk.lately, walk.x, now)


@inlined
def draw(forest):
    """A number in [0, 1), from a linear congruence of 64 bits."""
    forest.seed[0] = forest.seed[0] * 6364136223846793005 + 1442695040888963407
    return float((forest.seed[0] >> 33) & 0x3FFFFFFF) / 1073741824.0


@inlined
def filled(held, leaf, now, size, back):
    """A leaf holds the row of this round as well; once it holds `size`, how many of them are of the last `back` rounds (the others are
    forgotten), 0 before."""
    count = int(held[leaf, 0]) + 1
    held[leaf, count], held[leaf, 0] = now, float(count)
    if count < size:
        return 0
    kept = 0
    for i in range(1, size + 1):
        if held[leaf, i] > now - float(back):
            kept += 1
            held[leaf, kept] = held[leaf, i]
    return kept


@inlined
def halve(held, leaf, count, size):
    """A full leaf that was not split keeps the later half of its rows."""
    half = size // 2 if count == size else count
    for i in range(1, half + 1):
        held[leaf, i] = held[leaf, count - half + i]
    held[leaf, 0] = float(half)


@inlined
def hold(plan, forest, walk, k, based, now):
    """The leaf of the way holds the row of this round as well, and is split when it holds enough."""
    leaf = walk.leaf[k]
    count = filled(forest.held, leaf, now, HELD, forest.ring.shape[0])
    if count == HELD and walk.depth[k] < DEPTH and int(forest.used[k]) + 2 <= NODES and split(plan, forest, walk, k, leaf, based):
        return
    if count > 0:
        halve(forest.held, leaf, count, HELD)


@inlined
def split(plan, forest, walk, k, leaf, based):
    """Try random cuts of a leaf, and make the best one; whether there was any."""
    nodes, held, ring = forest.nodes, forest.held, forest.ring
    if forest.seen[0] == 0.0:  # only empty rows: there is nothing to cut
        return False
    total, mass = 0.0, 0.0
    for i in range(HELD):
        row = int(held[leaf, i + 1]) & (ring.shape[0] - 1)
        walk.rows[i] = row
        own = based * ring[row, BASE] + nodes[leaf, OFFSET]
        if plan.mixing == MIX_LOG:
            p = chance(own)
            walk.rest[i] = ring[row, WEIGHT] * ((1.0 if ring[row, LABEL] > 0.0 else 0.0) - p)
            walk.mass[i] = ring[row, WEIGHT] * max(p * (1.0 - p), LEAST)
        else:
            walk.rest[i], walk.mass[i] = ring[row, WEIGHT] * (ring[row, LABEL] - own), ring[row, WEIGHT]
        total, mass = total + walk.rest[i], mass + walk.mass[i]
    best, where, cut = total * total / (mass + 1.0), 0, 0.0
    walk.asked[0] += 1.0
    for _ in range(CANDIDATES):
        feature = 1 + int(draw(forest) * forest.seen[0])
        if walk.asked[feature] != walk.asked[0]:  # its values are fetched when it is tried first
            walk.asked[feature] = walk.asked[0]
            for i in range(HELD):
                walk.values[feature, i] = ring[walk.rows[i], ROUND + feature]
        one, other = walk.values[feature, int(draw(forest) * HELD)], walk.values[feature, int(draw(forest) * HELD)]
        low, high = min(one, other), max(one, other)
        at = low + draw(forest) * (high - low)
        at = at if at < high else low
        if low < high:
            lefts, weights = all8(0.0), all8(0.0)
            for i in range(0, HELD, 8):
                beyond = row8(walk.values, feature, i) - all8(at)
                lefts = lefts + where_positive(beyond, all8(0.0), load8(walk.rest, i))
                weights = weights + where_positive(beyond, all8(0.0), load8(walk.mass, i))
            left, weight = total8(lefts), total8(weights)
            gain = left * left / (weight + 1.0) + (total - left) * (total - left) / (mass - weight + 1.0)
            if gain > best:
                best, where, cut = gain, feature, at
    if where == 0:
        return False
    child, trees = int(forest.used[k]), forest.used.shape[0]
    forest.used[k] += 2.0
    nodes[leaf, CUT], nodes[leaf, FEATURE], nodes[leaf, CHILD], held[leaf, 0] = cut, float(where), float(child), 0.0
    for side in range(2):
        node, count, push, weight = (child + side) * trees + k, 0, 0.0, 1.0
        for i in range(HELD):
            if (ring[walk.rows[i], ROUND + where] <= cut) == (side == 0):
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
