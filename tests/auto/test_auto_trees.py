"""Trees that weigh their prunings: their certificate against brute force over all prunings, and the last aggregation around them."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from auto_streams import CLASSES, LOSSES, each_loss
from burkholder import losses
from burkholder.auto import Auto, AutoMulticlass, sleep
from burkholder.auto.additive import LANES
from burkholder.auto.blend import LINEAR_SHARE, STACK_SHARE, based, blend_names
from burkholder.auto.certificate import lane_costs
from burkholder.auto.forest import CHILD, CUT, FEATURE, FLOOR, GAP, HELD, NODES, OFFSET, RANGE, RING, SURE, WIDEST
from burkholder.auto.neighbours import LANES as NEIGHBOURS
from burkholder.auto.nonlinear import START, TREES
from burkholder.auto.sleep import COUNT, RETIRED, SPAN, UNTIL, USUAL
from burkholder.auto.state import ETA, HIGH, LOW, ROUNDS, UNIT
from burkholder.errors import BadInput

TREED = [(loss, options) for loss, options in LOSSES if loss != "hinge"]
each_treed = pytest.mark.parametrize(("loss", "options"), TREED, ids=[name for name, _ in TREED])


def crossed(loss: str, rounds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The product of two signs, and noise: nothing for a linear rule, four leaves for a tree."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    signal = np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=rounds)
    return X, np.where(signal > 0.0, 1.0, -1.0) if loss in CLASSES else 2.0 + signal


def way(forest, k: int, x: np.ndarray) -> list[int]:
    """The nodes of tree k that a row meets, counted within the tree."""
    node, met, trees = 0, [], len(forest.used)
    while True:
        met.append(node)
        row = forest.nodes[node * trees + k]
        if row[CHILD] == 0.0:
            return met
        node = int(row[CHILD]) + int(x[int(row[FEATURE]) - 1] > row[CUT])


def prunings(forest, k: int, node: int = 0, most: int = 400) -> list[frozenset[int]]:
    """All sets of nodes at which tree k can be cut off, no more than `most` at any node."""
    child = int(forest.nodes[node * len(forest.used) + k, CHILD])
    if child == 0:
        return [frozenset({node})]
    below = itertools.product(prunings(forest, k, child, most), prunings(forest, k, child + 1, most))
    return [frozenset({node}), *(left | right for left, right in itertools.islice(below, most))]


@each_treed
@pytest.mark.parametrize("heavy", [False, True])
def test_no_pruning_beats_its_tree_by_more_than_its_nodes_paid(loss, options, heavy):
    X, y = crossed(loss, 220)
    weight = np.exp(np.random.default_rng(5).normal(size=220)) if heavy else np.ones(220)
    learner, record = Auto(loss, **options), losses.get(loss, **options)
    trees = TREES["default"]
    told = [[] for _ in range(trees)]  # of every round after START: nodes met, what each lost, what the tree lost
    for x, label, importance in zip(X, y, weight):
        beyond = learner._nonlinear
        if beyond is not None:
            learner.predict(x)
            unit = learner.state.scalars[UNIT]
            for k in range(trees):
                met = way(beyond.forest, k, x)
                base = beyond._desk.out[0] if based(k + 1) else 0.0
                own = [base + beyond.forest.nodes[node * trees + k, OFFSET] for node in met]
                if loss in CLASSES:
                    chances = [min(max(1.0 / (1.0 + math.exp(-p)), SURE), 1.0 - SURE) for p in own]
                    lost = [-importance * math.log(p if label > 0 else 1.0 - p) for p in chances]
                    mixed = importance * math.log1p(math.exp(-label * beyond._desk.out[k + 1]))
                else:
                    lost = [importance * losses.value(record, p * unit, label) for p in own]
                    mixed = importance * losses.value(record, beyond._desk.out[k + 1] * unit, label)
                told[k].append((met, lost, mixed))
        learner.update(x, label, importance)
    forest, unit = learner._nonlinear.forest, learner._loss_unit
    assert (forest.used >= 5).all()
    for k in range(trees):
        total = math.fsum(mixed for _, _, mixed in told[k])
        rows = forest.nodes[k::trees]
        for leaves in prunings(forest, k):
            paid, inside = 0.0, set()
            for met, lost, _ in told[k]:
                stop = next((j for j, node in enumerate(met) if node in leaves), len(met) - 1)
                paid += lost[stop]
            for node in leaves:  # every node of the pruning: its leaves and all above them
                inside |= {node, *(above for above in range(int(forest.used[k])) if _above(rows, above, node))}
            split = [rows[node] for node in inside if rows[node][CHILD] > 0.0]
            if loss in CLASSES:
                cost = sum(math.log(2.0) + row[GAP] for row in split)
                assert heavy or cost <= (2 * len(leaves) - 1) * math.log(2.0) + 1e-12
            else:
                cost = sum(max(row[GAP], FLOOR * row[RANGE]) + row[GAP] for row in split)
            assert total <= paid + cost * unit + 1e-9 * (1.0 + total), (k, len(leaves))


def _above(rows: np.ndarray, above: int, node: int) -> bool:
    child = int(rows[above][CHILD])
    return child > 0 and any(at == node or _above(rows, at, node) for at in (child, child + 1))


@each_treed
def test_the_certificate_speaks_of_prunings(loss, options):
    X, y = crossed(loss, 600)
    learner = Auto(loss, **options)
    certificate = learner.run(X, y).certificate
    trees, costs = TREES["default"], []
    for k in range(trees):
        lane = next(lane for lane in certificate.lanes if lane.name.startswith(f"tree {k + 1},"))
        rows = learner._nonlinear.forest.nodes[k::trees]
        inner = rows[rows[:, CHILD] > 0.0]
        each = math.log(2.0) + inner[:, GAP] if loss in CLASSES else np.maximum(inner[:, GAP], FLOOR * inner[:, RANGE]) + inner[:, GAP]
        largest = np.sort(each)[::-1][:7].sum() * learner._loss_unit
        costs.append(learner.cumulative_loss - lane.loss + largest)
    assert certificate.pruned(4) == pytest.approx(max(costs), rel=1e-6)
    assert certificate.pruned(1) <= certificate.pruned(4) <= certificate.pruned(16) < math.inf
    assert json.dumps(certificate.to_dict())
    assert Auto(loss, **options).run(X[:20], y[:20]).certificate.pruned(1) == math.inf
    for wrong in (0, 1.5, True, "one"):
        with pytest.raises(BadInput, match="leaves"):
            certificate.pruned(wrong)


@each_treed
def test_the_last_lanes_lose_what_is_said_and_cost_both_aggregations(loss, options):
    X, y = crossed(loss, 120)
    learner, record, total = Auto(loss, **options), losses.get(loss, **options), None
    for x, label in zip(X, y):
        beyond = learner._nonlinear
        if beyond is not None:
            total = np.full(beyond.plan.lanes, learner.cumulative_loss) if total is None else total
            learner.predict(x)
            unit = learner.state.scalars[UNIT]
            total += [losses.value(record, p * unit, label) for p in beyond._desk.played[: beyond.plan.lanes]]
        learner.update(x, label)
    certificate, plan, unit = learner.certificate(), learner._nonlinear.plan, learner._loss_unit
    later = certificate.lanes[learner.plan.lanes :]
    assert [lane.name for lane in later] == blend_names(plan)
    assert [lane.loss for lane in later] == pytest.approx(total, rel=1e-9)
    between = TREES["default"] + LANES + NEIGHBOURS
    share = (1.0 - LINEAR_SHARE - STACK_SHARE) / between
    weights = [LINEAR_SHARE, *[share] * between, *[STACK_SHARE / plan.groups] * plan.groups]
    blend = learner._nonlinear.blend
    assert blend.prior[: plan.lanes] == pytest.approx(weights) and sum(weights) == pytest.approx(1.0)
    last = lane_costs(plan, blend)
    assert last == pytest.approx([(math.log(1 / w) + 0.3 * math.log(121)) / blend.scalars[ETA] + blend.scalars[10] for w in weights])
    first = lane_costs(learner.plan, learner.state)
    for lane, cost in zip(certificate.lanes, [*(first + last[0]), *last]):
        assert lane.cost == pytest.approx(max(cost * unit, learner.cumulative_loss - lane.loss))
        assert learner.cumulative_loss <= lane.loss + lane.cost


@each_loss
def test_runs_loops_and_chunks_agree_bit_for_bit_with_trees_in(loss, options):
    X, y = crossed(loss, 300)
    X = np.column_stack([X, np.where(np.arange(300) < 150, 0.0, X[:, 0] + X[:, 1])])  # a feature that appears late
    whole, loop, parts, halves = (Auto(loss, **options) for _ in range(4))
    run = whole.run(X, y).predictions
    shown = []
    for x, label in zip(X, y):
        shown.append(loop.predict(x))
        loop.update(x, label)
    for start in range(0, 300, 37):
        parts.run(X[start : start + 37], y[start : start + 37])
    halves.run(X[:90], y[:90])
    halves = Auto.from_state(*halves.state_dict())
    halves.run(X[90:], y[90:])
    assert np.array_equal(run, shown)
    probe = whole.predict_many(X[:50])
    for other in (loop, parts, halves):
        assert np.array_equal(probe, other.predict_many(X[:50]))
        assert other.cumulative_loss == whole.cumulative_loss
    assert np.array_equal(probe, [whole.predict(x) for x in X[:50]])


def test_predicting_leaves_the_trees_as_they_are():
    X, y = crossed("logistic", 200)
    learner = Auto("logistic")
    learner.run(X, y)
    before = learner._nonlinear.arrays()
    learner.predict_many(X * 3.0)
    learner.predict({}) if learner.rows.kind == "names" else learner.predict(X[0])
    after = learner._nonlinear.arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_run_that_fails_midway_leaves_the_trees_as_they_were():
    X, y = crossed("squared", 200)
    learner = Auto("squared", low=-9.0, high=9.0)
    learner.run(X[:100], y[:100])
    before = learner._nonlinear.arrays()
    with pytest.raises(BadInput):
        learner.run(X[100:], np.append(y[100:-1], 99.0))
    assert all(np.array_equal(before[name], array) for name, array in learner._nonlinear.arrays().items())


@pytest.mark.parametrize("loss", ["logistic", "squared", "absolute"])
def test_interactions_are_learned_and_linear_streams_lose_little(loss):
    X, y = crossed(loss, 3000)
    full, light = Auto(loss).run(X, y).mean_loss, Auto(loss, effort="light").run(X, y).mean_loss
    assert full < 0.5 * light
    signal = X @ [1.0, -2.0, 0.5]
    labels = np.where(signal > 0.2, 1.0, -1.0) if loss == "logistic" else signal
    full, light = Auto(loss).run(X, labels).mean_loss, Auto(loss, effort="light").run(X, labels).mean_loss
    assert full <= 1.05 * light + 8.0 / len(y) * (loss == "logistic")


def test_trees_begin_after_the_first_rounds_and_not_on_wide_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, WIDEST + 1)), rng.choice([-1.0, 1.0], size=60)
    wide, narrow = Auto("logistic"), Auto("logistic")
    wide.run(X, y)
    assert wide._nonlinear is None
    narrow.run(X[: START - 1, :WIDEST], y[: START - 1])
    assert narrow._nonlinear is None
    narrow.update(X[START - 1, :WIDEST], y[START - 1])
    assert narrow._nonlinear is not None
    assert Auto("hinge").run(X[:, :3], y).learner._nonlinear is None


@pytest.mark.parametrize("X", [np.zeros((200, 3)), np.zeros((200, 0))], ids=["zeros", "no columns"])
def test_empty_rows_have_nothing_to_cut(X):
    """No feature was ever seen: trees stay roots, and what is saved is read again."""
    y = np.arange(200) % 3
    for learner, labels in ((Auto("squared"), y.astype(float)), (Auto(), np.sign(y - 0.5)), (AutoMulticlass(), y.tolist())):
        learner.run(X, labels)
        header, arrays = learner.state_dict()
        assert (arrays["beyond_used"] == 1.0).all()
        twin = type(learner).from_state(header, arrays)
        twin.update(X[0], labels[0])
        learner.update(X[0], labels[0])
        assert twin.predict(X[0]) == learner.predict(X[0]) and twin.cumulative_loss == learner.cumulative_loss


def test_features_beyond_the_widest_retire_the_trees_and_every_promise_stays():
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], size=300)
    rows = [({"a": float(y[t]) + rng.normal()} | {f"n{t}-{j}": 1.0 for j in range(2 * (t > 60))}) for t in range(300)]
    learner, batch = Auto("logistic"), Auto("logistic")
    shown = []
    for x, label in zip(rows, y):
        shown.append(learner.predict(x))
        learner.update(x, label)
    assert learner._nonlinear.blend.watch[RETIRED] == 1.0
    assert len(learner._nonlinear.forest.ring) == 1
    assert np.array_equal(batch.run(rows, y).predictions, shown)
    certificate = learner.certificate()
    assert all(learner.cumulative_loss <= lane.loss + lane.cost for lane in certificate.lanes)
    assert learner.cumulative_loss == pytest.approx(float(np.logaddexp(0.0, -y * shown).sum()))
    copy = Auto.from_state(*learner.state_dict())
    assert copy.predict(rows[-1]) == learner.predict(rows[-1])


def test_trees_that_bring_nothing_sleep_and_wake_when_the_stream_changes():
    rng = np.random.default_rng(2)
    span = int(SPAN)
    X, noise = rng.normal(size=(6 * span, 2)), rng.random(6 * span)
    y = np.where(rng.random(6 * span) < 1.0 / (1.0 + np.exp(-6.0 * X[:, 0])), 1.0, -1.0)  # linear log-odds: nothing to add
    y[int(3.5 * span) :] = np.where(noise[int(3.5 * span) :] < 0.5, 1.0, -1.0)  # the linear lanes lose far more from here on
    learner, light, restless = (Auto("logistic", effort=effort) for effort in ("default", "light", "thorough"))
    learner.run(X[: 3 * span], y[: 3 * span], trace=1)
    restless.run(X[: 3 * span], y[: 3 * span], trace=1)
    until = learner._nonlinear.blend.watch[UNTIL]
    assert until == 2 * (2 * span + START) and restless._nonlinear.blend.watch[UNTIL] == 0.0
    used, weight = learner._nonlinear.forest.used.copy(), learner._nonlinear.blend.weight.copy()
    learner.run(X[3 * span : 3 * span + 500], y[3 * span : 3 * span + 500], trace=1)
    light.run(X[: 3 * span + 500], y[: 3 * span + 500], trace=1)
    assert np.array_equal(used, learner._nonlinear.forest.used) and np.array_equal(weight, learner._nonlinear.blend.weight)
    assert learner.predict(X[0]) == light.predict(X[0])
    assert all(learner.cumulative_loss <= lane.loss + lane.cost for lane in learner.certificate().lanes)
    learner.run(X[3 * span + 500 :], y[3 * span + 500 :], trace=1)
    assert learner._nonlinear.blend.watch[UNTIL] != until or learner.rounds > until
    assert all(learner.cumulative_loss <= lane.loss + lane.cost for lane in learner.certificate().lanes)
    assert learner.cumulative_loss == pytest.approx(learner.certificate().cumulative_loss)


def test_a_stream_that_turns_wakes_the_trees_early():
    blend = Auto("logistic")
    blend.run(np.eye(3)[np.arange(40) % 3], np.arange(40) % 2)
    state = blend._nonlinear.blend
    state.watch[[UNTIL, USUAL, COUNT]] = 1e6, 100.0, 0.0
    assert sleep.asleep(state)
    for t in range(2 * int(SPAN)):  # as loud as before, then louder
        assert sleep.asleep(state)
        sleep.note(state, (1.2 if t < SPAN else 1.3) * 100.0 / SPAN, 0.0)
    state.scalars[ROUNDS] += 1.0
    assert not sleep.asleep(state)


def test_memory_is_bounded():
    X, y = crossed("logistic", 40_000)
    learner = Auto("logistic", effort="default")
    learner.run(X, y, trace=1)
    forest = learner._nonlinear.forest
    assert len(forest.ring) == RING and len(forest.nodes) <= NODES * TREES["default"] and (forest.used <= NODES).all()
    assert forest.held.shape[1] == HELD + 1


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("nodes", lambda a: a["beyond_nodes"].__setitem__((0, CHILD), 2.0)),
        ("nodes", lambda a: a["beyond_nodes"].__setitem__((0, CHILD), float(NODES))),
        ("nodes", lambda a: a["beyond_nodes"].__setitem__((0, FEATURE), 90.0)),
        ("held", lambda a: a["beyond_held"].__setitem__((3, 0), float(HELD))),
        ("used", lambda a: a["beyond_used"].__setitem__(0, float(NODES))),
        ("ring", lambda a: a["beyond_seen"].__setitem__(0, 100.0)),
        ("ring", lambda a: a.__setitem__("beyond_ring", a["beyond_ring"][:, :4].copy())),
        ("scalars", lambda a: a["beyond_scalars"].__setitem__(0, 7.0)),
        ("scalars", lambda a: a["beyond_scalars"].__setitem__([LOW, HIGH], [1.0, -1.0])),
        ("watch", lambda a: a["beyond_watch"].__setitem__(RETIRED, 0.5)),
        ("weight", lambda a: a["beyond_weight"].__setitem__(slice(None), 0.0)),
        ("prior", lambda a: a["beyond_prior"].__setitem__(0, 0.5)),
        ("beyond_nodes", lambda a: [a.pop(name) for name in list(a) if name.startswith("beyond_")]),
    ],
)
def test_spoiled_trees_are_refused(name, spoil):
    X, y = crossed("squared", 200)
    learner = Auto("squared")
    learner.run(X, y)
    header, arrays = learner.state_dict()
    assert arrays["beyond_nodes"][0, CHILD] == 1.0
    Auto.from_state(header, arrays)
    spoil(arrays)
    with pytest.raises(BadInput, match=name):
        Auto.from_state(header, arrays)


@pytest.mark.parametrize("effort", ["hard", 1, None, True])
def test_effort_is_one_of_three_words(effort):
    with pytest.raises(BadInput, match="effort"):
        Auto("logistic", effort=effort)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_frozen_stands_still_and_knows_what_was_known(loss):
    X, y = crossed(loss, 300)
    learner = Auto(loss)
    learner.run(X[:200], y[:200])
    before, still = learner.predict_many(X), learner.frozen()
    learner.run(X[200:], y[200:])
    assert np.array_equal(still.predict_many(X), before) and not np.array_equal(learner.predict_many(X), before)
    assert still.predict(X[0]) == before[0] and still.certificate().rounds == 200
    assert not hasattr(still, "update")
