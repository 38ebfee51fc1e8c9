"""Hats and pairs: what they play and learn against plain arithmetic, their knots, and what saved ones must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burkholder import Auto
from burkholder.auto import additive, knots
from burkholder.auto.additive import GRID, KNOTS, LANES, LEVELS, PAIRS, SECOND, SPECS
from burkholder.auto.forest import WIDEST
from burkholder.auto.state import ROUNDS, UNIT
from burkholder.errors import BadInput


def wavy(loss: str, rounds: int, features: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A sum of curves, a level each of six values, and a product: nothing of it for a linear rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    X[:, 1] = rng.integers(0, 6, rounds)
    signal = np.cos(2.0 * X[:, 0]) + np.array([1.0, -1.0, 1.0, -1.0, 0.5, -0.5])[X[:, 1].astype(int)] + np.sign(X[:, 2] * X[:, 3])
    signal += 0.3 * rng.normal(size=rounds)
    return X, np.where(signal > 0.0, 1.0, -1.0) if loss == "logistic" else 2.0 + signal


def touched(learner: Auto, cells, row: np.ndarray) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
    """The rows of `hats` and of `crossed` that a row touches, with their shares, by plain interpolation."""
    x = row[np.argsort(learner.state.slot_of[: len(row)])]  # features in the order they were first not 0
    hats: list[tuple[int, float]] = []
    crossed: list[tuple[int, float]] = []
    cell = {}
    for i in range(1, len(cells.knots)):
        count = int(cells.knots[i, LEVELS])
        if count < 2:
            continue
        at = cells.knots[i, :count]
        shares = [np.interp(x[i - 1], at, np.eye(count)[k]) for k in range(count)]
        near = max(k for k in range(count) if shares[k] >= max(shares) - 1e-12 and (shares[k] > 0.5 or k == int(np.argmax(shares))))
        cell[i] = near // int(cells.knots[i, GRID])
        if count > 2:
            hats += [(i * KNOTS + k, share) for k, share in enumerate(shares) if share > 0.0]
    for i, j in cells.pairs.astype(int):
        if i and x[i - 1] != 0.0 and x[j - 1] != 0.0:
            key = ((i * 256 + j) * KNOTS + cell[i]) * KNOTS + cell[j]
            crossed.append(((key * 2654435761 >> 16) % len(cells.crossed), 1.0))
    return hats, crossed


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic"])
def test_every_lane_takes_the_steps_of_a_kalman_filter_on_its_cells(loss):
    X, y = wavy(loss, 400)
    learner = Auto(loss)
    learner.run(X[:200], y[:200])
    beyond = learner._nonlinear
    specs = SPECS if loss != "absolute" else (*SPECS[:-1], SECOND)
    live = float((beyond.cells.knots[:, LEVELS] > 2).sum())
    assert beyond.cells.live[0] == live == 4.0
    for t in range(200, 400):
        cells = type(beyond.cells)(*(array.copy() for array in beyond.cells))
        hats, crossed = touched(learner, cells, X[t])
        unit = learner.state.scalars[UNIT]
        learner.predict(X[t])
        played = beyond._desk.played.copy()
        base, label = beyond._desk.out[0], y[t] / unit
        low, high = learner.state.scalars[[4, 5]]
        residual = beyond.blend.residual.copy()
        learner.update(X[t], y[t])
        for k, (v0, q, both) in enumerate(specs):
            tables = [(cells.hats, beyond.cells.hats, hats, v0 / live)]
            tables += [(cells.crossed, beyond.cells.crossed, crossed, v0 / len(crossed))] if both and crossed else []
            p, reach, variances = base, 0.0, {}
            for table, _, shares, whole in tables:
                for row, share in shares:
                    before = table[row, 4 + k]
                    variances[id(table), row] = v = min(before + q * whole, whole) if before > 0.0 else whole
                    p, reach = p + table[row, k] * share, reach + v * share * share
            clipped = min(max(p, -30.0), 30.0) if loss == "logistic" else min(max(p, low), high)
            place = beyond.plan.full + k
            assert played[place] == pytest.approx(clipped, rel=1e-9, abs=1e-9)
            label = label if loss == "logistic" else min(max(y[t] / unit, low), high)
            if loss == "logistic":
                z = label * clipped
                for _ in range(200):  # z = m + X·σ(−z)
                    z -= (z - label * clipped - reach / (1 + math.exp(z))) / (1 + reach * math.exp(z) / (1 + math.exp(z)) ** 2)
                g, chance = -label / (1 + math.exp(z)), 1 / (1 + math.exp(-clipped))
                c = max(chance * (1 - chance), 1e-6)
                shrink = c / (1 + c * reach)
            else:
                shrink = 1.0 / (1.0 + reach)
                g = (clipped - label) * shrink
                if loss == "absolute" and k == LANES - 1:
                    rounds = learner.state.scalars[ROUNDS] - 1
                    b = residual[place] + max(1 / (rounds + 1), 0.01) * (abs(clipped - label) - residual[place])
                    g = min(max((clipped - label) / reach, -b), b)
                if (p < low and label <= low) or (p > high and label >= high):
                    g = shrink = 0.0
            for table, after, shares, _ in tables:
                for row, share in shares:
                    v = variances[id(table), row]
                    times = sum(other == row for other, _ in shares)  # two pairs may share a row
                    room = 1e-3 * v * share if loss == "logistic" else 1e-9  # the logistic slope is within 4e-4
                    assert after[row, k] == pytest.approx(table[row, k] - times * g * v * share, abs=times * room)
                    assert after[row, 4 + k] == pytest.approx(v - (v * share) ** 2 * shrink, rel=1e-9)


@pytest.mark.parametrize(("loss", "most"), [("logistic", 0.9), ("squared", 0.75), ("absolute", 0.9)])
def test_sums_of_curves_and_products_are_learned(loss, most):
    X, y = wavy(loss, 3000)
    learner = Auto(loss)
    learner.run(X, y)
    lanes = {lane.name: lane.loss for lane in learner.certificate().lanes}
    alone = lanes["linear lanes"]
    kind = "logistic" if loss == "logistic" else "squared"
    assert lanes[f"hats v0=1 q=0 {kind}"] < most * alone  # levels and curves
    assert lanes[f"hats and pairs v0=1 q=0 {kind}"] < 0.95 * lanes[f"hats v0=1 q=0 {kind}"]  # and the product
    assert learner.cumulative_loss < lanes[f"hats and pairs v0=1 q=0 {kind}"]


def test_until_there_are_knots_the_additive_lanes_play_what_the_linear_lanes_play():
    X, y = wavy("squared", knots.FIRST + 1)
    learner = Auto("squared")
    for t in range(knots.FIRST + 1):
        if learner._nonlinear is not None:
            learner.predict(X[t])
            desk, plan = learner._nonlinear._desk, learner._nonlinear.plan
            lanes = LANES if t == knots.FIRST else plan.stacks - plan.full  # neighbours are sought from then on
            assert (desk.out[plan.full : plan.full + lanes] == desk.out[0]).all()  # at first all weights are 0
        learner.update(X[t], y[t])
    assert sorted(learner._nonlinear.cells.knots[1:5, LEVELS]) == [6, *[knots.QUANTILES] * 3]


def test_knots_are_found_as_the_stream_becomes_four_times_as_long():
    assert [knots.due(rounds) for rounds in (0, 128, 129, 512, 513, 2049)] == [128, 128, 512, 512, 2048, 8192]


def test_functions_are_read_off_at_new_knots():
    old, new = np.array([0.0, 1.0, 3.0]), np.array([-1.0, 0.5, 1.0, 2.0, 9.0])
    assert knots.read_off(new, old, np.array([2.0, 4.0, 8.0]), False).tolist() == [2.0, 3.0, 4.0, 6.0, 8.0]
    # the last knot was never touched: beside it nothing is known
    assert knots.read_off(new, old, np.array([0.2, 0.4, 0.0]), True).tolist() == pytest.approx([0.2, 0.3, 0.4, 0.0, 0.0])


def test_many_features_have_the_pairs_that_trees_cut_one_after_the_other():
    X, y = wavy("squared", 2100, features=40)
    learner = Auto("squared")
    learner.run(X, y)
    cells = learner._nonlinear.cells
    assert len(cells.pairs) == PAIRS and len({tuple(pair) for pair in cells.pairs}) == PAIRS
    counted = knots.cut_together(learner._nonlinear.forest, 41)
    listed = cells.pairs.astype(int)
    others = np.triu(counted, 1).sum() - counted[listed[:, 0], listed[:, 1]].sum()
    assert counted[listed[:, 0], listed[:, 1]].mean() > 3.0 * others / (40 * 39 / 2 - PAIRS)
    assert len(cells.crossed) == knots.CROSSED and len(cells.knots) <= WIDEST + 1


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("knots", lambda a: a["beyond_knots"].__setitem__((1, 0), 1e9)),
        ("knots", lambda a: a["beyond_knots"].__setitem__((2, LEVELS), 2.5)),
        ("knots", lambda a: a["beyond_knots"].__setitem__((2, LEVELS), KNOTS + 1.0)),
        ("knots", lambda a: a["beyond_knots"].__setitem__((1, GRID), 0.0)),
        ("knots", lambda a: a["beyond_live"].__setitem__(0, 2.0)),
        ("knots", lambda a: a["beyond_knots"].__setitem__((0, LEVELS), 2.0)),
        ("hats", lambda a: a.__setitem__("beyond_hats", a["beyond_hats"][:-8].copy())),
        ("hats", lambda a: a["beyond_hats"].__setitem__((20, 5), -1.0)),
        ("pairs", lambda a: a["beyond_pairs"].__setitem__((0, 1), 77.0)),
        ("pairs", lambda a: a["beyond_pairs"].__setitem__((0, 0), 0.5)),
        ("pairs", lambda a: a["beyond_pairs"].__setitem__((0, slice(None)), [2.0, 1.0])),
        ("crossed", lambda a: a.__setitem__("beyond_crossed", a["beyond_crossed"][:-1].copy())),
        ("crossed", lambda a: a["beyond_crossed"].__setitem__((0, 0), np.nan)),
        ("specs", lambda a: a["beyond_specs"].__setitem__((0, 0), 2.0)),
    ],
)
def test_spoiled_cells_are_refused(name, spoil):
    X, y = wavy("squared", 200)
    learner = Auto("squared")
    learner.run(X, y)
    header, arrays = learner.state_dict()
    Auto.from_state(header, arrays)
    spoil(arrays)
    with pytest.raises(BadInput, match=name):
        Auto.from_state(header, arrays)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_what_is_shown_is_what_a_run_plays_where_knots_move(loss):
    X, y = wavy(loss, 520)
    whole, loop = Auto(loss), Auto(loss)
    played = whole.run(X, y).predictions
    for t in range(520):
        assert t not in (128, 512, 513) or loop.predict(X[t]) == played[t]
        loop.update(X[t], y[t])
    assert np.array_equal(whole.predict_many(X), loop.predict_many(X))


def test_saved_in_the_middle_they_go_on_bit_for_bit():
    X, y = wavy("absolute", 700)
    whole, half = Auto("absolute"), Auto("absolute")
    whole.run(X, y)
    half.run(X[:512], y[:512])
    half = Auto.from_state(*half.state_dict())
    half.run(X[512:], y[512:])
    assert np.array_equal(whole.predict_many(X), half.predict_many(X)) and whole.cumulative_loss == half.cumulative_loss
    for name in additive.Cells._fields:
        assert np.array_equal(getattr(whole._nonlinear.cells, name), getattr(half._nonlinear.cells, name))
