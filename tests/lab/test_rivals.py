"""Regret against classes that are not linear: the pair, its optimal U, the game by its definition, all the same number."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput


def steps(points):
    return [lambda x, k=k: 1 if x >= k else -1 for k in (*points, max(points) + 1)]


def rising(g):
    """min of Σ g·f over all rising f into [-1, 1], at a corner."""
    return min(sum(g[k:]) - sum(g[:k]) for k in range(len(g) + 1))


def table(rows):
    """Functions of 0, 1, … by their values."""
    return [lambda x, row=row: row[x] for row in rows]


CLASSES = {
    "two constants": ([0], table([(1,), (-1,)])),
    "steps": ([0, 1], steps([0, 1])),
    "not linear": ([0, 1], table([(1, 1), (Fraction(1, 3), -1), (0, Fraction(1, 2))])),
    "one": ([0, 1], table([(Fraction(1, 2), -1)])),
    "every sign": ([0, 1], table(itertools.product((1, -1), repeat=2))),
}


def brute(functions, prices, points, rounds, history=()):
    """The game by its definition: absolute loss, labels ±1, every history in its order."""
    if not rounds:
        return -min(sum(abs(f(x) - y) for x, y in history) + price for f, price in zip(functions, prices, strict=True))
    worst = None
    for x in points:
        up, down = (brute(functions, prices, points, rounds - 1, (*history, (x, y))) for y in (1, -1))
        yhat = min(max((up - down) / Fraction(2), -1), 1)
        worth = max(1 - yhat + up, 1 + yhat + down)
        worst = worth if worst is None else max(worst, worth)
    return worst


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("priced", [False, True])
def test_the_pair_the_game_and_the_coin_are_worth_the_same(name, priced):
    points, functions = CLASSES[name]
    prices = [Fraction(j, 3) for j in range(len(functions))] if priced else [0] * len(functions)
    pair = bk.Rivals(points, functions, prices=prices)
    found = bk.equivalence(pair, pair.rows, rounds=4)
    assert found.exact and found.agrees
    truth = brute(functions, prices, points, 4)
    assert found.martingale == found.game == found.forced == truth

    def phi(history):
        return min(sum(abs(f(x) - y) for x, y in history) + price for f, price in zip(functions, prices, strict=True))

    assert bk.minimax(phi, points, 4).value == truth
    assert bk.minimax(phi, points, 3, labels=(-1, 0, Fraction(1, 2), 1)).value == brute(functions, prices, points, 3)


def test_two_constants_cost_the_mean_distance_of_a_walk():
    from math import comb

    pair = bk.Rivals(["here"], [lambda x: 1, lambda x: -1])
    for n in range(1, 9):
        distance = Fraction(sum(comb(n, k) * abs(2 * k - n) for k in range(n + 1)), 2**n)
        assert bk.optimal(pair, pair.rows, rounds=n).price == distance == bk.minimax([lambda x: 1, lambda x: -1], ["here"], n).value


def test_a_convex_class_by_its_oracle():
    points = [1, 2, 3]
    convex, corners = bk.Rivals(points, oracle=rising), bk.Rivals(points, steps(points))
    best = bk.optimal(convex, convex.rows, rounds=4)
    assert best.exact and best.price == bk.optimal(corners, corners.rows, rounds=4).price == bk.minimax(steps(points), points, 4).value
    assert bk.verify(best.shifted())["3"].proved
    rng = np.random.default_rng(0)
    for _ in range(50):  # linear in f: no rising function is below the corners
        g = [Fraction(int(v)) for v in rng.integers(-5, 6, 3)]
        inside = np.sort(rng.uniform(-1, 1, 3))
        assert float(rising(g)) <= float(np.dot([float(v) for v in g], inside)) + 1e-12


def test_the_squared_loss_by_an_oracle_of_every_constant():
    def mean(history):
        return sum(y * y for _, y in history) - Fraction(sum(y for _, y in history) ** 2, len(history))

    for n in (1, 2, 3, 5):
        assert bk.minimax(mean, [0], n, loss="squared").value == value_of_the_mean_game(n)
    grid = [Fraction(k, 60) for k in range(-60, 61)]
    one = bk.minimax(mean, [0], 1, loss="squared", labels=(-1, Fraction(1, 3), 1))
    assert one.value == min(max((yhat - y) ** 2 for y in one.labels) for yhat in grid) == 1


def value_of_the_mean_game(n):
    """Two labels ±1 under the squared loss, by recursion over their sum: the best ŷ makes both cost the same."""

    def worth(t, s):
        if t == n:
            return Fraction(s * s, n) - n
        up, down = worth(t + 1, s + 1), worth(t + 1, s - 1)
        yhat = min(max((up - down) / 4, -1), 1)
        return max((yhat - 1) ** 2 + up, (yhat + 1) ** 2 + down)

    return worth(0, 0)


def test_played_no_path_costs_more_than_the_value():
    points, functions = CLASSES["not linear"]
    prices = [Fraction(0), Fraction(1, 2), Fraction(1, 4)]
    pair = bk.Rivals(points, functions, prices=prices)
    best = bk.optimal(pair, pair.rows, rounds=3).shifted()
    direct = bk.minimax(functions, points, 3)
    free = direct.value
    for labels in itertools.product([-1, 0.25, 1], repeat=3):
        for xs in itertools.product(points, repeat=3):
            learner, paid = bk.Learner(best, loss="absolute", bound=1.0), 0.0
            for x, y in zip(xs, labels):
                paid += abs(learner.predict(pair.row(x)) - y)
                learner.update(pair.row(x), y)
            certificate = learner.certificate()
            for f, price in zip(functions, prices, strict=True):
                regret = paid - sum(abs(float(f(x)) - y) for x, y in zip(xs, labels))
                assert regret <= certificate.realised(pair.values(f)) + 1e-9
                assert regret <= certificate.bound(pair.values(f)) + 1e-9
                assert certificate.bound(pair.values(f)) == pytest.approx(float(best.price + price))
            assert certificate.bound(np.array([0.1, 0.2])) == np.inf  # no function of the class
    for labels in itertools.product([-1, 1], repeat=3):
        history, paid = [], Fraction(0)
        for x, y in zip((0, 1, 0), labels):
            paid += abs(direct.predict(history, x) - y)
            history.append((x, y))
        assert paid - min(sum(abs(f(x) - y) for x, y in history) for f in functions) <= free


def test_no_learner_is_below_it():
    points, functions = CLASSES["not linear"]
    pair = bk.Rivals(points, functions, prices=[0, Fraction(1, 2), Fraction(1, 4)])
    best = bk.optimal(pair, pair.rows, rounds=4)
    found = bk.forced(bk.Learner(best.shifted(), loss="absolute", bound=1.0), best, paths=200)
    assert found.low <= float(best.price) + 1e-9 and found.high >= float(best.price) - 1e-9  # the optimal learner pays just this
    idle = bk.forced(type("Idle", (), {"predict": lambda self, x: 0.0, "update": lambda self, x, y: None})(), best, paths=300)
    assert idle.high >= float(best.price)


def test_a_pair_is_no_function():
    pair = bk.Rivals([0], [lambda x: 1])
    with pytest.raises(BadInput, match="optimal"):
        pair.value(pair.zero(1))


@pytest.mark.parametrize(
    "options",
    [
        {"points": []},
        {"points": [1, 1]},
        {"points": [{"a": 1}]},
        {"functions": []},
        {"functions": None},
        {"oracle": rising},
        {"functions": [lambda x: float("nan")]},
        {"functions": [lambda x: "a"]},
        {"prices": [1]},
        {"prices": [0, np.inf]},
    ],
)
def test_bad_classes_are_refused(options):
    with pytest.raises(BadInput):
        bk.Rivals(**{"points": [0, 1], "functions": [lambda x: 1, lambda x: -1], **options})


@pytest.mark.parametrize(
    "options",
    [
        {"rivals": []},
        {"rivals": lambda history: float("nan")},
        {"points": []},
        {"labels": []},
        {"labels": [np.inf]},
        {"loss": "hinge"},
        {"rounds": 0},
        {"rounds": True},
        {"rounds": 400, "points": range(5)},
        {"bound": -1},
    ],
)
def test_bad_games_are_refused(options):
    with pytest.raises(BadInput):
        bk.minimax(**{"rivals": [lambda x: 1], "points": [0], "rounds": 2, **options})


def test_an_oracle_that_answers_nonsense_and_points_outside():
    pair = bk.Rivals([0, 1], oracle=lambda g: None)
    with pytest.raises(BadInput):
        bk.optimal(pair, pair.rows, rounds=2)
    with pytest.raises(BadInput):
        pair.row(2)
    with pytest.raises(BadInput):
        bk.optimal(pair, [[1, 0, 0]], rounds=2)
    with pytest.raises(BadInput):
        bk.minimax([lambda x: 1], [0], 2).predict([(0, 1), (0, 1)], 0)
    assert bk.Rivals([[1.0, 2.0], np.array([2.0, 3.0])], [lambda x: x[0] - 1]).row([2.0, 3.0]) == [0, 1]
