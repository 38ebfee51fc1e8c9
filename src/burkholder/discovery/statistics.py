"""Which statistics a regret inequality needs: the paper's rule of thumb, one instance expanded."""

from __future__ import annotations

from dataclasses import dataclass

from burkholder.checker import Poly, Rejected, parse, variable
from burkholder.discovery.monomials import text
from burkholder.errors import BadInput

VARIABLES = ("yhat", "y", "delta", "p")


@dataclass(frozen=True)
class Statistic:
    """One quantity to sum over the rounds: `scalar` times the tensor power x⊗…⊗x of the given order."""

    scalar: str
    order: int
    coefficient: Poly

    @property
    def name(self) -> str:
        """In words a reader of the paper would use: y·x, x xᵀ, ŷ²."""
        tensor = {0: "", 1: "x", 2: "x xᵀ"}.get(self.order, f"x^⊗{self.order}")
        return " · ".join(part for part in ("" if self.scalar == "1" else self.scalar, tensor) if part)


def suggest(loss: str, penalty: str = "0") -> list[Statistic]:
    """The statistics that ℓ(ŷ,y) - ℓ(⟨w,x⟩,y) - penalty needs, for a loss polynomial in yhat (and y, delta).

    `p` stands for ⟨w,x⟩ in the penalty. A term p^k pairs w^⊗k, which the comparator supplies, with x^⊗k,
    which the statistic must sum; terms without the instance are constants, no statistics. The sums listed
    suffice to write the inequality; a smaller set may too, once the loss is linearised.

    The paper's example, the square loss (its list leaves out ŷy, which the expansion also needs):

    >>> [statistic.name for statistic in suggest("(yhat - y)**2")]
    ['y*yhat', 'yhat**2', 'y · x', 'x xᵀ']

    Linearised with curvature, the statistics of strongly convex losses:

    >>> [statistic.name for statistic in suggest("delta*yhat", penalty="(yhat - p)**2/2")]
    ['delta*yhat', 'yhat**2', 'delta · x', 'yhat · x', 'x xᵀ']
    """
    try:
        own, charged = parse(loss), parse(penalty)
    except (Rejected, SyntaxError, ValueError, RecursionError) as error:
        raise BadInput("loss", (loss, penalty), f"write a polynomial in yhat and y: {error}") from None
    if own.variables() - {"yhat", "y", "delta"} or charged.variables() - set(VARIABLES):
        raise BadInput("loss", (loss, penalty), f"use {', '.join(VARIABLES)} only, p = ⟨w,x⟩ in the penalty")
    if "yhat" not in own.variables():
        raise BadInput("loss", loss, "it must depend on yhat, the prediction")
    regret = own - own.at(yhat=variable("p")) - charged
    found: dict[tuple[int, str], Poly] = {}
    for monomial, c in regret.items():
        powers = dict(monomial)
        order = powers.pop("p", 0)
        if order or powers:
            rest = tuple(sorted(powers.items()))
            found[order, text(rest)] = Poly({rest: c})
    return [Statistic(scalar, order, c) for (order, scalar), c in sorted(found.items())]
