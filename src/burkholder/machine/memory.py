"""Records of arrays inside compiled loops, as pointers: a loop is handed one table of addresses, and its pieces read it by name.

Handed over by value, three records of some twenty arrays are four hundred numbers at every call of a piece, and each of them is
compiled, over and over. Here a record is one pointer to a table: a number, or the address of an array and its lengths,
for every field. What a field holds is said by its type hint. The loops take places to be right: nothing is checked.

The arrays must outlive the call and must not be replaced in the meantime; the table is never changed by a loop.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import lower_builtin, lower_getattr_generic, models, register_model
from numpy.typing import NDArray

intrinsic: Any = numba_intrinsic  # what it makes exists only inside compiled loops; it has no type here

# what a field of a record may be, beside int, float and tuples of one of them
Vector = Annotated[NDArray[np.float64], np.float64, 1]
Matrix = Annotated[NDArray[np.float64], np.float64, 2]
Cube = Annotated[NDArray[np.float64], np.float64, 3]
Whole = Annotated[NDArray[np.int64], np.int64, 1]
Short = Annotated[NDArray[np.int32], np.int32, 1]

_KINDS = {np.float64: types.float64, np.int64: types.int64, np.int32: types.int32, float: types.float64, int: types.int64}
_WORD = ir.IntType(64)


class Place(types.Type):
    """An array inside a loop, as bare as possible: where it begins, and its lengths."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = dtype, ndim
        super().__init__(name=f"Place({dtype}, {ndim})")


@register_model(Place)
class _PlaceModel(models.StructModel):
    def __init__(self, dmm: Any, kind: Place) -> None:
        super().__init__(dmm, kind, [("data", types.CPointer(kind.dtype)), ("lengths", types.UniTuple(types.intp, kind.ndim))])


class Named(types.Type):
    """A pointer to the table of such a record."""

    def __init__(self, record: Any) -> None:
        self.record = record
        super().__init__(name=f"Named({record.__module__}.{record.__qualname__})")


@register_model(Named)
class _NamedModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, kind: Named) -> None:
        super().__init__(dmm, kind, _WORD.as_pointer())


@cache
def layout(record: Any) -> dict[str, tuple[int, Any]]:
    """Where in its table each field of a record begins, and its type in compiled loops."""
    fields, at = {}, 0
    for name, hint in get_type_hints(record, include_extras=True).items():
        parts = get_args(hint)
        if hasattr(hint, "__metadata__"):
            kind: Any = Place(_KINDS[parts[1]], parts[2])
        else:
            kind = types.UniTuple(_KINDS[parts[0]], len(parts)) if parts else _KINDS[hint]
        fields[name] = (at, kind)
        at += kind.ndim + 1 if isinstance(kind, Place) else kind.count if parts else 1
    fields["_words"] = (at, None)
    return fields


def words(record: Any) -> int:
    """How long the table of a record is."""
    return layout(record)["_words"][0]


def table(record: Any) -> NDArray[np.int64]:
    """The table of a record (a NamedTuple): numbers as they are, arrays as their address and lengths."""
    entries: list[int] = []
    for value, (_, kind) in zip(record, layout(type(record)).values(), strict=False):
        if isinstance(kind, Place):
            if value.dtype.name != kind.dtype.name or value.ndim != kind.ndim or not value.flags.c_contiguous:
                raise TypeError(f"an array of {value.dtype}, shape {value.shape}, where {kind} is meant")
            entries += [value.__array_interface__["data"][0], *value.shape]
        else:
            numbers = value if isinstance(value, tuple) else (value,)
            whole = (kind.dtype if isinstance(kind, types.UniTuple) else kind) == types.int64
            entries += [int(number) if whole else int(np.float64(number).view(np.int64)) for number in numbers]
    return np.array(entries, np.int64)


def named(record: Any) -> Any:
    """In a loop: the record whose table begins at a place of an array."""

    def typed(typingctx, array, start):  # type: ignore[no-untyped-def]
        def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
            data = context.make_array(sig.args[0])(context, builder, args[0]).data
            return builder.gep(data, [args[1]])

        return Named(record)(array, types.intp), codegen

    return intrinsic(typed)


