"""The martingale lab: expectations that are known, inequalities that must hold, and wrong ones that must fall."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput
from burkholder.functions.plain import PlainFunction
from burkholder.functions.registry import CATALOGUE, REFUTED, get
from burkholder.lab import expectation as lab
from burkholder.lab import trees
from burkholder.lab.adversary import admitted, search
from burkholder.lab.inequalities import STATEMENTS, inequality
from burkholder.lab.matrix_square import hardest, matrix_square


def mean_absolute_sum(n: int) -> float:
    """E|ε₁+…+ε_n| in closed form."""
    return sum(math.comb(n, k) * abs(n - 2 * k) for k in range(n + 1)) / 2**n


def scalar(constant: float, power: float = 1.0) -> PlainFunction:
    """V = |f|^p − C·s^{p/2} as a function of one's own."""
    return PlainFunction(
        "mine",
        zero=lambda dim: (np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta[..., None] * x, np.square(x).sum(-1)),
        value=lambda tau: np.abs(tau[0]).sum(-1) ** power - constant * tau[1] ** (power / 2),
    )


@pytest.mark.parametrize("rounds", [1, 2, 7, 16, 20])
def test_exact_expectation_over_all_paths(rounds: int) -> None:
    found = lab.expectation(scalar(2.0), trees.constant([1.0], rounds))
    assert found.paths == 2**rounds and found.exact
    assert found.value == pytest.approx(mean_absolute_sum(rounds) - 2 * math.sqrt(rounds), rel=1e-12)
    assert found.low <= mean_absolute_sum(rounds) - 2 * math.sqrt(rounds) <= found.high


def test_blocks_do_not_change_the_answer(monkeypatch) -> None:
    tree = trees.random(np.random.default_rng(0), 9, 3, general=True)
    function = get("adagrad-norm")
    whole = lab.expectation(function, tree)
    monkeypatch.setattr(lab, "BLOCK", 64)
    assert len(list(lab.leaves(function, tree))) > 10
    assert lab.expectation(function, tree).value == pytest.approx(whole.value, rel=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 3), st.booleans(), st.sampled_from([0.5, 1.0, 3.0]))
@settings(deadline=None, max_examples=40)
def test_trees_are_martingales(seed: int, rounds: int, dim: int, general: bool, lipschitz: float) -> None:
    """Probabilities sum to 1, increments have mean zero and are orthogonal: E f² = E Σδ²x²."""
    tree = trees.random(np.random.default_rng(seed), rounds, dim, general=general, lipschitz=lipschitz)
    function = get("adagrad", lipschitz=lipschitz)  # its statistics are Σδx and Σδ²x², per coordinate
    assert sum(float(weight.sum()) for _, weight in lab.leaves(function, tree)) == pytest.approx(1.0)
    first = lab.expectation(function, tree, lambda tau: tau[1].sum(-1))
    size = lab.expectation(function, tree, lambda tau: np.abs(tau[1]).sum(-1)).value
    assert abs(first.value) <= 1e-12 * size
    square = lab.expectation(function, tree, lambda tau: np.square(tau[1]).sum(-1)).value
    assert square == pytest.approx(lab.expectation(function, tree, lambda tau: tau[2].sum(-1)).value, rel=1e-11)


def test_features_are_predictable() -> None:
    """A node's features depend on earlier signs alone: the process sees t signs at depth t."""
    seen: list[tuple[int, ...]] = []
    tree = trees.from_process(lambda signs: (seen.append(signs.shape), 1 + signs.sum(1, keepdims=True))[1], 4)
    assert seen == [(1, 0), (2, 1), (4, 2), (8, 3)]
    assert tree.features[2].ravel().tolist() == [3.0, 1.0, 1.0, -1.0]
    # first branch is δ = +L: the sums seen by the function agree with the signs given to the process
    function = scalar(0.0)
    states = next(iter(lab.leaves(function, trees.constant([1.0], 4))))[0]
    assert np.array_equal(states[0][:, 0], trees.histories(4).sum(1))


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_every_inequality_of_the_catalogue_is_named_and_survives(name: str) -> None:
    for dim in CATALOGUE[name].dims[:1]:
        found = inequality(name, dim)
        assert found.statement != "E V(ΣT) ≤ 0" and found.name
        branching = 4 if found.function.in_expectation else 2
        rng = np.random.default_rng(3)
        x = admitted(found.function, found.function.features(rng, 3, dim))
        tree = trees.sequence(x, branching)
        value = found.evaluate(tree)
        assert value.value <= 1e-9 * value.magnitude
        # U is a supermartingale along the same tree
        potential = lab.expectation(found.function, tree, found.function.value)
        assert potential.value <= float(found.function.value(found.function.zero(dim))) + 1e-9 * potential.magnitude
        attack = found.search(rounds=3, seconds=0.1)
        assert not attack.refuted, attack.verdict
        assert attack.verdict.startswith("not refuted") and attack.evaluations >= 256


def test_statements_belong_to_the_catalogue() -> None:
    assert all(any(name == key or name.startswith(key + "-") for name in CATALOGUE) for key in STATEMENTS)


@pytest.mark.parametrize("name", list(REFUTED))
def test_printed_claims_are_refuted_by_search(name: str) -> None:
    attack = search(get(name), rounds=3, dim=1, seconds=0.5)
    assert attack.refuted
    # the witness stands on its own
    again = lab.expectation(get(name), attack.tree)
    assert again.value == attack.best.value > 1e-3


