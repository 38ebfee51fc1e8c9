"""Eight lanes at once: a vector of doubles as a value inside compiled loops.

numba unrolls short loops before it could vectorise them, which costs a factor of three to five here; so the
lanes' arithmetic is written on a small vector type. Only what the lanes need is defined: load, store, the four
operations, comparison by sign, square root, and an exponential.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_untracked
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import lower_builtin, models, register_model
from numba.np.arrayobj import make_array

from burkholder.machine.memory import Place, address

# called with the arguments of the compiled code, which its own type does not know
intrinsic: Any = numba_intrinsic


class Lanes(types.Type):
    """A vector of `width` doubles."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


EIGHT, FOUR = Lanes(8), Lanes(4)


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.DoubleType(), fe_type.width))


def _vector(width: int) -> ir.VectorType:
    return ir.VectorType(ir.DoubleType(), width)


def _pointer(context, builder, array_type, array, indices, width):  # type: ignore[no-untyped-def]
    if isinstance(array_type, Place):
        return builder.bitcast(address(context, builder, array_type, array, indices), _vector(width).as_pointer())
    view = make_array(array_type)(context, builder, value=array)
    shape = cgutils.unpack_tuple(builder, view.shape, array_type.ndim)
    strides = cgutils.unpack_tuple(builder, view.strides, array_type.ndim)
    place = cgutils.get_item_pointer2(context, builder, view.data, shape, strides, array_type.layout, indices, wraparound=False)
    return builder.bitcast(place, _vector(width).as_pointer())


def _load(width: int, dimensions: int) -> Any:
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], list(args[1:]), width)
        value = builder.load(place, align=8)
        return impl_ret_untracked(context, builder, sig.return_type, value)

    def widened(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], list(args[1:]), width)
        singles = builder.bitcast(place, ir.VectorType(ir.FloatType(), width).as_pointer())
        return builder.fpext(builder.load(singles, align=4), _vector(width))

    def chosen(array):  # type: ignore[no-untyped-def]
        return widened if array.dtype == types.float32 else codegen

    if dimensions == 1:

        def typed(typingctx, array, i):  # type: ignore[no-untyped-def]
            return Lanes(width)(array, types.intp), chosen(array)
    else:

        def typed(typingctx, array, i, j):  # type: ignore[no-untyped-def, misc]
            return Lanes(width)(array, types.intp, types.intp), chosen(array)

    return intrinsic(typed)


load8, load4 = _load(8, 1), _load(4, 1)
row8, row4 = _load(8, 2), _load(4, 2)


def _folded(builder, vector, join):  # type: ignore[no-untyped-def]
    """Eight lanes into one number: halves joined with halves, always in the same order."""
    parts = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(8)]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [join(parts[k], parts[k + half]) for k in range(half)]
    return parts[0]


@intrinsic
def least8(typingctx, vector):  # type: ignore[no-untyped-def]
    """The least of the lanes; a NaN may or may not be passed over."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return _folded(builder, args[0], lambda a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))

    return types.float64(vector), codegen


@intrinsic
def store(typingctx, array, i, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], [args[1]], sig.args[2].width)
        builder.store(args[2], place, align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, value), codegen


@intrinsic
def put(typingctx, array, i, j, value):  # type: ignore[no-untyped-def]
    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], [args[1], args[2]], sig.args[3].width)
        builder.store(args[3], place, align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp, value), codegen


@intrinsic
def peek(typingctx, array, i, j):  # type: ignore[no-untyped-def]
    """array[i, j], for a place known not to be negative: the loops look up some hundred of them a row."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], [args[1], args[2]], 8)
        return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer()))

    return types.float64(array, types.intp, types.intp), codegen


@intrinsic
def poke(typingctx, array, i, j, number):  # type: ignore[no-untyped-def]
    """array[i, j] = number, for such a place."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], [args[1], args[2]], 8)
        builder.store(args[3], builder.bitcast(place, ir.DoubleType().as_pointer()))
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp, types.float64), codegen


@intrinsic
def prefetch(typingctx, array, i, j):  # type: ignore[no-untyped-def]
    """Ask for the cache line of array[i, j]: features of a row are scattered, their lines are wanted soon."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        place = _pointer(context, builder, sig.args[0], args[0], [args[1], args[2]], 8)
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(place, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp), codegen


