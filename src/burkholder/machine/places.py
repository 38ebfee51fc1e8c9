"""Arrays inside compiled loops, as bare as possible: where they begin, and their lengths. Nothing is checked.

An array of numba's carries its owner, its strides and its size, and looks at every place twice, for negative ones count from
the end. All of that is text to be compiled, at every use.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import lower_builtin, lower_getattr_generic, models, register_model


class Place(types.Type):
    """An array without gaps."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = dtype, ndim
        super().__init__(name=f"Place({dtype}, {ndim})")


@register_model(Place)
class _Model(models.StructModel):
    def __init__(self, dmm: Any, kind: Place) -> None:
        super().__init__(dmm, kind, [("data", types.CPointer(kind.dtype)), ("lengths", types.UniTuple(types.intp, kind.ndim))])


def made(context: Any, builder: Any, kind: Place, data: Any, lengths: Sequence[Any]) -> Any:
    """The array of these lengths that begins at this address."""
    struct = cgutils.create_struct_proxy(kind)(context, builder)
    struct.data, struct.lengths = data, cgutils.pack_array(builder, lengths)
    return struct._getvalue()


def bare(context: Any, builder: Any, kind: Place, value: Any) -> Any:
    """What it consists of: `data` and `lengths`."""
    return cgutils.create_struct_proxy(kind)(context, builder, value)


def address(context: Any, builder: Any, kind: Place, value: Any, indices: Sequence[Any]) -> Any:
    """Where the entry with these indices lies."""
    whole = bare(context, builder, kind, value)
    at = indices[0]
    for length, index in zip(cgutils.unpack_tuple(builder, whole.lengths)[1:], indices[1:]):
        at = builder.add(builder.mul(at, length), index)
    return builder.gep(whole.data, [at])


@infer_getattr
class _Shape(AttributeTemplate):
    key = Place

    def resolve_shape(self, kind):
        return types.UniTuple(types.intp, kind.ndim)


@lower_getattr_generic(Place)
def _shape(context, builder, kind, value, attr):
    return bare(context, builder, kind, value).lengths


def _entry(kind: Any, at: Any) -> Any:
    """The type of an entry, or of the smaller array, that an index picks; None for any other index."""
    if isinstance(kind, Place) and isinstance(at, types.Integer):
        return kind.dtype if kind.ndim == 1 else Place(kind.dtype, kind.ndim - 1)
    if isinstance(kind, Place) and isinstance(at, types.BaseTuple) and len(at) == kind.ndim:
        return kind.dtype
    return None


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args, kws):
        found = _entry(*args)
        return None if found is None else found(*args)


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args, kws):
        found = _entry(args[0], args[1])
        return None if found is None else types.none(args[0], args[1], found)


def _indices(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return [context.cast(builder, item, part, types.intp) for item, part in zip(cgutils.unpack_tuple(builder, value), parts)]
    return [context.cast(builder, value, kind, types.intp)]


@lower_builtin(operator.getitem, Place, types.Integer)
@lower_builtin(operator.getitem, Place, types.BaseTuple)
def _get(context, builder, sig, args):
    kind, indices = sig.args[0], _indices(context, builder, sig.args[1], args[1])
    if len(indices) == kind.ndim:
        return builder.load(address(context, builder, kind, args[0], indices))
    whole = bare(context, builder, kind, args[0])
    lengths = cgutils.unpack_tuple(builder, whole.lengths)[1:]
    at = indices[0]
    for length in lengths:
        at = builder.mul(at, length)
    return made(context, builder, sig.return_type, builder.gep(whole.data, [at]), lengths)


@lower_builtin(operator.setitem, Place, types.Integer, types.Any)
@lower_builtin(operator.setitem, Place, types.BaseTuple, types.Any)
def _set(context, builder, sig, args):
    indices = _indices(context, builder, sig.args[1], args[1])
    builder.store(args[2], address(context, builder, sig.args[0], args[0], indices))
    return context.get_dummy_value()
