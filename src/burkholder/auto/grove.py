"""Trees for several classes that weigh all their prunings, as those of `forest`, and neighbours among the rows they remember.

A node v that its parent gives the probabilities q (the root: a base, which is 1/classes in every second tree and what the linear lanes
play in the others) plays p_v,c ∝ q_c·(n_v,c + HELP)/(e_v,c + HELP): n_v,c rows of class c came by, and e_v,c = Σ q_c were to be expected.
What lies below is weighed against that, p̄_v = (1 − s)·p_v + s·p̄_child, s = σ(Σ (loss of p_v − loss of p̄_child) since v was split), so that
a tree's log loss is at most that of every pruning with k leaves plus (2k − 1)·ln 2. The trees of a kind play their mean, whose loss is at
most the mean of theirs. A leaf is split once HELD rows lie in it, by how much better two corrections fit those rows than one,
summed over the classes. Many classes have fewer nodes: memory is bounded.

The neighbours play (what the linear lanes play + the votes for the class) over the sum of that, features over the ranges they had so far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.auto.forest import (
    CHILD,
    CUT,
    FEATURE,
    LABEL,
    LEAD,
    NODES,
    ROUND,
    WEIGHT,
    WIDEST,
    chance,
    draw,
    filled,
    halve,
    longer,
    power,
)
from burkholder.auto.knots import SMALLEST
from burkholder.auto.neighbours import NEAREST, search_last, search_leaves, votes
from burkholder.auto.state import aligned, padded
from burkholder.auto.window import enter, lately_of
from burkholder.learning.rounding import UNIT as U
from burkholder.learning.rounding import more
from burkholder.machine.compiling import inlined
from burkholder.machine.memory import Cube, Matrix, Vector, Whole
from burkholder.machine.vectors import all8, fused, load8, put, row8, store, total8

HELD = 24
CANDIDATES = 60
DEPTH = 32
HELP = 0.5
RING = 1 << 13  # rows that are remembered
NUMBERS = 1 << 20  # that the nodes of all trees may hold, twice
TINY = 1e-100  # of a probability
LARGEST = float(np.finfo(np.float64).max)
LOW, HIGH = range(2)  # rows of `ends`
FACTOR, PUSH, MASS = range(3)  # rows of `sums`
LN2 = math.log(2.0)


class Grove(NamedTuple):
    """All trees. Node i of tree k has row i·trees + k, so that more room is more rows; a class is a column."""

    nodes: Matrix  # columns as in `forest`, of which OFFSET, MASS, GAP and RANGE are not used
    found: Matrix  # n
    hoped: Matrix  # e
    held: Matrix  # a row a node: how many rows of the stream it holds, and their rounds
    used: Vector
    seen: Vector  # how many features were seen
    ring: Matrix  # rows as in `forest`; the label is the place of the class
    said: Matrix  # what the linear lanes played there
    ends: Matrix  # the least and the largest value of every feature
    seed: Whole


class Walk(NamedTuple):
    """Scratch: the row as a vector, and each tree's way through it."""

    x: Vector
    base: Matrix  # of the trees on the linear lanes, and of the others
    path: Matrix
    leaf: Whole  # where each way ends
    share: Matrix  # s of the nodes on the way
    own: Matrix  # what they play: node j of tree k has row k·DEPTH + j
    length: Vector
    rest: Matrix  # of the rows of a leaf: what they lack, and what they play
    mass: Matrix
    sums: Matrix
    rows: Whole  # where in the ring they stand
    scale: Vector  # 1 over the range of each feature
    lately: Cube  # see `window`
    point: Vector
    far: Vector
    near: Vector
    where: Whole


def new_grove(trees: int, room: int) -> Grove:
    """Roots only, with room for so many classes, padded."""
    nodes, found, hoped = aligned(trees, 8), aligned(trees, room), aligned(trees, room)
    ring, said, ends = aligned(1, ROUND + 1), aligned(1, room), aligned(2, WIDEST + 9)
    ends[LOW], ends[HIGH] = LARGEST, -LARGEST  # no value yet
    return Grove(nodes, found, hoped, aligned(trees, HELD + 1), np.ones(trees), np.zeros(1), ring, said, ends, np.array([1], np.int64))


