"""Exponentials, logarithms and roots in plain arithmetic, of a number or of every number of a vector.

The mathematics library takes one number at a time, and a call to it empties the registers. These stay inline, and a loop over
them becomes vector code. Each is good to a few units in the last place on the range it names. The same text runs in Python,
where `fused` rounds twice and so may differ in the last place.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from burkholder.machine.llvm import I8, called, every, overloaded, whole_of
from burkholder.machine.operations import elementwise
from burkholder.machine.pieces import register_jitable
from burkholder.machine.processor import has
from burkholder.machine.vectors import fused, least, most, where_positive

WIDEST = 700.0  # e^±700 still fits in a double
_SHIFT = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to a whole number and leaves it in the low bits
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½


# --- the bits of a double ------------------------------------------------------------------------------------
def _power_of_two(b: Any, shifted: Any) -> Any:
    whole = whole_of(shifted.type)
    bits = b.shl(b.bitcast(shifted, whole), every(whole, 52))
    return b.bitcast(b.add(bits, every(whole, 1023 << 52)), shifted.type)


@elementwise(_power_of_two)
def two_to(shifted):
    """2^n of a double that carries the whole number n, added to 1.5·2⁵²."""
    return math.ldexp(1.0, int(shifted - _SHIFT))


def _order_bits(b: Any, x: Any) -> Any:
    whole = whole_of(x.type)
    return b.ashr(b.sub(b.bitcast(x, whole), every(whole, _ROOT_HALF)), every(whole, 52))


def _mantissa(b: Any, x: Any) -> Any:
    whole = whole_of(x.type)
    return b.bitcast(b.sub(b.bitcast(x, whole), b.shl(_order_bits(b, x), every(whole, 52))), x.type)


@elementwise(lambda b, x: b.sitofp(_order_bits(b, x), x.type))
def order(x):
    """The whole number n with x/2^n within [√½, √2), for x > 0 that is not subnormal."""
    mantissa, exponent = math.frexp(x)
    return exponent - 1.0 if mantissa < math.sqrt(0.5) else float(exponent)


@elementwise(_mantissa)
def mantissa(x):
    """x/2^n for the n of `order`."""
    return math.ldexp(x, -int(order(x)))


def _coarse_log2(b: Any, x: Any) -> Any:
    number = b.sitofp(b.bitcast(x, whole_of(x.type)), x.type)
    return b.fsub(b.fmul(number, every(x.type, 2.0**-52)), every(x.type, 1023.0))


@elementwise(_coarse_log2)
def coarse_log2(x):
    """log₂ of positive numbers (not subnormal) to within 0.09: the bits of a double, read as a whole number."""
    mantissa, exponent = math.frexp(x)
    return 2.0 * mantissa + exponent - 2.0


# --- exponentials --------------------------------------------------------------------------------------------
@register_jitable
def _split(x):
    """x = n·ln 2 + r with |r| ≤ ln2/2: (r, n in the low bits)."""
    shifted = fused(x, _LOG2_E, _SHIFT)
    n = shifted - _SHIFT
    return fused(n, -_LN2_LOW, fused(n, -_LN2_HIGH, x)), shifted


@register_jitable
def _expm1_near_0(r):
    """Taylor to degree 13 on |r| ≤ ln2/2 (remainder 4e-18), in pairs so that the chain is short."""
    r2 = r * r
    r4 = r2 * r2
    low = fused(r2, fused(r, 1 / 120, 1 / 24), fused(r, 1 / 6, 1 / 2))
    middle = fused(r2, fused(r, 1 / 362880, 1 / 40320), fused(r, 1 / 5040, 1 / 720))
    high = fused(r2, fused(r, 1 / 6227020800, 1 / 479001600), fused(r, 1 / 39916800, 1 / 3628800))
    return fused(r2, fused(r4, fused(r4, high, middle), low), r)


@register_jitable
def _exp(x):
    """e^x for |x| ≤ 700."""
    r, shifted = _split(x)
    scale = two_to(shifted)
    return fused(scale, _expm1_near_0(r), scale)


@register_jitable
def exp(x):
    """e^x: 0 below e^−700, no more than e^700.

    >>> round(exp(1.0), 14), exp(-1e9)
    (2.71828182845905, 0.0)
    """
    return where_positive(-WIDEST - x, 0.0, exp_up(most(-WIDEST, x)))


@register_jitable
def exp_up(x):
    """e^x for x ≥ −700, no more than e^700."""
    return _exp(least(WIDEST, x))


@register_jitable
def exp_down(x):
    """e^x for x ≤ 700; below e^−700 it stays there."""
    return _exp(most(x, -WIDEST))


@register_jitable
def expm1(x):
    """e^x − 1, with x held within ±700, accurate where it is small."""
    return expm1_up(most(-WIDEST, x))


@register_jitable
def expm1_up(x):
    """e^x − 1 for x ≥ −700, no more than e^700."""
    r, shifted = _split(least(WIDEST, x))
    scale = two_to(shifted)
    return fused(scale, _expm1_near_0(r), scale - 1.0)


@register_jitable
def coarse_exp(x):
    """e^x for x ≤ 700, to within 3e-7 of itself; below e^−700 it stays there."""
    x = most(x, -WIDEST)
    shifted = fused(x, _LOG2_E, _SHIFT)
    r = fused(shifted - _SHIFT, -(_LN2_HIGH + _LN2_LOW), x)
    r2 = r * r
    low = fused(r2, fused(r, 1 / 6, 1 / 2), 1.0 + r)
    high = fused(r2, 1 / 720, fused(r, 1 / 120, 1 / 24))
    return fused(r2 * r2, high, low) * two_to(shifted)


@register_jitable
def sigmoid(x):
    """σ(x) = 1/(1+e^−x).

    >>> sigmoid(0.0), sigmoid(-800.0) < 1e-300
    (0.5, True)
    """
    e = exp(-abs(x))
    return where_positive(x, 1.0, e) / (1.0 + e)


# --- logarithms ----------------------------------------------------------------------------------------------
@register_jitable
def _log(n, f):
    """n·ln 2 + ln(1+f) for 1+f within [√½, √2]: with s = f/(2+f), ln(1+f) = 2·artanh s, whose series in s² is cut by a
    minimax polynomial."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = w * fused(w, fused(w, 0.1531383769920937332, 0.2222219843214978396), 0.3999999999940941908)
    even = fused(w, fused(w, 0.1479819860511658591, 0.1818357216161805012), 0.2857142874366239149)
    even = z * fused(w, even, 0.6666666666666735130)
    half = 0.5 * f * f
    low = fused(s, half + odd + even, n * _LN2_LOW)
    return fused(n, _LN2_HIGH, f - (half - low))


