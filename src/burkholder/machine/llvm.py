"""The words of LLVM that operations are written in.

Pointers are opaque: every load and store names the kind it moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils

from burkholder.machine.places import Place, address, bare

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
F32, F64 = ir.FloatType(), ir.DoubleType()
NOTHING, POINTER = ir.VoidType(), ir.PointerType()
Many = ir.VectorType


class Start(NamedTuple):
    """Where an array's elements begin, and of which kind they are."""

    pointer: Any
    kind: Any


def opaque(builder: Any, pointer: Any) -> Any:
    """The same address without a kind of its own: numba's pointers still have one."""
    same = builder.gep(pointer, [I64(0)], source_etype=I8)
    same.type = POINTER
    return same


def start_of(context: Any, builder: Any, kind: Any, array: Any) -> Start:
    """Where an array begins."""
    if isinstance(kind, Place):
        return Start(opaque(builder, bare(context, builder, kind, array).data), context.get_data_type(kind.dtype))
    data = context.make_array(kind)(context, builder, array).data
    return Start(opaque(builder, data), context.get_data_type(kind.dtype))


def place(builder: Any, start: Start, at: Any) -> Any:
    """The address of element `at` of a contiguous array."""
    return builder.gep(start.pointer, [at], source_etype=start.kind)


def place_of(context: Any, builder: Any, kind: Any, array: Any, indices: Sequence[Any]) -> Any:
    """The address of array[indices], for indices known not to be negative; nothing is checked."""
    if isinstance(kind, Place):
        return opaque(builder, address(context, builder, kind, array, indices))
    view = context.make_array(kind)(context, builder, array)
    shape, strides = (cgutils.unpack_tuple(builder, part, kind.ndim) for part in (view.shape, view.strides))
    found = cgutils.get_item_pointer2(context, builder, view.data, shape, strides, kind.layout, list(indices), wraparound=False)
    return opaque(builder, found)


def loaded(builder: Any, start: Start, at: Any, kind: Any) -> Any:
    """A value of this kind from element `at` on, at any alignment."""
    return builder.load(place(builder, start, at), align=1, typ=kind)


def stored(builder: Any, value: Any, start: Start, at: Any) -> None:
    """Put a value down from element `at` on."""
    builder.store(value, place(builder, start, at), align=1)


def every(kind: Any, value: float) -> Any:
    """A constant of this kind, a vector of one number or the number itself."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def picked(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    """The elements of a, then b, with these numbers."""
    return builder.shuffle_vector(a, b, ir.Constant(Many(I32, len(order)), list(order)))


def gathered(builder: Any, kind: Any, elements: Sequence[Any]) -> Any:
    """A vector of these elements."""
    vector = ir.Constant(kind, ir.Undefined)
    for place, element in enumerate(elements):
        vector = builder.insert_element(vector, element, I32(place))
    return vector


def called(builder: Any, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    """One of LLVM's own functions, or one of the interpreter's."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def overloaded(builder: Any, name: str, *arguments: Any) -> Any:
    """One of LLVM's functions from doubles to a double, on doubles or on vectors of them."""
    kind = arguments[0].type
    suffix = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
    return called(builder, f"llvm.{name}.{suffix}", kind, arguments)


def whole_of(kind: Any) -> Any:
    """The whole numbers with as many bits as these doubles."""
    return Many(I64, kind.count) if isinstance(kind, ir.VectorType) else I64
