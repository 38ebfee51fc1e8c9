"""Streams that tests of Auto share: every loss it takes, and data with mixed scales, zeros and a constant."""

from __future__ import annotations

import numpy as np
import pytest

LOSSES = [
    ("logistic", {}),
    ("hinge", {}),
    ("squared", {}),
    ("absolute", {}),
    ("huber", {"threshold": 2.0}),
    ("pinball", {"quantile": 0.8}),
    ("epsilon-insensitive", {"epsilon": 0.2}),
]
CLASSES = ("logistic", "hinge")
each_loss = pytest.mark.parametrize(("loss", "options"), LOSSES, ids=[name for name, _ in LOSSES])


def stream(loss: str, rounds: int = 400, features: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Mixed scales, some zeros, a constant column, a signal and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features)) * rng.choice([0.0, 1.0], p=[0.4, 0.6], size=(rounds, features))
    X[:, 1] += 5.0
    X[:, 2] = 1.0
    signal = X @ np.linspace(-2.0, 2.0, features) + rng.normal(size=rounds)
    return X, np.where(signal > np.median(signal), 1.0, -1.0) if loss in CLASSES else signal
