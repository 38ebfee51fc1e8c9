"""Everything that is claimed of U = a + f(g, s), for the potentials and geometries that have a proof.

Clock "square" (s grows by d² = L²‖x‖² whatever the sign): 3′ and convexity in δ give the sign-flip rule. Clock "gradient" (s
grows by δ²‖x‖²): the tangent majorant gives 3° and the tangent rule. In an inner-product space ‖g+d‖² = ‖g‖²+2p+‖d‖² with
|p| ≤ ‖g‖‖d‖, and a sum over coordinates is a sum of one-dimensional cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from burkholder.functions.linear import Linear
from burkholder.geometries import Coordinates, Euclidean, PNorm
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.exact import adaptive, davis, lemmas, smoothness, square
from burkholder.lab.exact.consequences import follows, settled, starts
from burkholder.lab.exact.reals import z3
from burkholder.lab.verdicts import Status, Verdict
from burkholder.potentials import NU, Adaptive, Anytime, DavisWang, Quadratic, SquareRoot

SPACES = "every dimension, all scales"
BALL = "‖w‖ ≤ R (|w_i| ≤ R per coordinate), every dimension, all τ"


def prove(function: Linear) -> list[Verdict]:
    """Every claim that `verify` examines of this function, or what can be proved of it; [] where there is no proof."""
    path = PATHS.get((type(function.potential), type(function.geometry), function.clock))
    if path is None or not all(number > 0 for number in _scales(function.potential)):
        return []
    found = path(function)
    by_claim = {verdict.claim: verdict for verdict in found if verdict.proved}
    if function.clock != "gradient" and {"3'", "convex"} <= set(by_claim):
        found += follows(
            "sign-flip",
            "ŷ makes both ends of the chord equal to the mean over ±L, and F lies below its chord",
            by_claim["3'"],
            by_claim["convex"],
        )
    if function.clock == "gradient" and "tangent" in by_claim:
        found += follows("3", "the majorant is linear in δ, and δ has mean 0", by_claim["tangent"])
    if "regret" in by_claim:
        found += follows("streams", "τ holds Σδŷ and Σδx, and starts at 0", by_claim["regret"])
    return found


def _scales(potential: Any) -> tuple[float, ...]:
    """The constants of U: with a negative factor every inequality would turn round."""
    numbers = tuple(tuple.__iter__(potential))
    return numbers[:2] if type(potential) is Anytime else numbers  # its third is an offset, and no factor


def _square(function: Linear) -> list[Verdict]:
    c = function.potential.constant
    above, majorant = square.majorises(outer=c), square.majorant(outer=c)
    found = [_zero(function), above, majorant, _ball()]
    if function.clock == "gradient":
        return found
    X, x, R, r = z3().Reals("X x R r")  # slopes x/r ≤ X/R at 0 ≤ x ≤ X ≤ √s = 1, r² = 2−x²; then slope 1
    inside = [x >= 0, x <= X, X <= 1, R > 0, r > 0, R * R == 2 - X * X, r * r == 2 - x * x]
    why = "f is convex and rises in g: its slope grows from 0 to 1, without a jump at g = √s, where f = −√s"
    convex = settled(
        "convex", SPACES, why, {"slope falls": [*inside, x * R > X * r], "slope above 1": [*inside, X > R]}, holds=bool(c == 2)
    )
    found[2] = replace(majorant, claim="3'", note="the mean over ±d of the tangent majorant")
    return [*found, convex]


def _davis(function: Linear) -> list[Verdict]:
    p = function.potential
    nu, height = (None if p.constant == NU else p.constant), (None if p.height == DavisWang().height else p.height)
    above, step = davis.majorises(nu, height), davis.step(nu, height)
    found = [_zero(function), above, step, _ball()]
    if nu is None and height is None:
        found.append(
            Verdict(
                "convex",
                Status.of(davis.recurrence_holds()),
                STATEMENTS["convex"],
                SPACES,
                "Kummer's series, exact recurrence",
                note="φ is even with positive coefficients, and goes on with its slope 1 at ν: convex, rising in |g|",
            )
        )
    return found


def _adaptive(function: Linear) -> list[Verdict]:
    step = adaptive.everywhere()
    g, D = z3().Reals("g D")
    convex = settled(
        "convex",
        SPACES,
        "exp(g²/2D) rises in g and has the second derivative (1/D + g²/D²)·exp(g²/2D)",
        {"curved down": [D > 0, 1 / D + g * g / (D * D) < 0]},
    )
    return [_zero(function), _itself(), step, convex, adaptive.promise()]


def _anytime(function: Linear) -> list[Verdict]:
    """thm:param_free, repaired: F_t = exp(‖g‖²/2t − ½H_t), in units where L·X = 1 (‖d‖ ≤ 1).

    E exp(‖g+εd‖²/2t) ≤ exp((‖g‖²+1)/2t)·cosh(⟨g,d⟩/t) ≤ exp(‖g‖²/2·(1/t + 1/t²) + 1/2t), and 1/t + 1/t² ≤ 1/(t−1); at t = 1 it is g = 0.
    H_t − H_{t−1} = 1/t pays for the rest. The promise is that of `adaptive`, with D = t and κ√v replaced by e^{−H_t/2}.
    """
    held = (function.lipschitz, function.feature_bound)
    if not all(type(number) is float and 0.0 < number < math.inf for number in held):
        return []
    if function.potential.offset != 0 or Fraction(function.potential.unit) < Fraction(held[0]) * Fraction(held[1]):
        return []  # ‖d‖ ≤ 1 is what the step rests on
    t, G, u = z3().Reals("t G u")
    step = settled(
        "3'",
        "‖x‖ ≤ X, every inner-product space, every t ≥ 1 (at t = 1 before it g = 0)",
        f"with {lemmas.COSH}",
        {"exponent": [t > 1, G >= 0, G * (1 / t + 1 / (t * t)) > G / (t - 1)], "first": [t == 1, G == 0, G / 2 * (1 / t + 1) > 0]},
        holds=lemmas.hyperbolic("1/2"),
    )
    convex = settled(
        "convex",
        SPACES,
        "exp(g²/2t) rises in g and has the second derivative (1/t + g²/t²)·exp(g²/2t)",
        {"curved down": [t > 0, 1 / t + u * u / (t * t) < 0]},
    )
    return [_zero(function), _itself(), step, convex, adaptive.promise()]


def _quadratic(function: Linear) -> list[Verdict]:
    c, norm = function.geometry.smoothness, type(function.geometry) is PNorm
    G, D, p, u, k = z3().Reals("G D p u k")
    promise = settled(
        "regret",
        "every w, every dimension, all τ",
        "u·g ≤ (c/2)u² + g²/(2c), the square of cu−g",
        {"square": [k > 0, u * G > k * u * u / 2 + G * G / (2 * k)]},
    )
    convex = settled("convex", SPACES, "the square of a norm is convex", {"square": [G * G < 0]})
    if norm:
        step = smoothness.everywhere(c)
    elif function.clock == "square":
        step = settled("3'", SPACES, "the parallelogram law", {"mean": [((G + 2 * p + D) + (G - 2 * p + D)) / 2 - D > G]})
    else:
        step = settled("tangent", SPACES, "‖g+d‖² = ‖g‖² + 2⟨g,d⟩ + ‖d‖²", {"expanded": [G + 2 * p + D - D > G + 2 * p]})
    if norm and function.clock == "gradient":
        step = replace(step, claim="tangent", statement=f"‖g+d‖₄² ≤ ‖g‖₄² + ⟨∇‖g‖₄²,d⟩ + {c:g}·‖d‖₄²")
    return [_zero(function), _itself(), step, promise, *([convex] if function.clock == "square" else [])]


def _zero(function: Linear) -> Verdict:
    return starts(function, "f(0,0) = 0")


def _itself() -> Verdict:
    return Verdict("2", Status.PROVED, STATEMENTS["2"], "all τ", "identity", note="V is U")


def _ball() -> Verdict:
    """−⟨w,g⟩ ≤ R‖g‖ and A = cR√s leave V = R(‖g‖ − c√s)."""
    G, w, R, s, c = z3().Reals("G w R s c")
    return settled(
        "regret",
        BALL,
        "Cauchy–Schwarz: −⟨w,g⟩ ≤ R‖g‖; V = R(‖g‖ − c√s) and A = cR√s",
        {"ball": [G >= 0, w >= 0, w <= R, s >= 0, c >= 0, w * G - c * R * s > R * (G - c * s)]},
    )


Path = Callable[[Linear], list[Verdict]]
PATHS: dict[tuple[type, type, str], Path] = {
    **{(SquareRoot, shape, clock): _square for shape in (Euclidean, Coordinates) for clock in ("square", "gradient")},
    **{(DavisWang, shape, "square"): _davis for shape in (Euclidean, Coordinates)},
    **{(Adaptive, shape, "square"): _adaptive for shape in (Euclidean, Coordinates)},
    (Anytime, Euclidean, "count"): _anytime,
    **{(Quadratic, shape, clock): _quadratic for shape in (Euclidean, Coordinates) for clock in ("square", "gradient")},
    **{(Quadratic, PNorm, clock): lambda f: _quadratic(f) if f.geometry.p == 4 else [] for clock in ("square", "gradient")},
}
