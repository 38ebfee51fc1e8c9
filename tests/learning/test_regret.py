"""Whole streams: U never rises, and regret ≤ realised ≤ corrected, realised ≤ A, for each function × each loss.

Streams are random, real (electricity) and adversarial (random signs against a fixed tree, and labels chosen to make U
as large as possible). The best comparator is solved for in hindsight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from burkholder import losses
from burkholder.functions import CATALOGUE
from burkholder.learning.learner import Learner
from burkholder.losses.batch import values
from burkholder.rounds import LinearState
from hindsight import best

LOSSES = ["absolute", "squared", "huber", "pinball", "epsilon-insensitive", "logistic", "hinge"]
COMPILED = [name for name in CATALOGUE if isinstance(Learner(name, loss="squared", bound=1.0).state, LinearState)]
PAIRS = [(name, loss) for name, entry in CATALOGUE.items() for loss in LOSSES if not entry.curved or loss == "squared"]
EXPECTED = {name for name, entry in CATALOGUE.items() if entry.make().in_expectation}


def _learner(name: str, loss: str, **more: Any) -> Learner:
    # without a bound nothing is clipped; losses that are Lipschitz on a range only need one
    bound = 1.0 if loss not in ("logistic", "hinge") else None
    options = {"quantile": 0.8} if loss == "pinball" else {}
    return Learner(name, loss=loss, bound=bound, **options, **more)


def _admissible(learner: Learner, X: np.ndarray) -> np.ndarray:
    """Features within what the function assumes."""
    ratio = max((float(np.max(seen)) / limit for seen, limit in learner.function.sizes(X).values()), default=0.0)
    return X / max(ratio, 1.0)


def _random(name: str, loss: str, n: int, seed: int = 0) -> tuple[Learner, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    learner = _learner(name, loss)
    d = CATALOGUE[name].dims[-1]
    X = _admissible(learner, rng.standard_normal((n, d)) * rng.choice([0.3, 1.0, 3.0], (n, 1)))
    y = X @ (rng.standard_normal(d) * 0.6) + 0.3 * rng.standard_normal(n)
    return learner, X, (np.where(y >= 0, 1.0, -1.0) if learner.bound == math.inf else np.clip(y, -1, 1))


def _check(learner: Learner, X: np.ndarray, y: np.ndarray, predictions: np.ndarray, potentials: list[float]) -> None:
    certificate = learner.certificate()
    assert certificate.valid, str(certificate)
    loss = learner.loss
    size = 1.0 + float(learner.function.magnitude(learner.state.tau()))
    if not learner.function.in_expectation:
        assert max(potentials) <= certificate.slack + 1e-9 * size
    comparators = [best(learner.function, loss, X, y)]
    rng = np.random.default_rng(1)
    comparators += list(
        0.999 * learner.function.comparators(rng, 4, X.shape[1])
        if certificate.learner[:7] != "experts"
        else learner.function.comparators(rng, 4, X.shape[1])
    )
    paid = float(values(loss, predictions, y).sum())
    for w in comparators:
        regret = paid - float(values(loss, X @ w, y).sum())
        realised, corrected, bound = certificate.realised(w), certificate.corrected(w), certificate.bound(w)
        rounding = 1e-9 * (size + abs(corrected))
        assert regret <= realised + rounding
        assert realised <= corrected + rounding
        if not learner.function.in_expectation:
            assert corrected <= bound + rounding
            assert realised <= bound + rounding


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_random_streams(name, loss):
    learner, X, y = _random(name, loss, 2000 if name in COMPILED else 300)
    if losses.is_classification(learner.loss):
        y = np.where(y >= 0, 1.0, -1.0)
    run = learner.run(X, y, trace=25)
    _check(learner, X, y, run.predictions, run.trace["potential"].tolist())


@pytest.mark.parametrize("name", CATALOGUE)
def test_electricity(name, electricity):
    """Ten thousand real rounds (a thousand where each costs an eigenvalue problem)."""
    entry = CATALOGUE[name]
    loss = "squared" if entry.curved else "logistic"
    n = 10_000 if name in COMPILED else 1000
    d = entry.dims[-1]
    learner = _learner(name, loss)
    X = _admissible(learner, electricity[0][:n, :d] - 0.4)
    y = electricity[1][:n]
    run = learner.run(X, y, trace=50)
    _check(learner, X, y, run.predictions, run.trace["potential"].tolist())


def _adversarial(name: str, n: int, greedy: bool) -> tuple[Learner, np.ndarray, np.ndarray, np.ndarray, list[float]]:
    """`prop:necessary` (y = ±1 by a coin, features from a tree), or the sign of y that leaves U larger."""
    rng = np.random.default_rng(5)
    entry = CATALOGUE[name]
    learner = _learner(name, "squared" if entry.curved else "absolute")
    d = entry.dims[-1]
    X, y, predictions, potentials = np.empty((n, d)), np.empty(n), np.empty(n), []
    walk = 0.0
    for t in range(n):
        # a predictable process: the features depend on the signs so far
        x = np.zeros(d)
        x[int(abs(walk)) % d] = 1.0
        x[(t + 1) % d] += 0.5 * math.cos(walk)
        X[t] = _admissible(learner, x[None])[0]
        predictions[t] = learner.predict(X[t])
        if greedy and t % 3 == 0:
            tau = learner.state.tau() if learner.state.dim else learner.function.zero(d)
            after = [
                float(
                    learner.function.expected(
                        tau, X[t], np.asarray(predictions[t]), np.asarray(losses.derivative(learner.loss, predictions[t], sign))
                    )
                )
                for sign in (-1.0, 1.0)
            ]
            y[t] = -1.0 if after[0] > after[1] else 1.0
        else:
            y[t] = rng.choice([-1.0, 1.0])
        walk += y[t]
        learner.update(X[t], y[t])
        if t % 20 == 0 or t == n - 1:
            potentials.append(learner.potential())
    return learner, X, y, predictions, potentials


@pytest.mark.parametrize("greedy", [False, True], ids=["signs", "greedy"])
@pytest.mark.parametrize("name", CATALOGUE)
def test_adversaries(name, greedy):
    learner, X, y, predictions, potentials = _adversarial(name, 1500 if name in COMPILED else 250, greedy)
    _check(learner, X, y, predictions, potentials)


@pytest.mark.parametrize("name", [n for n in COMPILED if CATALOGUE[n].make().separable or n == "adagrad-norm"])
def test_u_never_rises_round_by_round(name):
    learner, X, y = _random(name, "absolute", 400, seed=3)
    before = 0.0
    for x, label in zip(X, y):
        learner.update(x, label)
        now = learner.potential()
        assert now <= before + 1e-12 * (1 + float(learner.function.magnitude(learner.state.tau())))
        before = now


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_randomised_functions_keep_their_promise_on_average(name):
    """ZigZag: E U(ζ_n) ≤ 0 over its own signs, on one fixed stream."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.clip(X @ [0.4, -0.2, 0.1] + 0.3 * rng.standard_normal(60), -1, 1)
    finals = []
    for seed in range(120):
        learner = Learner(name, loss="absolute", bound=1.0, seed=seed)
        learner.run(X, y, trace=1)
        finals.append(learner.potential())
    # labels do not depend on the signs here, but the derivatives do: E U still may not exceed 0
    assert np.mean(finals) <= 4 * np.std(finals) / math.sqrt(len(finals))


@pytest.mark.slow
@pytest.mark.parametrize("greedy", [False, True], ids=["signs", "greedy"])
@pytest.mark.parametrize("name", CATALOGUE)
def test_adversaries_for_ten_thousand_rounds(name, greedy):
    learner, X, y, predictions, potentials = _adversarial(name, 10_000, greedy)
    _check(learner, X, y, predictions, potentials)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_random_streams_of_ten_thousand_rounds(name, loss):
    learner, X, y = _random(name, loss, 10_000)
    if losses.is_classification(learner.loss):
        y = np.where(y >= 0, 1.0, -1.0)
    run = learner.run(X, y, trace=25)
    _check(learner, X, y, run.predictions, run.trace["potential"].tolist())
