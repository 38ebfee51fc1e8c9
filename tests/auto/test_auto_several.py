"""Trees, neighbours and the pool that follow the linear lanes of several classes."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest

from burkholder.auto import AutoMulticlass, several
from burkholder.auto.forest import CHILD, CUT, FEATURE, LEAD, WIDEST
from burkholder.auto.grove import DEPTH, HELD
from burkholder.auto.several import ALONE, BASED, LAST, POOL, PRIOR, START, WAYS
from burkholder.errors import BadInput


def corners(rounds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four classes on a board: no linear score tells them apart."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(rounds, 3))
    return X, (np.floor(X[:, 0]).astype(int) + 2 * np.floor(X[:, 1]).astype(int)) % 4


def brute(learner: AutoMulticlass, shown: list[tuple[np.ndarray, int, list[np.ndarray]]], k: int) -> list[float]:
    """The least loss of the prunings of tree k with 1, …, 8 leaves, from what its nodes played in each round."""
    nodes, trees = learner._several.grove.nodes, len(learner._several.grove.used)

    def losses(node: int, rows: list[tuple[np.ndarray, int, list[np.ndarray]]], depth: int) -> dict[int, float]:
        # a node that was not there yet is represented by the one it was split from, the last on the way
        own = -sum(math.log(way[min(depth, len(way) - 1)][y]) for _, y, way in rows)
        found = {1: own}
        child = int(nodes[node * trees + k, CHILD])
        if child:
            feature, cut = int(nodes[node * trees + k, FEATURE]), nodes[node * trees + k, CUT]
            parts = [[row for row in rows if (row[0][feature] <= cut) == side] for side in (True, False)]
            left, right = (losses(child + side, parts[side], depth + 1) for side in range(2))
            for i, one in left.items():
                for j, other in right.items():
                    found[i + j] = min(found.get(i + j, math.inf), one + other)
        return found

    found = losses(0, shown, 0)
    return [found.get(leaves, math.inf) for leaves in range(1, 9)]


def watched(X: np.ndarray, y: np.ndarray, classes: list[int]) -> tuple[AutoMulticlass, dict[int, list]]:
    """Row by row, with what the nodes on the way played before each label."""
    learner, shown = AutoMulticlass(classes), {0: [], 1: []}
    for x, label in zip(X, y):
        learner.predict_proba(x)
        if learner._several is not None and int(label) in learner._places:
            walk, place = learner._several._walk, learner._places[int(label)]
            slots = np.zeros(WIDEST + 9)
            for feature, slot in enumerate(learner._many.slot_of[: len(x)]):
                if slot > 0:
                    slots[slot] = x[feature]
            for k in shown:
                way = [walk.own[k * DEPTH + j].copy() for j in range(int(walk.length[k]))]
                shown[k].append((slots, place, way))
        learner.update(x, int(label))
    return learner, shown


@pytest.mark.parametrize("late", [False, True], ids=["known", "appearing late"])
def test_every_pruning_of_a_tree_loses_at_least_as_much_but_for_what_choosing_costs(late):
    X, y = corners(300)
    learner, shown = watched(X, y, [] if late else [0, 1, 2, 3])
    for k, rows in shown.items():
        assert learner._several.grove.used[k] > 5
        own = tree_loss(learner, rows, k)
        for leaves, least in enumerate(brute(learner, rows, k), 1):
            assert own <= least + (2 * leaves - 1) * math.log(2.0) + 1e-9


def tree_loss(learner: AutoMulticlass, rows: list, k: int) -> float:
    """What the tree as a whole lost, its choices made again from the losses of its nodes."""
    lead: dict[int, float] = {}
    nodes, trees, total = learner._several.grove.nodes, len(learner._several.grove.used), 0.0
    for x, place, way in rows:
        node, path = 0, [0]
        while len(path) < len(way):
            at = node * trees + k
            node = int(nodes[at, CHILD]) + (0 if x[int(nodes[at, FEATURE])] <= nodes[at, CUT] else 1)
            path.append(node)
        mixed = way[-1][place]
        for j in range(len(way) - 2, -1, -1):
            own, past = way[j][place], lead.get(path[j], 0.0)
            lead[path[j]] = past + math.log(mixed) - math.log(own)
            mixed = own + (mixed - own) / (1.0 + math.exp(-past))
        total -= math.log(mixed)
    for node, value in lead.items():
        assert nodes[node * trees + k, LEAD] == pytest.approx(value, abs=1e-6)
    return total


def test_the_certificate_is_about_every_way_and_every_pruning():
    X, y = corners(600, seed=2)
    learner = AutoMulticlass(range(4))
    learner.run(X, y)
    certificate, lost = learner.certificate(), learner._several.meeting.lost[:WAYS]
    assert certificate.ways[7:] == pytest.approx(tuple(lost))
    assert (learner.cumulative_loss <= lost - np.log(PRIOR) + 1e-9).all()
    assert certificate.realised() <= certificate.corrected() <= certificate.bound()
    assert certificate.bound() == pytest.approx(math.log(12.0 / PRIOR[0]), abs=1e-6)
    for leaves in (1, 4, 16):
        ahead = max(learner.cumulative_loss - lost[way] for way in (ALONE, BASED))
        assert certificate.pruned(leaves) == pytest.approx(ahead + (2 * leaves - 1) * math.log(2.0), abs=1e-3)
    for wrong in (0, 1.5, True, "4"):
        with pytest.raises(BadInput, match="leaves"):
            certificate.pruned(wrong)
    learner.update(X[0], 0, 2.0)
    assert learner.certificate().pruned(4) == math.inf
    assert AutoMulticlass().certificate().pruned(4) == math.inf


def test_what_is_not_linear_is_learned():
    X, y = corners(1500)
    light, whole, thorough = (AutoMulticlass(range(4), effort=effort) for effort in ("light", "default", "thorough"))
    linear, found, more = (learner.run(X, y).losses[-500:].mean() for learner in (light, whole, thorough))
    assert found < 0.4 * linear and more < 0.4 * linear
    assert light._several is None and len(thorough._several.grove.used) == 32
    with pytest.raises(BadInput, match="effort"):
        AutoMulticlass(effort="some")


def test_neighbours_are_those_over_the_ranges_of_the_features():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(200, 4)) * [1.0, 1e6, 1e-6, 0.0], rng.integers(0, 3, 200)
    learner = AutoMulticlass(range(3))
    learner.run(X, y)
    x = rng.normal(size=4) * [1.0, 1e6, 1e-6, 0.0]
    base = loops_say(learner, x)
    learner.predict_proba(x)
    kept = slice(START, None)
    spans = np.ptp(X[kept], axis=0)
    away = (((X[kept] - x)[:, :3] / spans[:3]) ** 2).sum(axis=1)
    sizes = base.copy()
    for rank, row in enumerate(np.argsort(away)[:5]):
        sizes[y[kept][row]] += 2.0 / (1.0 + rank)
    assert learner._several._desk.ways[LAST, 1:4] == pytest.approx(sizes / sizes.sum(), rel=1e-9)


def loops_say(learner: AutoMulticlass, x: np.ndarray) -> np.ndarray:
    """The linear lanes' probabilities alone."""
    kept, learner._several = learner._several, None
    try:
        return np.array(list(learner.predict_proba(x).values()))
    finally:
        learner._several = kept


