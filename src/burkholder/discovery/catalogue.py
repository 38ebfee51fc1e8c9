"""The catalogue of problems whose constants are known or sought, by name, by family, or from a user's file."""

from __future__ import annotations

import math
import re
import runpy
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from burkholder.discovery.problems import Problem, Worded
from burkholder.errors import BadInput
from burkholder.limited import KIND


def zigzag(p: int) -> Problem:
    return Problem(f"zigzag-{p}", "zigzag", f"x**{p} - C*y**{p}", known=(p - 1) ** p)


def orthogonal(p: int) -> Problem:
    return Problem(f"orthogonal-{p}", "orthogonal", f"x**{p} - C*y**{p}", known=1 / math.tan(math.pi / (2 * p)) ** p)


def decoupled(p: int) -> Problem:
    known = (1 + math.sqrt(2)) ** 4 if p == 4 else None
    return Problem(f"decoupled-{p}", "dyadic", f"x**{p} - C*y**{p}", known=known, statistic={"x": "e1*d", "y": "e2*d"})


def smoothness(p: int, d: int = 2) -> Problem:
    if type(d) is not int or not 1 <= d <= 12:
        raise BadInput("d", d, "give a dimension between 1 and 12")
    norm = " + ".join(f"x{i}**{p}" for i in range(1, d + 1))
    name = f"smoothness-{p}" + (f"-dimension-{d}" if d != 2 else "")
    # p-1 is best for one step, from dimension 2 on; in dimension 1 the step needs 1
    return Problem(name, "smooth", norm=norm, p=p, known=p - 1 if d > 1 else None)


def square_function(p: int, martingale: str = "dyadic", reverse: bool = False) -> Problem:
    step = {"dyadic": {"x": "e*d", "s": "d**2"}, "general": {"x": "a", "s": "a**2"}}
    if martingale not in step:
        raise BadInput("martingale", martingale, "choose dyadic or general")
    known: dict[tuple[int, str, bool], float | int] = {
        (p, "general", False): (p - 1) ** p,
        (4, "dyadic", False): (3 + math.sqrt(6)) ** 2,
        (4, "dyadic", True): 1 / (3 - math.sqrt(6)) ** 2,
    }
    left, right = f"x**{p}", f"s**{p // 2}"
    name = f"square-function-{p}-{martingale}" + ("-reverse" if reverse else "")
    target = f"{right} - C*{left}" if reverse else f"{left} - C*{right}"
    return Problem(name, martingale, target, statistic=step[martingale], known=known.get((p, martingale, reverse)))


def conditional(p: int) -> Problem:
    """The sum of the conditional variances against f: Wang's constant."""
    step = {"x": "a", "v": "w"}
    return Problem(f"conditional-{p}", KIND, f"v**{p // 2} - C*x**{p}", step, variance="w", known=Fraction(p, 2) ** (p // 2))


def maximum(p: int) -> Problem:
    """The largest f against |f|: Doob's constant."""
    known = Fraction(p, p - 1) ** p
    return Problem(f"maximum-{p}", KIND, f"m**{p} - C*x**{p}", {"x": "a"}, peak={"m": ("x",)}, known=known)


def one_sided() -> Problem:
    """Steps of at most 1, and as far down as one likes."""
    step = {"x": "a", "v": "w"}
    return Problem("one-sided-3", KIND, "x**3 - C*(v + v**2)", step, variance="w", within=("1 - a",))


def self_normalised() -> Problem:
    """f⁴ over 1 + S², fair signs."""
    return Problem("self-normalised-4", KIND, "x**4 - C*s*(1 + s)", {"x": "e*d", "s": "d**2"}, below="1 + s")


def strongly_convex() -> Problem:
    return Problem("strongly-convex", "logarithmic", "x**2/2", power=1, known=Fraction(1, 2))


CATALOGUE: dict[str, Callable[[], Problem]] = {
    **{f"zigzag-{p}": partial(zigzag, p) for p in (3, 4, 5, 6, 8)},
    **{f"decoupled-{p}": partial(decoupled, p) for p in (4, 6)},
    **{f"orthogonal-{p}": partial(orthogonal, p) for p in (4, 6)},
    **{
        f"square-function-4-{kind}{'-reverse' * reverse}": partial(square_function, 4, kind, reverse)
        for kind in ("dyadic", "general")
        for reverse in (False, True)
    },
    **{f"smoothness-{p}": partial(smoothness, p) for p in (4, 6)},
    **{f"conditional-{p}": partial(conditional, p) for p in (4, 6)},
    "maximum-2": partial(maximum, 2),
    "one-sided-3": one_sided,
    "self-normalised-4": self_normalised,
    "strongly-convex": strongly_convex,
}
FAMILIES: dict[str, Callable[..., Problem]] = {
    "zigzag": zigzag,
    "orthogonal": orthogonal,
    "decoupled": decoupled,
    "smoothness": smoothness,
    "square-function": square_function,
    "conditional": conditional,
    "maximum": maximum,
    "strongly-convex": strongly_convex,
}
SPELLING = re.compile(
    r"(?P<family>[a-z-]+?)-(?P<p>\d+)(-(?P<martingale>dyadic|general))?(?P<reverse>-reverse)?"
    r"(-dimension-(?P<d>\d+))?"
)


def names() -> list[str]:
    """The catalogue, in the order of its families."""
    return list(CATALOGUE)


def problem(source: str | Path | Problem | Worded, **parameters: Any) -> Problem:
    """A problem by catalogue name, by family and parameters, from a Python file that defines `problem`, or an inequality.

    >>> problem("zigzag", p=4) == problem("zigzag-4")
    True
    """
    if isinstance(source, Problem):
        return source
    if isinstance(source, Worded):
        stated = source.polynomial()
        if stated is None:
            raise BadInput("inequality", str(source), "its U is no polynomial: bk.sharp(inequality) estimates and brackets its constant")
        return stated
    text = str(source)
    if text in CATALOGUE and not parameters:
        return CATALOGUE[text]()
    if text in FAMILIES:
        p = parameters.get("p", 2)
        if type(p) is not int or not 2 <= p <= 64:
            raise BadInput("p", p, "give an integer between 2 and 64")
        if text not in ("zigzag", "orthogonal") and p % 2:
            raise BadInput("p", p, f"{text} needs an even p, for its target to be a polynomial; |x|**{p} is for bk.sharp(bk.Inequality(…))")
        try:
            return FAMILIES[text](**parameters)
        except TypeError as error:
            raise BadInput("parameters", parameters, f"{text}: {error}") from None
    named = SPELLING.fullmatch(text)
    if named and named["family"] in FAMILIES and not parameters:
        given = {
            "p": int(named["p"]),
            "martingale": named["martingale"],
            "reverse": bool(named["reverse"]),
            "d": named["d"] and int(named["d"]),
        }
        return problem(named["family"], **{key: value for key, value in given.items() if value})
    if text.endswith(".py"):
        return from_file(Path(text))
    raise BadInput("name", text, f"choose one of {', '.join(CATALOGUE)}, or a Python file defining `problem`")


def from_file(path: Path) -> Problem:
    """The object named `problem` in a Python file."""
    if not path.is_file():
        raise BadInput("file", str(path), "there is no such file")
    try:
        found = runpy.run_path(str(path)).get("problem")
    except BadInput:
        raise
    except Exception as error:  # whatever a user's file may raise, they should see its name and its reason
        raise BadInput("file", str(path), f"it does not run: {type(error).__name__}: {error}") from error
    if not isinstance(found, Problem):
        raise BadInput("file", str(path), "define `problem = burkholder.Problem(...)` in it")
    return found
