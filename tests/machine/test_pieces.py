"""What a loop calls is a part of it: compiled with it and nowhere else, and as good as ever for everybody else afterwards."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.compiler import Flags
from numba.core.errors import TypingError
from numba.core.typed_passes import NativeLowering

from burkholder.auto.plan import LOGISTIC, plan_for, steps_for
from burkholder.losses import LOSSES
from burkholder.machine.compiling import compiled, inlined, register_jitable, uncounted
from burkholder.machine.memory import table, told
from burkholder.machine.processor import PLAIN


@uncounted
def total(x):
    """Σx, from the left."""
    found = 0.0
    for k in range(x.size):
        found += x[k]
    return found


@compiled
def doubled(x):
    """2x, in an array of its own."""
    twice = np.zeros(x.size)
    for k in range(x.size):
        twice[k] = 2.0 * x[k]
    return twice


@register_jitable
def refused(x):
    if x.size == 0:
        raise ValueError("nothing to add up")
    return total(x)


@compiled
def loop(x):
    return refused(doubled(x)) + total(x)


X = np.random.default_rng(0).normal(size=101)


def test_a_loop_gives_what_its_parts_give():
    assert loop(X) == loop.py_func(X) == total.py_func(doubled.py_func(X)) + total.py_func(X)


@pytest.mark.skipif(PLAIN, reason="plain numba compiles every function by itself")
def test_parts_are_not_compiled_by_themselves():
    loop(X)
    before = len(doubled.overloads)
    fresh = compiled(lambda x: total(doubled(x)))
    fresh(X)
    assert len(doubled.overloads) == before


def test_a_part_may_be_called_from_python_afterwards():
    loop(X)
    assert total(X) == total.py_func(X)
    assert doubled(X).tolist() == (2.0 * X).tolist()


def test_errors_of_parts_are_raised():
    with pytest.raises(ValueError, match="nothing to add up"):
        loop(np.zeros(0))


def test_others_compile_as_they_did():
    """Functions of numba's that were parts of a loop serve a function that is none of ours."""
    kept = NativeLowering.run_pass, Flags.__eq__, Flags.__hash__
    compiled(lambda x: np.zeros(x.size)[0] + np.linalg.eigvalsh(np.outer(x[:2], x[:2]))[1])(X)
    assert (NativeLowering.run_pass, Flags.__eq__, Flags.__hash__) == kept

    @numba.njit
    def outside(x):
        matrix = np.zeros((2, 2))
        matrix[0, 0] = x[0]
        return np.linalg.eigvalsh(matrix)

    assert outside(np.array([3.0])).tolist() == [0.0, 3.0]


def test_what_fails_to_compile_leaves_nothing_behind():
    kept = NativeLowering.run_pass, Flags.__eq__, Flags.__hash__
    with pytest.raises(numba.TypingError):
        compiled(lambda x: x.nothing_of_the_kind)(X)
    assert (NativeLowering.run_pass, Flags.__eq__, Flags.__hash__) == kept
    assert loop(X) == loop.py_func(X)


def test_others_compile_their_own_meanwhile():
    """Generators, dicts, exceptions, closures and whole arrays of a user, compiled beside and after our loops, are as numba makes them."""

    def ours():
        for factor in range(3):
            loop = compiled(lambda x, factor=factor: refused(x) + total(doubled(x)) * factor)
            found.append(loop(X) == loop.py_func(X))

    def theirs():
        @numba.njit
        def upwards(n):
            for i in range(n):
                yield 2 * i

        @numba.njit
        def whole(n):
            known, total = {}, 0.0
            for i in upwards(n):
                known[i] = i * i
            try:
                if n > 3:
                    raise ValueError("too many")
            except Exception:
                total += 1.0
            for i in known:
                total += known[i]
            return total + np.sort(np.ones(n))[::-1].sum()

        found.append(whole(5) == whole.py_func(5))

    found: list[bool] = []
    threads = [threading.Thread(target=work) for work in (ours, theirs, ours, theirs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    theirs()
    assert len(found) == 9 and all(found)


@pytest.mark.skipif(PLAIN, reason="plain numba compares flags by itself")
def test_flags_compare_as_numba_compares_them():
    from burkholder.machine.pieces import _IN_LOOP

    same, hashed = (ours for _, name, ours in _IN_LOOP if name in ("__eq__", "__hash__"))
    flags = [Flags() for _ in range(4)]
    flags[1].nrt, flags[2].nrt, flags[3].error_model = True, False, "numpy"  # the third: said, but as it would be anyway
    for one in flags:
        assert hashed(one) == hash(one)
        assert [same(one, other) for other in flags] == [one == other for other in flags]
    assert same(flags[0], 1) is NotImplemented


class Switch(NamedTuple):
    """What is known when a loop is compiled, and what is not."""

    mode: int
    pair: tuple[int, int]
    factor: float


class Left(NamedTuple):
    """Of a class that says: mode 1."""


class Right(NamedTuple):
    """Of a class that says: mode 2."""


def _said(kind):
    mode = 1 if kind is Left else 2
    return {"mode": mode, "pair": (mode, 7)}


switch_with = told(Switch, _said)


@inlined
def turned(switch, x):
    if switch.mode == 1:
        first = switch.factor * x
    else:
        first = switch.factor + x.no_number_has_this  # could not be compiled for any x
    regular = switch.pair[1] == 7
    return first if regular and switch.pair[0] == 1 else x.nor_this


@uncounted
def turn(tables, other, x):
    return turned(switch_with(tables, 0, other), x)


@pytest.mark.skipif(PLAIN, reason="plain numba compiles every branch")
def test_what_the_class_of_a_record_rules_out_is_not_compiled():
    tables = table(Switch(1, (1, 7), 3.0))
    assert turn(tables, Left(), 2.0) == 6.0
    with pytest.raises(TypingError):
        turn(tables, Right(), 2.0)


@pytest.mark.parametrize("name", LOSSES)
def test_a_plan_says_of_its_loss_what_the_class_of_the_loss_says(name):
    plan = plan_for(LOSSES[name](), True, False, 4)
    assert {**plan._asdict(), **steps_for(LOSSES[name])} == plan._asdict()
    assert plan.groups == len({*plan.kinds}) and (plan.kinds[0] == LOGISTIC) == LOSSES[name]().classes
