"""Feature maps in front of any learner: monomials, hence boolean decision trees of bounded depth.

A tree of depth k over ±1 inputs is a polynomial of degree k in them (the paper's section on nonlinear classes), so
a linear learner on parities competes with every such tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from burkholder.errors import BadInput

DEEPEST = 64  # products of more factors are no tree that anybody grows


class Parity:
    """All products of at most `degree` distinct features, the empty product 1 included.

    >>> Parity(2)({"a": -1.0, "b": 1.0})
    {'(one)': 1.0, 'a': -1.0, 'b': 1.0, 'a*b': -1.0}
    """

    def __init__(self, degree: int = 2, most: int = 200_000) -> None:
        if not 0 <= degree <= DEEPEST or degree != int(degree):
            raise BadInput("degree", degree, f"give a whole number from 0 to {DEEPEST}")
        self.degree, self.most = int(degree), int(most)

    def __call__(self, x: Any) -> dict[str, float]:
        if isinstance(x, Mapping):
            named = {str(name): float(value) for name, value in sorted(x.items(), key=lambda pair: str(pair[0]))}
        elif isinstance(x, tuple) and len(x) == 2:
            named = {str(int(i)): float(v) for i, v in sorted(zip(x[0], x[1]))}
        else:
            named = {str(i): float(v) for i, v in enumerate(x)}
        live = [(name, value) for name, value in named.items() if value != 0.0]
        out = {"(one)": 1.0}
        for size in range(1, self.degree + 1):
            for chosen in combinations(live, size):
                product = 1.0
                for _, value in chosen:
                    product *= value
                out["*".join(name for name, _ in chosen)] = product
                if len(out) > self.most:
                    raise BadInput("degree", self.degree, f"this row has more than {self.most} monomials: lower it")
        return out