def new_walk(grove: Grove) -> Walk:
    """Scratch."""
    (trees, room), side = (len(grove.used), grove.found.shape[1]), WIDEST + 9
    path, share, own = aligned(trees, DEPTH), aligned(trees, DEPTH), aligned(trees * DEPTH, room)
    rest, mass, sums, rows = aligned(HELD, room), aligned(HELD, room), aligned(3, room), np.zeros(HELD, np.int64)
    tops = (aligned(side), lately_of(grove.ring, ROUND), aligned(side), aligned(16), aligned(8), np.zeros(NEAREST, np.int64))
    leaf = np.zeros(trees, np.int64)
    return Walk(aligned(side), aligned(2, room), path, leaf, share, own, aligned(trees), rest, mass, sums, rows, *tops)


def most_nodes(trees: int, room: int) -> int:
    """Nodes a tree may have."""
    return min(NODES, NUMBERS // (trees * room))


def roomy(grove: Grove, rounds: int, rows: int, width: int) -> Grove:
    """The same with room for so many more rows after so many rounds, of features up to place `width`."""
    trees, room = len(grove.used), grove.found.shape[1]
    most = most_nodes(trees, room)
    wanted = int(min(most, grove.used.max() + 2 * rows))
    if wanted * trees > len(grove.nodes):
        size = min(most, max(wanted, 2 * len(grove.nodes) // trees)) * trees
        nodes, found, hoped, held = (longer(array, size) for array in (grove.nodes, grove.found, grove.hoped, grove.held))
        grove = grove._replace(nodes=nodes, found=found, hoped=hoped, held=held)
    have, columns = grove.ring.shape
    length, width = min(RING, max(have, power(rounds + rows))), max(columns, ROUND + 1 + padded(width))
    if (length, width) == (have, columns):
        return grove
    ring, said, kept = aligned(length, width), aligned(length, room), grove.ring[:, ROUND] > 0.0
    at = grove.ring[kept, ROUND].astype(np.int64) % length
    ring[at, :columns], said[at] = grove.ring[kept], grove.said[kept]
    return grove._replace(ring=ring, said=said)


def wider(grove: Grove, room: int) -> Grove:
    """The same with room for so many classes."""
    found, hoped, said = (aligned(len(array), room) for array in (grove.found, grove.hoped, grove.said))
    for new, old in ((found, grove.found), (hoped, grove.hoped), (said, grove.said)):
        new[:, : old.shape[1]] = old
    return grove._replace(found=found, hoped=hoped, said=said)


@inlined
def forecast(grove, walk, k, ways, way):
    """p̄ at the root of tree k, added to a way. The way through the tree is kept for `learn`."""
    nodes, trees, room = grove.nodes, grove.used.shape[0], grove.found.shape[1]
    node, m, down = k, 0, 1.0
    while down > 0.0:
        walk.path[k, m] = float(node)
        walk.share[k, m] = chance(nodes[node, LEAD])
        total, at = all8(0.0), k * DEPTH + m
        for c in range(0, room, 8):
            q = row8(walk.base, k % 2, c) if m == 0 else row8(walk.own, at - 1, c)
            p = q * (row8(grove.found, node, c) + all8(HELP)) / (row8(grove.hoped, node, c) + all8(HELP))
            put(walk.own, at, c, p)
            total = total + p
        whole = all8(1.0 / total8(total))
        for c in range(0, room, 8):
            put(walk.own, at, c, row8(walk.own, at, c) * whole)
        m += 1
        down = nodes[node, CHILD]
        if down > 0.0:
            side = 0 if walk.x[int(nodes[node, FEATURE])] <= nodes[node, CUT] else 1
            node = (int(down) + side) * trees + k
    walk.length[k], walk.leaf[k] = float(m), node
    for c in range(0, room, 8):
        mixed = row8(walk.own, k * DEPTH + m - 1, c)
        for j in range(m - 2, -1, -1):
            own = row8(walk.own, k * DEPTH + j, c)
            mixed = fused(all8(walk.share[k, j]), mixed - own, own)
        put(ways, way, c, row8(ways, way, c) + mixed)


@inlined
def learn(grove, walk, k, label, weight, fresh):
    """Every node on the way takes the label, after its choice was charged for it, unless the class is `fresh`."""
    m, room = int(walk.length[k]), grove.found.shape[1]
    mixed = max(walk.own[k * DEPTH + m - 1, label], TINY)
    for j in range(m - 1, -1, -1):
        node, at = int(walk.path[k, j]), k * DEPTH + j
        if j < m - 1:
            own = max(walk.own[at, label], TINY)
            if not fresh:
                grove.nodes[node, LEAD] += weight * (math.log(mixed) - math.log(own))
            mixed = own + walk.share[k, j] * (mixed - own)
        for c in range(0, room, 8):
            q = row8(walk.base, k % 2, c) if j == 0 else row8(walk.own, at - 1, c)
            put(grove.hoped, node, c, fused(all8(weight), q, row8(grove.hoped, node, c)))
        grove.found[node, label] += weight


@inlined
def remember(grove, walk, label, weight, now):
    """Put the row into the ring, and into the ranges of all features there may be: one that comes later was 0 till then."""
    ring, ends = grove.ring, grove.ends
    at = int(now) & (ring.shape[0] - 1)
    ring[at, LABEL], ring[at, WEIGHT], ring[at, ROUND] = float(label), weight, now
    for c in range(0, grove.said.shape[1], 8):
        put(grove.said, at, c, row8(walk.base, 0, c))
    for i in range(1, ring.shape[1] - ROUND, 8):
        put(ring, at, ROUND + i, load8(walk.x, i))
    enter(walk.lately, walk.x, now)
    for i in range(1, WIDEST + 1, 8):
        x = load8(walk.x, i)
        put(ends, LOW, i, min(row8(ends, LOW, i), x))
        put(ends, HIGH, i, max(row8(ends, HIGH, i), x))


@inlined
def hold(grove, walk, k, now, most):
    """The leaf of the way holds the row of this round as well, and is split when it holds enough and nodes may be so many."""
    leaf = walk.leaf[k]
    count = filled(grove.held, leaf, now, HELD, grove.ring.shape[0])
    if count == HELD and walk.length[k] < float(DEPTH) and int(grove.used[k]) + 2 <= most and split(grove, walk, k, leaf):
        return
    if count > 0:
        halve(grove.held, leaf, count, HELD)


@inlined
def lay_out(grove, walk, k, leaf):
    """The rows of a leaf: what the leaf plays there now, what they lack, and the sums of both; what no cut would gain."""
    ring, sums, room, gained = grove.ring, walk.sums, grove.found.shape[1], all8(0.0)
    for c in range(0, room, 8):
        factor = all8(1.0)  # by which the way corrects a base
        for j in range(int(walk.length[k])):
            at = int(walk.path[k, j])
            factor = factor * (row8(grove.found, at, c) + all8(HELP)) / (row8(grove.hoped, at, c) + all8(HELP))
        put(sums, FACTOR, c, factor)
        put(sums, PUSH, c, all8(0.0))
        put(sums, MASS, c, all8(0.0))
    for i in range(HELD):
        row, total = int(grove.held[leaf, i + 1]) & (ring.shape[0] - 1), all8(0.0)
        weight, walk.rows[i] = all8(ring[row, WEIGHT]), row
        for c in range(0, room, 8):
            p = (row8(grove.said, row, c) if k % 2 == 0 else row8(walk.base, 1, c)) * row8(sums, FACTOR, c)
            put(walk.mass, i, c, p)
            total = total + p
        whole = all8(1.0 / total8(total))
        for c in range(0, room, 8):
            p = row8(walk.mass, i, c) * whole
            put(walk.mass, i, c, p)
            put(walk.rest, i, c, all8(0.0) - weight * p)
        walk.rest[i, int(ring[row, LABEL])] += ring[row, WEIGHT]
        for c in range(0, room, 8):
            p = row8(walk.mass, i, c)
            put(sums, PUSH, c, row8(sums, PUSH, c) + row8(walk.rest, i, c))
            put(sums, MASS, c, fused(weight * p, all8(1.0) - p, row8(sums, MASS, c)))
    for c in range(0, room, 8):
        gained = gained + row8(sums, PUSH, c) * row8(sums, PUSH, c) / (row8(sums, MASS, c) + all8(1.0))
    return total8(gained)


@inlined
def gain(grove, walk, column, cut):
    """What two corrections would gain, of the rows up to a cut and of those beyond."""
    ring, sums, gained = grove.ring, walk.sums, all8(0.0)
    for c in range(0, grove.found.shape[1], 8):
        push, mass = all8(0.0), all8(0.0)
        for i in range(HELD):
            if ring[walk.rows[i], column] <= cut:
                p = row8(walk.mass, i, c)
                push, mass = push + row8(walk.rest, i, c), fused(all8(ring[walk.rows[i], WEIGHT]) * p, all8(1.0) - p, mass)
        other, beyond = row8(sums, PUSH, c) - push, row8(sums, MASS, c) - mass
        gained = gained + push * push / (mass + all8(1.0)) + other * other / (beyond + all8(1.0))
    return total8(gained)


@inlined
def split(grove, walk, k, leaf):
    """Try random cuts of a leaf, and make the best one; whether there was any."""
    nodes, held, ring = grove.nodes, grove.held, grove.ring
    if grove.seen[0] == 0.0:  # only empty rows: there is nothing to cut
        return False
    best, where, cut = lay_out(grove, walk, k, leaf), 0, 0.0
    for _ in range(CANDIDATES):
        column = ROUND + 1 + int(draw(grove) * grove.seen[0])
        one = ring[walk.rows[int(draw(grove) * HELD)], column]
        other = ring[walk.rows[int(draw(grove) * HELD)], column]
        low, high = min(one, other), max(one, other)
        at = low + draw(grove) * (high - low)
        at = at if at < high else low
        if low < high:
            gained = gain(grove, walk, column, at)
            if gained > best:
                best, where, cut = gained, column - ROUND, at
    if where == 0:
        return False
    child, trees = int(grove.used[k]), grove.used.shape[0]
    grove.used[k] += 2.0
    nodes[leaf, CUT], nodes[leaf, FEATURE], nodes[leaf, CHILD], held[leaf, 0] = cut, float(where), float(child), 0.0
    for i in range(HELD):
        row = walk.rows[i]
        side = 0 if ring[row, ROUND + where] <= cut else 1
        node = (child + side) * trees + k
        held[node, 0] += 1.0
        held[node, int(held[node, 0])] = held[leaf, i + 1]
        grove.found[node, int(ring[row, LABEL])] += ring[row, WEIGHT]
        for c in range(0, grove.found.shape[1], 8):
            put(grove.hoped, node, c, fused(all8(ring[row, WEIGHT]), row8(walk.mass, i, c), row8(grove.hoped, node, c)))
    return True


@inlined
def vote(grove, walk, now, ways, way):
    """What both searches for neighbours find after `now` rounds, as sizes, into a way and the next."""
    for i in range(1, grove.ring.shape[1] - ROUND, 8):
        store(walk.scale, i, row8(grove.ends, HIGH, i) - row8(grove.ends, LOW, i))
    for i in range(1, grove.ring.shape[1] - ROUND):
        walk.scale[i] = 1.0 / walk.scale[i] if SMALLEST < walk.scale[i] < 1.0 / SMALLEST else 0.0
    count_votes(grove, walk, search_leaves(grove, walk, walk.scale, walk.near, walk.where), ways, way)
    count_votes(grove, walk, search_last(grove, walk, walk.scale, now, walk.near, walk.where), ways, way + 1)


@inlined
def count_votes(grove, walk, found, ways, way):
    """The votes of those found beside what the linear lanes play."""
    for c in range(0, grove.found.shape[1], 8):
        put(ways, way, c, row8(walk.base, 0, c))
    for k in range(found):
        ways[way, int(grove.ring[walk.where[k], LABEL])] += votes(k)


def costs(grove: Grove, k: int, rounds: float) -> np.ndarray:
    """What every node of tree k that was split paid for choosing, ln 2, and what n rounds of rounding may have moved its choice:
    LEAD is a plain sum of n differences, none above −ln TINY."""
    inner = int((grove.nodes[k :: len(grove.used)][: int(grove.used[k]), CHILD] > 0.0).sum())
    return np.full(inner, more(LN2 + 16.0 * rounds * rounds * U * -math.log(TINY), rounds))
