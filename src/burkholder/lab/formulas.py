"""Formulas a user may write in an inequality: numbers, names, + − * / **, abs, sqrt, max, min. Read once, evaluated on arrays.

Nothing is executed: a formula is a small tree, of limited length, depth and powers, and each name in it must be known.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.checker import DEEPEST, LONGEST, POWER, Poly, number, variable
from burkholder.errors import BadInput

OPERATIONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "abs": (1, np.abs),
    "sqrt": (1, np.sqrt),
    "max": (2, np.maximum),
    "min": (2, np.minimum),
}
NODES = 400


@dataclass(frozen=True)
class Formula:
    """One node: its kind, its parts, and for a leaf its name or number, for a power its exponent.

    >>> formula = read("sqrt(s)**3 - C*abs(x)**3", "left")
    >>> float(formula.at(x=2.0, s=9.0, C=1.0)), formula.degree({"x": Fraction(1), "s": Fraction(2), "C": Fraction(0)})
    (19.0, Fraction(3, 1))
    """

    kind: str
    parts: tuple[Formula, ...] = ()
    leaf: Any = None

    def at(self, **values: Any) -> Any:
        """Its value, elementwise on arrays."""
        if self.kind == "number":
            return float(self.leaf)
        if self.kind == "name":
            return values[self.leaf]
        inner = [part.at(**values) for part in self.parts]
        if self.kind == "**":
            return inner[0] ** (int(self.leaf) if self.leaf.denominator == 1 else float(self.leaf))
        if self.kind in FUNCTIONS:
            return FUNCTIONS[self.kind][1](*inner)
        return next(act for sign, act in OPERATIONS.values() if sign == self.kind)(*inner)

    def names(self) -> set[str]:
        return {self.leaf} if self.kind == "name" else set().union(*(part.names() for part in self.parts))

    def fraction(self) -> tuple[Poly, Poly] | None:
        """Numerator and denominator, where it is a quotient of polynomials."""
        if self.kind in ("number", "name"):
            return (number(self.leaf) if self.kind == "number" else variable(self.leaf)), number(1)
        inner = [part.fraction() for part in self.parts]
        known = [part for part in inner if part is not None]
        if len(known) < len(inner):
            return None
        (one, below), (two, under) = known[0], known[-1]
        if self.kind == "**" and self.leaf.denominator == 1:
            return one ** int(self.leaf), below ** int(self.leaf)
        if self.kind == "*":
            return one * two, below * under
        if self.kind == "/" and two:
            if two.variables():
                return one * under, below * two
            return one * under * number(1 / two[()]), below
        if self.kind in ("+", "-"):
            two = two if self.kind == "+" else number(-1) * two
            return (one + two, below) if below == under else (one * under + two * below, below * under)
        return None

    def degree(self, weights: Mapping[str, Fraction]) -> Fraction | None:
        """How it scales when each name scales by its weight; None where its terms scale differently."""
        if self.kind == "number":
            return Fraction(0)
        if self.kind == "name":
            return weights[self.leaf]
        inner = [part.degree(weights) for part in self.parts]
        if any(d is None for d in inner):
            return None
        first, last = inner[0], inner[-1]
        assert first is not None and last is not None
        if self.kind in ("*", "/"):
            return first + last if self.kind == "*" else first - last
        if self.kind in ("**", "sqrt"):
            return first * (self.leaf if self.kind == "**" else Fraction(1, 2))
        return first if first == last else None


def read(text: Any, argument: str) -> Formula:
    """The formula in a text, or BadInput that says what is wrong with it."""
    if not isinstance(text, str) or len(text) > LONGEST or not text.isascii():
        raise BadInput(
            argument, text if isinstance(text, str) else type(text).__name__, f"write a formula of at most {LONGEST} plain characters"
        )
    count = 0

    def refuse(why: str) -> BadInput:
        return BadInput(argument, text[:80], why)

    def walk(node: ast.AST, depth: int) -> Formula:
        nonlocal count
        count += 1
        if depth > DEEPEST or count > NODES:
            raise refuse("it is too long or too deeply nested")
        if isinstance(node, ast.Name):
            return Formula("name", leaf=node.id)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and type(node.value) is not bool and node.value < 1e12:
            return Formula("number", leaf=Fraction(str(node.value)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Formula("-", (Formula("number", leaf=Fraction(0)), walk(node.operand, depth + 1)))
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            return Formula(OPERATIONS[type(node.op)][0], (walk(node.left, depth + 1), walk(node.right, depth + 1)))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            power = _number(walk(node.right, depth + 1))
            if power is None or not 0 < power <= POWER:
                raise refuse(f"powers are numbers above 0, at most {POWER}")
            return Formula("**", (walk(node.left, depth + 1),), power)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
            if len(node.args) != FUNCTIONS[node.func.id][0]:
                raise refuse(f"{node.func.id} takes {FUNCTIONS[node.func.id][0]} argument(s)")
            return Formula(node.func.id, tuple(walk(item, depth + 1) for item in node.args))
        raise refuse("use numbers, names, + - * / **, abs, sqrt, max and min")

    try:
        return walk(ast.parse(text.strip(), mode="eval").body, 0)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise refuse("it is not a formula") from None


def _number(formula: Formula) -> Fraction | None:
    """The value of a formula of numbers alone, such as 3/2."""
    if formula.kind == "number":
        return formula.leaf
    inner = [_number(part) for part in formula.parts]
    if formula.kind == "/" and None not in inner and inner[1]:
        return inner[0] / inner[1]  # type: ignore[operator]
    return None
