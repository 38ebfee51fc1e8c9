"""Tables as Nixtla's libraries write them, and weights as sktime's ensemble asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from burkholder.errors import BadInput
from burkholder.experts import Experts
from burkholder.forecasting import Combiner, Weights


def windows(step: int = 2, horizon: int = 4, count: int = 12) -> pd.DataFrame:
    """Two series, windows that overlap, forecasts of two models."""
    rng, rows = np.random.default_rng(0), []
    for key in ("a", "b"):
        y = pd.Series(rng.normal(size=60).cumsum(), index=pd.date_range("2026-01-01", periods=60))
        for window in range(count):
            cutoff = y.index[10 + step * window]
            for day in y.index[11 + step * window : 11 + step * window + horizon]:
                rows.append((key, day, cutoff, y[day], y[day] + rng.normal(), y[cutoff]))
    return pd.DataFrame(rows, columns=["unique_id", "ds", "cutoff", "y", "near", "last"])


def test_only_what_was_known_at_the_cutoff_is_used() -> None:
    table = windows()
    whole = Combiner("absolute").fit(table)["burkholder"].to_numpy()
    changed = table.copy()
    last = table["cutoff"].max()
    changed.loc[changed["ds"] > last, "y"] += 1000.0  # labels that no cutoff knew
    assert np.array_equal(Combiner("absolute").fit(changed)["burkholder"].to_numpy(), whole)
    known = table.copy()
    known.loc[known["ds"] <= table["cutoff"].unique()[6], "y"] += 5.0
    assert not np.array_equal(Combiner("absolute").fit(known)["burkholder"].to_numpy(), whole)


def test_windows_that_do_not_overlap_are_played_whole_before_any_label() -> None:
    table = windows(step=4, horizon=4, count=10)
    combiner = Combiner("squared")
    found = combiner.fit(table)
    for key, part in found.groupby("unique_id"):
        learner = Experts("squared")
        played = []
        for _, window in part.groupby("cutoff"):
            tickets = [learner.play({"near": near, "last": last}) for near, last in zip(window["near"], window["last"])]
            played += [ticket.prediction for ticket in tickets]
            for ticket, y in zip(tickets, window["y"]):
                learner.reveal(ticket.id, y)
        np.testing.assert_array_equal(played, part["burkholder"].to_numpy())
        assert combiner.certificate(key).to_dict() == learner.certificate().to_dict()


def test_pandas_and_polars_rows_in_any_order_and_the_future() -> None:
    table = windows()
    combiner, other = Combiner("absolute"), Combiner("absolute")
    found = combiner.fit(table)
    shuffled = table.sample(frac=1.0, random_state=3)
    again = other.fit(pl.from_pandas(shuffled.reset_index(drop=True))).to_pandas()
    joined = found.merge(again, on=["unique_id", "ds", "cutoff"], suffixes=("", "_other"))
    np.testing.assert_array_equal(joined["burkholder"], joined["burkholder_other"])
    future = pd.DataFrame({"unique_id": ["a", "c"], "ds": pd.to_datetime(["2026-04-01"] * 2), "near": [1.0, 2.0], "last": [3.0, None]})
    answers = combiner.predict(future)
    assert answers["burkholder"].notna().all() and answers["burkholder"][1] == pytest.approx(2.0)


def test_what_is_no_table_is_refused_and_nothing_is_learned() -> None:
    combiner = Combiner("absolute")
    with pytest.raises(BadInput, match="fit"):
        combiner.predict(windows())
    with pytest.raises(BadInput, match="did you mean 'cutoff'"):
        Combiner(cutoff_col="cutof").fit(windows())
    with pytest.raises(BadInput, match="models"):
        Combiner(models=["neer"]).fit(windows())
    combiner.fit(windows())
    before = combiner.certificate("a").to_dict()
    bad = windows()
    bad.loc[len(bad) - 1, "y"] = np.inf
    with pytest.raises(BadInput, match=r"y\["):
        combiner.fit(bad)
    assert combiner.certificate("a").to_dict() == before
    with pytest.raises(BadInput, match="no series"):
        combiner.certificate("z")
    with pytest.raises(BadInput):
        Combiner("absolut")


class Ensemble:
    """What sktime's `OnlineEnsembleForecaster` does with its algorithm: weights before an update, then the update."""

    def __init__(self, algorithm: Any) -> None:
        self.algorithm, self.played = algorithm, []

    def round(self, forecasts: np.ndarray, y: np.ndarray) -> None:
        self.played.append(self.algorithm.weights @ forecasts)
        self.algorithm.update(forecasts, y)


@pytest.mark.parametrize("method", ["ml-poly", "boa"])
def test_the_certificate_is_about_what_the_ensemble_plays(method: str) -> None:
    rng = np.random.default_rng(1)
    algorithm, ys, said = Weights(3, loss="absolute", method=method), [], []
    ensemble = Ensemble(algorithm)
    for t in range(40):
        size = 1 + t % 3
        y = rng.normal(size=size)
        forecasts = y + rng.normal(size=(3, size)) * np.array([[0.2], [1.0], [3.0]])
        ensemble.round(forecasts, y)
        ys.append(y)
        said.append(forecasts)
    y, x, played = np.concatenate(ys), np.concatenate(said, axis=1), np.concatenate(ensemble.played)
    assert algorithm.weights.sum() == pytest.approx(1.0) and algorithm.weights[0] > 0.5
    assert algorithm.certificate().cumulative_loss == pytest.approx(np.abs(played - y).sum(), rel=1e-9)
    for j in range(3):
        assert np.abs(played - y).sum() - np.abs(x[j] - y).sum() <= algorithm.certificate().realised(str(j)) + 1e-9


def test_bad_weights_are_refused() -> None:
    for bad in (0, True, 1.5):
        with pytest.raises(BadInput, match="n_estimators"):
            Weights(bad)
    with pytest.raises(BadInput, match="method"):
        Weights(2, method="huber-root")
    with pytest.raises(BadInput, match="y_pred"):
        Weights(2).update(np.zeros((3, 1)), np.zeros(1))
