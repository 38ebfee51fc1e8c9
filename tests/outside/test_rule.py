"""A rule that this package has never seen: follow the leader, in one file, gets everything the others have."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

import numpy as np
import pytest

from burkholder.errors import BadInput
from burkholder.experts import METHODS, Experts, Option, Rule, best_mixture, register
from burkholder.experts.options import positive
from burkholder.experts.promises import Polynomial


class Leader(NamedTuple):
    """The regret to each expert, and its square; a head start that fades."""

    regret: np.ndarray
    square: np.ndarray
    head: float


def weights(state, x):
    p, best = np.zeros(x.size), -1
    for j in range(x.size):
        if not math.isnan(x[j]) and (best < 0 or state.regret[j] > state.regret[best]):
            best = j
    if best >= 0:
        p[best] = 1.0
    return p


def predict(state, x):
    p = weights(state, x)
    for j in range(x.size):
        if p[j] > 0.0:
            return x[j]
    return math.nan


def update(state, x, yhat, delta, own, paid):
    for j in range(x.size):
        if not math.isnan(x[j]):
            state.regret[j] += own - paid[j]
            state.square[j] += (own - paid[j]) ** 2


def promise(state, gain):
    return Polynomial(1.0, state.head + state.square, 1e-6, gain)  # a brave promise: certificates must not print it


RULE = Rule(
    "follow the leader",
    Leader,
    lambda columns, limit, head: Leader(np.zeros(columns), np.zeros(columns), head),
    predict,
    update,
    weights,
    per_expert=("regret", "square"),
    options={"head": Option(positive, 1.0)},
    promise=promise,
)


@pytest.fixture
def method():
    yield register(RULE).name
    del METHODS[RULE.name]


def data():
    rng = np.random.default_rng(8)
    y = rng.normal(size=80)
    return y[:, None] + rng.normal(size=(80, 3)) * [1.0, 0.2, 2.0], y


def test_it_predicts_runs_is_saved_and_certified(method):
    x, y = data()
    whole, loop = Experts("absolute", method=method, head=2.0), Experts("absolute", method=RULE, head=2.0)
    run = whole.run(x, y)
    for t in range(40):
        assert loop.predict(x[t]) == run.predictions[t]
        loop.update(x[t], y[t])
    header, arrays = loop.state_dict()
    loop = Experts.from_state(json.loads(json.dumps(header)), arrays)
    loop.run(x[40:], y[40:])
    assert all(np.array_equal(array, loop.state_dict()[1][key]) for key, array in whole.state_dict()[1].items())
    cumulative = np.array([np.sum(np.abs(x[:t] - y[:t, None]), axis=0) for t in range(80)])
    np.testing.assert_array_equal(run.predictions, x[np.arange(80), np.argmin(cumulative, axis=1)])
    certificate = run.certificate
    for j in range(3):
        regret = run.losses.sum() - np.abs(x[:, j] - y).sum()
        assert regret <= certificate.realised(str(j)) <= certificate.corrected(str(j)) <= certificate.bound(str(j))
    assert certificate.bound() > certificate.promise.promised(None)  # what a rule promises is never believed below what was seen
    assert best_mixture(run).loss <= run.mean_loss and "follow the leader" in str(certificate)
    assert whole.weights() == {"0": 0.0, "1": 1.0, "2": 0.0}


def test_experts_may_sleep_and_come_later(method):
    learner = Experts("squared", method=method)
    learner.update({"a": 1.0}, 2.0)
    learner.update({"a": None, "b": 3.0}, 2.0, weight=2.0)
    assert learner.names == ("a", "b") and learner.certificate().rounds == 2


def test_what_does_not_fit_is_refused(method):
    x, y = data()
    learner = Experts("absolute", method=method)
    learner.run(x, y)
    header, arrays = learner.state_dict()
    for wrong in ({"head": -1.0}, {"rate": 0.1}, {"method": "folow the leader"}):
        with pytest.raises(BadInput, match="did you mean" if "method" in wrong else None):
            Experts("absolute", **{"method": method, **wrong})
    with pytest.raises(BadInput):
        register(RULE._replace(record=tuple))
    with pytest.raises(BadInput):
        register(RULE._replace(name="ewa"))
    with pytest.raises(BadInput):
        Experts.from_state({**header, "method": "gone"}, arrays)
