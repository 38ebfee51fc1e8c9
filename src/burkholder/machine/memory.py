"""Records of arrays inside compiled loops, as pointers: a loop is handed tables of addresses, and its pieces read them by name.

Handed over by value, three records of some twenty arrays are four hundred numbers at every call of a piece, and each of them is
compiled, over and over. Here a record is one pointer to a table: a number, or the address of an array and its lengths,
for every field. What a field holds is said by its type hint. With BURKHOLDER_PLAIN=1 a table is a tuple of the records
themselves, and places are numba's own arrays.

The arrays must outlive the call and must not be replaced in the meantime; no loop changes a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_jitable, register_model
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

from burkholder.machine.llvm import I64
from burkholder.machine.places import Place, bare, made
from burkholder.machine.processor import PLAIN

# what a field of a record may be, beside int, float and tuples of one of them
Vector = Annotated[NDArray[np.float64], np.float64, 1]
Matrix = Annotated[NDArray[np.float64], np.float64, 2]
Cube = Annotated[NDArray[np.float64], np.float64, 3]
Whole = Annotated[NDArray[np.int64], np.int64, 1]
Short = Annotated[NDArray[np.int32], np.int32, 1]

_KINDS = {np.float64: types.float64, np.int64: types.int64, np.int32: types.int32, float: types.float64, int: types.int64}


class Named(types.Type):
    """A pointer to the table of a record. Fields whose values are `known` when a loop is compiled are numbers there."""

    def __init__(self, record: Any, known: tuple[tuple[str, Any], ...] = ()) -> None:
        self.record, self.known = record, dict(known)
        super().__init__(name=f"Named({record.__module__}.{record.__qualname__}{known or ''})")


@register_model(Named)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm: Any, kind: Named) -> None:
        super().__init__(dmm, kind, I64.as_pointer())


@cache
def layout(record: Any) -> tuple[dict[str, tuple[int, Any]], int]:
    """Where in its table each field of a record begins, and its type in compiled loops; and how long the table is."""
    fields, at = {}, 0
    for name, hint in get_type_hints(record, include_extras=True).items():
        parts = get_args(hint)
        if hasattr(hint, "__metadata__"):
            kind: Any = Place(_KINDS[parts[1]], parts[2])
        else:
            kind = types.UniTuple(_KINDS[parts[0]], len(parts)) if parts else _KINDS[hint]
        fields[name] = (at, kind)
        at += kind.ndim + 1 if isinstance(kind, Place) else kind.count if parts else 1
    return fields, at


def table(*records: Any) -> Any:
    """The tables of records of one kind, one after another: numbers as they are, arrays as their address and lengths."""
    if PLAIN:
        return records
    kind: Any = type(records[0])
    fields = list(layout(kind)[0].values())
    return np.array([entry for record in records for value, (_, kind) in zip(record, fields) for entry in _entries(value, kind)], np.int64)


def stacked(many: Any) -> Any:
    """The tables of many records of arrays at once, from a record whose arrays have one axis more, in front: one row a record.

    An array with a single row is shared by all of them. With BURKHOLDER_PLAIN=1: a list of the records.
    """
    kind: Any = type(many)
    count = max(map(len, many))
    if PLAIN:
        return [kind(*(array[k if len(array) > 1 else 0] for array in many)) for k in range(count)]
    every, found = np.arange(count), []
    for array, (_, field) in zip(many, layout(kind)[0].values()):
        if array.dtype.name != field.dtype.name or array.ndim != field.ndim + 1 or not array.flags.c_contiguous:
            raise TypeError(f"an array of {array.dtype}, shape {array.shape}, where rows of {field} are meant")
        step = array.strides[0] if len(array) > 1 else 0
        found.append((array.__array_interface__["data"][0] + every * step, array.shape[1:]))
    return addressed(kind, count, found)


def addressed(record: Any, count: int, found: Iterable[tuple[Any, tuple[int, ...]]]) -> NDArray[np.int64]:
    """The tables of so many records of arrays: where each record's array lies, and its lengths, field by field."""
    fields, length = layout(record)
    out = np.empty((count, length), np.int64)
    for (at, field), (where, lengths) in zip(fields.values(), found, strict=True):
        out[:, at] = where
        out[:, at + 1 : at + 1 + field.ndim] = lengths
    return out.reshape(-1)


