"""A found U plays: its properties as a Burkholder function, and streams against its own bound."""

from __future__ import annotations

import numpy as np
import pytest

from burkholder.discovery import Found, Problem, discover
from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, BurkholderFunction
from burkholder.functions.properties import applicable, draw
from burkholder.functions.zigzag import ZigZag
from burkholder.learning.learner import Learner

PLAYABLE = ["zigzag-3", "zigzag-4", "zigzag-5", "zigzag-6", "square-function-4-general", "smoothness-4", "smoothness-6", "strongly-convex"]
UNPLAYABLE = ["square-function-4-dyadic", "square-function-4-dyadic-reverse", "decoupled-4", "orthogonal-4"]


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    return {name: discover(name) for name in [*PLAYABLE, *UNPLAYABLE]}


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("name", PLAYABLE)
def test_properties_are_not_refuted(name: str, dim: int, found: dict[str, Found]) -> None:
    function = found[name].as_function()
    rng = np.random.default_rng(dim)
    for _ in range(3):
        points = draw(function, rng, 3000, dim)
        for which, residual in applicable(function).items():
            assert np.nanmax(residual(function, points)) <= 1e-9, which


@pytest.mark.parametrize("name", ["zigzag-4", "square-function-4-general"])
def test_properties_with_a_fixed_unit(name: str, found: dict[str, Found]) -> None:
    function = found[name].as_function(unit=3.0, radius=2.0)
    points = draw(function, np.random.default_rng(0), 3000, 2)
    for which, residual in applicable(function).items():
        assert np.nanmax(residual(function, points)) <= 1e-9, which


@pytest.mark.parametrize("name", ["zigzag-4", "square-function-4-general", "smoothness-4"])
def test_properties_notice_a_constant_ten_per_cent_too_small(name: str, found: dict[str, Found]) -> None:
    function = found[name].as_function()
    function.constant *= 0.9
    points = draw(function, np.random.default_rng(5), 20000, 2)
    assert max(np.nanmax(residual(function, points)) for residual in applicable(function).values()) > 1e-4


@pytest.mark.parametrize("p", [3, 4])
def test_the_found_zigzag_is_burkholders(p: int, found: dict[str, Found]) -> None:
    ours, his = found[f"zigzag-{p}"].as_function(radius=2.0), ZigZag(p=p, radius=2.0)
    points = draw(his, np.random.default_rng(p), 500, 3)
    np.testing.assert_allclose(ours.value(points.tau), his.value(points.tau), rtol=1e-9)
    np.testing.assert_allclose(ours.tangent(points.tau, points.x), his.tangent(points.tau, points.x), rtol=1e-7)
    np.testing.assert_allclose(ours.bound(points.w, points.tau), his.bound(points.w, points.tau), rtol=1e-9)


def play(function: BurkholderFunction, rounds: int, dim: int, seed: int) -> tuple[float, float]:
    """Squared loss on a noisy linear stream within [-1, 1]: regret against the best comparator tried, and its A."""
    rng, coins = np.random.default_rng(7), np.random.default_rng(seed)
    truth = rng.normal(size=dim)
    truth *= 0.9 / np.linalg.norm(truth)
    x = rng.normal(size=(rounds, dim)) * np.geomspace(0.2, 1.5, rounds)[:, None]
    y = np.clip(x @ truth + 0.1 * rng.normal(size=rounds), -1, 1)
    tau, total = function.zero(dim), 0.0
    for row, label in zip(x, y):
        rule = function.closed_form(tau, row, 1.0) if CLOSED in function.structure else function.tangent(tau, row)
        yhat = float(np.clip(rule, -1.0, 1.0))
        total += (yhat - label) ** 2
        delta = np.asarray(2 * (yhat - label))
        coin = {"sign": coins.choice([-1.0, 1.0])} if function.in_expectation else {}
        tau = function.advance(tau, row, np.asarray(yhat), delta, **coin)
    tries = [truth, *function.comparators(rng, 50, dim)]
    tries = [w for w in tries if np.all(np.abs(w) < 1e6)]
    best = max(total - np.sum((x @ w - y) ** 2) - float(function.bound(w, tau)) for w in tries)
    return best, float(function.value(tau))


@pytest.mark.parametrize("name", ["square-function-4-general", "smoothness-4", "smoothness-6", "strongly-convex"])
def test_streams_stay_within_the_bound(name: str, found: dict[str, Found]) -> None:
    options = {"lipschitz": 4.0, "curvature": 2.0} if name == "strongly-convex" else {}
    excess, potential = play(found[name].as_function(**options), 300, 2, 0)
    assert excess <= 0.0
    assert potential <= 1e-9