@pytest.mark.parametrize(
    ("constant", "power", "false"),
    [(0.95, 1.0, True), (1.31, 1.0, False), (0.99, 2.0, True), (1.0, 2.0, False), (2.0, 4.0, True), (29.7, 4.0, False)],
)
def test_search_refutes_wrong_constants_and_no_right_one(constant: float, power: float, false: bool) -> None:
    attack = search(scalar(constant, power), rounds=8, seconds=1.0, general=False)
    assert attack.refuted == false, attack.verdict
    if false:
        assert lab.expectation(scalar(constant, power), attack.tree).value > 0


def test_general_increments_need_the_larger_constant() -> None:
    """1.31 is right for fair signs and wrong for lopsided increments when s counts δ²x²."""
    function = PlainFunction(
        "mine",
        zero=lambda dim: (np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta[..., None] * x, np.square(delta) * np.square(x).sum(-1)),
        value=lambda tau: np.abs(tau[0]).sum(-1) - 1.31 * np.sqrt(tau[1]),
    )
    # δ = up by ½ against down by 50, after a first fair step: E|f| − 1.31·E S, written out by the tree
    rounds = 8
    nodes = [np.ones((2**t, 1)) for t in range(rounds)]
    signs = [trees.histories(t) for t in range(rounds)]
    alive = [np.ones(2**t, bool) if t < 1 else np.all(s[:, 1:] * np.sign(s[:, :1]) > 0, axis=1) for t, s in enumerate(signs)]
    side = [np.ones(2**t) if t < 1 else s[:, 0] for t, s in enumerate(signs)]
    high = [np.where(t == 0, 1.0, np.where(side[t] > 0, 0.5, 50.0)) * alive[t] for t in range(rounds)]
    low = [np.where(t == 0, 1.0, np.where(side[t] > 0, 50.0, 0.5)) * alive[t] for t in range(rounds)]
    tree = trees.Tree(tuple(nodes), None, tuple(high), tuple(low))
    assert lab.expectation(function, tree).value > 0.1


def test_monte_carlo_interval_covers_the_exact_value() -> None:
    function, exact = scalar(2.0), mean_absolute_sum(12) - 2 * math.sqrt(12)

    def process(signs, tau):
        return np.ones((len(signs), 1))

    normal = [lab.monte_carlo(function, process, 12, 2000, seed, 0.9) for seed in range(60)]
    assert {one.method for one in normal} == {"normal"}
    assert 44 <= sum(one.low <= exact <= one.high for one in normal) < 60  # 54 expected of 60 at 90 %
    span = (-2 * math.sqrt(12), 12 - 2 * math.sqrt(12))
    safe = [lab.monte_carlo(function, process, 12, 2000, seed, 0.9, span) for seed in range(20)]
    assert {one.method for one in safe} == {"empirical Bernstein"}
    assert all(one.low <= exact <= one.high for one in safe)
    with pytest.raises(BadInput):
        lab.monte_carlo(function, process, 12, 200, 0, 0.9, (-1.0, 0.0))


@given(st.integers(0, 10**6), st.tuples(st.integers(1, 3), st.integers(1, 3)), st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_matrix_square_function_inequality(seed: int, shape: tuple[int, int], rounds: int) -> None:
    tree = trees.random(np.random.default_rng(seed), rounds, shape[0] * shape[1])
    found = matrix_square(tree, shape)
    assert found.holds and found.ratio > 0


def test_matrix_square_function_on_known_trees() -> None:
    # 1×1: E|Σε| against √(2n ln 2); diagonal signs in turn: ‖ΣεX‖ is the largest of d independent sums
    found = matrix_square(trees.constant([1.0], 9), (1, 1))
    assert found.left == pytest.approx(mean_absolute_sum(9))
    assert found.right == pytest.approx(math.sqrt(2 * 9 * math.log(2)))
    turns = trees.sequence(np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]] * 3))
    found = matrix_square(turns, (2, 2))
    one = [abs(a + b + c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    assert found.left == pytest.approx(np.mean([max(u, v) for u in one for v in one]))
    assert found.square == pytest.approx(3.0)


def test_hardest_matrix_tree_is_harder_than_a_constant_one_and_still_below() -> None:
    worst, tree = hardest((2, 2), rounds=4, seconds=1.0)
    assert worst.holds
    assert worst.ratio > matrix_square(trees.constant([1.0, 0, 0, 1.0], 4), (2, 2)).ratio
    assert matrix_square(tree, (2, 2)).left == worst.left


def test_bad_trees_say_what_is_wrong() -> None:
    with pytest.raises(BadInput, match="rounds"):
        trees.constant([1.0], 30)
    with pytest.raises(BadInput, match="branching"):
        lab.expectation(get("zigzag"), trees.constant([1.0], 3))
    with pytest.raises(BadInput, match="features"):
        trees.Tree((np.ones((1, 1)), np.ones((3, 1))))
    with pytest.raises(BadInput, match="finite"):
        trees.Tree((np.array([[np.nan]]),))
    with pytest.raises(BadInput, match="paths"):
        lab.expectation(scalar(1.0), trees.constant([1.0], 22))
    with pytest.raises(BadInput, match="NaN"):
        lab.expectation(scalar(1.0), trees.constant([1.0], 2), lambda tau: np.full(len(tau[0]), np.nan))
    with pytest.raises(BadInput, match="one number a path"):
        lab.expectation(scalar(1.0), trees.constant([1.0], 2), lambda tau: tau[0])
    with pytest.raises(BadInput, match="shape"):
        matrix_square(trees.constant([1.0], 2), (2, 2))
