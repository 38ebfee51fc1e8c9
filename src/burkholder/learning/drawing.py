"""How pictures look: one sheet, few colours, nothing that says nothing. Needs matplotlib (`burkholder[report]`)."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from burkholder.errors import MissingExtra

INK, QUIET, BLUE, ORANGE = "#1b1f24", "#57606a", "#0550ae", "#bc4c00"
# for many things at once: told apart in print and by most eyes; ours, behind the user's own, are greys
MANY = ("#0550ae", "#e16f24", "#2da44e", "#a475f9", "#cf222e", "#1b7c83", "#bf8700", "#e85aad")
OURS = ("#57606a", "#8c959f", "#afb8c1", "#d0d7de", "#eaeef2")
POINTS = 1000  # all that a picture can show


def sheet(width: float, height: float, rows: int = 1, columns: int = 1, **how: Any) -> tuple[Any, Any]:
    """(figure, its axes), without frames around them."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, **how)
    for each in np.atleast_1d(axes).ravel():
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(labelsize=9)
    return figure, axes


def titled(axes: Any, title: str, width: int = 52) -> None:
    """A title that stays above its axes."""
    axes.set_title(textwrap.fill(title, width), fontsize=10, loc="left")


def kept(figure: Any, path: str | None) -> Any:
    """The figure, saved when a path is given."""
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure


def thinned(count: int) -> np.ndarray:
    """Places of at most `POINTS` of so many rounds, the first and the last among them.

    >>> thinned(3).tolist(), len(thinned(10**6)), int(thinned(10**6)[-1])
    ([0, 1, 2], 1000, 999999)
    """
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).astype(int)) if count else np.zeros(0, int)
