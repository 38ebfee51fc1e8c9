"""Whole streams: the same bits however the rows arrive, and nothing changed by a bad one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions.linear import Linear
from burkholder.geometries import Group, Supremum
from burkholder.learning import ledger
from burkholder.learning.rows import Rows
from burkholder.potentials import Adaptive, Anytime, DavisWang, Mixture, SquareRoot
from burkholder.rounds import LinearState

CASES = [
    (SquareRoot(2.0), "coordinates", "gradient", losses.Logistic()),
    (DavisWang(2.0), "coordinates", "square", losses.Absolute()),
    (Mixture(0.5, 12), "coordinates", "gradient", losses.Logistic()),
    (Adaptive(), "l2", "square", losses.Squared()),
    (SquareRoot(2.0), "l3", "gradient", losses.Hinge()),
    (Anytime(), "l2", "count", losses.Huber(0.5)),
    (SquareRoot(1.0), Supremum(30), "square", losses.Pinball(0.9)),
    (Mixture(0.5, 12), "l2", "gradient", losses.EpsilonInsensitive()),
]
FAST, BOUND = CASES[0], 2.0


def build(case) -> Linear:
    return Linear("case", *case[:3], lipschitz=case[3].lipschitz(BOUND), feature_bound=3.0)


def data(rng: np.random.Generator, count: int = 250, dim: int = 30):
    x = rng.standard_normal((count, dim)) * (rng.random((count, dim)) < 0.4)
    x[3] = 0.0
    y = np.where(rng.random(count) < 0.5, 1.0, -1.0)
    return x, y, rng.uniform(0.0, 2.0, count)


def same(left: LinearState, right: LinearState) -> bool:
    ours, theirs = left.arrays(), right.arrays()
    return all(np.array_equal(ours[key], theirs[key]) for key in ours)


def run(state: LinearState, x, y, weight, loss, book) -> np.ndarray:
    rows = sparse.csr_matrix(x)
    return state.run(Rows().compressed(rows.indptr, rows.indices, rows.data), y, weight, loss, BOUND, book)


def run_dense(state, x, y, weight, loss, book):
    return state.run(Rows().table(x), y, weight, loss, BOUND, book)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{type(c[0]).__name__}-{c[1]}-{losses.name(c[3])}")
def test_however_rows_arrive_the_bits_are_the_same(case) -> None:
    x, y, weight = data(np.random.default_rng(1))
    function, loss = build(case), case[3]
    books = [ledger.empty() for _ in range(5)]
    states = [LinearState(function, 30) for _ in range(5)]
    whole = run(states[0], x, y, weight, loss, books[0])
    dense = run_dense(states[1], x, y, weight, loss, books[1])
    cuts = [(0, 1), (1, 90), (90, 90), (90, 250)]
    pieces = [run(states[2], x[a:b], y[a:b], weight[a:b], loss, books[2]) for a, b in cuts]
    singles = []
    for t in range(len(y)):
        j = np.arange(30)  # zeros included: they must not matter
        raw = states[3].play(j, x[t])
        assert raw == states[3].play(j, x[t])
        yhat, delta = ledger.settle(books[3], loss, raw, y[t], weight[t], BOUND, function.lipschitz)
        ledger.measure(books[3], states[3].learn(j, x[t], yhat, delta), 3.0)
        singles.append(yhat)
    if case is FAST:  # other types of index
        rows = sparse.csr_matrix(x)
        long = states[4].run(Rows().compressed(rows.indptr, rows.indices.astype(np.int64), rows.data), y, weight, loss, BOUND, books[4])
        assert np.array_equal(whole, long)
    assert np.array_equal(whole, dense)
    assert np.array_equal(whole, np.concatenate(pieces))
    # Python's and the compiled loop's exp may differ in the last bit, nothing more
    np.testing.assert_allclose(singles, whole, rtol=1e-11, atol=1e-13)
    for state, book in zip(states[1:3], books[1:3], strict=True):
        assert same(state, states[0]) and np.array_equal(book, books[0])
    rest = np.arange(ledger.SLOTS) != ledger.LOSS_LOW  # what rounding left is compared with the sum it belongs to
    np.testing.assert_allclose(books[3][rest], books[0][rest], rtol=1e-12)
    assert ledger.loss_of(books[3]) == pytest.approx(ledger.loss_of(books[0]), rel=1e-14)
    assert books[0][ledger.ROUNDS] == len(y) and books[0][ledger.LARGE] > 0
    assert len(np.unique(whole)) > 100


def entries(draw_size: int):
    value = st.floats(-3, 3, allow_subnormal=False)
    return st.lists(st.tuples(st.integers(0, 9), value), min_size=0, max_size=draw_size)


@settings(max_examples=60, deadline=None)
@given(st.lists(entries(12), min_size=1, max_size=6))
def test_repeated_unsorted_and_zero_entries_mean_their_sum(stream) -> None:
    for case in (FAST, CASES[3]):
        function, loss = build(case), case[3]
        messy, tidy = LinearState(function, 10), LinearState(function, 10)
        books = [ledger.empty(), ledger.empty()]
        indptr = np.cumsum([0] + [len(row) for row in stream])
        flat = [entry for row in stream for entry in row]
        indices = np.array([i for i, _ in flat], np.int32)
        values = np.array([v for _, v in flat], float)
        y = np.ones(len(stream))
        ours = messy.run(Rows().compressed(indptr, indices, values), y, None, loss, BOUND, books[0])
        x = np.zeros((len(stream), 10))
        for t, row in enumerate(stream):
            for i, v in row:
                x[t, i] += v
        theirs = run_dense(tidy, x, y, None, loss, books[1])
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(messy.tau(10)[1], tidy.tau(10)[1], rtol=1e-9, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.permutations(list(range(40))), st.integers(0, 39))
def test_order_and_growth_do_not_matter(order, cut) -> None:
    """Rows of one entry at growing and falling indices, in a state that starts empty."""
    function = build(FAST)
    grown, roomy = LinearState(function), LinearState(function, 5000)
    indices = np.array(order, np.int64) * 127
    values, y, indptr = np.linspace(0.5, 2.0, 40), np.ones(40), np.arange(41)
    books = [ledger.empty(), ledger.empty()]
    ours = [
        grown.run(Rows().compressed(indptr[: b - a + 1], indices[a:b], values[a:b]), y[a:b], None, FAST[3], BOUND, books[0])
        for a, b in ((0, cut), (cut, 40))
    ]
    theirs = roomy.run(Rows().compressed(indptr, indices, values), y, None, FAST[3], BOUND, books[1])
    assert np.array_equal(np.concatenate(ours), theirs)
    assert grown.dim == 39 * 127 + 1 and roomy.dim == 5000
    assert all(np.array_equal(a, b) for a, b in zip(grown.tau(5000), roomy.tau(), strict=True))


def spoil(kind: str, x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> str:
    if kind in ("nan", "inf", "huge"):
        x[-5, 7] = {"nan": np.nan, "inf": -np.inf, "huge": 1e200}[kind]
        return f"x[{len(y) - 5}]"
    if kind == "target":
        y[-5] = np.nan
        return "y["
    weight[-5] = {"negative": -1.0, "steep": 1e290}[kind]
    x[-5, 3] = 1e100
    return "weight"


@pytest.mark.parametrize("kind", ["nan", "inf", "huge", "target", "negative", "steep"])
@pytest.mark.parametrize("count", [8, 250])  # few rows: touched cells are kept; many: all cells
def test_a_bad_row_changes_nothing(kind: str, count: int) -> None:
    for case in (FAST, CASES[3]):
        x, y, weight = data(np.random.default_rng(2), 250)
        function, loss = build(case), case[3]
        state, book = LinearState(function), ledger.empty()
        run(state, x, y, weight, loss, book)
        kept, page = state.copy(), book.copy()
        where = spoil(kind, x, y, weight)
        x, y, weight = x[-count:], y[-count:], weight[-count:]
        where = where.replace("245", str(count - 5))
        with pytest.raises(BadInput) as caught:
            run(state, x, y, weight, loss, book)
        assert where in str(caught.value)
        assert same(state, kept) and np.array_equal(book, page)
        with pytest.raises(BadInput):
            run_dense(state, x, y, weight, loss, book)
        assert same(state, kept) and np.array_equal(book, page)


def test_bad_single_rows_and_arguments_are_refused() -> None:
    state = LinearState(build(FAST))
    state.learn([0, 1], [1.0, 2.0], 0.5, 1.0)
    kept = state.copy()
    for indices, values in [([0], [np.nan]), ([-1], [1.0]), ([2**40], [1.0]), ([1, 1], [9e149, 9e149])]:
        with pytest.raises(BadInput):
            state.play(indices, values)
        with pytest.raises(BadInput):
            state.learn(indices, values, 0.0, 1.0)
    with pytest.raises(BadInput, match="weight"):
        state.learn([0], [1.0], 0.0, 1e200)
    book = ledger.empty()
    with pytest.raises(BadInput, match="indptr"):
        Rows().compressed([0, 2, 1], [0, 1], [1.0, 1.0])
    with pytest.raises(BadInput, match="indices"):
        Rows().compressed([0, 1], np.array([-3], np.int32), [1.0])
    lying = Rows().compressed([0, 1], np.array([-3], np.int32), [1.0], length=5)
    with pytest.raises(BadInput, match="indices"):
        state.run(lying, [1.0], None, FAST[3], BOUND, book)
    with pytest.raises(BadInput, match="geometry"):
        LinearState(Linear("group", SquareRoot(), Group(groups=((0, 1), (2,))), "square"))
    with pytest.raises(BadInput, match="weights"):
        LinearState(build(CASES[1])).weights()
    assert same(state, kept) and not book.any()


@pytest.mark.parametrize("case", [FAST, CASES[2], CASES[3], CASES[4]], ids=lambda c: f"{type(c[0]).__name__}-{c[1]}")
def test_a_restored_state_goes_on_bit_for_bit(case) -> None:
    x, y, weight = data(np.random.default_rng(3))
    function, loss, book = build(case), case[3], ledger.empty()
    state = LinearState(function)
    run(state, x[:100], y[:100], weight[:100], loss, book)
    saved = {key: value.copy() for key, value in state.arrays().items()}
    later = run(state, x[100:], y[100:], weight[100:], loss, book.copy())
    other = LinearState(function)
    other.restore(saved)
    twin = other.copy()
    assert np.array_equal(run(other, x[100:], y[100:], weight[100:], loss, book.copy()), later)
    assert same(other, state) and not same(twin, state)
    with pytest.raises(BadInput):
        other.restore({"cells": saved["cells"][:-1], "scalars": saved["scalars"]})
    with pytest.raises(BadInput):
        other.restore({"cells": saved["cells"].astype(np.float32), "scalars": saved["scalars"]})


def test_a_loss_in_plain_python_runs_the_same_rounds() -> None:
    x, y, weight = data(np.random.default_rng(4), 60)
    own = losses.Custom(lambda p, y: abs(p - y), lambda p, y: float(np.sign(p - y)), 1.0)
    function = Linear("own", SquareRoot(2.0), "coordinates", "gradient")
    for dense in (False, True):
        states, books = [LinearState(function), LinearState(function)], [ledger.empty(), ledger.empty()]
        out = []
        for state, book, loss in zip(states, books, (own, losses.Absolute()), strict=True):
            if dense:
                out.append(run_dense(state, x, y, weight, loss, book))
            else:
                out.append(run(state, x, y, weight, loss, book))
        assert np.array_equal(out[0], out[1])
        np.testing.assert_allclose(books[0], books[1], rtol=1e-14)


WARM = """
import numpy as np
from burkholder import losses
from burkholder.learning import ledger
from burkholder.learning.rows import Rows
from burkholder.functions.linear import Linear
from burkholder.potentials import SquareRoot
from burkholder.rounds import LinearState
from burkholder.rounds import loops as rounds_loops
state = LinearState(Linear("warm", SquareRoot(2.0), "coordinates", "gradient"))
out = state.run(Rows().compressed([0, 1], np.array([1], np.int32), [1.0]), [1.0], None, losses.Logistic(), 2.0, ledger.empty())
state.play([1], [1.0])
loops = [rounds_loops.stream, rounds_loops.one_play]
print(sum(sum(l.stats.cache_hits.values()) for l in loops), sum(sum(l.stats.cache_misses.values()) for l in loops))
"""


def test_the_second_process_starts_warm(tmp_path: Path) -> None:
    """Machine code is found on disk: no loop is compiled twice, in whatever process."""
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "BURKHOLDER_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(source)}

    def counts() -> list[int]:
        done = subprocess.run([sys.executable, "-c", WARM], env=environment, capture_output=True, text=True, check=True)
        return [int(word) for word in done.stdout.split()]

    assert counts() == [0, 2]
    assert counts() == [2, 0]
