"""What a user adds from outside, each in one file, gets everything that ours have; the package is never touched."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import exact
import numpy as np
import pytest

import burkholder as bk
from burkholder import losses
from burkholder.auto import Auto
from burkholder.errors import BadInput, BurkholderError
from burkholder.experts import Experts
from burkholder.functions import CATALOGUE
from burkholder.functions.linear import Linear
from burkholder.losses import batch as loss_batch
from burkholder.losses.dispatch import formulas as loss_formulas
from burkholder.potentials import mixture
from burkholder.potentials.dispatch import formulas
from burkholder.storage import load, pack, save, unpack

HERE = Path(__file__).parent
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3)) * 0.5
Y = np.clip(X @ [0.6, -0.4, 0.2] + 0.2 * RNG.normal(size=40), -1, 1)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 3.0], 40)


@pytest.fixture(scope="module")
def mine() -> Iterator[ModuleType]:
    """The user's file, imported as a user would; its names are taken back afterwards, for the other tests."""
    sys.path.insert(0, os.fspath(HERE))
    try:
        import my_parts
    finally:
        sys.path.remove(os.fspath(HERE))
    losses.LOSSES["quantile-huber"] = my_parts.QuantileHuber
    CATALOGUE.setdefault("fixed-rate", my_parts.Entry("exponential weights at one rate", my_parts.FixedRateFunction))
    exact.EXACT["quantile-huber"] = exactly
    yield my_parts
    del losses.LOSSES["quantile-huber"], CATALOGUE["fixed-rate"], exact.EXACT["quantile-huber"]


def exactly(loss: Any, p: Fraction, y: Fraction) -> Fraction:
    """The new loss in rational numbers."""
    r, k, q = p - y, Fraction(loss.threshold), Fraction(loss.quantile)
    share = 1 - q if r > 0 else q
    return share * (r * r / 2 if abs(r) <= k else k * (abs(r) - k / 2))


def true_of(learner: Any, predictions: Any, comparators: Any, rows: Any = X) -> None:
    """regret ≤ realised ≤ corrected ≤ bound against each of them, in exact arithmetic."""
    certificate = learner.certificate()
    rounds = list(zip(rows, predictions, Y, WEIGHTS))
    for w in comparators:
        exact.in_order(exact.regret(learner.loss, rounds, w), certificate, w=w)


BALL = [np.zeros(3), np.array([0.6, -0.4, 0.2]), np.array([-0.3, 0.9, 0.1]), np.array([0.0, 0.0, -1.0])]


@pytest.mark.parametrize("name", ["adagrad", "square-function", "adaptive-mahalanobis"])
def test_a_new_loss_is_learned_saved_and_certified(mine: Any, name: str) -> None:
    whole, loop = (bk.Learner(name, loss="quantile-huber", quantile=0.8, bound=1.0) for _ in range(2))
    assert whole.loss == mine.QuantileHuber(0.8)
    run = whole.run(X, Y, WEIGHTS)
    for t in range(20):
        assert loop.predict(X[t]) == run.predictions[t]
        loop.update(X[t], Y[t], WEIGHTS[t])
    loop = pickle.loads(pickle.dumps(unpack(pack(loop))))
    assert loop.run(X[20:], Y[20:], WEIGHTS[20:]).predictions.tolist() == run.predictions[20:].tolist()
    assert np.array_equal(whole.ledger, loop.ledger) and loop.loss == whole.loss
    assert run.losses.tolist() == [losses.value(whole.loss, p, y) for p, y in zip(run.predictions.tolist(), Y.tolist())]
    true_of(whole, run.predictions, BALL)
    assert "quantile-huber" in str(run.certificate)


