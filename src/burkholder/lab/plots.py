"""Pictures of the laboratory; matplotlib is imported only here, when asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from .sharp.result import SharpConstant

TOUCH = 1e-6  # U − V below this, relative to the largest |V| on the line, counts as contact in a picture


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "report") from error
    return Figure(figsize=(7.5, 4.2), layout="constrained")


def against(found: SharpConstant, path: str | Path | None = None) -> Any:
    """U against V_C on the segment x + y = 1, with the contact set marked. Returns the figure."""
    figure = _figure()
    axes = figure.add_subplot()
    t = np.linspace(1e-6, 1 - 1e-6, 2001)
    if found.problem.moves == "smooth":
        _smoothness(axes, found)
    elif found.program is None:
        raise BadInput("name", found.name, "its state has three coordinates, and this picture two")
    else:
        power = found.problem.power(found.constant)
        target = found.problem.target(t, 1 - t, power)
        value = found.upper_end.value(t, 1 - t)
        touching = value - target <= TOUCH * np.abs(target).max()
        axes.plot(t, target, label="V", color="C1")
        axes.plot(t, value, label="U (certified)", color="C0")
        axes.plot(t, found.program.spline(t), label="U (program)", color="C0", ls=":", lw=1)
        axes.plot(t[touching], value[touching], ".", color="C3", ms=3, label="contact set")
        low, high = min(value.min(), target.min()), max(value.max(), target.max())
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        axes.axhline(0, color="0.7", lw=0.6)
        axes.set_xlabel("t = x/(x+y) on x + y = 1")
    axes.set_title(f"{found.statement}:  C = {found.constant:.6g}", fontsize=10)
    axes.legend(frameon=False)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _smoothness(axes: Any, found: SharpConstant) -> None:
    """The smallest C each direction x asks for, over small steps h, against the certified one."""
    p = found.problem.p
    angles, turns = np.meshgrid(np.linspace(0, np.pi / 2, 201), np.linspace(0, np.pi, 181), indexing="ij")
    size = 1e-3

    def square(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (np.abs(u) ** p + np.abs(v) ** p) ** (2 / p)

    x, y, h, k = np.cos(angles), np.sin(angles), size * np.cos(turns), size * np.sin(turns)
    ratio = ((square(x + h, y + k) + square(x - h, y - k)) / 2 - square(x, y)) / square(h, k)
    axes.plot(angles[:, 0], ratio.max(axis=1), label="needed at x = (cos φ, sin φ)", color="C1")
    axes.axhline(found.constant, color="C0", label="certified C")
    axes.set_xlabel("φ")


def optimal(found: Any, path: str | Path | None = None) -> Any:
    """U_t and V over the first coordinate of Σδx, at the states a finite game reaches. Returns the figure."""
    figure = _figure()
    axes = figure.add_subplot()
    times = sorted({0, found.rounds // 4, found.rounds // 2, (3 * found.rounds) // 4, found.rounds})
    for colour, t in enumerate(times[1:]):
        states = np.asarray(found.table.levels[t].states[:, 1], float)  # τ begins with Σδŷ, then Σδx
        order = np.argsort(states, kind="stable")
        axes.plot(
            states[order], np.asarray(found.table.values[t], float)[order], ".-", ms=3, lw=0.7, color=f"C{colour}", label=f"U, t = {t}"
        )
        axes.plot(states[order], np.asarray(found.table.targets[t], float)[order], ".", ms=2, color=f"C{colour}", alpha=0.4)
    axes.set_xlabel("Σδx (first coordinate); V in the same colour, paler")
    axes.set_title(str(found), fontsize=9)
    axes.legend(frameon=False)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
