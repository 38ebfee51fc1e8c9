"""An upper end from the linear program: its spline, lifted off every constraint at a slightly larger C, and proved by `splined`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.checker import Rejected, digest
from burkholder.lab.inequality import Inequality
from burkholder.lab.sharp.shape import Array, Program, Unsolved
from burkholder.lab.sharp.splined import SPLINE, read, shape, verify

GAPS = (1e-2, 3e-3, 1e-3)
PIECES, BOXES = 160, 1_000_000


def lifted(inequality: Inequality, first: Program, coefficients: Array) -> dict[str, Any] | None:
    """The certificate at the least C, of a few above the program's, whose U passes; None where none does."""
    best: dict[str, Any] | None = None
    try:
        shape(inequality)
        program = Program(first.game, PIECES, finer(first, coefficients, PIECES))
        least = program.solve()[1]
        for gap in GAPS:
            constant = Fraction(least * (1 + gap)).limit_denominator(10**7)
            found, room = program.lifted(float(constant))
            if program.sharpened(found, room, seed=0):
                found, room = program.lifted(float(constant))
            data = written(inequality, program, found, constant)
            verify(data, BOXES)
            best = data
    except (Unsolved, Rejected):
        pass
    return best


class SplineFunction:
    """U of a certificate, at numbers or arrays of both coordinates of the state, in floating point."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data, self.root = data, data["moves"] != "transform"
        self.spline = read(data)

    def __call__(self, first: Any, second: Any) -> Any:
        x, y = np.abs(np.asarray(first, float)), np.asarray(second, float)
        y = np.sqrt(y) if self.root else np.abs(y)
        r = x + y
        g = self.spline.at(np.divide(x, r, out=np.zeros(np.shape(r)), where=r > 0))[0]
        return r ** float(self.spline.p) * (g.low + g.high) / 2

    def __str__(self) -> str:
        y = f"√{list(self.data['state'])[1]}" if self.root else f"|{list(self.data['state'])[1]}|"
        return f"r**{self.spline.p}*g(|x|/r), r = |x| + {y}, g a cubic spline with {len(self.data['knots'])} knots"


def finer(program: Program, coefficients: Array, pieces: int) -> Array:
    """Knots for a second look: closer together where g″ changes fast."""
    inner = program.inner
    step = np.diff(inner)
    turn = np.abs(np.diff(program.basis[2](inner) @ coefficients)) / step
    middle = (inner[1:] + inner[:-1]) / 2
    density = np.where((middle > 0.03) & (middle < 0.95), np.cbrt(turn / (np.median(turn) + 1e-12)), 0.0) + 1.0
    along = np.concatenate([[0.0], np.cumsum(density * step)])
    return np.unique(np.round(np.interp(np.linspace(0, along[-1], pieces + 1), along, inner) * 2**20) / 2**20)


def written(inequality: Inequality, program: Program, coefficients: Array, constant: Fraction) -> dict[str, Any]:
    """The spline as a file: few digits at x = 0, where U is smooth exactly, doubles elsewhere."""
    p = Fraction(program.game.p)
    start = Fraction(round(math.ldexp(float(program.design(np.zeros(1))[0] @ coefficients), 30)), 2**30)
    slope = -p * start
    if program.game.moves == "transform":
        slope = Fraction(float(program.design(np.zeros(1), 1)[0] @ coefficients))
    bends = program.basis[2](program.inner) @ coefficients
    data: dict[str, Any] = {"format": SPLINE, "name": f"{inequality.left} against {inequality.right}, {inequality.moves}"}
    data |= {"state": dict(inequality.state), "moves": inequality.moves, "left": inequality.left, "right": inequality.right}
    data |= {"constant": str(constant), "knots": [str(Fraction(float(k))) for k in program.inner], "first": str(start)}
    data |= {"slope": str(slope), "second": [str(Fraction(float(b))) for b in bends], "digest": ""}
    return data | {"digest": digest(data)}