def test_auto_takes_a_new_loss(mine: Any) -> None:
    record = mine.QuantileHuber(0.8, 0.3)
    whole, loop = Auto("quantile-huber", quantile=0.8, threshold=0.3), Auto(record)
    run = whole.run(X, Y, WEIGHTS)
    for t in range(20):
        assert loop.predict(X[t]) == run.predictions[t]
        loop.update(X[t], Y[t], WEIGHTS[t])
    loop = Auto.from_state(*loop.state_dict())
    assert loop.run(X[20:], Y[20:], WEIGHTS[20:]).predictions.tolist() == run.predictions[20:].tolist()
    certificate = run.certificate
    # x̂: each feature over its running maximum
    heights = np.maximum.accumulate(np.abs(X), axis=0)
    hats = [[Fraction(1), *(Fraction(a) / Fraction(b) for a, b in zip(x, h))] for x, h in zip(X.tolist(), heights.tolist())]
    assert certificate.realised() < math.inf
    for u in ([0.0] * 4, [0.1, 0.5, -0.3, 0.2], [0.0, 1.0, 0.0, -1.0]):
        regret = Fraction(0)
        for hat, p, y, w in zip(hats, run.predictions.tolist(), Y.tolist(), WEIGHTS.tolist()):
            at = sum((Fraction(a) * b for a, b in zip(u, hat)), Fraction(0))
            regret += Fraction(w) * (exactly(record, Fraction(p), Fraction(y)) - exactly(record, at, Fraction(y)))
        exact.in_order(regret, certificate, w=u)
    # scales do not matter: labels and predictions a thousand times as large, the loss a million times
    large = Auto("quantile-huber", quantile=0.8, threshold=300.0).run(X, 1000.0 * Y, WEIGHTS)
    np.testing.assert_allclose(large.predictions, 1000.0 * run.predictions, rtol=1e-9, atol=1e-9)
    assert large.mean_loss == pytest.approx(1e6 * run.mean_loss, rel=1e-9)


def test_auto_refuses_a_loss_whose_rounding_it_could_not_charge() -> None:
    @loss_formulas(lambda loss, yhat, y: (yhat - y) ** 4, lambda loss, yhat, y: 4.0 * (yhat - y) ** 3, "fourth", degree=4)
    class Fourth(NamedTuple):
        def lipschitz(self, bound: float) -> float:
            return 32.0 * bound**3

    try:
        with pytest.raises(BadInput, match="bounded"):
            Auto("fourth")
    finally:
        del losses.LOSSES["fourth"]


def test_experts_and_audits_take_a_new_loss(mine: Any) -> None:
    experts = Experts("quantile-huber", quantile=0.8)
    run = experts.run(X, Y, WEIGHTS)
    assert unpack(pack(experts)).predict(X[0]) == experts.predict(X[0])
    for j in range(3):
        single = exact.regret(experts.loss, list(zip(X, run.predictions, Y, WEIGHTS)), np.eye(3)[j])
        exact.in_order(single, run.certificate, w=str(j))
    audit = bk.Audit("quantile-huber", quantile=0.8)
    audit.run(X, run.predictions, Y, WEIGHTS)
    for w in BALL:
        exact.in_order(exact.regret(audit.loss, list(zip(X, run.predictions, Y, WEIGHTS)), w), unpack(pack(audit)).certificate(), w=w)


def test_a_file_that_names_an_unknown_loss_is_refused(mine: Any, tmp_path: Path) -> None:
    save(bk.Learner("adagrad", loss="quantile-huber", bound=1.0), tmp_path / "mine.bk")
    assert load(tmp_path / "mine.bk").loss == mine.QuantileHuber()
    kept = losses.LOSSES.pop("quantile-huber")
    try:
        with pytest.raises(BurkholderError, match="quantile-huber"):
            load(tmp_path / "mine.bk")
    finally:
        losses.LOSSES["quantile-huber"] = kept


@pytest.mark.parametrize("geometry", ["l2", "coordinates", "l4"])
def test_a_new_potential_learns_is_saved_and_keeps_its_word(mine: Any, geometry: str) -> None:
    options = {"geometry": geometry, "rate": 0.2}
    whole, loop = (bk.Learner("fixed-rate", loss="absolute", **options) for _ in range(2))
    run = whole.run(X, Y, WEIGHTS)
    for t in range(20):
        assert loop.predict(X[t]) == run.predictions[t]
        loop.update(X[t], Y[t], WEIGHTS[t])
    loop = unpack(pack(loop))
    assert loop.run(X[20:], Y[20:], WEIGHTS[20:]).predictions.tolist() == run.predictions[20:].tolist()
    true_of(whole, run.predictions, BALL)
    # the compiled rounds play what the mathematics says
    f = whole.function
    tau = f.zero(3)
    for t in range(40):
        yhat = float(f.sign_flip(tau, X[t]))
        assert run.predictions[t] == pytest.approx(yhat, rel=1e-9, abs=1e-12)
        tau = f.advance(tau, X[t], yhat, WEIGHTS[t] * np.sign(yhat - Y[t]))
    plain = bk.Learner("fixed-rate", loss="absolute", **options)
    assert plain.run(X, Y).certificate.valid and plain.certificate().bound() < math.inf