@intrinsic
def place(typingctx, array):  # type: ignore[no-untyped-def]
    """In a loop: a whole array as a place, so that pieces are compiled once whatever kind of array they are given."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        whole = context.make_array(sig.args[0])(context, builder, args[0])
        return _made(context, builder, sig.return_type, whole.data, cgutils.unpack_tuple(builder, whole.shape))

    return Place(array.dtype, array.ndim)(array), codegen


def _made(context: Any, builder: Any, kind: Place, data: Any, lengths: Any) -> Any:
    struct = cgutils.create_struct_proxy(kind)(context, builder)
    struct.data, struct.lengths = data, cgutils.pack_array(builder, lengths)
    return struct._getvalue()


def _parts(context: Any, builder: Any, kind: Place, value: Any) -> tuple[Any, list[Any]]:
    struct = cgutils.create_struct_proxy(kind)(context, builder, value)
    return struct.data, cgutils.unpack_tuple(builder, struct.lengths)


def address(context: Any, builder: Any, kind: Place, value: Any, indices: Any) -> Any:
    """Where the entry with these indices lies."""
    data, lengths = _parts(context, builder, kind, value)
    at = indices[0]
    for length, index in zip(lengths[1:], indices[1:]):
        at = builder.add(builder.mul(at, length), index)
    return builder.gep(data, [at])


@infer_getattr
class _Fields(AttributeTemplate):
    key = Named

    def generic_resolve(self, kind, attr):  # type: ignore[no-untyped-def]
        return layout(kind.record)[attr][1]


@lower_getattr_generic(Named)
def _field(context, builder, kind, pointer, attr):  # type: ignore[no-untyped-def]
    at, field = layout(kind.record)[attr]

    def word(k: int, type_: Any) -> Any:
        where = builder.bitcast(builder.gep(pointer, [_WORD(at + k)]), type_.as_pointer())
        loaded = builder.load(where)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))  # no store of the loop can change it
        return loaded

    if isinstance(field, Place):
        data = word(0, context.get_data_type(field.dtype).as_pointer())
        return _made(context, builder, field, data, [word(k + 1, _WORD) for k in range(field.ndim)])
    if isinstance(field, types.UniTuple):
        number = context.get_data_type(field.dtype)
        return context.make_tuple(builder, field, [word(k, number) for k in range(field.count)])
    return word(0, context.get_data_type(field))


@infer_getattr
class _Shape(AttributeTemplate):
    key = Place

    def resolve_shape(self, kind):  # type: ignore[no-untyped-def]
        return types.UniTuple(types.intp, kind.ndim)


@lower_getattr_generic(Place)
def _shape(context, builder, kind, value, attr):  # type: ignore[no-untyped-def]
    return context.make_tuple(builder, types.UniTuple(types.intp, kind.ndim), _parts(context, builder, kind, value)[1])


def _entry(kind: Any, at: Any) -> Any:
    """The type of an entry, or of the smaller array, that an index picks; None for any other index."""
    if isinstance(kind, Place) and isinstance(at, types.Integer):
        return kind.dtype if kind.ndim == 1 else Place(kind.dtype, kind.ndim - 1)
    if isinstance(kind, Place) and isinstance(at, types.BaseTuple) and len(at) == kind.ndim:
        return kind.dtype
    return None


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args, kws):  # type: ignore[no-untyped-def]
        found = _entry(*args)
        return None if found is None else found(*args)


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args, kws):  # type: ignore[no-untyped-def]
        found = _entry(args[0], args[1])
        return None if found is None else types.none(args[0], args[1], found)


def _indices(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, types.BaseTuple):
        items = cgutils.unpack_tuple(builder, value)
        return [context.cast(builder, item, type_, types.intp) for item, type_ in zip(items, kind)]
    return [context.cast(builder, value, kind, types.intp)]


@lower_builtin(operator.getitem, Place, types.Integer)
@lower_builtin(operator.getitem, Place, types.BaseTuple)
def _get(context, builder, sig, args):  # type: ignore[no-untyped-def]
    kind, indices = sig.args[0], _indices(context, builder, sig.args[1], args[1])
    if len(indices) == kind.ndim:
        return builder.load(address(context, builder, kind, args[0], indices))
    data, lengths = _parts(context, builder, kind, args[0])
    step = lengths[1]
    for length in lengths[2:]:
        step = builder.mul(step, length)
    return _made(context, builder, sig.return_type, builder.gep(data, [builder.mul(indices[0], step)]), lengths[1:])


@lower_builtin(operator.setitem, Place, types.Integer, types.Any)
@lower_builtin(operator.setitem, Place, types.BaseTuple, types.Any)
def _set(context, builder, sig, args):  # type: ignore[no-untyped-def]
    indices = _indices(context, builder, sig.args[1], args[1])
    builder.store(args[2], address(context, builder, sig.args[0], args[0], indices))
    return context.get_dummy_value()
