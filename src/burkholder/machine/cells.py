"""Cells of eight scattered entries as a vector, and back: what a sparse round reads and writes."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.np.arrayobj import make_array

from burkholder.machine.vectors import EIGHT, _vector, intrinsic


def _places(context, builder, sig, args):  # type: ignore[no-untyped-def]
    """Pointers to cells[step·indices[k + j] + offset] for the eight lanes j; no index is checked."""
    cells = make_array(sig.args[0])(context, builder, value=args[0])
    indices = make_array(sig.args[1])(context, builder, value=args[1])
    whole = ir.IntType(64)
    for j in range(8):
        index = builder.load(builder.gep(indices.data, [builder.add(args[2], whole(j))]))
        wide = index if index.type == whole else builder.zext(index, whole)
        yield builder.gep(cells.data, [builder.add(builder.mul(wide, args[3]), args[4])])


@intrinsic
def gather8(typingctx, cells, indices, k, step, offset):  # type: ignore[no-untyped-def]
    """The cells of eight entries, by eight plain loads: the processor's own gather is slower, and a detour through
    memory makes the vector wait for its parts to be written."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        vector = ir.Constant(_vector(8), ir.Undefined)
        for j, place in enumerate(_places(context, builder, sig, args)):
            number = builder.load(place)
            if number.type == ir.FloatType():
                number = builder.fpext(number, ir.DoubleType())
            vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), j))
        return vector

    return EIGHT(cells, indices, types.intp, types.intp, types.intp), codegen


def _shuffled(builder, a, b, lanes):  # type: ignore[no-untyped-def]
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(a, b, mask)


@intrinsic
def gather_pairs8(typingctx, cells, indices, k):  # type: ignore[no-untyped-def]
    """The first and the second cells of eight entries, when an entry has two: one load each."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        whole, single = ir.IntType(64), sig.args[0].dtype == types.float32
        pair = ir.VectorType(ir.FloatType() if single else ir.DoubleType(), 2)
        parts = []
        for place in _places(context, builder, sig, [*args, whole(2), whole(0)]):
            loaded = builder.load(builder.bitcast(place, pair.as_pointer()), align=4 if single else 8)
            parts.append(builder.fpext(loaded, _vector(2)) if single else loaded)
        while len(parts) > 1:
            lanes = list(range(2 * parts[0].type.count))
            parts = [_shuffled(builder, parts[j], parts[j + 1], lanes) for j in range(0, len(parts), 2)]
        both = [_shuffled(builder, parts[0], parts[0], list(range(start, 16, 2))) for start in (0, 1)]
        return context.make_tuple(builder, sig.return_type, both)

    return types.UniTuple(EIGHT, 2)(cells, indices, types.intp), codegen


@intrinsic
def scatter_pairs8(typingctx, cells, indices, k, first, second):  # type: ignore[no-untyped-def]
    """Write the first and the second cells of eight entries: one store each."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        whole, single = ir.IntType(64), sig.args[0].dtype == types.float32
        for j, place in enumerate(_places(context, builder, sig, [*args[:3], whole(2), whole(0)])):
            pair = _shuffled(builder, args[3], args[4], [j, 8 + j])
            if single:
                pair = builder.fptrunc(pair, ir.VectorType(ir.FloatType(), 2))
            builder.store(pair, builder.bitcast(place, pair.type.as_pointer()), align=4 if single else 8)
        return context.get_dummy_value()

    return types.none(cells, indices, types.intp, first, second), codegen


@intrinsic
def scatter8(typingctx, cells, indices, k, step, offset, vector):  # type: ignore[no-untyped-def]
    """Write eight lanes to the cells of eight entries."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        single = sig.args[0].dtype == types.float32
        for j, place in enumerate(_places(context, builder, sig, args)):
            number = builder.extract_element(args[5], ir.Constant(ir.IntType(32), j))
            builder.store(builder.fptrunc(number, ir.FloatType()) if single else number, place)
        return context.get_dummy_value()

    return types.none(cells, indices, types.intp, types.intp, types.intp, vector), codegen
