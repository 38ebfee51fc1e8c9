"""The adversary of unpredictable labels against catalogue functions and against learners from outside."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from burkholder.errors import BadInput
from burkholder.functions.registry import CATALOGUE, get
from burkholder.lab.necessary import PROCESSES, tight

PLAYABLE = [name for name, entry in CATALOGUE.items() if not entry.curved]


@pytest.mark.parametrize("name", PLAYABLE)
def test_regret_is_forced_and_stays_below_the_bound(name: str) -> None:
    found = tight(name, rounds=12, paths=48)
    assert found.regret > 0
    assert found.bound is not None and found.ratio is not None
    assert not found.exceeded and found.ratio < 1.1  # the mean over 48 paths may pass 1 by chance, not by much
    assert found.process in PROCESSES


def test_the_sharp_function_is_nearly_tight_and_the_paper_one_is_not() -> None:
    """The stopped walk forces most of 1.3069·√s, hence about 1.3069/2 as much of 2·√s."""
    sharp = tight("square-function", rounds=64, paths=4000, process="stopped-walk")
    paper = tight("square-function-paper", rounds=64, paths=4000, process="stopped-walk")
    assert 0.8 < sharp.ratio < 0.9 and sharp.error < 0.1
    assert paper.ratio == pytest.approx(sharp.ratio * 1.3069297 / 2, rel=0.05)


class Zero:
    """Predicts 0: it loses exactly 1 a round, so its regret is sup⟨w, Σεx⟩ itself."""

    name = "zero"

    def __init__(self) -> None:
        self.rounds = 0

    def predict(self, x: np.ndarray) -> float:
        return 0.0

    def update(self, x: np.ndarray, y: float) -> None:
        self.rounds += 1


def test_a_learner_from_outside_pays_exactly_what_the_martingale_forces() -> None:
    learner, n = Zero(), 9
    found = tight(learner, rounds=n, paths=600, process="constant", radius=2.0, bound=lambda x: 2 * math.sqrt(n))
    exact = sum(math.comb(n, k) * abs(n - 2 * k) for k in range(n + 1)) / 2**n  # features have size 1/radius
    assert found.regret_low <= exact <= found.regret_high
    assert found.regret_high - found.regret_low < 0.2 * exact * 2
    assert found.ratio == pytest.approx(found.regret / (2 * math.sqrt(n)))
    assert learner.rounds == 0  # every path plays a copy


@pytest.mark.parametrize("name", ["square-function", "adagrad", "adaptive", "experts"])
def test_our_learner_object_agrees_with_its_function(name: str) -> None:
    """The same adversary against the learner, round by round, and against its function, all paths at once."""
    from burkholder.learning.learner import Learner

    learner = Learner(name, loss="absolute", bound=1.0)
    dim = CATALOGUE[name].dims[-1]
    one = tight(learner, rounds=10, paths=40, process="signs", dim=dim)
    many = tight(name, rounds=10, paths=2000, process="signs", dim=dim)
    assert one.bound == pytest.approx(many.bound, rel=0.05)
    assert one.regret_low <= many.regret <= one.regret_high
    assert not one.exceeded and learner.rounds == 0 and one.learner == name


def test_a_false_promise_is_exposed() -> None:
    found = tight(Zero(), rounds=16, paths=400, process="constant", bound=lambda x: 0.5 * math.sqrt(len(x)))
    assert found.exceeded and found.ratio > 1


def test_a_plain_callable_with_update_will_do() -> None:
    class Callable:
        def __call__(self, x: np.ndarray) -> float:
            return float(np.clip(x.sum(), -1, 1)) * 0.1

        def update(self, x: np.ndarray, y: float) -> None:
            pass

    found = tight(Callable(), rounds=8, paths=64)
    assert found.bound is None and found.ratio is None and found.regret > 0
    assert "no bound" in str(found)


def test_bad_learners_say_what_is_wrong() -> None:
    class Broken(Zero):
        def predict(self, x: np.ndarray) -> float:
            return float("nan") if self.rounds == 3 else 0.0

    with pytest.raises(BadInput, match="round 3"):
        tight(Broken(), rounds=8, paths=4)
    with pytest.raises(BadInput, match="curved"):
        tight("strongly-convex")
    with pytest.raises(BadInput, match="predict"):
        tight(object())
    with pytest.raises(BadInput, match="process"):
        tight("square-function", process="magic")
    with pytest.raises(BadInput):
        tight("square-function", rounds=0)


def test_features_respect_what_the_function_assumes() -> None:
    """parameter-free assumes ‖x‖ ≤ 1; a function built for smaller features gets smaller ones."""
    function = get("experts", feature_bound=0.25)
    found = tight(function, rounds=8, paths=32, dim=3)
    assert found.regret <= 8 * 0.25 + 1e-9


def test_command(capsys, tmp_path) -> None:
    from burkholder.cli.tight import tight as command

    command("square-function", 16, 32, 1, None, 0, True)
    data = json.loads(capsys.readouterr().out)
    assert {"learner", "regret", "bound", "ratio", "process", "rounds", "paths"} <= set(data)
    assert 0 < data["ratio"] < 1.2
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    def predict(self, x):\n        return 0.0\n    def update(self, x, y):\n        pass\n")
    command(f"{path}:Mine", 8, 16, 1, "constant", 0, False)
    assert "Mine" in capsys.readouterr().out
    with pytest.raises(BadInput, match="nothing could be loaded"):
        command(f"{path}:Yours", 8, 16, 1, None, 0, False)
