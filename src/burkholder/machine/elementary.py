"""exp, expm1 and log1p in plain arithmetic: a loop over them becomes vector code, and one call stays inline.

Each is good to a few units in the last place on the range it names. The same text runs in Python, where `fma`
rounds twice and so may differ in the last place.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import overload

from burkholder.machine.pieces import UNFINISHED, part

# called with the arguments of the compiled code, which its own type does not know
intrinsic: Any = numba_intrinsic

WIDEST = 700.0  # e^±700 still fits in a double
_SHIFT = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to a whole number and leaves it in the low bits
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10


def fma(a, b, c):  # type: ignore[no-untyped-def]
    """a·b + c; in compiled code one instruction, rounded once, where the processor has it."""
    return a * b + c


@intrinsic
def _fma(typingctx, a, b, c):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.f64"), args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@overload(fma, jit_options=UNFINISHED)
def _compiled_fma(a, b, c):  # type: ignore[no-untyped-def]
    return lambda a, b, c: _fma(a, b, c)


def two_to(shifted):  # type: ignore[no-untyped-def]
    """2^n of a double that carries the whole number n, added to 1.5·2⁵²."""
    return math.ldexp(1.0, int(shifted - _SHIFT))


@intrinsic
def _two_to(typingctx, shifted):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        whole = ir.IntType(64)
        bits = builder.shl(builder.bitcast(args[0], whole), whole(52))
        return builder.bitcast(builder.add(bits, whole(1023 << 52)), ir.DoubleType())

    return types.float64(types.float64), codegen


@overload(two_to, jit_options=UNFINISHED)
def _compiled_two_to(shifted):  # type: ignore[no-untyped-def]
    return lambda shifted: _two_to(shifted)


@part
def _split(x):  # type: ignore[no-untyped-def]
    """x = n·ln 2 + r with |r| ≤ ln2/2: (r, n in the low bits)."""
    shifted = fma(x, _LOG2_E, _SHIFT)
    n = shifted - _SHIFT
    return fma(-n, _LN2_LOW, fma(-n, _LN2_HIGH, x)), shifted


@part
def _expm1_near_0(r):  # type: ignore[no-untyped-def]
    """Taylor to degree 13 on |r| ≤ ln2/2 (remainder 4e-18), in pairs so that the chain is short."""
    r2 = r * r
    r4 = r2 * r2
    low = fma(r2, fma(r, 1 / 120, 1 / 24), fma(r, 1 / 6, 1 / 2))
    middle = fma(r2, fma(r, 1 / 362880, 1 / 40320), fma(r, 1 / 5040, 1 / 720))
    high = fma(r2, fma(r, 1 / 6227020800, 1 / 479001600), fma(r, 1 / 39916800, 1 / 3628800))
    return fma(r2, fma(r4, fma(r4, high, middle), low), r)


@part
def exp(x):  # type: ignore[no-untyped-def]
    """e^x: 0 below e^−700, no more than e^700.

    >>> round(exp(1.0), 14), exp(-1e9)
    (2.71828182845905, 0.0)
    """
    return exp_up(max(x, -WIDEST)) if x >= -WIDEST else 0.0


@part
def expm1(x):  # type: ignore[no-untyped-def]
    """e^x − 1, with x held within ±700, accurate where it is small."""
    return expm1_up(max(x, -WIDEST))


@part
def exp_up(x):  # type: ignore[no-untyped-def]
    """e^x for x ≥ −700, no more than e^700."""
    r, shifted = _split(min(x, WIDEST))
    scale = two_to(shifted)
    return fma(scale, _expm1_near_0(r), scale)


@part
def expm1_up(x):  # type: ignore[no-untyped-def]
    """e^x − 1 for x ≥ −700, no more than e^700."""
    r, shifted = _split(min(x, WIDEST))
    scale = two_to(shifted)
    return fma(scale, _expm1_near_0(r), scale - 1.0)


@part
def log1p(x):  # type: ignore[no-untyped-def]
    """ln(1 + x) for 0 ≤ x ≤ 1: twice the series of artanh at x/(2 + x) ≤ 1/3.

    >>> log1p(1.0), log1p(1e-20)
    (0.6931471805599453, 1e-20)
    """
    t = x / (2.0 + x)
    z = t * t
    z2 = z * z
    z4 = z2 * z2
    first = fma(z2, fma(z, 1 / 9, 1 / 7), fma(z, 1 / 5, 1 / 3))
    second = fma(z2, fma(z, 1 / 17, 1 / 15), fma(z, 1 / 13, 1 / 11))
    third = fma(z2, fma(z, 1 / 25, 1 / 23), fma(z, 1 / 21, 1 / 19))
    fourth = fma(z2, fma(z, 1 / 33, 1 / 31), fma(z, 1 / 29, 1 / 27))
    tail = fma(z4, fma(z4, fma(z4, fourth, third), second), first)
    return 2.0 * fma(t * z, tail, t)
