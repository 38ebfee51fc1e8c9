"""A stopped walk before its functions are known, and what powers of its ratio do on average after a step."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from burkholder.checker import number, variable
from burkholder.refuter import Way, ways

Array = np.ndarray


@dataclass(frozen=True)
class Plan:
    """A walk before its functions are known: a step (up, down) for each piece between neighbouring `cuts`."""

    unit: str
    cuts: tuple[Fraction, ...]
    steps: tuple[tuple[Fraction, Fraction], ...]
    opening: tuple[tuple[Fraction, Fraction], ...]
    moves: str = "general"

    @property
    def small(self) -> Fraction:
        """What drifts are measured in."""
        return self.steps[0][0] ** 2 if self.unit == "y" else self.steps[0][0] / 1000

    def ways(self) -> list[tuple[Way, Way]]:
        return [ways(self.unit, *pair, self.moves) for pair in self.steps]


def drift(plan: Plan, p: int, powers: Array, z: Array, step: tuple[Way, Way], up: float) -> Array:
    """Columns mean of unit^p·(z after)^e − z^e over `plan.small`, without cancellation."""
    rise, fall = step
    if plan.unit == "y":  # exact polynomials before they become floats
        out = []
        for e in powers:
            total = number(-1) * variable("z") ** int(e)
            for way in step:
                moved = (variable("z") + number(way.shift)) * number(way.slope)
                total += number(way.chance * way.growth**p) * moved ** int(e)
            exact = [float(total.get((("z", i),) if i else (), Fraction(0)) / plan.small) for i in range(int(e) + 1)]
            out.append(np.polynomial.polynomial.polyval(z, np.array(exact)))
        return np.column_stack(out)
    w, grown = z[:, None], np.log1p(up)
    little = np.expm1(p * grown + powers * (np.log1p(float(rise.shift) / w) - 2 * grown)) * float(rise.chance)
    large = np.exp(p * np.log(float(fall.growth)) + powers * (np.log1p(float(fall.shift) / w) + np.log(float(fall.slope)))) - 1
    return w**powers * (little + large * float(fall.chance)) / float(plan.small)
