"""The two ends of a bracket, and what each rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ...errors import MissingExtra

Check = tuple[str, bool]


@dataclass(frozen=True)
class UpperEnd:
    """A Burkholder function that holds at the constant `quoted`; every check was made in exact arithmetic."""

    quoted: float
    basis: str  # the family of U and how its three properties are proved
    parameters: dict[str, str]
    checks: tuple[Check, ...]
    value: Callable[[np.ndarray, np.ndarray], np.ndarray] = field(repr=False)
    contact: float = 0.0  # the ratio x/y where U and V meet

    @property
    def proved(self) -> bool:
        return all(passed for _, passed in self.checks)


@dataclass(frozen=True)
class LowerEnd:
    """An explicit martingale with E V_C > 0 at the constant `quoted`."""

    quoted: float
    basis: str  # the martingale in words
    parameters: dict[str, str]
    checks: tuple[Check, ...]
    steps: float  # how many steps it takes before it is stopped for good (an upper bound)
    walk: Any = field(default=None, repr=False)  # the StoppedWalk behind it, where there is one: certify() again

    @property
    def proved(self) -> bool:
        return all(passed for _, passed in self.checks)


def flint() -> Any:
    """python-flint, or the name of the extra that brings it."""
    try:
        import flint as module
    except ImportError as error:
        raise MissingExtra("python-flint", "discover") from error
    return module


def ball(value: Fraction | int) -> Any:
    """A rational as a real ball of certified radius."""
    value = Fraction(value)
    return flint().arb(flint().fmpq(value.numerator, value.denominator))


def above(value: Any) -> float:
    """A float not below an exact rational or a ball."""
    if isinstance(value, Fraction):
        shown = float(value)
        return shown if Fraction(shown) >= value else math.nextafter(shown, math.inf)
    shown = float(value.mid()) + float(value.rad())
    while not ball(Fraction(shown)) >= value:
        shown = math.nextafter(shown, math.inf)
    return shown


def below(value: Any) -> float:
    """A float not above an exact rational or a ball."""
    return -above(-value)


def shown_above(number: float) -> str:
    """Nine digits of a certified upper end, rounded up: what is printed is proved too.

    >>> shown_above(1.3069297351), shown_above(25.0), shown_below(1.3069297359)
    ('1.30692974', '25', '1.30692973')
    """
    text = f"{number:.9g}"
    if Fraction(text) >= Fraction(number):
        return text
    unit = Fraction(10) ** (math.floor(math.log10(abs(number))) - 8)
    return f"{float(Fraction(text) + unit):.9g}"


def shown_below(number: float) -> str:
    """Nine digits of a certified lower end, rounded down."""
    return shown_above(-number).removeprefix("-") if number > 0 else "-" + shown_above(-number)


def root_above(power: Any, p: float, root: bool) -> float:
    """The quoted constant, rounded up, from the one on p-th powers."""
    if not root:
        return above(power)
    base = ball(power) if isinstance(power, Fraction) else power
    return above(base ** (ball(1) / ball(Fraction(p))))


def rational(value: float, denominator: int = 10**6) -> Fraction:
    """A short rational near a float."""
    return Fraction(value).limit_denominator(denominator)


E = TypeVar("E", UpperEnd, LowerEnd)


def first_proved(constants: Iterable[Fraction], attempt: Callable[[Fraction], E]) -> E:
    """The end at the first constant whose proof passes; failing all, the last attempt, which says what failed."""
    for constant in constants:
        end = attempt(constant)
        if end.proved:
            break
    return end


def candidates(estimate: float, reach: float = 4e-3) -> list[Fraction]:
    """Constants to try at and above an estimate: the simplest rationals near it first, then small steps up."""
    simple: list[Fraction] = []
    for denominator in (1, 2, 3, 4, 8, 16, 100, 1000):
        guess = Fraction(estimate).limit_denominator(denominator)
        if abs(float(guess) - estimate) <= reach and guess not in simple:
            simple.append(guess)
    steps = [Fraction(round(estimate * 4000) + k, 4000) for k in range(1, 17)]
    return simple + steps
