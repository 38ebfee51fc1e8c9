"""Promised and realised bounds against the true regret, on random streams and greedy adversaries."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from burkholder import losses
from burkholder.experts import Experts, best_convex
from burkholder.experts.huber_root import SHARES

BOUNDED = [("huber-root", {}), ("squint", {}), ("ml-poly", {}), ("ewa", {"rate": 0.05})]
STREAMS = ["random", "greedy", "swinging", "heavy"]
GRID = [np.array(c) / 5 for c in itertools.product(range(6), repeat=3) if sum(c) == 5]


def stream(kind, n, d, rng, experts):
    """Forecasts and targets; the greedy adversary looks at the prediction first."""
    for t in range(n):
        if kind == "heavy":
            x = rng.standard_cauchy(d)
            yield x, float(x[0] + 0.1 * rng.standard_cauchy())
            continue
        x = rng.uniform(-1, 1, size=d) * (1.0 if kind == "random" else 1.0 + t / n)
        if kind == "random":
            yield x, float(rng.normal())
        elif kind == "swinging":
            yield x, float(x[(t // 40) % d])
        else:
            yhat = experts.predict(x)
            yield x, 3.0 if yhat < x[0] else -3.0  # on expert 0's side: regret to it grows every round


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("method, options", BOUNDED, ids=[m for m, _ in BOUNDED])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_bound_is_at_least_the_true_regret_to_every_mixture(kind, method, options, loss):
    rng = np.random.default_rng(11)
    experts = Experts(loss, method=method, **options)
    rounds, n = [], 150
    for x, y in stream(kind, n, 3, rng, experts):
        played = experts.run([x], [y], trace=0, weights=False)
        rounds.append((played.details["forecasts"][0], y))  # as they were played: absurd ones are cut
    forecasts, y = np.array([x for x, _ in rounds]), np.array([t for _, t in rounds])
    record = losses.get(loss)
    certificate = experts.certificate()
    for w in GRID:
        paid = sum(losses.value(record, p, t) for p, t in zip((forecasts @ w).tolist(), y.tolist()))
        regret = certificate.cumulative_loss - paid
        slack = 1e-9 * (abs(paid) + abs(certificate.cumulative_loss))
        assert regret <= certificate.realised(w) + slack
        bound = certificate.bound(w)
        assert certificate.realised(w) <= bound < math.inf
        assert bound <= certificate.bound()
    assert certificate.realised() >= max(certificate.realised(w) for w in GRID) - slack


@pytest.mark.parametrize("lipschitz", [None, 5.0])
def test_bound_is_the_formula_of_the_theory(lipschitz):
    """Recomputed from the stream alone: V_j where a rate never clips, the gains cut short where it does."""
    rng = np.random.default_rng(12)
    experts = Experts("squared", lipschitz=lipschitz, rates=30, lanes=False)
    first_L, limit = (5.0, 5.0) if lipschitz else (0.0, 0.0)
    h = 0.0
    rounds, spreads = [], []
    for _ in range(80):
        x, y = rng.uniform(-1, 1, size=3), float(rng.uniform(-1, 1))
        yhat = experts.predict(x)
        delta = 2 * (yhat - y)
        h = h or np.max(np.abs(x - x.mean()))
        seen = np.clip(delta, -limit, limit)
        typical = (
            limit * np.mean(spreads[2 ** ((len(spreads) + 1).bit_length() - 2) - 1 :]) if spreads else first_L * h
        )  # lately; of which a rate in use makes 2⁻¹² to 16
        rounds.append((yhat - x, delta, seen, limit, typical))
        spreads.append(np.max(np.abs(x - x.mean())))
        if not lipschitz:
            limit = max(limit, min(abs(delta), 2 * limit)) if limit else abs(delta)
            first_L = first_L or abs(delta)
        experts.update(x, y)
    w = np.array([0.2, 0.8, 0.0])
    eta = 1024.0 * 2.0 ** -np.arange(30) / (first_L * h)
    V = sum(seen**2 * gap**2 for gap, _, seen, *_ in rounds)
    unseen = sum((delta - seen) * gap for gap, delta, seen, *_ in rounds)
    reach = max(limit * np.max(np.abs(gap[:2])) for gap, _, _, limit, _ in rounds)
    fits = eta * reach <= 0.5
    moved = sum(any(limit and 2.0**-12 < rate * typical <= 16.0 for *_, limit, typical in rounds) for rate in eta)
    fixed = math.log(moved * len(SHARES)) + 0.2 * math.log(0.6) + 0.8 * math.log(2.4)
    printed = np.min((eta * (w @ V) + fixed / eta)[fits]) + w @ unseen  # theory 2.1
    sizes = []
    for rate in eta:
        cost = np.zeros(3)
        for gap, _, seen, limit, typical in rounds:
            z = seen * np.clip(rate * gap, -0.5 / max(limit, 1e-300), 0.5 / max(limit, 1e-300)) * (2.0**-12 < rate * typical <= 16.0)
            cost += np.maximum(rate * seen * gap, z) - np.log1p(z)
        sizes.append((w @ cost + fixed) / rate)
    back = sum(float(w @ gap) ** 2 for gap, *_ in rounds)  # squared loss is curved
    bound = experts.certificate().bound(w) + back
    assert 0 < fits.sum() < 30  # the clip matters here
    assert bound == pytest.approx(min(sizes) + w @ unseen, rel=1e-9)
    used = fits & (eta * min(typical for *_, typical in rounds if typical) > 2.0**-12)
    square, rest = (eta * (w @ V))[used], (fixed / eta)[used]
    assert used.any() and (np.array(sizes)[used] <= square + rest).all() and (np.array(sizes)[used] >= 0.3 * square + rest).all()
    smallest = np.flatnonzero(used)[-1]  # a small rate pays half its variance
    assert sizes[smallest] == pytest.approx(0.5 * eta[smallest] * (w @ V) + fixed / eta[smallest], rel=1e-3)
    assert bound <= printed * (1 + 1e-12)


def test_erratum_the_last_slope_counts():
    """With L unknown the slack must count round n; with the L_n of before round n the bound is false."""
    experts = Experts("squared", lanes=False)
    x, before, widest = np.array([0.0, 1.0]), 0.0, 0.0
    targets = [0.49, 0.51, 0.49, 0.51, 1000.0]
    for y in targets:
        yhat = experts.predict(x)
        if y < 1.0:
            before = max(before, abs(2 * (yhat - y)))
        widest = max(widest, float(np.max(np.abs(yhat - x))))
        experts.update(x, y)
    certificate = experts.certificate()
    w = certificate.distribution("1")
    regret = certificate.cumulative_loss - sum((1.0 - y) ** 2 for y in targets)
    literal = certificate.promise._replace(unseen=np.zeros(2)).promised(w) + before * widest
    assert literal < 0.1 * regret
    assert regret <= certificate.bound(w)


@pytest.mark.parametrize("growth", [1.3, 10.0])
def test_slack_for_an_unknown_limit_is_as_stated(growth):
    """At most M(1 + log₂(M/L₁))·max|ŷ−x_j| of linearised regret is never seen by W."""
    rng = np.random.default_rng(17)
    experts, slopes, widest = Experts("squared", lanes=False), [], 0.0
    for t in range(30):
        x, y = rng.uniform(-1, 1, size=2), float(rng.choice([-1, 1]) * growth**t)
        yhat = experts.predict(x)
        slopes.append(abs(2 * (yhat - y)))
        widest = max(widest, float(np.max(np.abs(yhat - x))))
        experts.update(x, y)
    top = max(slopes)
    assert np.max(experts.certificate().promise.unseen) <= top * (1 + math.log2(top / slopes[0])) * widest


def best_path(paid, switches):
    """The least loss of a sequence of experts with at most that many switches."""
    n, d = paid.shape
    cost = np.full((switches + 1, d), np.inf)
    cost[0] = paid[0]
    for t in range(1, n):
        before = cost.copy()
        for s in range(switches + 1):
            stay = before[s]
            jump = before[s - 1].min() if s else np.inf
            cost[s] = np.minimum(stay, jump) + paid[t]
    return cost.min()


@pytest.mark.parametrize("switches", [0, 1, 4])
def test_tracking_bound_and_tracking_gain(switches):
    rng = np.random.default_rng(13)
    n, d = 1500, 3
    y = rng.normal(size=n)
    good = (np.arange(n) * (switches + 1) // n) % d
    x = y[:, None] + rng.normal(size=(n, d)) * np.where(np.arange(d) == good[:, None], 0.1, 1.0)
    run = Experts("absolute").run(x, y)
    regret = run.losses.sum() - best_path(np.abs(x - y[:, None]), switches)
    bound = run.certificate.tracking(switches)
    assert regret <= bound < math.inf
    assert bound < run.certificate.tracking(switches + 3)
    static = Experts("absolute", shares=(0.0,)).run(x, y)
    if switches:
        assert run.mean_loss < 0.9 * static.mean_loss
    else:
        assert run.mean_loss < 1.15 * static.mean_loss
    assert static.certificate.tracking(switches) == math.inf


def test_tracking_bound_is_the_formula_of_the_theory():
    rng = np.random.default_rng(14)
    experts = Experts("absolute", rates=32, lanes=False)
    rounds, h, n = [], 0.0, 200
    for _ in range(n):
        x = rng.uniform(-1, 1, size=3)
        yhat = experts.predict(x)
        h = h or np.max(np.abs(x - x.mean()))
        y = float(rng.normal())
        rounds.append((yhat - x) * np.sign(yhat - y))
        experts.update(x, y)
    eta = 1024.0 * 2.0 ** -np.arange(32) / h
    gaps = np.array(rounds)
    eta = eta[eta * np.abs(gaps).max() <= 0.5]
    square = np.sum(np.max(gaps**2, axis=1))
    prices = [2 * math.log(3 / a) - n * math.log(1 - a) for a in SHARES[1:]]
    expected = np.min(eta * square + (math.log(3) + math.log(32 * 4) + min(prices)) / eta)
    tracked = experts.certificate().tracking(2)
    assert 0.2 * expected < tracked <= expected * (1 + 1e-12)
    rates = np.array([1024.0 * 2.0**-k for k in range(32)]) / h
    small = (rates < eta[0] * 1.5) & (rates * h > 2.0**-8)  # rates that never clipped, and never slept
    terms, path = experts.certificate().promise, experts.certificate().promise.path
    z = (terms.rates[small] / h)[:, None, None] * gaps
    exact = np.sum(np.max(z - np.log1p(z), axis=2), axis=1)
    rounding = 3 * n * 2.0**-50 * (math.log(3000) + 3 + 4 + 10)  # of three shares a round, |ln W| ≤ 10
    assert (path.cost[small] >= exact * (1 - 1e-9)).all() and (path.cost[small] <= exact * (1 + 1e-9) + 2.0 * rounding).all()
    sizes = h * (path.cost + math.log(3) + math.log(32 * 4) + min(prices)) / terms.rates
    assert tracked == pytest.approx(sizes.min(), rel=1e-9)


@pytest.mark.parametrize(
    "name, options",
    [
        ("absolute", {}),
        ("pinball", {"quantile": 0.8}),
        ("epsilon-insensitive", {"epsilon": 0.3}),
        ("squared", {}),
        ("huber", {"threshold": 0.4}),
        ("logistic", {}),
        ("hinge", {}),
    ],
)
def test_best_mixture_in_hindsight_against_a_grid(name, options):
    rng = np.random.default_rng(15)
    loss = losses.get(name, **options)
    y = rng.normal(size=200)
    x = np.column_stack([y + rng.normal(size=200), 2 * y + 1 + rng.normal(size=200)])
    if losses.is_classification(loss):
        y = np.sign(y)
    best = best_convex(loss, x, y)
    grid = np.linspace(0, 1, 4001)
    paid = [sum(losses.value(loss, p, t) for p, t in zip((x @ [w, 1 - w]).tolist(), y.tolist())) / 200 for w in grid[::20]]
    assert best.weights.sum() == pytest.approx(1.0) and (best.weights >= 0).all()
    assert best.loss <= min(paid) + 1e-9
    assert 0 <= best.gap <= 1e-6 * best.loss
    assert best.loss == pytest.approx(min(paid), rel=1e-3)


def test_best_mixture_of_a_long_stream_fixes_signs_and_still_closes_the_gap(monkeypatch):
    rng = np.random.default_rng(18)
    y = rng.standard_cauchy(3000)
    x = y[:, None] + rng.standard_cauchy((3000, 3))
    for name in ("absolute", "epsilon-insensitive"):
        whole = best_convex(losses.get(name), x, y)
        with monkeypatch.context() as patch:
            patch.setattr("burkholder.experts.hindsight.FEW", 300)
            long = best_convex(losses.get(name), x, y)
        assert long.gap <= 1e-9 * long.loss and long.loss == pytest.approx(whole.loss, rel=1e-10)


def test_best_mixture_at_a_corner_and_on_any_scale():
    rng = np.random.default_rng(16)
    y = rng.normal(size=100)
    for name, scale in itertools.product(("absolute", "squared"), (1e-80, 1.0, 1e80)):
        x = np.column_stack([y, y + 1 + rng.random(100)])
        best = best_convex(losses.get(name), scale * x, scale * y)
        assert best.weights[0] == pytest.approx(1.0, abs=1e-6)
