"""Scratch memory of the Krylov kernels: never part of a learner's state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burkholder.matrix.lanczos import DEPTH


class Workspace:
    """(basis, T, R) for graphs of any size so far; with `spaces` T has one layer per rate."""

    def __init__(self, spaces: int | None = None) -> None:
        self.basis = np.zeros((3, 0))
        shape = (2 * DEPTH, 2 * DEPTH)
        self.T = np.zeros(shape if spaces is None else (spaces, *shape))
        self.R = np.zeros((2, 2))

    def sized(self, nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The three arrays, with room for that many nodes."""
        if self.basis.shape[1] < 2 * nodes:
            self.basis = np.zeros((3, 2 * nodes))
        return self.basis, self.T, self.R