@pytest.mark.parametrize("late", [False, True], ids=["known", "appearing late"])
def test_many_rows_at_once_are_rows_one_by_one(late):
    X, y = corners(400, seed=7)
    X[300:, 2] = 0.0
    whole, loop = (AutoMulticlass([] if late else range(4)) for _ in range(2))
    run = whole.run(X, y, trace=1)
    for t, (x, label) in enumerate(zip(X, y)):
        assert loop.predict(x) == run.predictions[t]
        loop.update(x, int(label))
    again = copy.deepcopy(loop)
    resumed = AutoMulticlass.from_state(json.loads(json.dumps(loop.state_dict()[0])), loop.state_dict()[1])
    for learner in (loop, again, resumed):
        assert np.array_equal(whole.probabilities(X[:20]), learner.probabilities(X[:20]))
        learner.run(X[:60], y[:60])
    whole.run(X[:60], y[:60])
    for learner in (loop, again, resumed):
        assert np.array_equal(whole.probabilities(X[:20]), learner.probabilities(X[:20]))
        assert learner.cumulative_loss == pytest.approx(whole.cumulative_loss)


def late_comers():
    """Streams in which features or classes are met for the first time again and again, past every limit there is."""
    rng = np.random.default_rng(8)
    dense = rng.normal(size=(170, 140))
    y = ((dense[:, 0] > 0.0) * 2 + (dense[:, 1] > 0.0)).tolist()
    steps = dense.copy()
    for place in range(2, 140):
        steps[:place, place] = 0.0
    wide = np.zeros((120, 600))
    wide[np.arange(120)[:, None], rng.integers(0, 600, (120, 6))] = rng.normal(size=(120, 6))
    yield "a feature a row", steps, y
    yield "many at once", dense[:, :100], y
    yield "wide and sparse", wide, y[:120]
    yield "a class a row", dense[:70, :4], list(range(70))
    yield "classes at random", dense[:100, :4], rng.integers(0, 60, 100).tolist()
    yield "huge", 1e140 * dense[:60, :4], y[:60]


