"""Confidence sequences: the supermartingale behind them in exact arithmetic, errors by simulation, and bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burkholder as bk
from burkholder.confidence import boundary, wealth
from burkholder.errors import BadInput
from burkholder.storage import pack, unpack


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, boundary.ATOMS - 1))
def test_no_atom_grows_in_mean(low: float, high: float, p: float, guess: float, k: int) -> None:
    """For every law on two points of [0, 1] (all laws of a given mean are mixtures of such), at every guess."""
    mean = (1 - p) * low + p * high
    rate = float(boundary.RATES[k])
    cost = float(boundary.psi(np.array(rate)))
    with mpmath.workdps(40):
        grown = sum(
            q * mpmath.exp(rate * (mpmath.mpf(x) - mean) - cost * (mpmath.mpf(x) - guess) ** 2) for q, x in ((1 - p, low), (p, high))
        )
        assert grown <= 1 + mpmath.mpf(10) ** -15


@given(st.floats(1e-12, 0.999))
def test_psi_is_never_below_its_formula(z: float) -> None:
    with mpmath.workdps(60):
        exact = -mpmath.log(1 - mpmath.mpf(z)) - mpmath.mpf(z)
        assert abs(mpmath.mpf(float(boundary.psi(np.array(z)))) / exact - 1) < 1e-9


@given(st.floats(0.0, 1e9), st.floats(1e-6, 1e6), st.floats(1.0, 5.0), st.floats(0.001, 0.5))
def test_the_margin_is_where_the_mixture_meets_its_limit(variation: float, first: float, growth: float, alpha: float) -> None:
    spread = first * growth
    V = variation * first**2
    d = float(boundary.margin(np.array(V), np.array(spread), np.array(first), alpha))
    rates = boundary.RATES / first
    alive = rates * spread < 1.0
    masses, rates = boundary.LOG_MASSES[alive], rates[alive]
    costs = boundary.psi(rates * spread) / spread**2 * V

    def log_mixture(at: float) -> float:
        exponents = masses + rates * at - costs
        return float(exponents.max() + math.log(np.exp(exponents - exponents.max()).sum()))

    assert log_mixture(d) >= math.log(2.0 / alpha) >= log_mixture(d * (1 - 1e-6))


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, wealth.ATOMS - 1))
def test_no_bet_grows_in_mean(low: float, high: float, p: float, guess: float, k: int) -> None:
    """The same of the bets behind `Confidence`, on both sides, exactly: two rounds of different laws and guesses."""
    rate, one = Fraction(float(wealth.RATES[k])), Fraction(1)
    laws = [
        ((one - Fraction(p), Fraction(low)), (Fraction(p), Fraction(high))),
        ((one / 3, Fraction(high)), (2 * one / 3, Fraction(guess))),
    ]
    guesses = [Fraction(guess), Fraction(low)]
    mean = sum(q * x for law in laws for q, x in law) / 2
    for way in (1, -1):
        grown, bets = one, [[1 + way * rate * (x - about) for _, x in law] for law, about in zip(laws, guesses)]
        for law, made in zip(laws, bets):
            grown *= sum(q * bet for (q, _), bet in zip(law, made))
        assert min(bet for made in bets for bet in made) > 0
        assert grown <= (1 + way * rate * (mean - sum(guesses) / 2)) ** 2


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60), st.floats(0.001, 0.5))
def test_the_ends_are_where_the_bets_meet_their_limit(values: list[float], alpha: float) -> None:
    """At an end the mixture of that side has reached 2/alpha, evaluated to 50 digits from the values themselves."""
    confidence = bk.Confidence(alpha=alpha)
    for value in values:
        confidence.update(value)
    low, high = confidence.interval()
    with mpmath.workdps(50):
        total, guesses, products = mpmath.mpf(0), mpmath.mpf(0), {way: [mpmath.mpf(1)] * wealth.ATOMS for way in (1, -1)}
        for t, value in enumerate(values):
            guess = (mpmath.mpf(0.5) + total) / (t + 1)
            for way, kept in products.items():
                products[way] = [part * (1 + way * mpmath.mpf(float(rate)) * (value - guess)) for part, rate in zip(kept, wealth.RATES)]
            total, guesses = total + value, guesses + guess
        for way, end, edge in ((1, low, 0.0), (-1, high, 1.0)):
            far = mpmath.mpf(end) - guesses / len(values)
            mixed = sum(
                mpmath.exp(float(mass)) * part / (1 + way * mpmath.mpf(float(rate)) * far) ** len(values)
                for mass, part, rate in zip(wealth.LOG_MASSES, products[way], wealth.RATES)
            )
            assert end == edge or mixed >= 2 / mpmath.mpf(alpha)


def test_masses_are_at_most_one_in_all() -> None:
    for masses in (boundary.LOG_MASSES, wealth.LOG_MASSES):
        assert math.fsum(np.exp(masses)) <= 1.0 < math.fsum(np.exp(masses)) + 1e-9


def test_bets_are_never_wider_than_the_empirical_bernstein_boundary() -> None:
    """With one set of rates and masses they could not be; with those at hand, on what values may look like."""
    rng = np.random.default_rng(4)
    for n in (50, 400):
        for values in (rng.random(n), (rng.random(n) < 0.5) * 1.0, (rng.random(n) < 0.05) * 1.0, rng.beta(9, 3, n)):
            low, high = _ends(values)
            guess = (0.5 + np.concatenate([[0.0], np.cumsum(values)[:-1]])) / np.arange(1, n + 1)
            half = float(boundary.margin(np.sum((values - guess) ** 2), np.array(1.0), np.array(1.0), 0.05)) / n
            assert high - low < min(1.0, values.mean() + half) - max(0.0, values.mean() - half)


def _ends(values: np.ndarray) -> tuple[float, float]:
    run = bk.Confidence().run(values)
    return float(run.low[-1]), float(run.high[-1])


@pytest.mark.parametrize("p", [0.5, 0.05])
def test_errors_stay_below_alpha_at_all_times(p: float) -> None:
    """300 streams watched after every value; three standard deviations above alpha is the most that chance explains."""
    rng = np.random.default_rng(3)
    alpha, streams, n = 0.1, 300, 150
    run = bk.Confidence(alpha=alpha, streams=streams).run((rng.random((n, streams)) < p).astype(float))
    wrong = ((run.low > p) | (run.high < p)).any(axis=0).mean()
    assert wrong <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / streams)
    wrong = 0
    for _ in range(100):
        betting = bk.Betting(alpha=alpha, grid=100)
        betting.run((rng.random(200) < p).astype(float))
        low, high = betting.interval()
        wrong += not low <= p <= high
    assert wrong <= 100 * alpha + 3 * math.sqrt(100 * alpha * (1 - alpha))


@pytest.mark.parametrize("law", ["fair", "rare", "uniform"])
def test_a_cell_falls_only_with_every_candidate_within_it(law: str) -> None:
    """Wealth of candidates between the ends of a cell, played with the stakes of the cell, in exact products."""
    rng, grid, alpha = np.random.default_rng(5), 20, 0.05
    values = {"fair": (rng.random(150) < 0.5) * 1.0, "rare": (rng.random(150) < 0.02) * 1.0, "uniform": rng.random(150)}[law]
    betting = bk.Betting(alpha=alpha, grid=grid)
    within = [Fraction(part) for part in (0, 0.001, 0.5, 0.9, 1)]
    ends = [(Fraction(j / grid), Fraction((j + 1) / grid)) for j in range(grid)]
    candidates = [[a + part * (b - a) for part in within] for a, b in ends]
    wealth = [[[Fraction(1)] * 3 for _ in cell] for cell in candidates]
    fallen = 0
    for t, x in enumerate(values):
        seen = values[:t]
        mean = (0.5 + seen.sum()) / (t + 1)
        running = [(0.5 + values[: i + 1].sum()) / (i + 2) for i in range(t)]
        variance = (0.25 + sum((value - at) ** 2 for value, at in zip(seen, running))) / (t + 1)
        plug = math.sqrt(2 * math.log(2 / alpha) / (variance * (t + 1) * math.log(t + 2)))
        before = tuple(int(end) for end in betting.ends)
        betting.update(float(x))
        first, last = betting.ends
        for j in range(before[0], before[1] + 1):
            a, b = float(ends[j][0]), float(ends[j][1])
            gap = mean - b if mean > b else mean - a if mean < a else 0.0
            kelly = min(max(gap / (variance + gap * gap), -0.5 / (1 - a)), 0.5 / b)
            for m, of in zip(candidates[j], wealth[j]):
                for place, stake in enumerate((kelly, min(plug, 0.5 / b), -min(plug, 0.5 / (1 - a)))):
                    of[place] = (of[place] * (1 + Fraction(stake) * (Fraction(float(x)) - m))).limit_denominator(10**40)
                assert all(math.log(kept) >= log - 1e-9 for kept, log in zip(of, betting.logs[:, j]))
                if not first <= j <= last:
                    assert 0.5 * float(of[0]) + 0.25 * float(of[1]) + 0.25 * float(of[2]) >= 1 / alpha
            fallen += not first <= j <= last
    assert fallen >= grid // 2


def test_widths_are_those_of_theory() -> None:
    """Near √(2V·(ln(2/α) + a few nats))/n: a constant wrong by a tenth would be seen."""
    n, V = 10_000, 2500.0
    half = float(boundary.margin(np.array(V), np.array(1.0), np.array(1.0), 0.05)) / n
    oracle = math.sqrt(2 * V * math.log(40)) / n
    assert 1.3 * oracle < half < 1.5 * oracle


def test_one_by_one_a_run_and_streams_agree() -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(-2, 3, (50, 4))
    values[10, 2] = math.nan
    for constant in (False, True):
        whole = bk.Confidence(-2, 3, streams=4, constant=constant)
        run = whole.run(values)
        loop = bk.Confidence(-2, 3, streams=4, constant=constant)
        single = bk.Confidence(-2, 3, constant=constant)
        for t, row in enumerate(values):
            loop.update(row)
            single.update(row[0])
            low, high = loop.interval()
            assert np.array_equal(low, run.low[t]) and np.array_equal(high, run.high[t])
            assert single.interval() == (low[0], high[0])
        again = unpack(pack(whole))
        again.update(values[0])
        loop.update(values[0])
        assert np.array_equal(again.interval(), loop.interval()) and whole.rounds == 50
    assert (np.diff(run.low, axis=0) >= 0).all() and (np.diff(run.high, axis=0) <= 0).all()


def test_bad_values_change_nothing() -> None:
    confidence, betting, vector = bk.Confidence(0, 2), bk.Betting(0, 2), bk.VectorConfidence(1.0, 2)
    confidence.update(1.5)
    betting.update(1.5)
    before = confidence.state.tobytes(), betting.logs.tobytes()
    for bad in (2.5, -0.1, math.nan, math.inf, "x", None, [1.0]):
        with pytest.raises(BadInput):
            confidence.update(bad)
    for bad in (2.5, math.nan, "x"):
        with pytest.raises(BadInput):
            betting.update(bad)
    for bad in ([1.0, 1.0], [0.0], [math.nan, 0.0], "x"):
        with pytest.raises(BadInput):
            vector.update(bad)
    assert before == (confidence.state.tobytes(), betting.logs.tobytes()) and vector.rounds == 0
    for make in (
        lambda: bk.Confidence(1, 1), lambda: bk.Confidence(alpha=0), lambda: bk.Betting(grid=1), lambda: bk.VectorConfidence(0.0, 2),
        lambda: bk.VectorConfidence(1.0, 2, "coordinates"), lambda: bk.Confidence(streams=(2,) * 5),
    ):  # fmt: skip
        with pytest.raises(BadInput):
            make()


@pytest.mark.parametrize("streams", [(), 3, (0, 2), (2, 1, 2, 1)])
def test_what_saw_nothing_can_be_drawn_and_saved(streams) -> None:
    confidence = bk.Confidence(streams=streams)
    assert len(confidence.run(np.zeros((0, *confidence.state.shape[1:]))).plot().axes) == 1
    assert len(bk.compare([], []).plot().axes) == 1
    again = unpack(pack(confidence))
    assert np.array_equal(again.interval(), confidence.interval())


@pytest.mark.parametrize("geometry", ["l2", "l4"])
def test_balls_contain_the_mean_and_shrink(geometry: str) -> None:
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(60):
        confidence = bk.VectorConfidence(1.0, 3, geometry, alpha=0.1, suited=100)
        for _ in range(300):
            x = rng.normal(size=3)
            confidence.update(0.5 * x / np.linalg.norm(x) + [0.2, 0.0, 0.0])
            mean, size = confidence.ball()
            if float(confidence.geometry.norm(mean - [0.2, 0.0, 0.0])) > size:
                wrong += 1
                break
    assert wrong <= 10 and size < 0.6


# --- which of two is better -------------------------------------------------------------------------------------------
def test_compare_finds_the_better_one_and_never_the_worse() -> None:
    rng = np.random.default_rng(2)
    for name, shift in (("a", 0.0), ("b", 0.0)):
        a, b = rng.random(3000), rng.random(3000)
        a, b = (a * 0.7, b) if name == "a" else (a, b * 0.7 + shift)
        found = bk.compare(a, b, bound=1.0)
        assert found.better == name and found.decided is not None and 0 < found.decided < 3000
        assert found.low[-1] <= float(np.mean(a - b)) <= found.high[-1]
    same = bk.compare(a, a)
    assert same.better is None and same.difference == 0.0
    assert "largest seen" in str(same) and bk.compare([], []).better is None


def test_sizes_that_grow_are_as_good_as_a_bound_from_the_start_but_for_the_unit() -> None:
    rng = np.random.default_rng(5)
    d = rng.uniform(-1, 1, 5000) + 0.2
    small = bk.compare(d, np.zeros(5000), sizes=np.full(5000, 1.2))
    fixed = bk.compare(d, np.zeros(5000), bound=1.2)
    assert np.array_equal(small.low, fixed.low)
    sizes = np.full(5000, 1.2)
    sizes[4000] = 12.0
    grown = bk.compare(d, np.zeros(5000), sizes=sizes)
    assert np.array_equal(grown.low[:4000], fixed.low[:4000]) and grown.low[-1] < fixed.low[-1]


def test_errors_of_comparisons_by_sizes_stay_below_alpha() -> None:
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(300):
        sizes = np.exp(rng.normal(size=300))
        d = sizes * rng.choice([-1.0, 1.0], 300)
        found = bk.compare(np.maximum(d, 0), np.maximum(-d, 0), sizes=sizes, alpha=0.1)
        wrong += bool(((found.low > 0) | (found.high < 0)).any())
    assert wrong <= 30 + 3 * math.sqrt(27)


def test_comparisons_refuse_what_they_cannot_use() -> None:
    for losses_a, losses_b, more in (
        ([1.0], [1.0, 2.0], {}), ([math.nan], [0.0], {}), (["x"], [0.0], {}), ([1.0], [0.0], {"bound": 0.5}), ([1.0], [0.0], {"bound": -1}),
        ([1.0], [0.0], {"sizes": [0.1]}), ([1.0], [0.0], {"sizes": [1.0, 2.0]}), ([1.0], [0.0], {"sizes": [1.0], "bound": 1.0}),
    ):  # fmt: skip
        with pytest.raises(BadInput):
            bk.compare(losses_a, losses_b, **more)


@pytest.mark.parametrize("kind", [bk.Confidence, bk.Betting])
@pytest.mark.parametrize(
    "ends", [(-1e308, 1e308), (0.0, 1.7e308), (0.0, 5e-324), (0.0, 1e-310), (1.0, 1.0), (0.0, math.nan), (-math.inf, 0.0)]
)
def test_ranges_whose_places_are_no_numbers_are_refused(kind, ends) -> None:
    with pytest.raises(BadInput, match="low, high"):
        kind(*ends)
    assert kind(np.float32(0.0), np.int64(2)).interval() == (0.0, 2.0)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_the_ball_has_the_scale_of_its_vectors(scale: float) -> None:
    """Squares of such radii would be 0, or no numbers."""
    plain, scaled = (bk.VectorConfidence(radius, 2) for radius in (1.0, scale))
    for t in range(50):
        vector = np.array([math.cos(t), math.sin(t)]) * 0.99
        plain.update(vector)
        scaled.update(vector * scale)
    assert scaled.ball()[1] == pytest.approx(plain.ball()[1] * scale, rel=1e-9)
    for radius in (0.0, 1e-200, 1e200, math.inf, True):
        with pytest.raises(BadInput, match="radius"):
            bk.VectorConfidence(radius, 2)
