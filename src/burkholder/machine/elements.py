"""Where the elements of arrays lie, and the smaller arrays in them: addresses, without a copy of the array on the stack."""

from __future__ import annotations

from typing import Any

from llvmlite.ir import Constant, Undefined
from numba.core import ir, types

from burkholder.machine.counting import forward, values_of

MEMORY, PARENT, ITEMS, SIZE, DATA, SHAPE, STRIDES = range(7)  # fields of an array


def view(lower: Any, array: Any, index: Any, result: Any) -> Any:
    """The smaller array behind the first whole places of one without gaps; None for anything else."""
    kind, at = lower.typeof(array.name), lower.typeof(index.name)
    kinds = _kinds(at)
    if type(kind) is not types.Array or kind.layout != "C" or lower.context.enable_boundscheck or not len(kinds) < kind.ndim:
        return None
    if not all(isinstance(one, types.Integer) for one in kinds) or type(result) is not types.Array or result.layout != "C":
        return None
    builder, whole = lower.builder, lower.loadvar(array.name)
    where = _offset(lower, kind, whole, kinds, index)
    lengths = [builder.extract_value(whole, [SHAPE, axis]) for axis in range(len(kinds), kind.ndim)]
    items = lengths[0]
    for length in lengths[1:]:
        items = builder.mul(items, length)
    part = Constant(lower.context.get_value_type(result), Undefined)
    for field in (MEMORY, PARENT, SIZE):
        part = builder.insert_value(part, builder.extract_value(whole, field), field)
    part = builder.insert_value(part, items, ITEMS)
    part = builder.insert_value(part, builder.gep(builder.extract_value(whole, DATA), [builder.mul(where, items)]), DATA)
    for k, length in enumerate(lengths):
        part = builder.insert_value(part, length, [SHAPE, k])
        part = builder.insert_value(part, builder.extract_value(whole, [STRIDES, len(kinds) + k]), [STRIDES, k])
    if lower.context.enable_nrt:
        lower.context.nrt.incref(builder, result, part)
    return part


def place(lower: Any, array: Any, index: Any) -> Any:
    """The address of an element; None for anything but numbers at whole places."""
    kind, at = lower.typeof(array.name), lower.typeof(index.name)
    kinds = _kinds(at)
    if type(kind) is not types.Array or kind.layout not in "CA" or lower.context.enable_boundscheck or len(kinds) != kind.ndim:
        return None
    if not isinstance(kind.dtype, (types.Number, types.Boolean)) or not all(isinstance(one, types.Integer) for one in kinds):
        return None
    builder, whole = lower.builder, lower.loadvar(array.name)
    where = _offset(lower, kind, whole, kinds, index)
    data = builder.extract_value(whole, DATA)
    if kind.layout == "C":
        return builder.gep(data, [where])
    return builder.inttoptr(builder.add(builder.ptrtoint(data, where.type), where), data.type)


def _kinds(at: Any) -> list[Any]:
    """The types of the places in an index."""
    parts: Any = at
    return list(parts) if isinstance(at, types.BaseTuple) else [at]


def _offset(lower: Any, kind: Any, whole: Any, kinds: list[Any], index: Any) -> Any:
    """How far from its beginning these places of an array are: in elements, or smaller arrays; in bytes, where it may have gaps."""
    builder, places = lower.builder, lower.loadvar(index.name)
    several, all_ahead = isinstance(lower.typeof(index.name), types.BaseTuple), index.name in forward(lower)
    parts = [builder.extract_value(places, k) for k in range(len(kinds))] if several else [places]
    ahead = _ahead(lower, index, len(kinds)) if several and not all_ahead else [all_ahead] * len(kinds)
    where: Any = None
    for axis, (one, part) in enumerate(zip(kinds, parts)):
        step = lower.context.cast(builder, part, one, types.intp if one.signed else types.uintp)
        length = None
        if one.signed and not ahead[axis] and not (isinstance(step, Constant) and step.constant >= 0):
            length = builder.extract_value(whole, [SHAPE, axis])
            step = builder.select(builder.icmp_signed("<", step, step.type(0)), builder.add(step, length), step)
        if kind.layout == "A":
            step = builder.mul(step, builder.extract_value(whole, [STRIDES, axis]))
        elif where is not None:
            where = builder.mul(where, length or builder.extract_value(whole, [SHAPE, axis]))
        where = step if where is None else builder.add(where, step)
    return where


def _ahead(lower: Any, index: Any, count: int) -> list[bool]:
    """Which places of a tuple of them are never negative."""
    built = values_of(lower, index.name)
    if len(built) != 1 or not isinstance(built[0], ir.Expr) or built[0].op != "build_tuple":
        return [False] * count
    return [part.name in forward(lower) for part in built[0].items]
