"""Loops over ranges, written in few instructions, and what is known of the numbers they count.

numba tests the step of every range, divides for its length, and asks of every place in an array whether it counts from the end.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite.ir import Constant, Undefined
from numba.core import ir, types

POSITION, _, STEP, LEFT = range(4)  # fields of the iterator of a range


def values_of(lower: Any, name: str) -> list[Any]:
    """All that a variable is given anywhere."""
    return _all_values(lower).get(name, [])


def _all_values(lower: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] | None = lower.__dict__.get("values")
    if found is None:
        found = lower.values = {}
        for block in lower.blocks.values():
            for part in block.body:
                if isinstance(part, ir.Assign):
                    found.setdefault(part.target.name, []).append(part.value)
    return found


def one_by_one(lower: Any, name: str) -> bool:
    """Whether a variable is a range with no step of its own."""
    values = values_of(lower, name)
    if len(values) != 1 or not isinstance(values[0], ir.Expr) or values[0].op != "call":
        return False
    call = values[0]
    return getattr(lower.typeof(call.func.name), "typing_key", None) is range and len(call.args) < 3 and not call.kws and not call.vararg


def counting(lower: Any, kind: Any, whole: Any) -> Any:
    """The iterator of a range: where it stands, its end, its step, how many are left."""
    builder = lower.builder
    start, stop, step = (builder.extract_value(whole, k) for k in range(3))
    left = builder.sub(stop, start)
    iterator = Constant(lower.context.get_value_type(kind), Undefined)
    for k, value in enumerate((start, stop, step, left)):
        if k in (POSITION, LEFT):
            kept = room(lower, value.type)
            builder.store(value, kept)
            value = kept
        iterator = builder.insert_value(iterator, value, k)
    return iterator


def counted_on(lower: Any, kind: Any, iterator: Any) -> Any:
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


def room(lower: Any, kind: Any, name: str = "") -> Any:
    """A place on the stack, for what is written before it is read."""
    with lower.builder.goto_entry_block():
        return lower.builder.alloca(kind, name=name)


def forward(lower: Any) -> frozenset[str]:
    """The variables that are never negative: what `range` counts from there on, lengths, and their sums and products."""
    found: frozenset[str] | None = lower.__dict__.get("forward")
    if found is None:
        values = _all_values(lower)
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
