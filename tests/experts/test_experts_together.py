"""Rows revealed together: all of a block is predicted before any of it is learned, and Huber-root counts it as one round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder import losses
from burkholder.cli.advice import Advice
from burkholder.cli.forecasts import read_forecasts
from burkholder.experts import Experts

PYTHON = losses.Custom(lambda p, y: abs(p - y), lambda p, y: float(np.sign(p - y)), 1.0)


def same_bits(a, b):
    pairs = zip((*a._state, *a._tally), (*b._state, *b._tally))
    return all(np.array_equal(u, v) for u, v in pairs)


@pytest.mark.parametrize("loss", ["squared", PYTHON], ids=["compiled", "python"])
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_a_block_is_played_and_then_revealed(loss, sizes, trace, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)) % 2, sizes)  # a label may come back: it is another block
    n = len(labels)
    y, weight = rng.normal(size=n), rng.uniform(0, 2, n)
    x = y[:, None] + rng.normal(size=(n, 3))
    x[rng.random((n, 3)) < 0.2] = np.nan
    whole, loop = Experts(loss, method="boa"), Experts(loss, method="boa")
    run = whole.run(x, y, weight, together=labels.tolist(), trace=trace)
    for start, size in zip(np.cumsum([0, *sizes]), sizes):
        tickets = [loop.play(row) for row in x[start : start + size]]
        np.testing.assert_array_equal(run.predictions[start : start + size], [ticket.prediction for ticket in tickets])
        for t, ticket in enumerate(tickets, start):
            loop.reveal(ticket.id, y[t], weight[t])
    assert same_bits(whole, loop)
    late = n - len(sizes)
    assert run.certificate.assumptions[0].violations == late and run.certificate.valid == (late == 0)


def test_blocks_of_one_are_no_blocks():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    alone, ones = Experts("squared"), Experts("squared")
    np.testing.assert_array_equal(alone.run(x, y).predictions, ones.run(x, y, together=1).predictions)
    assert same_bits(alone, ones)
    pairs = Experts("squared").run(x, y, together=2)
    assert (pairs.predictions[1::2] != ones.run(x, y).predictions[1::2]).any()


@pytest.mark.parametrize("together", [0, -3, True, 1.5, ["a"] * 4])
def test_blocks_that_cannot_be_are_refused(together):
    learner = Experts()
    with pytest.raises(ValueError, match="together"):
        learner.run(np.zeros((5, 2)), np.zeros(5), together=together)
    assert learner.rounds == 0 and learner.names == ()


@pytest.mark.parametrize("loss", ["absolute", "squared", PYTHON], ids=["absolute", "squared", "python"])
@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=12), st.integers(0, 2**32 - 1))
def test_blocks_keep_the_mean_of_the_weights_and_the_promise(loss, sizes, seed):
    """U stays 0 up to the root's error whatever the labels; so there is a promise, and the truth is below it."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n = len(labels)
    y = rng.standard_t(1.5, size=n)
    x = y[:, None] * rng.uniform(-1, 2, 4) + rng.normal(size=(n, 4))
    x[rng.random((n, 4)) < 0.2] = np.nan
    x[0] = [0.0, 1.0, 2.0, 3.0]
    learner = Experts(loss)
    certificate = learner.run(x, y, together=labels.tolist(), trace=0).certificate
    assert certificate.valid and certificate.assumptions[0].violations == 0
    assert abs(certificate.potential) <= 1e-9 * n
    for name in certificate.names:
        assert certificate.realised(name) <= certificate.corrected(name) <= certificate.bound(name) < np.inf


