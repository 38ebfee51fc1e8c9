"""Whatever the scale of a stream: a round is refused, or learned and saved so that its file can be read again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import burkholder as bk
from burkholder import storage
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE

SCALES = (1e-320, 1e-200, 1e-100, 9e18, 1e100, 1e149)
METHODS = ("huber-root", "ewa", "ml-poly", "boa", "squint")


def kept(learner: Any) -> None:
    data = storage.pack(learner)
    again = storage.unpack(data)
    assert storage.pack(again) == data
    certificate = again.certificate()
    assert 0.0 <= certificate.cumulative_loss < math.inf
    assert certificate.potential is None or not math.isnan(certificate.potential)


def taken(learner: Any, *rounds: tuple[Any, Any]) -> None:
    for x, y in rounds:
        before = storage.pack(learner)
        try:
            learner.update(x, y)
        except BadInput:
            assert storage.pack(learner) == before
        kept(learner)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.dims[-1] <= 64])
def test_every_function(name: str, scale: float) -> None:
    entry = CATALOGUE[name]
    learner = bk.Learner(name, loss="squared" if entry.curved else "absolute", bound=1.0)
    x = scale * np.resize([1.0, -1.0, 0.5], entry.dims[-1])
    taken(learner, (x, 0.5), (-x, 0.25), (np.full(len(x), 1.0 / len(x)), -0.5), (x, 1.0))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("method", METHODS)
def test_every_way_to_combine_forecasts(method: str, scale: float) -> None:
    learner = bk.Experts("absolute", method=method, **({"rate": 0.5} if method == "ewa" else {}))
    taken(learner, *(({"a": 0.0, "b": scale}, scale * (t % 2)) for t in range(4)), ({"a": 1.0, "b": 2.0}, 1.5))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", ["logistic", "squared", "absolute"])
def test_auto(loss: str, scale: float) -> None:
    learner = bk.Auto(loss)
    labels = (0, 1, 1, 0) if loss == "logistic" else (0.0, scale, -scale, 1.0)
    taken(learner, *(([scale, 1.0, -scale * t], y) for t, y in enumerate(labels)))


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e-150, 1e17])
@pytest.mark.parametrize("effort", ["light", "default"])
def test_auto_of_every_weight(effort: str, weight: float) -> None:
    """Weights so small that the differences of losses have no rate, until one comes that has."""
    learner = bk.Auto("absolute", effort=effort)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 2)), rng.normal(size=90)
    learner.run(X, y, np.full(90, weight))
    kept(learner)
    learner.update(X[0], 0.5)
    kept(learner)


@pytest.mark.parametrize("method", METHODS)
def test_forecasts_that_outgrow_the_first_of_them(method: str) -> None:
    learner = bk.Experts("absolute", method=method, **({"rate": 0.5} if method == "ewa" else {}))
    taken(learner, *(({"a": 0.0, "b": 1e-160 * t}, 1e-160) for t in range(4)), ({"a": -1e74, "b": 1e74}, 0.0), ({"a": 1.0, "b": 2.0}, 1.5))


@pytest.mark.parametrize("strategy", ["sign-flip", "tangent"])
@pytest.mark.parametrize("scale", [1e-320, 1e-207, 1e-100, 1e29, 1e74])
def test_matrices(strategy: str, scale: float) -> None:
    learner = bk.MatrixLearner(3, 2, radius=1.0, strategy=strategy)
    taken(learner, ((0, 1, scale), 0.5), ((1, 1, -scale), 0.25), ((0, 1, 1.0), 0.5), ((2, 0, scale), -1.0))