@pytest.mark.parametrize(("name", "X", "y"), list(late_comers()), ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_shown_is_what_is_paid_whatever_is_met_late(name, X, y):
    """A row's loss is that of the probabilities that predict_proba gave, although learning finds room for what is new in it first."""
    learner = AutoMulticlass()
    run = learner.run(X, y, trace=1)
    twin = AutoMulticlass()
    for t, label in enumerate(y):
        likely, before = twin.predict_proba(X[t]), twin.cumulative_loss
        assert twin.predict(X[t]) == run.predictions[t]
        twin.update(X[t], label)
        paid = -math.log(likely[label]) if label in likely else math.log(len(likely) + 1.0)
        assert twin.cumulative_loss - before == pytest.approx(paid, rel=1e-9, abs=1e-12), (name, t)
        if t == len(y) // 2:
            twin = AutoMulticlass.from_state(*twin.state_dict())
    assert twin.cumulative_loss == learner.cumulative_loss
    each = np.array([list(learner.predict_proba(x).values()) for x in X])
    assert np.array_equal(learner.probabilities(X), each)


def test_predicting_changes_nothing_and_a_run_that_fails_changes_nothing():
    X, y = corners(200)
    learner = AutoMulticlass(range(4))
    learner.run(X, y)
    before = {name: array.tobytes() for name, array in learner.state_dict()[1].items()}
    learner.predict_proba(X[0] + 1.0)
    learner.probabilities(X + 0.5)
    with pytest.raises(BadInput):
        learner.run(X, [*y[:-1].tolist(), None])
    assert {name: array.tobytes() for name, array in learner.state_dict()[1].items()} == before


def test_a_row_with_too_many_features_retires_what_follows():
    X, y = corners(100)
    learner = AutoMulticlass(range(4))
    learner.run([{f"x{j}": v for j, v in enumerate(x)} for x in X.tolist()], y.tolist())
    assert learner._several.meeting.retired[0] == 0.0
    learner.update({f"z{j}": 1.0 for j in range(WIDEST)}, 0)
    assert learner._several.meeting.retired[0] == 1.0
    row = {f"x{j}": 0.3 for j in range(3)}
    learner.update(row, 1)
    assert len(learner._several.grove.ring) == 1
    assert list(learner.predict_proba(row).values()) == pytest.approx(loops_say(learner, row), rel=1e-9)
    certificate = learner.certificate()
    assert certificate.realised() <= certificate.bound()
    wide = AutoMulticlass(range(4))
    wide.run(np.random.default_rng(0).normal(size=(40, WIDEST + 1)), np.arange(40) % 4)
    assert wide._several is None


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("pool", lambda a: a["beyond_pool"].__setitem__((1, 1), -1.0)),
        ("ring", lambda a: a["beyond_ring"][:, 1].fill(9.0)),
        ("ring", lambda a: a["beyond_ring"][:, 1].fill(0.5)),
        ("held", lambda a: a["beyond_held"][:, 0].fill(HELD)),
        ("nodes", lambda a: a["beyond_nodes"][0].__setitem__(CHILD, 2.0)),
        ("nodes", lambda a: a["beyond_nodes"][0].__setitem__(FEATURE, 77.0)),
        ("found", lambda a: a["beyond_found"].__setitem__((0, 1), -1.0)),
        ("hoped", lambda a: a["beyond_hoped"].__setitem__((0, 1), math.nan)),
        ("means|found", lambda a: a.update({name: a[name][:, :3].copy() for name in ("beyond_found", "beyond_hoped", "beyond_said")})),
        ("means", lambda a: a["beyond_means"].__setitem__((1, 0), -1.0)),
        ("means", lambda a: a["beyond_means"].__setitem__((1, 1), 1e9)),
        ("means", lambda a: a["beyond_inverse"].__setitem__((1, 2), 0.5)),
        ("means", lambda a: a["beyond_inverse"].__setitem__((0, 1), 1e-3)),
        ("moments", lambda a: a["beyond_moments"].__setitem__((1, 1), -1.0)),
        ("lean", lambda a: a["beyond_lean"].__setitem__((1, 1), math.nan)),
        ("warmth", lambda a: a["beyond_warmth"].__setitem__(0, 0.0)),
        ("lost", lambda a: a["beyond_lost"].__setitem__(WAYS, 1e9)),
        ("used", lambda a: a["beyond_used"].__setitem__(0, 5000.0)),
        ("nodes", lambda a: [a.pop(name) for name in list(a) if name.startswith("beyond_")]),
    ],
)
def test_spoiled_trees_are_refused(name, spoil):
    X, y = corners(200)
    learner = AutoMulticlass(range(4))
    learner.run(X, y)
    header, arrays = learner.state_dict()
    AutoMulticlass.from_state(header, arrays)
    spoil(arrays)
    with pytest.raises(BadInput, match=name):
        AutoMulticlass.from_state(header, arrays)


def test_ways_have_names_and_shares():
    assert len(several.NAMES) == len(PRIOR) == WAYS == POOL + 1 and sum(PRIOR) == pytest.approx(1.0)
