"""Feature maps in front of any learner: monomials, hence boolean decision trees of bounded depth.

A tree of depth k over ±1 inputs is a polynomial of degree k in them (the paper's section on nonlinear classes), so
a linear learner on parities competes with every such tree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from burkholder.errors import BadInput

DEEPEST = 64  # products of more factors are no tree that anybody grows
ONE = "(one)"  # the empty product


class Parity:
    r"""All products of at most `degree` distinct features, the empty product 1 included.

    A `*` or `\` within a feature's name is written with a `\` before it, so that every product has a name of its own.

    >>> Parity(2)({"a": -1.0, "b": 1.0})
    {'(one)': 1.0, 'a': -1.0, 'b': 1.0, 'a*b': -1.0}
    """

    def __init__(self, degree: int = 2, most: int = 200_000) -> None:
        if not 0 <= degree <= DEEPEST or degree != int(degree):
            raise BadInput("degree", degree, f"give a whole number from 0 to {DEEPEST}")
        self.degree, self.most = int(degree), int(most)

    def __call__(self, x: Any) -> dict[str, float]:
        live = _live(x)
        if _count(len(live), self.degree) > self.most:
            raise BadInput("degree", self.degree, f"this row has more than {self.most} monomials: lower it")
        out = {ONE: 1.0}
        for size in range(1, self.degree + 1):
            for chosen in combinations(live, size):
                out["*".join(name for name, _ in chosen)] = math.prod(value for _, value in chosen)
        return out

    def __repr__(self) -> str:
        return f"Parity({self.degree}, most={self.most})"

    def size(self, x: Any) -> int:
        """How many products this row has.

        >>> Parity(2).size([1.0, 0.0, -1.0])
        4
        """
        return _count(len(_live(x)), self.degree)


def factors(product: str) -> frozenset[str]:
    """The features whose product has that name, as `Parity` writes them.

    >>> sorted(factors("b*a")), factors("(one)")
    (['a', 'b'], frozenset())
    """
    if product == ONE:
        return frozenset()
    names, escaped = [""], False
    for letter in product:
        if letter == "*" and not escaped:
            names.append("")
        else:
            names[-1] += letter
        escaped = letter == "\\" and not escaped
    if len(set(names)) < len(names):
        raise BadInput("w", product, "each feature is in a product once")
    return frozenset(names)


def _live(x: Any) -> list[tuple[str, float]]:
    """The features that are not 0, by names in which a `*` is no product."""
    try:
        if isinstance(x, Mapping):
            named = {str(name): float(value) for name, value in sorted(x.items(), key=lambda pair: str(pair[0]))}
        elif isinstance(x, tuple) and len(x) == 2:
            named = {str(int(i)): float(v) for i, v in sorted(zip(x[0], x[1]))}
        else:
            named = {str(i): float(v) for i, v in enumerate(x)}
    except (TypeError, ValueError, OverflowError):
        raise BadInput("x", x, "products are of numbers: give a row of them, by place or by name") from None
    return [(_plain(name), value) for name, value in named.items() if value != 0.0]


def _plain(name: str) -> str:
    if "*" in name or "\\" in name:
        return name.replace("\\", "\\\\").replace("*", "\\*")
    return "\\" + name if name == ONE else name


def _count(live: int, degree: int) -> int:
    return sum(math.comb(live, size) for size in range(degree + 1))
