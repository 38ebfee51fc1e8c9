"""What several test files need: the shipped stream, and a fixed profile for hypothesis."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60, suppress_health_check=list(HealthCheck))
settings.load_profile("steady")


@cache
def _electricity() -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(str(files("burkholder") / "data" / "elec.csv.gz"), "rt") as lines:
        table = np.array([[float(cell) for cell in row] for row in list(csv.reader(lines))[1:]])
    return table[:, :-1], 2.0 * table[:, -1] - 1.0


@pytest.fixture(scope="session")
def electricity() -> tuple[np.ndarray, np.ndarray]:
    """Features and labels ±1 of the shipped stream, in time order."""
    return _electricity()
