"""Verification by search: it leaves true functions alone, refutes false ones, and says where a function misbehaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from burkholder import functions
from burkholder.cli.verify import verify as command
from burkholder.errors import BadInput, BurkholderError
from burkholder.functions import CATALOGUE, BurkholderFunction
from burkholder.functions.properties import Points, applicable
from burkholder.lab.load import load
from burkholder.lab.mutations import CAPPED, CURVED, Mutant, everything, mutants, within_room
from burkholder.lab.places import Sampler, choose, join, take
from burkholder.lab.search import TOLERANCE, search
from burkholder.lab.verdicts import Report, Status, Verdict, Witness
from burkholder.lab.verify import verify
from burkholder.potentials.spectral import hermitian

QUICK = ("square-function", "adagrad", "adaptive", "parameter-free", "experts", "strongly-convex", "zigzag-3")


def quickly(function: BurkholderFunction | str) -> Report:
    return verify(function, seconds=1.5, points=300_000)


# --- what is true, and what is not ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUICK)
def test_true_functions_are_not_refuted_and_never_proved_by_search(name: str) -> None:
    report = quickly(name)
    assert report.status is Status.NOT_REFUTED, str(report)
    assert not any(verdict.proved for verdict in report.verdicts)
    for verdict in report.verdicts:
        assert verdict.points > 0 and verdict.worst is not None and verdict.worst <= TOLERANCE
    assert {"1", "regret", "streams"} <= {verdict.claim for verdict in report.verdicts}


SHARP = [mutant for name in QUICK for mutant in mutants(name) if abs(mutant.factor / mutant.room.factor - 1.0) < 0.051]


@pytest.mark.parametrize("mutant", SHARP, ids=lambda m: f"{m.name}: {m.constant}")
def test_a_constant_moved_by_five_percent_is_refuted(mutant: Mutant) -> None:
    report = verify(mutant.function, seconds=6.0, dims=CATALOGUE[mutant.name].dims, first=True)
    assert report.status is Status.REFUTED, str(report)


ROOMY = [mutant for name in ("mixture", "mixture-norm", "matrix-tangent", "softmax") for mutant in within_room(name)]


@pytest.mark.parametrize("mutant", ROOMY, ids=lambda m: f"{m.name}: {m.constant}")
def test_a_constant_moved_within_its_room_is_not_refuted(mutant: Mutant) -> None:
    assert mutant.room.why and abs(mutant.factor - 1.0) > 0.05
    report = verify(mutant.function, seconds=3.0, dims=CATALOGUE[mutant.name].dims)
    assert not report.refuted, str(report)


def test_the_rooms_are_where_their_inequalities_end() -> None:
    z = np.linspace(-0.5, 3.0, 100_001)
    assert np.max(z - CURVED.factor * z**2 - np.log1p(z)) == pytest.approx(0.0, abs=1e-12)  # at −½, and at 0
    assert (z[0] - 0.999 * CURVED.factor * z[0] ** 2) > np.log1p(z[0])
    z = np.linspace(-CAPPED.factor / 2, 3.0, 100_001)
    assert np.max(z - z**2 - np.log1p(z)) == pytest.approx(0.0, abs=1e-10)
    past = -1.001 * CAPPED.factor / 2
    assert past - past**2 > np.log1p(past)


@pytest.mark.parametrize("share, refuted", [(1.01, False), (0.95, True)])
def test_the_matrix_tangent_constant_fails_past_its_room(share: float, refuted: bool) -> None:
    """One direction carries a little of e^A and meets −½; another carries the rest, and does not move."""
    (mutant,) = within_room("matrix-tangent", share - 1.0)
    function = functions.get("matrix-tangent", rate=1.0)
    state = list(function.zero(6))
    x, other = np.zeros((2, 3)), np.zeros((2, 3))
    x[0, 0], other[1, 1] = 0.5, 1.0
    state[1] = hermitian(16.0 * other - 12.0 * 2.0 * x)
    scaled = mutant.factor

    def residual(tau: list[np.ndarray]) -> float:
        yhat = function.tangent(tuple(tau), x.reshape(-1))
        after = list(function.advance(tuple(tau), x.reshape(-1), yhat, np.asarray(1.0)))
        after[2] = tau[2] + scaled * (after[2] - tau[2])
        return float(function.value(tuple(after)) - function.value(tuple(tau)))

    assert (residual(state) > 1e-9) is refuted


def test_every_catalogue_entry_has_mutants() -> None:
    assert {mutant.name for mutant in everything()} == set(CATALOGUE)


def test_the_printed_theorem_is_refuted_at_the_start() -> None:
    report = quickly("parameter-free-printed")
    harmonic = sum(1.0 / k for k in range(1, 11))
    assert [verdict.claim for verdict in report.refuted] == ["1"]
    witness = report["1"].witness
    assert witness is not None and witness.residual == pytest.approx(np.exp(harmonic / 2) / np.sqrt(10) - 1)


# --- witnesses ------------------------------------------------------------------------------------------------


class Quadratic(BurkholderFunction):
    """a + (g² − c·s)/2 in plain numpy: balls can evaluate it."""

    name = "quadratic"
    structure = frozenset({"sign-flip"})

    def __init__(self, price: float = 1.0) -> None:
        self.price = price

    def zero(self, dim: int = 1) -> Any:
        return np.zeros(()), np.zeros(dim), np.zeros(())

    def statistic(self, x: Any, yhat: Any, delta: Any) -> Any:
        return delta * yhat, delta[..., None] * x, (x * x).sum(axis=-1)

    def value(self, tau: Any) -> Any:
        return tau[0] + 0.5 * ((tau[1] * tau[1]).sum(axis=-1) - self.price * tau[2])

    def bound(self, w: Any, tau: Any) -> Any:
        return 0.5 * ((w * w).sum(axis=-1) + self.price * tau[2])


def test_a_witness_is_short_certified_and_checks_by_hand() -> None:
    assert quickly(Quadratic()).status is Status.NOT_REFUTED
    broken = quickly(Quadratic(0.95))["3'"]
    assert broken.witness is not None and "ball" in broken.witness.arithmetic
    x = np.asarray(broken.witness.point["x"])
    # E U(τ+T) − U(τ) = ½(1−c)‖x‖², whatever τ
    assert broken.witness.residual == pytest.approx(0.025 * (x * x).sum(), rel=1e-9)
    assert all(len(f"{abs(number):.12g}".strip("0").replace(".", "")) <= 9 for number in x)


def test_a_witness_against_the_catalogue_is_certified_by_its_own_formula() -> None:
    mutant = next(mutant for mutant in mutants("adagrad") if "constant of V" in mutant.constant)
    for verdict in verify(mutant.function, seconds=3.0, dims=(1, 3)).refuted:
        assert verdict.witness is not None and "ball arithmetic" in verdict.witness.arithmetic


def test_a_bound_that_promises_too_much_is_refuted_on_streams_too() -> None:
    class Boast(Quadratic):
        def bound(self, w: Any, tau: Any) -> Any:
            return 0.95 * super().bound(w, tau)

    report = quickly(Boast())
    assert {verdict.claim for verdict in report.refuted} == {"regret", "streams"}
    witness = report["streams"].witness
    assert witness is not None
    x, yhat, delta, w = (np.asarray(witness.point[key]) for key in ("x", "yhat", "delta", "w"))
    g, a, s = delta @ x, delta @ yhat, (x * x).sum()
    assert a - w @ g - 0.475 * (w @ w + s) - (a + 0.5 * (g @ g - s)) == pytest.approx(witness.residual, rel=1e-6)


def test_a_state_in_another_order_is_examined_on_streams_alone() -> None:
    class Turned(Quadratic):
        def zero(self, dim: int = 1) -> Any:
            return super().zero(dim)[::-1]

        def statistic(self, x: Any, yhat: Any, delta: Any) -> Any:
            return super().statistic(x, yhat, delta)[::-1]

        def value(self, tau: Any) -> Any:
            return super().value(tau[::-1])

        def bound(self, w: Any, tau: Any) -> Any:
            return super().bound(w, tau[::-1])

    report = quickly(Turned())
    assert report.status is Status.NOT_REFUTED and report["regret"].status is Status.UNCHECKED
    assert report["streams"].points > 0

    class Boast(Turned):
        def bound(self, w: Any, tau: Any) -> Any:
            return 0.9 * super().bound(w, tau)

    assert [verdict.claim for verdict in quickly(Boast()).refuted] == ["streams"]


def test_convexity_and_the_tangent_are_examined_where_declared() -> None:
    class Concave(Quadratic):
        def value(self, tau: Any) -> Any:
            return tau[0] - 0.5 * (tau[1] * tau[1]).sum(axis=-1)

    assert "convex" in {verdict.claim for verdict in quickly(Concave()).refuted}

    class WrongSlope(Quadratic):
        structure = frozenset({"tangent"})

        def statistic(self, x: Any, yhat: Any, delta: Any) -> Any:
            return delta * yhat, delta[..., None] * x, ((delta[..., None] * x) ** 2).sum(axis=-1)

        def tangent(self, tau: Any, x: Any) -> Any:
            return -0.95 * (tau[1] * x).sum(axis=-1)

    refuted = {verdict.claim for verdict in quickly(WrongSlope()).refuted}
    assert refuted == {"tangent"}  # U itself is right, only the rule is not


def test_a_target_above_u_is_refuted() -> None:
    class Eager(Quadratic):
        def target(self, tau: Any) -> Any:
            return self.value(tau) + 1e-3 * np.sqrt(tau[2])

    assert quickly(Eager())["2"].refuted


def test_rounding_is_not_mistaken_for_a_violation() -> None:
    class Shifted(Quadratic):
        """Right, but computed through numbers 10⁸ times larger than its value."""

        def value(self, tau: Any) -> Any:
            large = 1e8 * (tau[2] + 1.0)
            return (large + super().value(tau)) - large

    assert quickly(Shifted()).status is Status.NOT_REFUTED


# --- bad functions ----------------------------------------------------------------------------------------------


class NaN(Quadratic):
    def value(self, tau: Any) -> Any:
        return np.where(np.abs(tau[1]).sum(axis=-1) > 3.0, np.nan, super().value(tau))


class Shape(Quadratic):
    def value(self, tau: Any) -> Any:
        return np.zeros(7)


class Raises(Quadratic):
    def value(self, tau: Any) -> Any:
        if np.any(np.abs(tau[1]) > 3.0):
            raise ZeroDivisionError("no such state")
        return super().value(tau)


class Statistic(Quadratic):
    def statistic(self, x: Any, yhat: Any, delta: Any) -> Any:
        return delta * yhat, delta[..., None] * x, np.linalg.inv(x)


class Zero(Quadratic):
    def zero(self) -> Any:  # type: ignore[override]
        return np.zeros(()), np.zeros(1), np.zeros(())


class Parts(Quadratic):
    def statistic(self, x: Any, yhat: Any, delta: Any) -> Any:
        return delta * yhat, delta[..., None] * x


@pytest.mark.parametrize(
    "bad, words",
    [
        (Zero(), ["zero of quadratic", "TypeError", "the start"]),
        (Parts(), ["advance of quadratic", "shorter", "tau[1] ="]),
        (Statistic(), ["advance of quadratic", "LinAlgError", "it raised at tau[0] = 0", "x ="]),
        (NaN(), ["value of quadratic", "nan", "tau[1] =", "tau[2] ="]),
        (Shape(), ["shape (7,)", "tau[1] =", "return shape"]),
        (Raises(), ["ZeroDivisionError('no such state')", "it raised at tau[0] =", "tau[1] ="]),
    ],
)
def test_a_misbehaving_function_is_told_at_which_point(bad: BurkholderFunction, words: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        quickly(bad)
    for word in words:
        assert word in str(caught.value)


def test_the_point_named_is_the_one_that_raises() -> None:
    with pytest.raises(BadInput) as caught:
        quickly(Raises())
    text = str(caught.value)
    inside = text[text.index("tau[1] = [") + 10 : text.index("], tau[2]")]
    assert any(abs(float(number)) > 2.99 for number in inside.split(","))


def test_overflow_far_out_is_left_out_and_counted() -> None:
    class Exploding(Quadratic):
        def value(self, tau: Any) -> Any:
            return tau[0] + np.expm1(0.5 * ((tau[1] * tau[1]).sum(axis=-1) - tau[2]))

    report = quickly(Exploding())
    assert any("left out" in note for note in report.notes)


@pytest.mark.parametrize(
    "call",
    [
        lambda: verify("no-such-function"),
        lambda: verify(3),
        lambda: verify("adagrad", seconds=0.0),  # type: ignore[arg-type]
        lambda: verify("adagrad", dims=()),
        lambda: verify("adagrad", dims=(0,)),
    ],
)
def test_bad_arguments_are_refused(call: Any) -> None:
    with pytest.raises(BadInput):
        call()


# --- the search itself ------------------------------------------------------------------------------------------


def test_the_search_climbs_to_a_narrow_maximum() -> None:
    function = functions.SquareFunction()
    sampler = Sampler(function, 1, np.random.default_rng(0))

    def bump(at: Points) -> np.ndarray:  # positive only within 1e-3 of |x| = 3|g|, relative
        x, g = (np.maximum(np.abs(part[:, 0]), 1e-300) for part in (at.x, at.tau[1]))
        return 1e-6 - np.square(np.log(x / (3 * g)))

    assert search(bump, [sampler], 5.0, 200_000).relative > 0.9e-6


def test_moves_stay_in_the_domain() -> None:
    rng = np.random.default_rng(1)
    for name in ("parameter-free", "experts", "experts-second-order", "strongly-convex", "matrix-tangent"):
        function, dim = functions.get(name), CATALOGUE[name].dims[-1]
        sampler = Sampler(function, dim, rng)
        here = sampler.draw(200)
        for size in (1e-3, 0.1, 1.0):
            here = sampler.move(here, np.full(200, size))
            assert np.all(np.abs(here.alpha) <= function.lipschitz)
            for seen, limit in function.sizes(here.x).values():
                assert np.all(seen <= limit * (1 + 1e-12))
            assert np.all(np.isfinite(function.bound(here.w, here.tau)))
        if name == "strongly-convex":
            assert np.linalg.eigvalsh(here.tau[1]).min() > -1e-9 * np.abs(here.tau[1]).max()


def test_batches_join_split_and_choose() -> None:
    sampler = Sampler(functions.get("adagrad"), 3, np.random.default_rng(0))
    a, b = sampler.draw(5), sampler.draw(5)
    both = join([a, b])
    assert np.array_equal(take(both, np.s_[5:]).x, b.x)
    mixed = choose(np.array([True, False] * 2 + [True]), a, b)
    assert np.array_equal(mixed.tau[1][0], a.tau[1][0]) and np.array_equal(mixed.w[1], b.w[1])


# --- verdicts ---------------------------------------------------------------------------------------------------


def test_only_a_refutation_carries_a_witness() -> None:
    with pytest.raises(ValueError):
        Verdict("1", Status.PROVED, "U(0) ≤ 0", witness=Witness({}, 1.0))
    with pytest.raises(ValueError):
        Verdict("1", Status.REFUTED, "U(0) ≤ 0")


def test_a_report_is_refuted_if_anything_is_and_proved_only_if_everything_is() -> None:
    proved, open_ = Verdict("1", Status.PROVED, ""), Verdict("2", Status.NOT_REFUTED, "")
    refuted = Verdict("3", Status.REFUTED, "", witness=Witness({"x": 1.0}, 0.5))
    assert Report("f", (proved,)).status is Status.PROVED
    assert Report("f", (proved, open_)).status is Status.NOT_REFUTED
    assert Report("f", (Verdict("2", Status.PROVED, ""), open_)).status is Status.PROVED  # searched as well
    assert Report("f", (proved, open_, refuted)).status is Status.REFUTED
    assert Report("f", ()).status is Status.UNCHECKED


# --- names, files and the command ---------------------------------------------------------------------------------

SOURCE = """
import numpy as np
from burkholder.functions import PlainFunction

