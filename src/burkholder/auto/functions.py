"""Exponentials, logarithms and roots of eight numbers at once.

The mathematics library takes one number at a time, and a call to it empties the registers the lanes live in.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils, config

from burkholder.machine.pieces import piece
from burkholder.machine.vectors import all8, fused, intrinsic, least, most, size8, where_positive


def _rough_roots() -> bool:
    """Whether there is an instruction for rough roots: asked of this machine, unless numba compiles for another."""
    if getattr(config, "CPU_NAME", None) or getattr(config, "CPU_FEATURES", None):
        return False
    try:
        host = get_host_cpu_features()
    except RuntimeError:  # LLVM does not know this machine
        return False
    return bool(host.get("avx512f") and host.get("avx512vl"))


ROUGH_ROOTS = _rough_roots()


def _rough(builder: Any, a: Any, width: int) -> Any:
    """1/√a to fourteen bits, by the instruction of that name."""
    suffix = "512" if width == 8 else "256"
    kind = ir.FunctionType(a.type, [a.type, a.type, ir.IntType(8)])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.avx512.rsqrt14.pd.{suffix}")
    return builder.call(function, [a, a, ir.Constant(ir.IntType(8), 255)])


@intrinsic
def inverse_root(typingctx, a):  # type: ignore[no-untyped-def]
    """1/√a for 1e-300 ≤ a ≤ 1e300, to a few units in the last place; division and root are slow instructions."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        x, width = args[0], sig.args[0].width
        one, half = (ir.Constant(x.type, [number] * width) for number in (1.0, 0.5))
        if not ROUGH_ROOTS:
            kind = ir.FunctionType(x.type, [x.type])
            square = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{width}f64")
            return builder.fdiv(one, builder.call(square, [x]))
        fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(x.type, [x.type] * 3), f"llvm.fmuladd.v{width}f64")
        root = _rough(builder, x, width)
        for _ in range(2):  # Newton: y ← y + y/2·(1 − x·y²), which doubles the digits
            short = builder.call(fma, [builder.fneg(builder.fmul(x, root)), root, one])
            root = builder.call(fma, [builder.fmul(half, root), short, root])
        return root

    return a(a), codegen


@intrinsic
def _two_to(typingctx, shifted):  # type: ignore[no-untyped-def]
    """2^n of a double that carries the whole number n in its low bits."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        width = sig.args[0].width
        whole = ir.VectorType(ir.IntType(64), width)
        bits = builder.shl(builder.bitcast(args[0], whole), ir.Constant(whole, [52] * width))
        return builder.bitcast(builder.add(bits, ir.Constant(whole, [1023 << 52] * width)), args[0].type)

    return shifted(shifted), codegen


@intrinsic
def _split(typingctx, x):  # type: ignore[no-untyped-def]
    """(n, m) with x = 2^n·m and m within [√½, √2), for x > 0 that is not subnormal."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        width = sig.args[0].width
        whole = ir.VectorType(ir.IntType(64), width)
        middle = ir.Constant(whole, [0x3FE6A09E667F3BCD] * width)  # √½
        fraction = ir.Constant(whole, [52] * width)
        bits = builder.bitcast(args[0], whole)
        n = builder.ashr(builder.sub(bits, middle), fraction)
        m = builder.bitcast(builder.sub(bits, builder.shl(n, fraction)), args[0].type)
        return context.make_tuple(builder, sig.return_type, [builder.sitofp(n, args[0].type), m])

    return types.UniTuple(x, 2)(x), codegen


_SHIFT = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to a whole number and leaves it in the low bits


@piece
def exp8(x):  # type: ignore[no-untyped-def]
    """e^x for x ≤ 0, to two units in the last place; below e^−700 it stays there."""
    x = most(x, all8(-700.0))
    shifted = fused(x, all8(1.4426950408889634), all8(_SHIFT))
    n = shifted - all8(_SHIFT)
    r = fused(n, all8(-1.90821492927058770002e-10), fused(n, all8(-0.693147180369123816490), x))
    # Taylor to degree 12 on |r| ≤ ln2/2 (remainder 2e-16), in pairs so that the chain is short
    r2 = r * r
    r4 = r2 * r2
    low = fused(r2, fused(r, all8(1 / 6), all8(1 / 2)), all8(1.0) + r)
    middle = fused(r2, fused(r, all8(1 / 5040), all8(1 / 720)), fused(r, all8(1 / 120), all8(1 / 24)))
    high = fused(r2, fused(r, all8(1 / 39916800), all8(1 / 3628800)), fused(r, all8(1 / 362880), all8(1 / 40320)))
    return fused(r4, fused(r4, fused(r4, all8(1 / 479001600), high), middle), low) * _two_to(shifted)


@piece
def coarse_exp8(x):  # type: ignore[no-untyped-def]
    """e^x for x ≤ 0, to within 3e-7 of itself; below e^−700 it stays there."""
    x = most(x, all8(-700.0))
    shifted = fused(x, all8(1.4426950408889634), all8(_SHIFT))
    r = fused(shifted - all8(_SHIFT), all8(-0.6931471805599453), x)
    r2 = r * r
    low = fused(r2, fused(r, all8(1 / 6), all8(1 / 2)), all8(1.0) + r)
    high = fused(r2, all8(1 / 720), fused(r, all8(1 / 120), all8(1 / 24)))
    return fused(r2 * r2, high, low) * _two_to(shifted)


@piece
def sigmoid8(x):  # type: ignore[no-untyped-def]
    """σ(x) = 1/(1+e^−x)."""
    e = exp8(least(x, all8(0.0) - x))
    return where_positive(x, all8(1.0), e) / (all8(1.0) + e)


@piece
def log8(x):  # type: ignore[no-untyped-def]
    """ln x for x > 0 (not subnormal), to within a unit in the last place.

    With s = f/(2+f), f = m − 1: ln m = 2·artanh s, whose series in s² is cut by a minimax polynomial.
    """
    n, m = _split(x)
    f = m - all8(1.0)
    s = f / (all8(2.0) + f)
    z = s * s
    w = z * z
    odd = w * fused(w, fused(w, all8(0.1531383769920937332), all8(0.2222219843214978396)), all8(0.3999999999940941908))
    even = fused(w, fused(w, all8(0.1479819860511658591), all8(0.1818357216161805012)), all8(0.2857142874366239149))
    even = z * fused(w, even, all8(0.6666666666666735130))
    half = all8(0.5) * f * f
    low = fused(s, half + odd + even, n * all8(1.90821492927058770002e-10))
    return fused(n, all8(0.693147180369123816490), f - (half - low))


@piece
def softplus8(x):  # type: ignore[no-untyped-def]
    """ln(1 + e^x)."""
    e = exp8(all8(0.0) - size8(x))
    u = all8(1.0) + e
    # u − 1 is what the sum kept of e: the rest is put back, as ln(1+e) ≈ ln u + (e − (u−1))/u
    return most(x, all8(0.0)) + (log8(u) + (e - (u - all8(1.0))) / u)
