"""The instructions numba writes, fewer of them to the same effect; in force only while a loop is compiled.

numba counts the references of whatever a variable holds, also where nothing can be freed: what was handed over, and the fields of a
record that was, belong to the caller until the end; and numbers have no references at all. It takes an array apart into a copy on
the stack for every element that is read, keeps records there that are arguments anyway, asks of every place whether it counts from
the end, and of every step of a loop which way it goes. All of it is text to be compiled, at every use.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

from llvmlite.ir import Constant, Undefined
from numba.core import ir, types
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

MEMORY, PARENT, ITEMS, SIZE, DATA, SHAPE, STRIDES = range(7)  # fields of an array
POSITION, _, STEP, LEFT = range(4)  # fields of the iterator of a range


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
        lower.varmap[name] = _room(lower, value.type, name)
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
    if expression.op == "getiter" and isinstance(kind, types.RangeIteratorType) and _one_by_one(lower, expression.value.name):
        return _counting(lower, kind, lower.loadvar(expression.value.name))
    if expression.op == "iternext" and isinstance(lower.typeof(expression.value.name), types.RangeIteratorType):
        return _counted_on(lower, kind, lower.loadvar(expression.value.name))
    return _expressed_by_numba(lower, kind, expression)


def _one_by_one(lower: Any, name: str) -> bool:
    """Whether a variable is a range with no step of its own."""
    values = [
        part.value for block in lower.blocks.values() for part in block.body if isinstance(part, ir.Assign) and part.target.name == name
    ]
    if len(values) != 1 or not isinstance(values[0], ir.Expr) or values[0].op != "call":
        return False
    call = values[0]
    return getattr(lower.typeof(call.func.name), "typing_key", None) is range and len(call.args) < 3 and not call.kws and not call.vararg


def _counting(lower: Any, kind: Any, whole: Any) -> Any:
    """The iterator of a range: where it stands, its end, its step, how many are left."""
    builder = lower.builder
    start, stop, step = (builder.extract_value(whole, k) for k in range(3))
    left = builder.sub(stop, start)
    iterator = Constant(lower.context.get_value_type(kind), Undefined)
    for k, value in enumerate((start, stop, step, left)):
        if k in (POSITION, LEFT):
            room = _room(lower, value.type)
            builder.store(value, room)
            value = room
        iterator = builder.insert_value(iterator, value, k)
    return iterator


def _counted_on(lower: Any, kind: Any, iterator: Any) -> Any:
    """The next number of a range, and whether there is one."""
    builder = lower.builder
    at, left = builder.extract_value(iterator, POSITION), builder.extract_value(iterator, LEFT)
    value, count = builder.load(at), builder.load(left)
    going = builder.icmp_signed(">", count, count.type(0))
    with builder.if_then(going):  # without this, LLVM unrolls twice as many loops
        builder.store(builder.add(value, builder.extract_value(iterator, STEP)), at)
        builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
    pair = builder.insert_value(Constant(lower.context.get_value_type(kind), Undefined), value, 0)
    return builder.insert_value(pair, going, 1)


def _room(lower: Any, kind: Any, name: str = "") -> Any:
    """A place on the stack, for what is written before it is read."""
    with lower.builder.goto_entry_block():
        return lower.builder.alloca(kind, name=name)


def _forward(lower: Any) -> frozenset[str]:
    """The variables that are never negative: what `range` counts from there on, lengths, and their sums and products."""
    found: frozenset[str] | None = lower.__dict__.get("forward")
    if found is None:
        values: dict[str, list[Any]] = {}
        for block in lower.blocks.values():
            for part in block.body:
                if isinstance(part, ir.Assign):
                    values.setdefault(part.target.name, []).append(part.value)
        names, before = {name for name in values if isinstance(lower.typeof(name), (types.Integer, types.BaseTuple))}, -1
        while len(names) != before:  # until what is left rests on itself alone
            before = len(names)
            names = {name for name in names if all(_counts_up(lower, values, value, names) for value in values[name])}
        found = lower.forward = frozenset(names)
    return found


def _counts_up(lower: Any, values: dict[str, list[Any]], value: Any, names: set[str]) -> bool:
    """Whether a value is ≥ 0 where the variables in `names` are."""
    if isinstance(value, ir.Var):
        return value.name in names
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return isinstance(value.value, int) and value.value >= 0
    if not isinstance(value, ir.Expr):
        return False
    if value.op == "pair_first":
        return all(_from_range(lower, values, each, names) for each in _defined(values, value.value, "iternext"))
    if value.op == "getattr":
        return value.attr in ("size", "shape")
    if value.op in ("static_getitem", "exhaust_iter"):
        return value.value.name in names
    if value.op == "cast":
        return value.value.name in names
    if value.op == "build_tuple":
        return all(part.name in names for part in value.items)
    if value.op in ("binop", "inplace_binop"):
        return value.fn in _KEEPS_SIGN and value.lhs.name in names and value.rhs.name in names
    return False


_KEEPS_SIGN = (operator.add, operator.mul, operator.floordiv, operator.iadd, operator.imul, operator.ifloordiv)


def _defined(values: dict[str, list[Any]], name: Any, op: str) -> list[Any]:
    """What a variable may stand for, through other names of it; [None] unless all of it is of one kind."""
    waiting, seen, out = [name.name], set[str](), []
    while waiting:
        if (one := waiting.pop()) in seen:
            continue
        seen.add(one)
        for value in values.get(one, [None]):
            if isinstance(value, ir.Var):
                waiting.append(value.name)
            elif isinstance(value, ir.Expr) and value.op == op:
                out.append(value)
            else:
                return [None]
    return out or [None]


def _from_range(lower: Any, values: dict[str, list[Any]], step: Any, names: set[str]) -> bool:
    """Whether a step of an iteration is one of `range`, upwards from a number ≥ 0."""
    if step is None:
        return False
    for begun in _defined(values, step.value, "getiter"):
        for call in [None] if begun is None else _defined(values, begun.value, "call"):
            if call is None or getattr(lower.typeof(call.func.name), "typing_key", None) is not range or call.kws or call.vararg:
                return False
            if any(part.name not in names for part in (*call.args[:-1][:1], *call.args[2:])):  # its start and its step, where they are said
                return False
    return True


def _view(lower: Any, array: Any, index: Any, result: Any) -> Any:
    """The smaller array behind the first whole places of one without gaps; None for anything else."""
    kind, at = lower.typeof(array.name), lower.typeof(index.name)
    kinds = list(at) if isinstance(at, types.BaseTuple) else [at]
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
    view = Constant(lower.context.get_value_type(result), Undefined)
    for field in (MEMORY, PARENT, SIZE):
        view = builder.insert_value(view, builder.extract_value(whole, field), field)
    view = builder.insert_value(view, items, ITEMS)
    view = builder.insert_value(view, builder.gep(builder.extract_value(whole, DATA), [builder.mul(where, items)]), DATA)
    for k, length in enumerate(lengths):
        view = builder.insert_value(view, length, [SHAPE, k])
        view = builder.insert_value(view, builder.extract_value(whole, [STRIDES, len(kinds) + k]), [STRIDES, k])
    if lower.context.enable_nrt:
        lower.context.nrt.incref(builder, result, view)
    return view


def _place(lower: Any, array: Any, index: Any) -> Any:
    """The address of an element; None for anything but numbers at whole places."""
    kind, at = lower.typeof(array.name), lower.typeof(index.name)
    kinds = list(at) if isinstance(at, types.BaseTuple) else [at]
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


def _offset(lower: Any, kind: Any, whole: Any, kinds: list[Any], index: Any) -> Any:
    """How far from its beginning these places of an array are: in elements, or smaller arrays; in bytes, where it may have gaps."""
    builder, places = lower.builder, lower.loadvar(index.name)
    several, forward = isinstance(lower.typeof(index.name), types.BaseTuple), index.name in _forward(lower)
    parts = [builder.extract_value(places, k) for k in range(len(kinds))] if several else [places]
    ahead = _ahead(lower, index, len(kinds)) if several and not forward else [forward] * len(kinds)
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
    built = [
        part.value
        for block in lower.blocks.values()
        for part in block.body
        if isinstance(part, ir.Assign) and part.target.name == index.name
    ]
    if len(built) != 1 or not isinstance(built[0], ir.Expr) or built[0].op != "build_tuple":
        return [False] * count
    return [part.name in _forward(lower) for part in built[0].items]


def _got(lower: Any, result: Any, expression: Any, array: Any, index: Any, signature: Any) -> Any:
    """An element of an array, or a smaller array in it."""
    place = _place(lower, array, index)
    if place is None and (view := _view(lower, array, index, result)) is not None:
        return view
    if place is None:
        return _got_by_numba(lower, result, expression, array, index, signature)
    kind = lower.typeof(array.name)
    return lower.context.cast(lower.builder, load_item(lower.context, lower.builder, kind, place), kind.dtype, result)


def _set(lower: Any, array: Any, index: Any, value: Any, signature: Any) -> Any:
    """The same, written to."""
    given, kind = lower.typeof(value.name), lower.typeof(array.name)
    place = _place(lower, array, index) if isinstance(given, (types.Number, types.Boolean)) else None
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
