"""The instructions numba writes, fewer of them to the same effect; in force only while a loop is compiled.

numba counts the references of whatever a variable holds, also where nothing can be freed: what was handed over, and the fields of a
record that was, belong to the caller until the end; and numbers have no references at all. It takes an array apart into a copy on
the stack for every element that is read, keeps records there that are arguments anyway, asks of every place whether it counts from
the end, and of every step of a loop which way it goes. All of it is text to be compiled, at every use.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from numba.core import ir, types
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

from burkholder.machine.counting import counted_on, counting, one_by_one, room
from burkholder.machine.elements import place as address
from burkholder.machine.elements import view


def _counted(lower: Any, kind: Any) -> bool:
    """Whether a value of this type holds references."""
    return bool(lower.context.enable_nrt and lower.context.data_model_manager[kind].contains_nrt_meminfo())


def _borrowed(lower: Any) -> frozenset[str]:
    """The variables that hold, from their one assignment on, what belongs to the caller."""
    found: frozenset[str] | None = lower.__dict__.get("borrowed")
    if found is None:
        assigns = [part for _, block in sorted(lower.blocks.items()) for part in block.body if isinstance(part, ir.Assign)]
        times, names, lower.lender = Counter(part.target.name for part in assigns), set[str](), {}
        times.update(block.body[-1].value.name for block in lower.blocks.values() if isinstance(block.body[-1], ir.Return))  # given away
        for part in assigns:
            if times[part.target.name] == 1 and _lent(lower, part.value, lower.typeof(part.target.name), names):
                names.add(part.target.name)
                lower.lender[part.target.name] = part.value
        found = lower.borrowed = frozenset() if lower.generator_info is not None else frozenset(names)
    return found


def _lent(lower: Any, value: Any, kind: Any, names: set[str]) -> bool:
    if isinstance(value, ir.Arg):
        return bool(lower.typeof(f"arg.{value.name}") == kind)
    if isinstance(value, ir.Var):
        return value.name in names and lower.typeof(value.name) == kind
    if isinstance(value, ir.Expr) and value.op == "getattr" and value.value.name in names:
        record = lower.typeof(value.value.name)
        return isinstance(record, types.BaseNamedTuple) and _field(record, value.attr)[1] == kind
    return False


def _field(record: Any, name: str) -> tuple[int, Any]:
    """Where a field of a record is, and its type."""
    at = record.fields.index(name)
    return at, record[at]


def _assigned(lower: Any, kind: Any, assign: Any) -> Any:
    """The value of an assignment; what is borrowed is not counted."""
    if assign.target.name not in _borrowed(lower):
        return _assigned_by_numba(lower, kind, assign)
    return None  # it is looked up where it is read


def _loaded(lower: Any, name: str) -> Any:
    """The value of a variable; what is borrowed is taken from the arguments, which are there everywhere, and lies nowhere else.

    A record that lies on the stack is taken apart and put together again, number by number, wherever one of its fields is read.
    """
    while name in _borrowed(lower):
        value = lower.lender[name]
        if isinstance(value, ir.Arg):
            return lower.fnargs[value.index]
        if isinstance(value, ir.Expr):
            at, _ = _field(lower.typeof(value.value.name), value.attr)
            return lower.builder.extract_value(_loaded(lower, value.value.name), at)
        name = value.name
    return _loaded_by_numba(lower, name)


def _stored(lower: Any, value: Any, name: str, argidx: Any = None) -> None:
    """Into a variable; what it held before is looked at only where it may have to be freed."""
    if name in _borrowed(lower):
        return
    kind = lower.typeof(name)
    if _counted(lower, kind):
        _stored_by_numba(lower, value, name, argidx)
        return
    if name in lower._singly_assigned_vars:
        lower._blk_local_varmap[name] = value
        return
    if name not in lower.varmap:
        lower.varmap[name] = room(lower, value.type, name)
    lower.builder.store(value, lower.varmap[name])


def _ended(lower: Any, name: str) -> None:
    """The end of a variable's life."""
    if name not in _borrowed(lower) and _counted(lower, lower.typeof(name)):
        _ended_by_numba(lower, name)


def _instructed(lower: Any, part: Any) -> Any:
    """An instruction; with an index that is known, numba first looks for something else."""
    if isinstance(part, ir.StaticSetItem) and type(lower.typeof(part.target.name)) is types.Array:
        return lower.lower_setitem(part.target, part.index_var, part.value, lower.fndesc.calltypes[part])
    return _instructed_by_numba(lower, part)


def _expressed(lower: Any, kind: Any, expression: Any) -> Any:
    """An expression; likewise. Counting upwards one by one is three numbers, without a test of its step and a division for its length."""
    if expression.op == "static_getitem" and expression.index_var is not None and type(lower.typeof(expression.value.name)) is types.Array:
        return lower.lower_getitem(kind, expression, expression.value, expression.index_var, lower.fndesc.calltypes[expression])
    if expression.op == "getiter" and isinstance(kind, types.RangeIteratorType) and one_by_one(lower, expression.value.name):
        return counting(lower, kind, lower.loadvar(expression.value.name))
    if expression.op == "iternext" and isinstance(lower.typeof(expression.value.name), types.RangeIteratorType):
        return counted_on(lower, kind, lower.loadvar(expression.value.name))
    return _expressed_by_numba(lower, kind, expression)


def _got(lower: Any, result: Any, expression: Any, array: Any, index: Any, signature: Any) -> Any:
    """An element of an array, or a smaller array in it."""
    place = address(lower, array, index)
    if place is None and (part := view(lower, array, index, result)) is not None:
        return part
    if place is None:
        return _got_by_numba(lower, result, expression, array, index, signature)
    kind = lower.typeof(array.name)
    return lower.context.cast(lower.builder, load_item(lower.context, lower.builder, kind, place), kind.dtype, result)


def _set(lower: Any, array: Any, index: Any, value: Any, signature: Any) -> Any:
    """The same, written to."""
    given, kind = lower.typeof(value.name), lower.typeof(array.name)
    place = address(lower, array, index) if isinstance(given, (types.Number, types.Boolean)) else None
    if place is None:
        return _set_by_numba(lower, array, index, value, signature)
    number = lower.context.cast(lower.builder, lower.loadvar(value.name), given, kind.dtype)
    return store_item(lower.context, lower.builder, kind, number, place)


_assigned_by_numba: Any = Lower.lower_assign
_loaded_by_numba: Any = Lower.loadvar
_stored_by_numba: Any = Lower.storevar
_ended_by_numba: Any = Lower.delvar
_instructed_by_numba: Any = Lower.lower_inst
_expressed_by_numba: Any = Lower.lower_expr
_got_by_numba: Any = Lower.lower_getitem
_set_by_numba: Any = Lower.lower_setitem

# (owner, name, what stands there while a loop is compiled)
SHORTER: list[tuple[Any, str, Any]] = [
    (Lower, "lower_assign", _assigned),
    (Lower, "loadvar", _loaded),
    (Lower, "storevar", _stored),
    (Lower, "delvar", _ended),
    (Lower, "lower_inst", _instructed),
    (Lower, "lower_expr", _expressed),
    (Lower, "lower_getitem", _got),
    (Lower, "lower_setitem", _set),
]