def _entries(value: Any, kind: Any) -> list[int]:
    if isinstance(kind, Place):
        if value.dtype.name != kind.dtype.name or value.ndim != kind.ndim or not value.flags.c_contiguous:
            raise TypeError(f"an array of {value.dtype}, shape {value.shape}, where {kind} is meant")
        return [value.__array_interface__["data"][0], *value.shape]
    whole = (kind.dtype if isinstance(kind, types.UniTuple) else kind) == types.int64
    numbers = value if isinstance(value, tuple) else (value,)
    return [int(number) if whole else int(np.float64(number).view(np.int64)) for number in numbers]


def named(record: Any) -> Any:
    """In a loop: the k-th record of its tables."""
    if PLAIN:
        return register_jitable(lambda tables, k: tables[k])

    @intrinsic
    def found(typingctx, tables, k):
        return Named(record)(tables, types.intp), _kth(record)

    return found


def told(record: Any, known: Any) -> Any:
    """In a loop: the k-th record of its tables, with the fields that `known` tells from the class of another record.

    What the loop would do for other values of them is not compiled.
    """
    if PLAIN:
        return register_jitable(lambda tables, k, other: tables[k])

    @intrinsic
    def found(typingctx, tables, k, other):
        fields = tuple(known(other.instance_class).items())
        return Named(record, fields)(tables, types.intp, other), _kth(record)

    return found


def _kth(record: Any) -> Any:
    length = layout(record)[1]

    def codegen(context, builder, sig, args):
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.gep(data, [builder.mul(args[1], I64(length))])

    return codegen


def _place(typingctx, array):
    """In a loop: a whole array without gaps as a place, so that pieces are compiled once for every kind of array."""

    def codegen(context, builder, sig, args):
        whole = context.make_array(sig.args[0])(context, builder, args[0])
        return made(context, builder, sig.return_type, whole.data, cgutils.unpack_tuple(builder, whole.shape))

    return Place(array.dtype, array.ndim)(array), codegen


place: Any = register_jitable(lambda array: array) if PLAIN else intrinsic(_place)


def _array(typingctx, place):
    """In a loop: a place of one axis as an array of numba's, which nobody owns."""
    kind = types.Array(place.dtype, 1, "C")

    def codegen(context, builder, sig, args):
        whole, out = bare(context, builder, sig.args[0], args[0]), context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        populate_array(out, whole.data, cgutils.unpack_tuple(builder, whole.lengths), [size], size, None)
        return out._getvalue()

    return kind(place), codegen


array: Any = register_jitable(lambda place: place) if PLAIN else intrinsic(_array)


@infer_getattr
class _Fields(AttributeTemplate):
    key = Named

    def generic_resolve(self, kind, attr):  # type: ignore[override]
        return layout(kind.record)[0][attr][1]


@lower_getattr_generic(Named)
def _field(context, builder, kind, pointer, attr):
    at, field = layout(kind.record)[0][attr]

    def word(k: int, type_: Any) -> Any:
        where = builder.bitcast(builder.gep(pointer, [I64(at + k)]), type_.as_pointer())
        loaded = builder.load(where)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))  # no store of the loop can change it
        return loaded

    if isinstance(field, Place):
        data = word(0, context.get_data_type(field.dtype).as_pointer())
        return made(context, builder, field, data, [word(k + 1, I64) for k in range(field.ndim)])
    if isinstance(field, types.UniTuple):
        number = context.get_data_type(field.dtype)
        return context.make_tuple(builder, field, [word(k, number) for k in range(field.count)])
    return word(0, context.get_data_type(field))
