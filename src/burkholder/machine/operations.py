"""How an operation gets its machine code, and the type of vectors it may work on.

An operation is a Python function. Its text is the definition, which Python and plain numba run; `machine_code` and
`elementwise` attach what compiled code does instead, unless BURKHOLDER_PLAIN=1.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from numba import extending, types
from numba.extending import lower_builtin, models, register_model, type_callable

from burkholder.machine.llvm import F64, Many, gathered
from burkholder.machine.pieces import overload, register_jitable
from burkholder.machine.processor import PLAIN

F = TypeVar("F", bound=Callable[..., Any])
intrinsic: Any = extending.intrinsic  # called with the arguments of the compiled code, which its own type does not know


class Vector(types.Type):
    """A vector of `width` doubles."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Vector({width})")


EIGHT, FOUR = Vector(8), Vector(4)


@register_model(Vector)
class _Model(models.UniTupleModel if PLAIN else models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Vector) -> None:
        if PLAIN:
            super().__init__(dmm, types.UniTuple(types.float64, fe_type.width))
        else:
            super().__init__(dmm, fe_type, Many(F64, fe_type.width))


def machine_code(typer: Callable[..., Any], code: Callable[..., Any]) -> Callable[[F], F]:
    """Compile calls to `code(context, builder, signature, arguments)`, their signature given by `typer(*types)`."""

    def attach(definition: F) -> F:
        if PLAIN:
            return register_jitable(definition)
        _typed(definition, typer, list(inspect.signature(definition).parameters.values()))
        lower_builtin(definition, types.VarArg(types.Any))(code)
        return definition

    return attach


def _typed(function: Any, typer: Any, parameters: list[inspect.Parameter]) -> None:
    def types_of(*kinds: Any) -> Any:
        return typer(*kinds)

    types_of.pysig = inspect.Signature(parameters)  # type: ignore[attr-defined]  # numba would pack what * stands for
    type_callable(function)(lambda context: types_of)


# --- the same thing to every element -------------------------------------------------------------------------
def _width(kinds: tuple[Any, ...]) -> int | None:
    """The width that vectors among the arguments share; None for none, and for what is neither vector nor number."""
    widths = {kind.width for kind in kinds if isinstance(kind, Vector)}
    others = all(isinstance(kind, Vector | types.Number | types.Boolean) for kind in kinds)
    return widths.pop() if others and len(widths) == 1 else None


def elementwise(code: Callable[..., Any]) -> Callable[[F], F]:
    """Numbers in, a number out, by `code(builder, *values)`; with a vector among the arguments, element by element."""

    def attach(definition: F) -> F:
        apply(definition, code, definition)
        return definition

    return attach


def apply(function: Any, code: Callable[..., Any], definition: Any = None) -> None:
    """`elementwise` for a function that exists already, such as an operator; without a definition, for vectors alone."""
    if PLAIN:
        overload(function, strict=False)(lambda *kinds: _mapped(function, kinds) if _width(kinds) else definition)
        return

    def typer(*kinds: Any) -> Any:
        width = _width(kinds)
        if width is None and (definition is None or not all(isinstance(kind, types.Number | types.Boolean) for kind in kinds)):
            return None
        result = types.float64 if width is None else Vector(width)
        return result(*[kind if isinstance(kind, Vector) else types.float64 for kind in kinds])

    def built(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        wide = [value if value.type == kind else gathered(builder, kind, [value] * kind.count) for value in arguments]
        return code(builder, *wide)

    parameters = list(inspect.signature(code).parameters.values())[1:]
    _typed(function, typer, parameters)
    # each way of mixing vectors and numbers, so that nothing is taken from what numba knows of a function already
    for mixture in itertools.product((Vector, types.Float), repeat=len(parameters)):
        if definition is not None or Vector in mixture:
            lower_builtin(function, *mixture)(built)


def _mapped(function: Any, kinds: tuple[Any, ...]) -> Any:
    """The function, written out for each element."""
    names = "abc"[: len(kinds)]
    calls = (
        f"f({', '.join(f'numbers({name})[{k}]' if isinstance(kind, Vector) else name for name, kind in zip(names, kinds, strict=True))})"
        for k in range(_width(kinds) or 0)
    )
    return eval(f"lambda {', '.join(names)}: vector(({', '.join(calls)}))", {"f": function, "numbers": numbers, "vector": vector})


# --- vectors of plain numba: tuples by another name, because tuples know another addition -----------------------
@intrinsic
def vector(typing_context: Any, content: Any) -> Any:
    """The vector with these numbers."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return Vector(len(content))(types.UniTuple(types.float64, len(content))), code


@intrinsic
def numbers(typing_context: Any, content: Any) -> Any:
    """The numbers of a vector, as a tuple."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return types.UniTuple(types.float64, content.width)(content), code
