"""Rows revealed together: all of a block is predicted before any of it is learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder import losses
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
    whole, loop = Experts(loss), Experts(loss)
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
