"""Several doubles as one value inside compiled loops.

numba unrolls short loops before it could vectorise them, which costs a factor of three to five where a model has eight
variants side by side; so vectors are a type of their own. They have the four operations, comparison by sign, `abs`, `min`,
`max`, `math.sqrt` and `math.copysign`, and take numbers for vectors of one number: a formula written for numbers is one for vectors.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite.ir import IntType
from numba import types

from burkholder.machine.llvm import F32, I32, Many, every, gathered, overloaded, place_of
from burkholder.machine.operations import EIGHT, FOUR, apply, elementwise, machine_code, numbers, vector

WIDTH = 8  # of the wider vectors: rows are filled up with zeros to a multiple of this


# --- arithmetic ----------------------------------------------------------------------------------------------
def _least(b: Any, x: Any, y: Any) -> Any:
    return b.select(b.fcmp_ordered("<", x, y), x, y)


def _most(b: Any, x: Any, y: Any) -> Any:
    return b.select(b.fcmp_ordered(">", x, y), x, y)


apply(operator.add, lambda b, x, y: b.fadd(x, y))
apply(operator.sub, lambda b, x, y: b.fsub(x, y))
apply(operator.mul, lambda b, x, y: b.fmul(x, y))
apply(operator.truediv, lambda b, x, y: b.fdiv(x, y))
apply(operator.neg, lambda b, x: b.fneg(x))
apply(abs, lambda b, x: overloaded(b, "fabs", x))
apply(math.sqrt, lambda b, x: overloaded(b, "sqrt", x))
apply(math.copysign, lambda b, x, y: overloaded(b, "copysign", x, y))
apply(min, lambda b, x, y: _least(b, y, x))  # of equals, and beside a NaN, the first, as Python has it
apply(max, lambda b, x, y: _most(b, y, x))


@elementwise(lambda b, x, y, z: overloaded(b, "fmuladd", x, y, z))
def fused(a, b, c):
    """a·b + c, in one instruction, rounded once, where the processor has it; in Python rounded twice."""
    return a * b + c


@elementwise(_least)
def least(a, b):
    """The lesser of two; b where one is a NaN."""
    return a if a < b else b


@elementwise(_most)
def most(a, b):
    """The greater of two; b where one is a NaN."""
    return a if a > b else b


@elementwise(lambda b, test, x, y: b.select(b.fcmp_ordered(">", test, every(test.type, 0.0)), x, y))
def where_positive(test, a, b):
    """a where test > 0, b elsewhere."""
    return a if test > 0.0 else b


def _any_above(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    width = signature.args[0].width
    mask = b.bitcast(b.fcmp_ordered(">", *arguments), IntType(width))
    return b.icmp_unsigned("!=", mask, mask.type(0))


@machine_code(lambda a, b: types.boolean(a, b), _any_above)
def any_above(a, b):
    """Whether a > b for any element."""
    found = False
    for x, y in zip(numbers(a), numbers(b)):
        found |= x > y
    return found


# --- numbers into vectors and back ---------------------------------------------------------------------------
def _spread(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    kind = context.get_value_type(signature.return_type)
    return gathered(b, kind, [arguments[k * len(arguments) // kind.count] for k in range(kind.count)])


@machine_code(lambda x: EIGHT(types.float64), _spread)
def all8(x):
    """Eight times one number."""
    return vector((x, x, x, x, x, x, x, x))


@machine_code(lambda x: FOUR(types.float64), _spread)
def all4(x):
    """Four times one number."""
    return vector((x, x, x, x))


@machine_code(lambda a, b: EIGHT(types.float64, types.float64), _spread)
def halves(first, second):
    """Four times the first number, four times the second."""
    return vector((first, first, first, first, second, second, second, second))


def _element(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    return b.extract_element(arguments[0], b.trunc(arguments[1], I32))


@machine_code(lambda whole, k: types.float64(whole, types.int64), _element)
def element(whole, k):
    """One number of a vector."""
    return numbers(whole)[k]


def _folded(join: Any) -> Any:
    """Eight numbers into one: halves joined with halves, always in the same order."""

    def code(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
        parts = [b.extract_element(arguments[0], I32(k)) for k in range(8)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [join(b, parts[k], parts[k + half]) for k in range(half)]
        return parts[0]

    return code


@machine_code(lambda whole: types.float64(whole), _folded(lambda b, x, y: b.fadd(x, y)))
def total8(whole):
    """The sum of eight numbers, always in the same order."""
    a = numbers(whole)
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))


@machine_code(lambda whole: types.float64(whole), _folded(_least))
def least8(whole):
    """The least of eight numbers; a NaN may or may not be passed over."""
    a = numbers(whole)
    return least(least(least(a[0], a[4]), least(a[2], a[6])), least(least(a[1], a[5]), least(a[3], a[7])))


# --- memory --------------------------------------------------------------------------------------------------
def _load(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    array, kind = signature.args[0], context.get_value_type(signature.return_type)
    where = place_of(context, b, array, arguments[0], arguments[1:])
    if array.dtype != types.float32:
        return b.load(where, align=8, typ=kind)
    single = Many(F32, kind.count) if isinstance(kind, Many) else F32
    return b.fpext(b.load(where, align=4, typ=single), kind)


def _store(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    where = place_of(context, b, signature.args[0], arguments[0], arguments[1:-1])
    b.store(arguments[-1], where, align=8)
    return context.get_dummy_value()


def _from(result: Any) -> Any:
    return lambda array, *indices: result(array, *[types.intp] * len(indices))


@machine_code(_from(EIGHT), _load)
def load8(array, i):
    """array[i : i+8]; no place is checked, here or below."""
    return vector((
        array[i], array[i + 1], array[i + 2], array[i + 3],
        array[i + 4], array[i + 5], array[i + 6], array[i + 7],
    ))  # fmt: skip


@machine_code(_from(FOUR), _load)
def load4(array, i):
    """array[i : i+4]."""
    return vector((array[i], array[i + 1], array[i + 2], array[i + 3]))


@machine_code(_from(EIGHT), _load)
def row8(array, i, j):
    """array[i, j : j+8]."""
    return load8(array[i], j)


@machine_code(_from(FOUR), _load)
def row4(array, i, j):
    """array[i, j : j+4]."""
    return load4(array[i], j)


@machine_code(lambda array, i, value: types.none(array, types.intp, value), _store)
def store(array, i, value):
    """Write a vector from array[i] on."""
    content = numbers(value)
    for k in range(len(content)):
        array[i + k] = content[k]


@machine_code(lambda array, i, j, value: types.none(array, types.intp, types.intp, value), _store)
def put(array, i, j, value):
    """Write a vector from array[i, j] on."""
    content = numbers(value)
    for k in range(len(content)):
        array[i, j + k] = content[k]


@machine_code(_from(types.float64), _load)
def peek(array, i, j):
    """array[i, j], for a place known not to be negative: the loops look up some hundred of them a row."""
    return array[i, j]


@machine_code(lambda array, i, j, number: types.none(array, types.intp, types.intp, types.float64), _store)
def poke(array, i, j, number):
    """array[i, j] = number, for such a place."""
    array[i, j] = number
