"""Other people's intervals around given point forecasts: each says low and high of a round before its target is seen.

The first `start` residuals are handed to everybody as calibration. `online-conformal` needs a forecasting library that it does
not use here; its method files are enough, so that library is stood in for (those of its methods that need an ensemble of models, or
a model's own sigma, cannot be put around given forecasts). Peers that are not installed are left out, by name.

Some of them take a hundred times longer than we do, so what they said is kept in `out/peers` (or BURKHOLDER_PEERS), with the
series it was said about: a run over the same rounds, or fewer, reads it there.
"""

from __future__ import annotations

import bisect
import os
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

Bands = tuple[np.ndarray, np.ndarray]


class _Nothing(types.ModuleType):
    """A module all of whose names are empty classes."""

    __path__: list[str] = []  # noqa: RUF012

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def rolling(window: int) -> Callable[..., Bands]:
    """Quantiles of the last residuals."""

    def peer(X: np.ndarray, y: np.ndarray, yhat: np.ndarray, coverage: float, start: int) -> Bands:
        r, tail = y - yhat, 0.5 * (1.0 - coverage)
        low, high = yhat.copy(), yhat.copy()
        kept = sorted(r[max(0, start - window) : start].tolist())
        for t in range(start, len(y)):
            for end, level in ((low, tail), (high, 1.0 - tail)):
                end[t] += np.quantile(kept, level)
            bisect.insort(kept, r[t])
            if t - window >= 0 and len(kept) > window:
                kept.pop(bisect.bisect_left(kept, r[t - window]))
        return low, high

    return peer


def river_jackknife(window: int | None) -> Callable[..., Bands]:
    def peer(X: np.ndarray, y: np.ndarray, yhat: np.ndarray, coverage: float, start: int) -> Bands:
        from river import base, conf

        class Given(base.Regressor):
            def learn_one(self, x: dict, y: float) -> None:
                pass

            def predict_one(self, x: dict) -> float:
                return x["yhat"]

        model = conf.RegressionJackknife(Given(), confidence_level=coverage, window_size=window)
        low, high = yhat.copy(), yhat.copy()
        for t in range(len(y)):
            x = {"yhat": float(yhat[t])}
            found = model.predict_one(x, with_interval=True)
            low[t], high[t] = found.lower, found.upper
            model.learn_one(x, float(y[t]))
        return low, high

    return peer


def mapie_aci(gamma: float) -> Callable[..., Bands]:
    def peer(X: np.ndarray, y: np.ndarray, yhat: np.ndarray, coverage: float, start: int) -> Bands:
        from mapie.regression import TimeSeriesRegressor
        from sklearn.base import BaseEstimator, RegressorMixin

        class Given(RegressorMixin, BaseEstimator):
            def fit(self, X: np.ndarray, y: np.ndarray) -> Given:
                self.fitted_ = True
                return self

            def predict(self, X: np.ndarray) -> np.ndarray:
                return np.asarray(X)[:, 0]

        rows = yhat[:, None]
        model = TimeSeriesRegressor(Given().fit(rows, y), method="aci", cv="prefit")
        low, high = yhat.copy(), yhat.copy()
        top = float(np.abs(y - yhat)[:start].max())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows[:start], y[:start])
            for t in range(start, len(y)):
                x = rows[t : t + 1]
                _, bounds = model.predict(x, confidence_level=coverage, allow_infinite_bounds=True)
                # an infinite interval has an infinite score: the largest residual so far stands in, to the peer's advantage
                low[t], high[t] = np.clip(bounds[0, :, 0], yhat[t] - top, yhat[t] + top)
                model.adapt_conformal_inference(x, y[t : t + 1], gamma=gamma, confidence_level=coverage)
                model.update(x, y[t : t + 1], confidence_level=coverage)
                top = max(top, abs(float(y[t] - yhat[t])))
        return low, high

    return peer


def online_conformal(method: str) -> Callable[..., Bands]:
    def peer(X: np.ndarray, y: np.ndarray, yhat: np.ndarray, coverage: float, start: int) -> Bands:
        import importlib

        import pandas as pd

        for name in ("", ".models", ".models.forecast", ".models.forecast.base", ".models.forecast.sklearn_base", ".models.ensemble",
                     ".models.ensemble.forecast", ".models.utils", ".models.utils.rolling_window_dataset", ".transform", ".transform.base",
                     ".utils"):  # fmt: skip
            sys.modules.setdefault(f"merlion{name}", _Nothing(f"merlion{name}"))
        module, kind = method.split(".")
        utils = importlib.import_module("online_conformal.utils")
        known = utils.Residuals(1)
        known.extend(1, (y - yhat)[:start].tolist())
        make = getattr(importlib.import_module(f"online_conformal.{module}"), kind)
        model = make(model=None, train_data=None, coverage=coverage, calib_residuals=known)
        low, high = yhat.copy(), yhat.copy()
        for t in range(start, len(y)):
            below, above = model.predict(1)
            low[t], high[t] = yhat[t] + below, yhat[t] + above
            model.update(pd.Series([y[t]]), pd.Series([yhat[t]]), horizon=1)
        return low, high

    return peer


PEERS: dict[str, Callable[..., Bands]] = {
    "rolling 200": rolling(200),
    "rolling 1000": rolling(1000),
    "river jackknife": river_jackknife(None),
    "river jackknife 500": river_jackknife(500),
    "MAPIE ACI .01": mapie_aci(0.01),
    "MAPIE ACI .05": mapie_aci(0.05),
    "SAOCP": online_conformal("saocp.SAOCP"),
    "FACI": online_conformal("faci.FACI"),
    "FACI-S": online_conformal("faci.FACI_S"),
    "SF-OGD": online_conformal("ogd.ScaleFreeOGD"),
    "NExCP": online_conformal("nex_conformal.NExConformal"),
    "split conformal": online_conformal("split_conformal.SplitConformal"),
}


def _kept(name: str, y: np.ndarray, yhat: np.ndarray, coverage: float, start: int) -> Path:
    """Where the peer's ends for a series that begins so are kept."""
    mark = sha256(np.concatenate([y[:start], yhat[:start], [coverage, start]]).tobytes()).hexdigest()[:16]
    folder = Path(os.environ.get("BURKHOLDER_PEERS") or Path(__file__).resolve().parents[1] / "out" / "peers")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name.replace(' ', '_')}-{mark}.npz"


def all_of(X: np.ndarray, y: np.ndarray, yhat: np.ndarray, coverage: float, start: int) -> Iterator[tuple[str, Bands | str]]:
    """Every peer's ends, or why there are none."""
    n = len(y)
    for name, peer in PEERS.items():
        path = _kept(name, y, yhat, coverage, start)
        if path.exists():
            with np.load(path) as kept:
                if len(kept["y"]) >= n and (kept["y"][:n] == y).all() and (kept["yhat"][:n] == yhat).all():
                    yield name, (kept["low"][:n], kept["high"][:n])  # each end was said before its target: a prefix is a shorter run
                    continue
        try:
            began = time.process_time()
            low, high = peer(X, y, yhat, coverage, start)
        except ImportError as error:
            yield name, f"not installed: {error.name}"
        else:
            np.savez(path, y=y, yhat=yhat, low=low, high=high, seconds=time.process_time() - began)
            yield name, (low, high)