def test_a_block_moves_the_weights_once_by_the_sum_over_its_rows():
    """Against the formula, row by row: clip at ±½/m, one product, one share."""
    from burkholder.experts import huber_root

    rng = np.random.default_rng(3)
    state = huber_root.start(3, 1.0, shares=(0.0,))
    first = np.array([0.0, 0.4, 1.0])
    huber_root.update(state, first, huber_root.predict(state, first), 1.0)
    before, h = state.log_w.copy(), float(state.scale[1])
    x = rng.normal(size=(5, 3))
    yhat = np.array([huber_root.predict_among(state, row, 5) for row in x])
    lead = huber_root.lead(state, h, 24, 5)
    delta = np.array([1.0, -1.0, 0.5, 1.0, -0.2])
    for row, played in zip(x, yhat):  # each root balances its own row
        z = np.array([[np.clip(2.0 ** (10 - k) * (played - xj) / h, -0.1, 0.1) for xj in row] for k in range(lead, min(lead + 16, 24))])
        assert abs(np.sum(np.exp(before[lead : lead + 16, 0]) * z)) <= 1e-12
    huber_root.update_together(state, x, yhat, delta)
    start = int(state.window[0])  # the window of rates moves behind what is used
    assert 0 <= start <= lead
    for k in range(lead, min(lead + 16, 24)):
        for j in range(3):
            total = sum(delta[i] * np.clip(2.0 ** (10 - k) * (yhat[i] - x[i, j]) / h, -0.1, 0.1) for i in range(5))
            assert state.log_w[k - start, 0, j] - before[k, 0, j] == pytest.approx(np.log1p(total), rel=1e-9, abs=1e-14)


def test_a_day_at_once_does_not_overreact():
    """Twenty-four rows that share one large error teach as much as one, not twenty-four times as much."""
    rng = np.random.default_rng(5)
    shock = np.repeat(rng.standard_t(2, size=150), 24)
    y = rng.normal(size=3600) + shock
    x = rng.normal(size=(3600, 6)) + np.array([0.0, 0.1, -0.1, 0.2, -0.2, 0.05])
    run = Experts("squared", lanes=False).run(x, y, together=24, trace=0)
    assert run.losses.mean() <= 1.01 * np.mean((x.mean(axis=1) - y) ** 2)


def test_the_command_runs_blocks(tmp_path):
    """--together is run(together=…), row by row the same numbers."""
    from typer.testing import CliRunner

    from burkholder.cli.app import app

    rng = np.random.default_rng(2)
    y = rng.normal(size=40)
    x = y[:, None] + rng.normal(size=(40, 2))
    days = [f"2026-01-{1 + t // 8:02d}" for t in range(40)]
    rows = [f"{day},{label!r},{a!r},{b!r}" for day, label, (a, b) in zip(days, y.tolist(), x.tolist())]
    (tmp_path / "f.csv").write_text("\n".join(["date,y,a,b", *rows]))
    asked = ["experts", str(tmp_path / "f.csv"), "--target", "y", "--together", "date", "--predictions", str(tmp_path / "out.txt")]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    said = np.loadtxt(tmp_path / "out.txt")
    np.testing.assert_allclose(said, Experts("absolute").run(x, y, together=days).predictions, rtol=1e-6)


@pytest.mark.parametrize(("method", "says"), [("huber-root", "promised ≤"), ("boa", "promised nothing (9 of them without labels in time")])
def test_the_command_learns_a_block_whose_labels_are_partly_missing_as_one_round(method, says, tmp_path, capsys):
    """Rows ahead are predicted from what was known before their block; the others are late for nobody."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=14)
    x = np.round(y[:, None] + rng.normal(size=(14, 2)), 6)
    day, ahead = np.repeat([1, 2, 3], [5, 5, 4]), np.isin(np.arange(14), [6, 13])
    lines = [f"{d},{'' if skip else repr(t)},{a!r},{b!r}" for d, skip, t, (a, b) in zip(day, ahead, y.tolist(), x.tolist())]
    (tmp_path / "prices.csv").write_text("\n".join(["day,price,a,b", *lines]) + "\n")
    advice = Advice(read_forecasts(str(tmp_path / "prices.csv"), "price", together="day"), "absolute", method, None, {}, together=True)
    advice.run()
    alone, predictions = Experts("absolute", method=method), np.empty(14)
    for block in (1, 2, 3):
        due, rest = (day == block) & ~ahead, (day == block) & ahead
        if rest.any():
            predictions[rest] = alone.predict_many({"a": x[rest, 0], "b": x[rest, 1]})
        predictions[due] = alone.run({"a": x[due, 0], "b": x[due, 1]}, y[due], together=int(due.sum())).predictions
    np.testing.assert_array_equal(advice.predictions, predictions)
    assert same_bits(advice.learners[""], alone)
    assert (advice.result()["bound"] is None) == (method == "boa")
    advice.show()
    assert says in capsys.readouterr().out
