"""The four strategies: they agree, they keep their lemma's inequality, and the game solvers are honest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE, CLOSED, SIGN_FLIP, TANGENT, PlainFunction, SquareFunction, StronglyConvex, minimum
from burkholder.learning.learner import Learner
from burkholder.strategies import Convex, General, choose, detect
from burkholder.strategies.game import SOLVERS
from burkholder.strategies.general import payoffs

NAMES = [name for name, entry in CATALOGUE.items() if "zigzag" not in name]


def _state(name: str, rng: np.random.Generator):
    entry = CATALOGUE[name]
    function = entry.make(lipschitz=4.0, curvature=2.0) if entry.curved else entry.make()  # squared loss, B = 1
    dim = entry.dims[-1]
    tau = function.zero(dim)
    for _ in range(6):
        x = _feature(function, rng, dim)
        tau = function.advance(tau, x, np.asarray(0.2), np.asarray(function.lipschitz * rng.choice([-1.0, 0.5, 1.0])))
    return function, tau, _feature(function, rng, dim)


def _feature(function, rng, dim):
    x = rng.standard_normal(dim)
    return 0.5 * x / np.max(np.abs(x)) / math.sqrt(dim)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", [losses.Absolute(), losses.Logistic()], ids=losses.name)
def test_fast_strategy_agrees_with_the_general_one(name, loss):
    """max_y E U under the fast play is within the grid's error of the game's value, and never above U(ζ)."""
    rng = np.random.default_rng(3)
    if name == "strongly-convex":
        loss = losses.Squared()
    bound = 1.0
    function, tau, x = _state(name, rng)
    general = General(function, loss, bound, grid=41)
    drawn = general.distribution(tau, x)
    table = payoffs(function, tau, x, loss, general.plays, general.answers)
    game = float(np.max(drawn.chances @ table))
    strategy, _ = choose(function, loss, bound)
    raw, _ = strategy.play(tau, x)
    play = min(max(raw, -bound), bound)
    fast = float(np.max(payoffs(function, tau, x, loss, np.array([play]), np.append(general.answers, play))))
    now = float(function.value(tau))
    slack = max(0.0, abs(raw) - bound) * function.lipschitz if not losses.has_minimiser(loss) else 0.0
    assert game <= now + drawn.error + slack + 1e-9
    assert fast <= now + slack + 1e-9
    # nobody beats the game's value by more than its error
    assert game - drawn.error <= fast + 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_game_solvers_state_their_gap(solver):
    rng = np.random.default_rng(0)
    for shape in [(2, 2), (5, 3), (33, 2), (20, 40)]:
        table = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4)
        exact = SOLVERS["lp"](table)
        found = SOLVERS[solver](table)
        assert found.mixture.min() >= 0 and found.mixture.sum() == pytest.approx(1.0)
        assert found.value == pytest.approx(np.max(found.mixture @ table), rel=1e-12)
        span = np.ptp(table)
        assert exact.value - 1e-7 * span <= found.value <= exact.value + found.gap + 1e-7 * span
        assert found.gap <= {"lp": 1e-7, "mirror-descent": 0.12, "mirror-prox": 0.05}[solver] * span


def test_matching_pennies():
    for solve in SOLVERS.values():
        found = solve(np.array([[1.0, -1.0], [-1.0, 1.0]]))
        assert found.value == pytest.approx(0.0, abs=0.05)


def test_convex_strategy_finds_the_minimum():
    function, tau, x = _state("square-function", np.random.default_rng(5))
    convex = Convex(function, losses.Absolute(), 1.0)
    play, error = convex.play(tau, x)
    grid = np.linspace(-1, 1, 2001)
    answers = np.append(convex.answers, grid[::50])
    worst = payoffs(function, tau, x, losses.Absolute(), grid, answers).max(axis=1)
    mine = payoffs(function, tau, x, losses.Absolute(), np.array([play]), answers).max()
    assert mine <= worst.min() + function.lipschitz * 1e-3
    assert error < 1e-8


@pytest.mark.parametrize("name", CATALOGUE)
def test_declared_structure_picks_the_cheapest(name):
    function = CATALOGUE[name].make()
    strategy, detected = choose(function, losses.Absolute(), 1.0)
    order = [tag for tag in (TANGENT, SIGN_FLIP, CLOSED) if tag in function.structure]
    assert strategy.name == order[0] and not detected


def _square(structure=()):
    return PlainFunction(
        "mine",
        zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
        value=lambda tau: tau[0] + ((tau[1] ** 2).sum(-1) - tau[2]) / 2,
        structure=structure,
    )


def test_structure_is_detected_and_said_to_be():
    assert detect(_square()) == {SIGN_FLIP}
    learner = Learner(_square(), loss="absolute", bound=1.0)
    assert learner.strategy.name == "sign-flip"
    learner.update([1.0], 0.5)
    assert any("sampling" in note for note in learner.certificate().notes)


def test_no_structure_means_the_general_strategy():
    curved = PlainFunction(
        "curved",
        zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
        value=lambda tau: np.minimum(tau[0], 5.0) - np.sqrt(np.abs((tau[1] ** 2).sum(-1))) - tau[2],
    )
    assert detect(curved) == frozenset()
    strategy, _ = choose(curved, losses.Absolute(), 1.0)
    assert strategy.name == "general"


@pytest.mark.parametrize(
    ("function", "name", "bound"),
    [
        (SquareFunction(), "tangent", 1.0),
        (SquareFunction(), "closed-form", 1.0),
        (SquareFunction(), "best", 1.0),
        (SquareFunction(), "general", math.inf),
        (StronglyConvex(), "sign-flip", 1.0),
        (minimum(SquareFunction(), SquareFunction(version="paper")), "sign-flip", 1.0),
    ],
)
def test_strategies_that_do_not_apply_are_refused(function, name, bound):
    with pytest.raises(BadInput):
        choose(function, losses.Absolute(), bound, name)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_general_strategy_learns_with_its_stated_error(solver):
    """In expectation U may rise by at most the summed error; a whole stream stays well below it."""
    rng = np.random.default_rng(0)
    learner = Learner(
        "square-function", loss="absolute", bound=1.0, strategy="general", seed=7, strategy_options={"grid": 9, "solver": solver}
    )
    X = rng.standard_normal((60, 2))
    y = np.clip(X @ [0.5, -0.3], -1, 1)
    run = learner.run(X, y, trace=4)
    certificate = run.certificate
    assert certificate.slack > 0
    assert certificate.potential <= certificate.slack + 3 * np.sqrt(60)
    w = np.array([0.5, -0.3])
    regret = run.losses.sum() - np.abs(X @ w - y).sum()
    assert regret <= certificate.realised(w) + 1e-9
    again = Learner(
        "square-function", loss="absolute", bound=1.0, strategy="general", seed=7, strategy_options={"grid": 9, "solver": solver}
    ).run(X, y, trace=1)
    assert np.array_equal(run.predictions, again.predictions)


class _Stated(PlainFunction):
    """½(Σδx)² − ½Σx² without declared structure, and how steep it is: ∂/∂ŷ = δ, ∂/∂δ = ŷ + (g + δx)x."""

    def __init__(self):
        plain = _square()
        super().__init__("stated", zero=plain.zero, statistic=plain.statistic, value=plain.value)

    def steepness(self, tau, x, bound):
        return self.lipschitz, bound + float(np.max(np.abs(tau[1]) @ np.abs(x))) + float(x @ x)


def test_a_grid_asked_for_by_precision_states_an_error_that_holds():
    """ε₁ gives the grid; the mixture, tried against far more answers than it was made for, stays below U(ζ) + error."""
    rng = np.random.default_rng(2)
    for spacing in (0.5, 0.1, 0.02):
        strategy = General(_Stated(), losses.Huber(threshold=0.5), 1.0, spacing=spacing, solver="lp")
        assert strategy.bounded and len(strategy.plays) == math.ceil(2.0 / spacing) + 1
        for _ in range(10):
            tau = (np.zeros(()), rng.standard_normal(1), np.array(3.0))
            x = rng.uniform(-1, 1, 1)
            drawn = strategy.distribution(tau, x)
            table = payoffs(strategy.function, tau, x, strategy.loss, strategy.plays, np.linspace(-1, 1, 997))
            assert np.max(drawn.chances @ table) <= float(strategy.function.value(tau)) + drawn.error
    coarse, fine = (General(_Stated(), losses.Huber(threshold=0.5), 1.0, spacing=s).distribution(tau, x).error for s in (0.5, 0.02))
    assert fine < 0.1 * coarse


def test_an_error_read_off_the_grid_is_called_an_estimate():
    assert not General(_square(), losses.Huber(threshold=0.5), 1.0).bounded
    assert General(_square(("sign-flip",)), losses.Huber(threshold=0.5), 1.0).bounded
    assert not Convex(_square(), losses.Huber(threshold=0.5), 1.0).bounded
    assert Convex(_square(), losses.Absolute(), 1.0).bounded


@pytest.mark.parametrize("solver", ["mirror-descent", "mirror-prox"])
def test_a_precision_is_reached(solver):
    from burkholder.strategies.game import solved

    table = np.random.default_rng(1).standard_normal((15, 9))
    loose, tight = SOLVERS[solver](table).gap, solved(table, solver, 0.02).gap
    assert tight <= 0.02 and tight <= loose


@pytest.mark.parametrize("options", [{"spacing": 0.0}, {"spacing": 1e-9}, {"precision": -1.0}, {"precision": float("inf")}])
def test_absurd_precisions_are_refused(options):
    with pytest.raises(BadInput):
        General(_square(), losses.Absolute(), 1.0, **options)
