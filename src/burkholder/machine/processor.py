"""Vectors of bytes and words inside compiled loops: what the processor has, and the few operations the parsers need.

Everything is written in LLVM's portable vector code, which any processor runs; where the processor has one instruction
for several of those (AVX-512), that is used. numba's cache is kept per processor, so the choice is made when code is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import config, extending
from numba.core import cgutils

intrinsic: Any = extending.intrinsic  # what it makes exists only inside compiled loops; it has no type here
I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
F64 = ir.DoubleType()
Vector = ir.VectorType


def has(feature: str) -> bool:
    """Whether the processor code is compiled for has this feature, such as avx512bw."""
    settings: Any = config
    if settings.CPU_FEATURES is not None:
        return f"+{feature}" in settings.CPU_FEATURES.split(",")
    if settings.CPU_NAME not in (None, "", "host"):
        return False  # a processor that was only named: portable code
    return bool(llvm.get_host_cpu_features().get(feature, False))


def every(kind: Any, value: int) -> Any:
    """A vector of one number."""
    return ir.Constant(kind, [value] * kind.count)


def picked(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    """The elements of a, then b, with these numbers."""
    return builder.shuffle_vector(a, b, ir.Constant(Vector(I32, len(order)), list(order)))


def gathered(builder: Any, kind: Any, elements: Sequence[Any]) -> Any:
    """A vector of these elements."""
    vector = ir.Constant(kind, ir.Undefined)
    for lane, element in enumerate(elements):
        vector = builder.insert_element(vector, element, I32(lane))
    return vector


def called(builder: Any, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    """One of LLVM's own functions."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def start_of(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of an array's first element."""
    return context.make_array(kind)(context, builder, array).data


def loaded(builder: Any, start: Any, at: Any, kind: Any) -> Any:
    """A value of this kind from element `at` on, at any alignment."""
    return builder.load(builder.bitcast(builder.gep(start, [at]), kind.as_pointer()), align=1, typ=kind)


def stored(builder: Any, value: Any, start: Any, at: Any) -> None:
    """Put a value down from element `at` on."""
    builder.store(value, builder.bitcast(builder.gep(start, [at]), value.type.as_pointer()), align=1)


def joined(builder: Any, digits: Any, base: int) -> Any:
    """Neighbouring numbers a, b as one: base·a + b, twice as wide. For 64 bytes, 32 or 16 words of 16 or 32 bits."""
    bits, count = digits.type.element.width, digits.type.count // 2
    wide = Vector(ir.IntType(2 * bits), count)
    if bits < 32 and has("avx512bw") and bits * 2 * count == 512:
        name = "pmaddubs.w" if bits == 8 else "pmaddw.d"
        factors = ir.Constant(digits.type, [base, 1] * count)
        return called(builder, f"llvm.x86.avx512.{name}.512", wide, [digits, factors])
    both = builder.bitcast(digits, wide)
    first = builder.and_(both, every(wide, (1 << bits) - 1))
    return builder.add(builder.mul(first, every(wide, base)), builder.lshr(both, every(wide, bits)))
