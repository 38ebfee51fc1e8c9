"""Cells of eight scattered entries as a vector, and back: what a sparse round reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba import types

from burkholder.machine.llvm import F32, F64, I32, I64, Many, gathered, picked, place, start_of
from burkholder.machine.operations import EIGHT, machine_code, numbers, vector


def _places(context: Any, b: Any, signature: Any, arguments: Any) -> Iterator[Any]:
    """Addresses of cells[step·indices[k + j] + offset] for j = 0, …, 7; no index is checked."""
    cells, indices = (start_of(context, b, kind, array) for kind, array in zip(signature.args[:2], arguments[:2], strict=True))
    for j in range(8):
        index = b.load(place(b, indices, b.add(arguments[2], I64(j))), typ=indices.kind)
        wide = index if index.type == I64 else b.zext(index, I64)
        yield place(b, cells, b.add(b.mul(wide, arguments[3]), arguments[4]))


def _gather(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    # eight plain loads: the processor's own gather is slower, and a detour through memory makes the vector wait for its
    # parts to be written
    single = signature.args[0].dtype == types.float32
    found = (b.load(where, typ=F32 if single else F64) for where in _places(context, b, signature, arguments))
    return gathered(b, Many(F64, 8), [b.fpext(number, F64) if single else number for number in found])


@machine_code(lambda cells, indices, *at: EIGHT(cells, indices, *[types.intp] * len(at)), _gather)
def gather8(cells, indices, k, step, offset):
    """cells[step·i + offset] for the eight i in indices[k : k+8]."""
    a, b, c, d = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
    e, f, g, h = indices[k + 4], indices[k + 5], indices[k + 6], indices[k + 7]
    return vector((
        cells[int(a) * step + offset], cells[int(b) * step + offset],
        cells[int(c) * step + offset], cells[int(d) * step + offset],
        cells[int(e) * step + offset], cells[int(f) * step + offset],
        cells[int(g) * step + offset], cells[int(h) * step + offset],
    ))  # fmt: skip


def _scatter(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    single = signature.args[0].dtype == types.float32
    for j, where in enumerate(_places(context, b, signature, arguments)):
        number = b.extract_element(arguments[5], I32(j))
        b.store(b.fptrunc(number, F32) if single else number, where)
    return context.get_dummy_value()


@machine_code(lambda cells, indices, k, step, offset, value: types.none(cells, indices, *[types.intp] * 3, value), _scatter)
def scatter8(cells, indices, k, step, offset, value):
    """Write a vector to the places `gather8` reads."""
    content = numbers(value)
    for j in range(8):
        cells[int(indices[k + j]) * step + offset] = content[j]


def _gather_pairs(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    single = signature.args[0].dtype == types.float32
    parts = []
    for where in _places(context, b, signature, [*arguments, I64(2), I64(0)]):
        pair = b.load(where, align=4 if single else 8, typ=Many(F32 if single else F64, 2))
        parts.append(b.fpext(pair, Many(F64, 2)) if single else pair)
    while len(parts) > 1:
        order = range(2 * parts[0].type.count)
        parts = [picked(b, parts[j], parts[j + 1], order) for j in range(0, len(parts), 2)]
    both = [picked(b, parts[0], parts[0], range(start, 16, 2)) for start in (0, 1)]
    return context.make_tuple(b, signature.return_type, both)


@machine_code(lambda cells, indices, k: types.UniTuple(EIGHT, 2)(cells, indices, types.intp), _gather_pairs)
def gather_pairs8(cells, indices, k):
    """The first and the second cells of eight entries, when an entry has two: one load each."""
    return gather8(cells, indices, k, 2, 0), gather8(cells, indices, k, 2, 1)


def _scatter_pairs(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    single = signature.args[0].dtype == types.float32
    for j, where in enumerate(_places(context, b, signature, [*arguments[:3], I64(2), I64(0)])):
        pair = picked(b, arguments[3], arguments[4], [j, 8 + j])
        b.store(b.fptrunc(pair, Many(F32, 2)) if single else pair, where, align=4 if single else 8)
    return context.get_dummy_value()


@machine_code(lambda cells, indices, k, first, second: types.none(cells, indices, types.intp, first, second), _scatter_pairs)
def scatter_pairs8(cells, indices, k, first, second):
    """Write the first and the second cells of eight entries: one store each."""
    scatter8(cells, indices, k, 2, 0, first)
    scatter8(cells, indices, k, 2, 1, second)