def _spread(width: int) -> Any:
    def typed(typingctx, x):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            vector = ir.Constant(_vector(width), ir.Undefined)
            for k in range(width):
                vector = builder.insert_element(vector, args[0], ir.Constant(ir.IntType(32), k))
            return vector

        return Lanes(width)(types.float64), codegen

    return intrinsic(typed)


all8, all4 = _spread(8), _spread(4)


@intrinsic
def halves(typingctx, first, second):  # type: ignore[no-untyped-def]
    """Four lanes of the first number, four of the second."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        vector = ir.Constant(_vector(8), ir.Undefined)
        for k in range(8):
            vector = builder.insert_element(vector, args[k // 4], ir.Constant(ir.IntType(32), k))
        return vector

    return EIGHT(types.float64, types.float64), codegen


@intrinsic
def fused(typingctx, a, b, c):  # type: ignore[no-untyped-def]
    """a·b + c, in one instruction where there is one. Written out, so that every loop rounds alike."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(args[0].type, [args[0].type] * 3)
        name = f"llvm.fmuladd.v{sig.args[0].width}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return a(a, b, c), codegen


@intrinsic
def any_above(typingctx, a, b):  # type: ignore[no-untyped-def]
    """Whether a > b in any lane."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        width = sig.args[0].width
        mask = builder.bitcast(builder.fcmp_ordered(">", args[0], args[1]), ir.IntType(width))
        return builder.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(width), 0))

    return types.boolean(a, b), codegen


@intrinsic
def size8(typingctx, a):  # type: ignore[no-untyped-def]
    """|a| of every lane."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        width = sig.args[0].width
        kind = ir.FunctionType(args[0].type, [args[0].type])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{width}f64"), args)

    return a(a), codegen


@intrinsic
def lane(typingctx, vector, k):  # type: ignore[no-untyped-def]
    """One number of a vector."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

    return types.float64(vector, types.int64), codegen


@intrinsic
def total8(typingctx, vector):  # type: ignore[no-untyped-def]
    """The sum of the lanes, always in the same order."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return _folded(builder, args[0], builder.fadd)

    return types.float64(vector), codegen


def _operate(symbol: Any, instruction: str) -> None:
    """a ∘ b of two vectors, written down as the one instruction it is."""

    @infer_global(symbol)
    class _Typed(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args, kws):  # type: ignore[no-untyped-def]
            return args[0](*args) if len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1] else None

    @lower_builtin(symbol, Lanes, Lanes)
    def _lowered(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return getattr(builder, instruction)(*args)


for _symbol, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _operate(_symbol, _instruction)


def _chosen_by(condition: str) -> Any:
    def typed(typingctx, a, b):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return builder.select(builder.fcmp_ordered(condition, args[0], args[1]), args[0], args[1])

        return a(a, b), codegen

    return intrinsic(typed)


least, most = _chosen_by("<"), _chosen_by(">")


@intrinsic
def where_positive(typingctx, test, a, b):  # type: ignore[no-untyped-def]
    """a where test > 0, b elsewhere."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        zero = ir.Constant(args[0].type, [0.0] * sig.args[0].width)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], args[2])

    return a(test, a, b), codegen


@intrinsic
def root(typingctx, a):  # type: ignore[no-untyped-def]
    """Square roots."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        kind = ir.FunctionType(args[0].type, [args[0].type])
        name = f"llvm.sqrt.v{sig.args[0].width}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [args[0]])

    return a(a), codegen


@intrinsic
def coarse_log2(typingctx, a):  # type: ignore[no-untyped-def]
    """log₂ of positive numbers to within 0.09: the bits of a double, read as a whole number."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        width = sig.args[0].width
        bits = builder.bitcast(args[0], ir.VectorType(ir.IntType(64), width))
        number = builder.sitofp(bits, args[0].type)
        scaled = builder.fmul(number, ir.Constant(args[0].type, [2.0**-52] * width))
        return builder.fsub(scaled, ir.Constant(args[0].type, [1023.0] * width))

    return a(a), codegen
