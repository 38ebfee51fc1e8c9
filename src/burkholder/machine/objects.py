"""Python's own objects inside compiled rounds: a dict read where it lies, arguments that need no unpacking.

Handing arguments over costs more than a round: each array some 100 ns, each record its fields one by one. So what stays
the same from call to call is written down once, as the machine code will want it (`engrave`), and a call brings only the
address (`Engraved`). A dict comes as the object it is (`Borrowed`): compiled code walks it through the interpreter's C
interface, which is safe because compiled code holds the interpreter's lock and the caller holds the dict.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
from numba import types
from numba.extending import NativeValue, models, register_model, unbox

from burkholder.machine.compiling import lean
from burkholder.machine.llvm import F64, I1, I32, I64, POINTER, called, opaque
from burkholder.machine.operations import intrinsic
from burkholder.machine.processor import PLAIN

TYPE_AT, NUMBER_AT = 8, 16  # where an object keeps its type, and a float its number


def layout_known() -> bool:
    """Whether objects of this interpreter lie as they do in every ordinary CPython, and may be read where they
    lie; dicts go the long way where not."""
    if PLAIN or sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8 or object.__basicsize__ != TYPE_AT + 8 or float.__basicsize__ != NUMBER_AT + 8:
        return False
    number = -1234.5
    type_seen = ctypes.c_size_t.from_address(id(number) + TYPE_AT).value
    return type_seen == id(float) and ctypes.c_double.from_address(id(number) + NUMBER_AT).value == number


# --- two kinds of argument -----------------------------------------------------------------------------------
class Borrowed(types.Type):
    """Any Python object: its address, without a reference of our own."""

    def __init__(self) -> None:
        super().__init__(name="Borrowed")


class Engraved(types.Type):
    """The address, as a Python int, of a value of another type."""

    def __init__(self, content: types.Type) -> None:
        self.content = content
        super().__init__(name=f"Engraved({content})")

    @property
    def key(self) -> types.Type:
        return self.content


register_model(Borrowed)(models.OpaqueModel)
register_model(Engraved)(models.OpaqueModel)


@unbox(Borrowed)
def _unbox_borrowed(typ: Any, obj: Any, c: Any) -> NativeValue:
    return NativeValue(obj)


@unbox(Engraved)
def _unbox_engraved(typ: Any, obj: Any, c: Any) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(obj))


@intrinsic
def content(typing_context, engraved):
    """The value that was engraved."""

    def code(context, builder, signature, arguments):
        kind = context.get_value_type(engraved.content)
        return builder.load(opaque(builder, arguments[0]), typ=kind)

    return engraved.content(engraved), code


@intrinsic
def _size(typing_context, value):
    def code(context, builder, signature, arguments):
        return context.get_constant(types.intp, context.get_abi_sizeof(arguments[0].type))

    return types.intp(value), code


@intrinsic
def _store(typing_context, value, place):
    def code(context, builder, signature, arguments):
        builder.store(arguments[0], builder.inttoptr(arguments[1], POINTER))
        return context.get_dummy_value()

    return types.void(value, types.uintp), code


@lean
def engrave(value, block):
    """Write the value to the block of 64-bit words where it has room; returns the number of bytes it needs."""
    size = _size(value)
    if size <= 8 * block.size:
        _store(value, np.uint64(block.ctypes.data))
    return size


# --- what lies at an address ---------------------------------------------------------------------------------
@intrinsic
def address(typing_context, borrowed):
    """The address of a borrowed object."""

    def code(context, builder, signature, arguments):
        return builder.ptrtoint(arguments[0], I64)

    return types.uint64(borrowed), code


def _reader(offset: int, result: Any, kind: Any) -> Any:
    def typed(typing_context, place):
        def code(context, builder, signature, arguments):
            where = builder.add(arguments[0], I64(offset))
            return builder.load(builder.inttoptr(where, POINTER), typ=kind)

        return result(types.uint64), code

    return intrinsic(typed)


type_of = _reader(TYPE_AT, types.uint64, I64)  # the address of an object's type
float_of = _reader(NUMBER_AT, types.float64, F64)  # the number in a float


# --- the interpreter's C interface ---------------------------------------------------------------------------
@intrinsic
def next_entry(typing_context, mapping, slots):
    """Walk a dict: slots are the address of three words, the position (0 to begin), then the key and the value found."""

    def code(context, builder, signature, arguments):
        places = [builder.add(arguments[1], I64(8 * k)) for k in range(3)]
        return builder.trunc(called(builder, "PyDict_Next", I32, [arguments[0], *places]), I1)

    return types.boolean(types.uint64, types.uint64), code


_word, _count = types.uint64, types.int64
entries_of: Any = types.ExternalFunction("PyDict_Size", _count(_word))
entry_of: Any = types.ExternalFunction("PyDict_GetItemWithError", _word(_word, _word))  # 0: there is none
whole_of: Any = types.ExternalFunction("PyLong_AsSsize_t", _count(_word))
float_of_int: Any = types.ExternalFunction("PyLong_AsDouble", types.float64(_word))
float_of_any: Any = types.ExternalFunction("PyFloat_AsDouble", types.float64(_word))
failed: Any = types.ExternalFunction("PyErr_Occurred", _word())
forgive: Any = types.ExternalFunction("PyErr_Clear", types.void())
hold: Any = types.ExternalFunction("Py_IncRef", types.void(_word))
put_item: Any = types.ExternalFunction("PyList_SetItem", types.intc(_word, _count, _word))  # takes over the reference
