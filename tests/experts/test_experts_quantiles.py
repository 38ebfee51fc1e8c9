"""Experts at several levels: the certificates against the losses themselves, in exact arithmetic, and bad input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput

LEVELS = (0.1, 0.5, 0.9)


def _pinball(level: float, p: float, y: float) -> Fraction:
    tau, gap = Fraction(level), Fraction(y) - Fraction(p)
    return tau * gap if gap >= 0 else (tau - 1) * gap


@pytest.mark.parametrize("seed", range(3))
def test_no_certificate_is_below_the_regret(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 200
    forecasts = rng.normal(size=(n, 3, 3))  # crossing as they like: order must be made
    y = rng.normal(size=n) * 2 + 1
    run = bk.Experts(quantiles=LEVELS).run(forecasts, y)
    assert (np.diff(run.predictions, axis=1) >= 0).all()
    regrets = {}
    for j in range(3):
        for k, level in enumerate(LEVELS):
            paid = sum(_pinball(level, p, t) - _pinball(level, f, t) for p, f, t in zip(run.predictions[:, k], forecasts[:, j, k], y))
            regrets[j, k] = paid
            certificate = run.certificate.of(level)
            for bound in (certificate.realised(str(j)), certificate.corrected(str(j)), certificate.bound(str(j))):
                assert paid <= Fraction(bound)
        whole = sum(regrets[j, k] for k in range(3)) * 2 / 3
        for bound in (run.certificate.realised(str(j)), run.certificate.corrected(str(j)), run.certificate.bound(str(j))):
            assert whole <= Fraction(bound)
    assert any(run.certificate.charges)


def test_it_reaches_beyond_every_forecast() -> None:
    y = np.full(400, 5.0)
    run = bk.Experts(quantiles=(0.5, 0.9)).run(np.column_stack([np.ones(400), np.zeros(400)]), y)
    assert run.predictions[-1, 0] > 2.0


def test_what_is_no_level_or_forecast_is_refused() -> None:
    for levels in ((), (0.5, 0.5), (0.9, 0.1), (0.0,), "x", 0.5):
        with pytest.raises(BadInput):
            bk.Experts(quantiles=levels)
    experts = bk.Experts(quantiles=LEVELS)
    for x in ({"a": [1.0, 2.0]}, {"a": "x"}, "row", None):
        with pytest.raises(BadInput):
            experts.predict(x)
    with pytest.raises(BadInput):
        bk.Experts("squared", quantiles=LEVELS)
