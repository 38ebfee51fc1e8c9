"""Every linear learner of the catalogue that takes the loss, one by one, at its defaults."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

import burkholder as bk
import quality_peers
from burkholder.cli.listing import usable
from burkholder.errors import BurkholderError
from burkholder.functions import CATALOGUE

PATIENCE = 5.0  # seconds one learner may take on one task; slower ones are left out, and said to be


def names() -> list[str]:
    """What `burkholder list` calls learners, Auto aside."""
    return [name for name in CATALOGUE if usable(name)]


def single_learners(X: sp.csr_matrix, y: np.ndarray, loss: str) -> tuple[dict[str, float], dict[str, str]]:
    """(mean losses, why the others have none). The targets' largest modulus is given as the bound."""
    found: dict[str, float] = {}
    left_out: dict[str, str] = {}
    rows = quality_peers.with_constant(X)
    for name in names():
        try:
            paid = one(name, rows, y, loss)
            if math.isfinite(paid):
                found[name] = paid
            else:
                left_out[name] = "slow"
        except BurkholderError as error:
            left_out[name] = str(error)
    return found, left_out


def one(name: str, rows: sp.csr_matrix, y: np.ndarray, loss: str) -> float:
    bound = None if loss == "logistic" else float(np.abs(y).max())
    learner: Any = bk.Learner(name, loss=loss, bound=bound)
    played = np.empty(len(y))
    start = time.monotonic()
    step = max(50, len(y) // 20)
    for first in range(0, len(y), step):
        last = min(first + step, len(y))
        indptr = rows.indptr[first : last + 1]
        part = slice(indptr[0], indptr[-1])
        played[first:last] = learner.run_batch(indptr - indptr[0], rows.indices[part], rows.data[part], y[first:last])
        if time.monotonic() - start > PATIENCE and last < len(y):
            return math.inf
    return quality_peers.mean_loss(loss, played, y)