@register_jitable
def log(x):
    """ln x for x > 0 (not subnormal), to within a unit in the last place.

    >>> log(1.0), log(8.0) / log(2.0)
    (0.0, 3.0)
    """
    return _log(order(x), mantissa(x) - 1.0)


@register_jitable
def log1p(x):
    """ln(1 + x) for 0 ≤ x ≤ 1.

    >>> log1p(1.0), log1p(1e-20)
    (0.6931471805599453, 1e-20)
    """
    above = x - 0.41421356237309503  # √2 − 1: beyond it 1 + x is halved
    return _log(where_positive(above, 1.0, 0.0), where_positive(above, 0.5 * x - 0.5, x))


@register_jitable
def softplus(x):
    """ln(1 + e^x).

    >>> softplus(0.0), softplus(800.0)
    (0.6931471805599453, 800.0)
    """
    return most(x, 0.0) + log1p(exp(-abs(x)))


# --- roots ---------------------------------------------------------------------------------------------------
def _inverse_root(b: Any, x: Any) -> Any:
    one, half = every(x.type, 1.0), every(x.type, 0.5)
    if not (isinstance(x.type, ir.VectorType) and has("avx512f", "avx512vl")):
        return b.fdiv(one, overloaded(b, "sqrt", x))
    # to fourteen bits by the instruction of that name, then Newton: y ← y + y/2·(1 − x·y²), which doubles the digits
    root = called(b, f"llvm.x86.avx512.rsqrt14.pd.{64 * x.type.count}", x.type, [x, x, I8(255)])
    for _ in range(2):
        short = overloaded(b, "fmuladd", b.fneg(b.fmul(x, root)), root, one)
        root = overloaded(b, "fmuladd", b.fmul(half, root), short, root)
    return root


@elementwise(_inverse_root)
def inverse_root(x):
    """1/√x for 1e-300 ≤ x ≤ 1e300, to a few units in the last place; division and root are slow instructions."""
    return 1.0 / math.sqrt(x)


def _over_root(b: Any, a: Any, x: Any) -> Any:
    if isinstance(x.type, ir.VectorType):
        return b.fmul(a, _inverse_root(b, x))
    return b.fdiv(a, overloaded(b, "sqrt", x))


@elementwise(_over_root)
def over_root(a, x):
    """a/√x: of numbers by root and division, of vectors by `inverse_root`, with its range and errors."""
    return a / math.sqrt(x)
