"""Boolean trees of a depth that nobody says: what is promised against polynomials of every degree, and what each degree waits for."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest

import burkholder as bk
from burkholder import losses
from burkholder.learning.feature_maps import factors


def products(x, degree):
    return {name: math.prod(x[int(i)] for i in factors(name)) for name in names(len(x), degree)}


def names(d, degree):
    return ["*".join(map(str, chosen)) or "(one)" for k in range(degree + 1) for chosen in itertools.combinations(range(d), k)]


def stream(rng, kind, n, d):
    X = rng.choice([-1.0, 1.0], (n, d))
    if kind == "ternary":
        X *= rng.choice([0.0, 1.0, 1.0], (n, d))
    if kind == "real":
        X *= rng.uniform(0, 2, (n, d))
    signs = np.where(X[:, 0] > 0, X[:, 1] * X[:, 2], -X[:, d - 1])
    y = np.clip(np.where(rng.random(n) < 0.1, -signs, signs), -1, 1)
    return X, np.where(y > 0, 1.0, -1.0) if kind == "signs" else y


@pytest.mark.parametrize(("loss", "kind"), [("absolute", "signs"), ("absolute", "real"), ("squared", "ternary"), ("logistic", "signs")])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("function", ["mixture", "adaptive-coordinates"])
def test_no_polynomial_is_further_ahead_than_promised(loss, kind, weighted, function):
    rng = np.random.default_rng(3)
    X, y = stream(rng, kind, 250, 4)
    trees = bk.BooleanTrees(loss, bound=None if loss == "logistic" else 1.0, function=function)
    weight = rng.choice([0.5, 1.0, 3.0], len(y)) if weighted else np.ones(len(y))
    for x, label, heavy in zip(X, y, weight):
        trees.update(x, label, weight=heavy)
    certificate = trees.certificate()
    assert certificate.valid and trees.degree >= 2
    chosen = [{}, {"(one)": 0.5}, {"0*1*2": 0.5, "1*2": 0.5, "0*3": 0.5, "3": -0.5}, {"0*1*2*3": -1.0}]
    chosen += [{name: rng.normal() / 3 for name in names(4, k)} for k in range(5)]
    for w in chosen:
        f = [sum(entry * products(x, 4)[name] for name, entry in w.items()) for x in X]
        paid = math.fsum(h * losses.value(trees.loss, v, label) for v, label, h in zip(f, y, weight))
        regret = trees.cumulative_loss - paid
        assert regret - 1e-9 <= certificate.realised(w) <= certificate.corrected(w) <= certificate.bound(w) < math.inf
    whole = {part.degree: part.slept for part in certificate.degrees}
    assert whole[0] == 0.0 and list(whole.values()) == sorted(whole.values())


def test_a_degree_waits_for_as_much_loss_as_it_has_products():
    rng = np.random.default_rng(0)
    X, y = stream(rng, "signs", 600, 5)
    trees, waited, lost, woke = bk.BooleanTrees(deepest=3), 0.0, 0.0, []
    for x, label in zip(X, y):
        lost += abs(trees.predict(x) - label)
        trees.update(x, label)
        if trees.degree > 1 + len(woke):
            woke.append(lost)
            waited += len(names(5, trees.degree))
            assert waited <= lost <= waited + 2.0 * len(woke)
            assert trees.certificate().price(trees.degree) == pytest.approx(lost)
    assert len(woke) == 2
    easy = bk.BooleanTrees()
    easy.run(X, X[:, 1])
    assert easy.degree == 1 and easy.certificate().price(2) >= easy.cumulative_loss  # nothing asked for more


def test_deeper_trees_are_found():
    rng = np.random.default_rng(1)
    X, y = stream(rng, "signs", 1500, 5)
    clean = np.where(X[:, 0] > 0, X[:, 1] * X[:, 2], -X[:, 4])
    trees, line = bk.BooleanTrees(), bk.Learner("mixture", loss="absolute", bound=1.0)
    late = trees.run(X, clean).losses[-200:].mean()
    assert trees.degree >= 3 and late < 0.05 < 0.5 < line.run(X, clean).losses[-200:].mean()
    assert trees.run(X, y).certificate.rounds == 3000


def test_labels_that_come_late_void_the_promise_and_nothing_false_is_said():
    rng = np.random.default_rng(2)
    X, y = stream(rng, "signs", 200, 4)
    trees = bk.BooleanTrees()
    waiting = []
    for x, label in zip(X, y):
        waiting.append((trees.play(x), label))
        if len(waiting) == 5:
            ticket, label = waiting.pop(0)
            trees.reveal(ticket, label)
    certificate = trees.certificate()
    w = {"0*1*2": 0.5, "1*2": 0.5}
    assert not certificate.valid and certificate.bound(w) == math.inf
    assert certificate.realised(w) >= trees.cumulative_loss  # no loss is negative: all that can be said


@pytest.mark.parametrize(
    ("x", "y", "weight"),
    [
        (["a", 1.0], 1.0, 1.0),
        (None, 1.0, 1.0),
        ([1.0, 1.0], 3.0, 1.0),
        ([1.0, 1.0], math.nan, 1.0),
        ([1.0, -1.0], 1.0, -1.0),
        ([1.0, -1.0], 1.0, math.inf),
        ([math.inf, 1.0], 1.0, 1.0),
        ({"a": 1.0}, "x", 1.0),
    ],
)
def test_what_is_refused_changes_nothing(x, y, weight):
    trees = bk.BooleanTrees(deepest=2)
    trees.run([[1.0, -1.0]] * 30, [1.0, -1.0] * 15)
    told = (str(trees.certificate()), trees.predict([1.0, 1.0]), trees.asked, trees.degree)
    with pytest.raises(bk.BadInput):
        trees.update(x, y, weight=weight)
    with pytest.raises(bk.BadInput):
        trees.run([[1.0, -1.0]] * 40 + [x], [-1.0, 1.0] * 20 + [y], weight=[1.0] * 40 + [weight])
    assert told == (str(trees.certificate()), trees.predict([1.0, 1.0]), trees.asked, trees.degree)


def test_a_loop_a_run_and_a_copy_are_the_same_bits():
    rng = np.random.default_rng(4)
    X, y = stream(rng, "signs", 150, 4)
    loop, run = bk.BooleanTrees(), bk.BooleanTrees()
    said = []
    for x, label in zip(X, y):
        said.append(loop.predict(x))
        loop.update(x, label)
    assert run.run(X, y).predictions.tolist() == said
    again = copy.deepcopy(run)
    run.update(X[0], y[0])
    assert again.rounds == 150 and str(again.certificate()) == str(loop.certificate())


def test_products_by_name():
    trees = bk.BooleanTrees(deepest=2)
    rows = [{"b*": s, "a": t, "(one)": s * t} for s, t in itertools.product((1.0, -1.0), repeat=2)] * 20
    trees.run(rows, [row["b*"] * row["a"] for row in rows])
    certificate = trees.certificate()
    assert (
        certificate.realised({r"a*b\*": 0.5})
        == certificate.realised({r"b\**a": 0.5})
        == certificate.realised({r"b\**a": 0.2, r"a*b\*": 0.3})
    )
    for w in ({"b*": 1.0}, {"c": 1.0}, {"a*a": 1.0}, {"a": math.nan}, {"a": "x"}, [1.0]):
        with pytest.raises(bk.BadInput):
            certificate.bound(w)
    with pytest.raises(bk.BadInput):
        certificate.bound({"a": 1.0}, radius=1.0)
    assert bk.Parity(2)({"a": 2.0, "b": 3.0, "a*b": 5.0}) == {
        "(one)": 1.0, "a": 2.0, r"a\*b": 5.0, "b": 3.0, r"a*a\*b": 10.0, "a*b": 6.0, r"a\*b*b": 15.0,
    }  # fmt: skip
    for hard in (["", "a", "*", "\\", "\\*", "**", "(one)"],):
        made = bk.Parity(3)(dict.fromkeys(hard, 1.0))
        assert len(made) == bk.Parity(3).size(dict.fromkeys(hard, 1.0)) == len({factors(name) for name in made})
        assert sorted(map(len, map(factors, made))) == [0] + [1] * 7 + [2] * 21 + [3] * 35


def test_rows_too_wide_are_slept_through():
    trees = bk.BooleanTrees(deepest=2, most=20)
    rng = np.random.default_rng(5)
    for t in range(120):
        x = rng.choice([-1.0, 1.0], 3 if t % 3 else 30)
        trees.update(x, x[0] * x[1])
    certificate = trees.certificate()
    f = {"0*1": 1.0}
    assert trees.degree == 2 and certificate.degrees[2].certificate.rounds < 80 <= certificate.degrees[0].certificate.rounds
    assert trees.cumulative_loss <= certificate.realised(f) <= certificate.bound(f)


@pytest.mark.parametrize(
    ("loss", "bound"), [("hinge", None), ("hinge", 2.0), ("huber", 5.0), ("epsilon-insensitive", 1e-3), ("squared", 1e-100)]
)
def test_other_losses_and_scales(loss, bound):
    size = 1.0 if bound is None or loss == "hinge" else bound
    X = np.random.default_rng(7).choice([0.0, 1.0], (150, 4))
    y = size * np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    trees = bk.BooleanTrees(loss, bound, deepest=3)
    certificate = trees.run(X, y).certificate
    for w in ({"0*1": 2.0 * size, "(one)": -size}, {}):
        f = [sum(v * (1.0 if name == "(one)" else x[0] * x[1]) for name, v in w.items()) for x in X]
        regret = trees.cumulative_loss - math.fsum(losses.value(trees.loss, p, q) for p, q in zip(f, y))
        assert regret <= certificate.realised(w) + 1e-9 * (trees.cumulative_loss + size**2)
        assert certificate.realised(w) <= certificate.corrected(w) <= certificate.bound(w)


@pytest.mark.parametrize(
    "options", [{"deepest": 0}, {"deepest": 1.5}, {"deepest": -1}, {"loss": losses.Custom(abs, abs, 1.0)}, {"bound": -1.0}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(bk.BadInput):
        bk.BooleanTrees(**options)
