"""The optimal U of a finite game: against every path by brute force, against closed forms, as a learner, as an adversary."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE
from burkholder.lab.optimal.table import mean_zero

ADDITIVE = ["square-function", "square-function-paper", "smoothness", "square-function-coordinates", "adaptive"]


def moment(price):
    """(Σδx)²/2 against price·Σx²/2: a pair in fractions, optimal exactly at price 1."""
    return bk.PlainFunction(
        "second moment",
        zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
        value=lambda tau: tau[0] + ((tau[1] ** 2).sum(-1) - price * tau[2]) / 2,
    )


def fourth(constant):
    """x⁴ − C·s²: the dyadic constant is (3+√6)², small games ask for less."""
    return bk.PlainFunction(
        "fourth moment",
        zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
        value=lambda tau: tau[0] + (tau[1] ** 4).sum(-1) - constant * tau[2] ** 2,
    )


def brute(function, features, rounds, x=Fraction(0), s=Fraction(0)):
    """sup E V over every predictable process with these features and fair signs, stopping allowed: plain recursion."""

    def value(x, s):
        return function.target((np.array([Fraction(0)], object), np.array([[x]], object), np.array([s], object)))[0]

    best = value(x, s)
    if rounds:
        for h in features:
            ends = [brute(function, features, rounds - 1, x + sign * h, s + h * h) for sign in (1, -1)]
            best = max(best, sum(ends) / 2)
    return best


@pytest.mark.parametrize("constant", [Fraction(1), Fraction(3), Fraction(5, 2)])
@pytest.mark.parametrize("features", [[1], [1, 2], [Fraction(1, 2), 3]])
def test_every_process_by_hand(constant, features):
    function = fourth(constant)
    found = bk.optimal(function, features, rounds=4)
    assert found.exact
    assert found.price == brute(function, [Fraction(h) for h in features], 4)


def test_the_price_of_a_constant_too_small():
    # stopping at once is worth 0; one round of x = 1 gains 1 − price a half
    for price, rounds in ((Fraction(9, 10), 3), (Fraction(1, 2), 5)):
        assert bk.optimal(moment(price), [1], rounds).price == (1 - price) * rounds / 2
    assert bk.optimal(moment(1), [1, 3], 5).price == 0
    assert bk.optimal(moment(Fraction(11, 10)), [1, 3], 5).price == 0


@pytest.mark.parametrize("name", ADDITIVE)
def test_no_catalogue_function_is_below_the_optimum(name):
    dim = CATALOGUE[name].dims[0]
    features = [list(row) for row in itertools.islice(itertools.product([1.0, 2.0], repeat=dim), 3)]
    found = bk.optimal(name, features, rounds=5)
    excess = found.compared(name)
    assert found.price <= 0
    assert excess.least >= -1e-9 * max(1.0, abs(excess.largest))
    mutant = bk.PlainFunction("lower", zero=found.pair.zero, value=lambda tau: found.pair.value(tau) - 0.1 * (1 + tau[2].sum()))
    assert found.compared(mutant).least < 0


def test_general_laws_cost_more_than_signs():
    signs = bk.optimal(fourth(Fraction(6)), [1], rounds=5).price
    general = bk.optimal(fourth(Fraction(6)), [1], rounds=5, slopes=[-1, Fraction(-1, 2), 0, Fraction(1, 4), 1]).price
    assert general >= signs


def test_laws_have_mean_zero_and_chances():
    slopes = [Fraction(-1), Fraction(-1, 3), Fraction(0), Fraction(1, 2)]
    for law in mean_zero(slopes):
        assert law.chance * slopes[law.first] + (1 - law.chance) * slopes[law.second] == 0
        assert 0 < law.chance <= 1


def test_both_directions_of_the_equivalence_in_fractions():
    for price in (Fraction(1, 2), Fraction(99, 100), Fraction(1), Fraction(2)):
        found = bk.equivalence(moment(price), [1, Fraction(1, 2)], rounds=5)
        assert found.exact and found.agrees
        assert found.forced == found.martingale and (found.martingale <= 0) == (price >= 1)
        assert found.achievable or price < 1
    # a wide interval of labels clips nothing: the game, the martingale and the coin are worth the same
    found = bk.equivalence(moment(Fraction(1, 2)), [1], rounds=4, bound=100)
    assert found.martingale == found.game == found.forced == 1


def test_examined_at_every_state():
    proved = bk.verify(bk.optimal(moment(1), [1, 2], rounds=4))
    assert proved.status.value == "proved" and proved["3"].proved
    refuted = bk.verify(bk.optimal(moment(Fraction(9, 10)), [1, 2], rounds=4))
    assert refuted["1"].refuted and refuted["2"].proved and refuted["3"].proved
    floats = bk.verify(bk.optimal("square-function", [1.0], rounds=6))
    assert floats.status.value == "not refuted"  # never "proved" in floating point
    spoiled = bk.optimal(moment(1), [1, 2], rounds=4)
    spoiled.table.values[2][1] -= 1  # one wrong number of the table is noticed
    assert bk.verify(spoiled).status.value == "refuted"


def test_played_it_keeps_its_promise_on_every_path():
    """All sign patterns and feature choices of four rounds: regret ≤ A + price for the best comparator."""
    pair = bk.SquareFunction(radius=1.0)
    best = bk.optimal(pair, [0.5, 1.0], rounds=4).shifted()
    for labels in itertools.product([-1.0, 1.0], repeat=4):
        for xs in itertools.product([0.5, 1.0], repeat=4):
            learner = bk.Learner(best, loss="absolute", bound=1.0)
            paid = 0.0
            for x, y in zip(xs, labels):
                paid += abs(learner.predict([x]) - y)
                learner.update([x], y)
            for w in np.linspace(-1, 1, 41):
                regret = paid - sum(abs(w * x - y) for x, y in zip(xs, labels))
                assert regret <= learner.certificate().bound([w]) + 1e-9


def test_the_adversary_forces_what_the_table_says():
    best = bk.optimal(bk.SquareFunction(radius=1.0), [1.0], rounds=10)
    learner = bk.Learner("square-function", loss="absolute", bound=1.0)
    found = bk.forced(learner, best, paths=300)
    assert found.achievable and found.high >= found.necessary
    greedy = fourth(Fraction(2))
    greedy.support = lambda g, radius: float(abs(g[0]))
    greedy.ball = lambda radius, tau: 0.0
    with pytest.raises(BadInput, match="needs"):
        bk.forced(learner, bk.optimal(greedy, [2], rounds=3))


@pytest.mark.parametrize(
    "options",
    [{"rounds": 0}, {"rounds": 2.5}, {"features": []}, {"features": [[1.0], [1.0, 2.0]]}, {"slopes": [0.5, 1.0]}, {"slopes": [-3.0, 3.0]}],
)
def test_bad_games_are_refused(options):
    with pytest.raises(BadInput):
        bk.optimal("square-function", **options)


def test_states_outside_the_game_are_refused():
    best = bk.optimal("square-function", [1.0], rounds=3)
    learner = bk.Learner(best, loss="absolute", bound=1.0)
    with pytest.raises(BadInput):
        learner.update([0.3], 1.0)
    with pytest.raises(BadInput):
        bk.optimal("square-function", list(np.linspace(0.1, 1, 40)), rounds=40)


class Twofaced(bk.PlainFunction):
    """Tells fractions what holds, and floats something else."""

    def target(self, tau):
        return super().target(tau) + (0.0 if tau[1].dtype == object else 0.1)


def lies():
    """What a game's optimum that fails by (1 − 9/10)·4/2 may be made to say of itself."""
    price, value = (bk.optimal(moment(Fraction(9, 10)), [1], rounds=4) for _ in range(2))
    price.price = Fraction(0)
    yield price
    value.value = lambda tau: tau[0] - 1.0
    yield value
    exact = bk.optimal("square-function-paper", [1.0], rounds=3)
    exact.__dict__["exact"] = True
    yield exact
    level = bk.optimal(moment(1), [1, 2], rounds=3)
    level.table.values[2][0] = float(level.table.values[2][0])
    yield level
    function = moment(1)
    yield bk.optimal(Twofaced("two faces", zero=function.zero, statistic=function.statistic, value=function.value), [1], rounds=3)


@pytest.mark.parametrize("found", list(lies()), ids=["price", "value", "exact", "float", "two faces"])
def test_no_lie_about_a_game_is_proved(found):
    report = bk.verify(found, seconds=1)
    assert report.status.value != "proved" and not (report.status.value == "not refuted" and report["1"].proved and found.price > 0)


def test_a_class_that_was_changed_proves_nothing(monkeypatch):
    found = bk.optimal(moment(1), [1], rounds=3)
    assert bk.verify(found).status.value == "proved"
    monkeypatch.setattr(type(found), "value", lambda self, tau: tau[0] - 1.0)
    assert bk.verify(found).status.value == "not refuted"