def test_zigzag_streams_stay_within_the_bound_on_average(found: dict[str, Found]) -> None:
    results = [play(found["zigzag-4"].as_function(), 100, 2, seed) for seed in range(40)]
    assert np.mean([excess for excess, _ in results]) <= 0.0
    assert np.mean([potential for _, potential in results]) <= 0.0


@pytest.mark.parametrize("name", PLAYABLE)
def test_a_learner_runs_on_the_found_function_with_its_certificate(name: str, found: dict[str, Found]) -> None:
    rng = np.random.default_rng(11)
    x = rng.normal(size=(200, 2)) * 3.0
    y = np.clip(x @ np.array([0.3, -0.2]) + 0.2 * rng.normal(size=200), -1, 1)
    learner = Learner(found[name].as_function(), loss="squared", bound=1.0)
    for row, label in zip(x, y):
        assert learner.predict(row) == learner.predict(row)
        learner.update(row, label)
    certificate = learner.certificate()
    assert certificate.valid and certificate.rounds == 200
    assert certificate.learner == f"found {name}"
    w = np.array([0.3, -0.2])
    regret = certificate.cumulative_loss - np.sum((x @ w - y) ** 2)
    assert regret <= certificate.realised(w) + 1e-9 <= certificate.bound(w) + 1e-9
    if not learner.function.in_expectation:
        assert certificate.potential <= 1e-9


@pytest.mark.parametrize("name", ["square-function-4-general", "smoothness-4"])
def test_the_general_strategy_plays_it_too(name: str, found: dict[str, Found]) -> None:
    learner = Learner(found[name].as_function(), loss="absolute", bound=1.0, strategy="general")
    rng = np.random.default_rng(12)
    for _ in range(12):
        learner.update(rng.normal(size=2), rng.uniform(-1, 1))
    certificate = learner.certificate()
    w = np.array([0.4, -0.3])
    assert certificate.realised(w) <= certificate.bound(w) + 1e-9


def test_a_learner_refuses_more_features_than_were_proved(found: dict[str, Found]) -> None:
    learner = Learner(found["smoothness-4"].as_function(), loss="absolute", bound=1.0)
    with pytest.raises(BadInput, match="2 features"):
        learner.update([1.0, 2.0, 3.0], 1.0)
    assert learner.rounds == 0


@pytest.mark.parametrize("name", UNPLAYABLE)
def test_problems_without_a_prediction_side_say_so(name: str, found: dict[str, Found]) -> None:
    with pytest.raises(BadInput, match="prediction side"):
        found[name].as_function()


def test_options_and_dimensions_are_checked(found: dict[str, Found]) -> None:
    with pytest.raises(BadInput, match="does not take"):
        found["zigzag-4"].as_function(colour="red")
    with pytest.raises(BadInput, match="positive"):
        found["zigzag-4"].as_function(radius=-1.0)
    with pytest.raises(BadInput, match="dimension 2"):
        found["smoothness-4"].as_function().zero(3)
    assert discover("smoothness", p=4, d=3).as_function().zero(3)[1].shape == (3,)
    other = discover(Problem("doubled", "zigzag", "2*x**4 - C*y**4"))
    assert other.exact == 162
    with pytest.raises(BadInput, match="prediction side"):
        other.as_function()


def test_from_u_to_learner_to_certificate_in_one_call():
    """A find, or the answer to an inequality, handed to `Learner` as it is: the promise it prints holds on the stream."""
    import burkholder as bk

    found = bk.discover("square-function", p=4, martingale="general")
    mine = bk.sharp(bk.Inequality({"x": "x + a", "s": "s + a**2"}, "general", "x**4", "C*s**2"))
    rng = np.random.default_rng(3)
    for source in (found, mine):
        learner = bk.Learner(source, radius=2.0, loss="absolute", bound=1.0)
        for _ in range(100):
            x = rng.normal(size=2)
            learner.update(x, float(np.clip(x @ [0.5, -0.2], -1, 1)))
        certificate = learner.certificate()
        assert "promised regret" in str(certificate) and "corrected regret" in str(certificate)
        w = np.array([0.5, -0.2])
        assert certificate.realised(w) <= certificate.corrected(w) <= certificate.bound(w)
    with pytest.raises(bk.BadInput, match="no prediction side"):
        bk.Learner(bk.discover("square-function", p=4), loss="absolute", bound=1.0)
    with pytest.raises(bk.BadInput):
        bk.Learner(object(), loss="absolute", bound=1.0)
