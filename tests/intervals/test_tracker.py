"""The coverage promise against adversaries: it holds with no tolerance, and it is no larger than it must be."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burkholder.intervals import tracker


def against(choose, level: float, rounds: int, delay: int = 0) -> tuple[np.ndarray, list[tuple[float, bool]]]:
    """The account after so many rounds in which `choose(q, g)` names the score; labels come `delay` rounds late."""
    account, waiting, path = tracker.empty(), [], []
    for _ in range(rounds + delay):
        g = tracker.surplus(account, level)
        q = tracker.correction(g)
        waiting.append((q, choose(q, g), account[tracker.WEIGHT] + account[tracker.WEIGHT_REST]))
        if len(waiting) > delay:
            q, score, at = waiting.pop(0)
            tracker.settle(account, score, 1.0, 0.0, score <= q, 1.0, at, delay)
            path.append((score, score <= q))
    return account, path


def deviations(path: list[tuple[float, bool]], level: float) -> tuple[Fraction, Fraction]:
    """(how far below, how far above) the coverage is, exactly."""
    exact = Fraction(sum(covered for _, covered in path), len(path)) - Fraction(level)
    return -exact, exact


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("delay", [0, 7])
def test_greedy_adversaries_meet_the_promise_and_come_close(level: float, size: float, delay: int) -> None:
    rounds = 3000
    for sign in (1.0, -1.0):
        reached = tight = 0.0
        # as far as scores go, until the tracker is beyond them: the worst moment is when it gets there
        for stop in (50, 200, 600, rounds):
            account, path = against(lambda q, g, score=sign * size: score, level, stop, delay)
            below, above = deviations(path, level)
            promised = tracker.promise(account, level)
            assert below <= promised.low and above <= promised.high
            reached = max(reached, float(below if sign > 0 else above) * stop)
            tight = (promised.low if sign > 0 else promised.high) * stop
        if delay == 0 and size >= 1.0 and (level if sign > 0 else 1 - level) * rounds > 4 * tight:
            assert reached >= 0.5 * tight


@given(st.data())
def test_no_path_breaks_the_promise(data: st.DataObject) -> None:
    level = data.draw(st.floats(0.01, 0.99))
    delay = data.draw(st.integers(0, 5))
    scores = data.draw(st.lists(st.sampled_from([-50.0, -1.0, -0.1, 0.0, 0.2, 1.0, 3.0, 1e6]), min_size=1, max_size=150))
    chosen = iter([*scores, *[0.0] * delay])
    account, path = against(lambda q, g: next(chosen), level, len(scores), delay)
    below, above = deviations(path, level)
    promised = tracker.promise(account, level)
    assert below <= promised.low and above <= promised.high
    assert tracker.coverage(account) == sum(covered for _, covered in path) / len(path)


def test_switching_between_sides_stays_within_both_promises() -> None:
    """The adversary that aims at one side, then at the other, at the worst moments."""
    for level in (0.1, 0.9):
        state = {"sign": 1.0}

        def choose(q: float, g: float, state: dict[str, float] = state) -> float:
            if abs(q) >= 2.0:
                state["sign"] = -state["sign"]
            return 2.0 * state["sign"]

        account = tracker.empty()
        covered = 0
        for t in range(1, 20_001):
            g = tracker.surplus(account, level)
            q = tracker.correction(g)
            score = choose(q, g)
            at = account[tracker.WEIGHT] + account[tracker.WEIGHT_REST]
            tracker.settle(account, score, 1.0, 0.0, score <= q, 1.0, at, 0)
            covered += score <= q
            promised = tracker.promise(account, level)
            exact = Fraction(covered, t) - Fraction(level)
            assert -promised.low <= exact <= promised.high


def test_reach_is_where_the_correction_meets_the_score() -> None:
    for size in (0.01, 1.0, 1e3, 1e9):
        assert tracker.correction(-tracker.reach(size)) >= size
        assert tracker.correction(-tracker.reach(size) * (1 - 1e-9)) < size
    assert tracker.reach(0.0) == 0.0 and math.isfinite(tracker.reach(tracker.LARGEST))
    assert tracker.correction(-1e9) == tracker.LARGEST and math.isinf(tracker.reach(2.0 * tracker.LARGEST))


def test_scores_beyond_every_correction_void_the_promise() -> None:
    account, _ = against(lambda q, g: 10.0 * tracker.LARGEST, 0.9, 5000)
    assert tracker.coverage(account) == 0.0 and tracker.promise(account, 0.9).low == 0.9


def test_rounds_without_a_width_are_charged() -> None:
    account = tracker.empty()
    for _ in range(10):
        tracker.settle(account, 0.0, 0.0, 0.0, False, 1.0, account[tracker.WEIGHT], 0)
    assert tracker.coverage(account) == 0.0
    assert tracker.promise(account, 0.9).low >= 0.9