def make(price):
    return PlainFunction(
        "mine",
        zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
        statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
        value=lambda tau: tau[0] + 0.5 * ((tau[1] ** 2).sum(-1) - price * tau[2]),
        structure=["sign-flip"],
    )

right, wrong, number = make(1.0), make(0.9), 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


def test_a_file_of_ones_own_works_like_a_catalogue_name(file: Path) -> None:
    right, wrong = load(f"{file}:right"), load(f"{file}:wrong")
    assert quickly(right).status is Status.NOT_REFUTED
    assert quickly(wrong).status is Status.REFUTED


@pytest.mark.parametrize(
    "name, words",
    [
        ("adagrda", "did you mean 'adagrad'"),
        ("nowhere.py:f", "no file"),
        ("no.such.module:f", "could not be imported"),
        ("{file}:left", "it has: right, wrong"),
        ("{file}:number", "not a BurkholderFunction"),
        ("{file}:make", "name an instance"),
        ("{file}", "file.py:Object"),
    ],
)
def test_names_that_lead_nowhere_say_so(file: Path, name: str, words: str) -> None:
    with pytest.raises(BurkholderError, match=words):
        load(name.format(file=file))


def test_the_command_prints_verdicts_and_json(file: Path) -> None:
    app = typer.Typer()
    app.command()(command)
    runner = CliRunner()
    result = runner.invoke(app, [f"{file}:wrong", "--seconds", "1", "--dims", "1,2", "--json"])
    assert result.exit_code == 0
    answer = json.loads(result.stdout.strip().splitlines()[-1])
    assert answer["status"] == "refuted" and answer["function"] == "mine"
    witness = next(v for v in answer["verdicts"] if v["claim"] == "3'")["witness"]
    assert witness["residual"] > 0 and len(witness["point"]["x"]) in (1, 2)
    text = runner.invoke(app, [f"{file}:right", "--seconds", "1", "--dims", "1"])
    assert text.exit_code == 0 and "not refuted" in text.stdout and "mine" in text.stdout
    assert runner.invoke(app, [f"{file}:wrong", "--seconds", "1", "--dims", "1", "--strict"]).exit_code == 1
    assert isinstance(runner.invoke(app, ["adagrad", "--dims", "one"]).exception, BadInput)


def test_exact_verdicts_come_first() -> None:
    report = verify("smoothness-l4", exact=True, seconds=1.0)
    assert report.verdicts[0].proved and report.status is Status.PROVED
    assert any("no exact proof" in note for note in verify(Quadratic(), exact=True, seconds=0.3).notes)


def test_the_claims_are_those_of_the_core() -> None:
    report = quickly("square-function")
    assert set(applicable(functions.get("square-function"))) <= {verdict.claim for verdict in report.verdicts}