def test_verification_examines_a_new_function(mine: Any) -> None:
    assert bk.verify("fixed-rate", seconds=3.0).status.value == "not refuted"

    class Greedy(mine.FixedRateFunction):
        def value(self, tau: Any) -> Any:
            return super().value((*tau[:2], 0.8 * tau[2]))

    assert bk.verify(Greedy(), seconds=3.0).status.value == "refuted"


def test_a_new_potential_that_remembers_is_played_by_its_own_slope() -> None:
    """Half of the mixture, without an atom's formula: the rounds may not take it for the mixture."""

    @formulas(
        lambda p, g, s, top, dead: 0.5 * mixture_value(p, g, s, top, dead),
        None,
        lambda p, g, s, top, dead: 0.5 * mixture_slope(p, g, s, top, dead),
    )
    class Half(NamedTuple):
        scale: float = 1.0
        atoms: int = 24
        flat: float = 1.0
        rise: float = 0.0
        bend: float = 0.0

        def bound(self, u: Any, s: Any, top: Any = 0.0, dead: Any = 0.0) -> np.ndarray:
            return mixture.Mixture(0.5 * self.scale, *self[1:]).bound(u, s, top, dead)

    for geometry, curve in (("coordinates", mixture.SHARP), ("l2", ())):
        half = bk.Learner(Linear("half", Half(1.0, 24, *curve), geometry, "gradient"), loss="absolute")
        known = bk.Learner("mixture", loss="absolute", geometry=geometry, scale=0.5)
        one, other = half.run(X, Y, WEIGHTS), known.run(X, Y, WEIGHTS)
        np.testing.assert_allclose(one.predictions, other.predictions, rtol=1e-9, atol=1e-15)
        assert one.certificate.bound([0.5, 0.1, 0.0]) == pytest.approx(other.certificate.bound([0.5, 0.1, 0.0]), rel=1e-9)


mixture_value, mixture_slope = mixture._value, mixture._slope


def test_the_command_line_knows_them_once_they_are_imported(mine: Any, tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    lines = [",".join(map(str, (*x, y))) for x, y in zip(X.tolist(), Y.tolist())]
    table.write_text("\n".join(["a,b,c,target", *lines]) + "\n")
    begin = f"import sys; sys.path.insert(0, {os.fspath(HERE)!r}); import my_parts; from burkholder.cli import main; main()"
    asked = [table, "--target", "target", "--loss", "quantile-huber", "--learner", "fixed-rate", "--option", "quantile=0.8"]
    saved = ["--option", "bound=1.0", "--save", tmp_path / "mine.bk", "--json", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    out = subprocess.run(
        [sys.executable, "-c", begin, "learn", *map(str, asked + saved)], env=environment, capture_output=True, text=True, check=False
    )
    assert out.returncode == 0, out.stderr
    told = json.loads(out.stdout.splitlines()[-1])
    assert told["loss"] == "quantile-huber" and told["rounds"] == 40
    learner = bk.Learner("fixed-rate", loss="quantile-huber", quantile=0.8, bound=1.0, intercept=True)
    rows = [dict(zip("abc", x)) for x in X.tolist()]
    run = learner.run(rows, Y)
    assert told["mean_loss"] == pytest.approx(run.mean_loss, rel=1e-12)
    assert load(tmp_path / "mine.bk").predict(rows[0]) == pytest.approx(learner.predict(rows[0]), rel=1e-12)


def test_values_over_arrays_are_those_of_the_formula(mine: Any) -> None:
    record = mine.QuantileHuber(0.8)
    yhat, y = RNG.normal(size=200), RNG.normal(size=200)
    near = [float(exactly(record, Fraction(p), Fraction(t))) for p, t in zip(yhat.tolist(), y.tolist())]
    np.testing.assert_allclose(loss_batch.values(record, yhat, y), near, rtol=1e-14)
