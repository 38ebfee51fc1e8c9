"""The series of the interval bench: features, target, and the point forecasts everybody builds intervals around.

Where a set brings forecasts (prices, temperature) the point forecast is their mean; elsewhere it is an online ridge
regression on the features, predicted before learned. `TUNING` was looked at while choosing; `SEALED` was run once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from quality_data import folder


class Series(NamedTuple):
    name: str
    X: np.ndarray
    y: np.ndarray
    yhat: np.ndarray


def ridge(X: np.ndarray, y: np.ndarray, penalty: float = 1.0) -> np.ndarray:
    """Progressive predictions of recursive least squares on running-standardised features."""
    n, d = X.shape
    total, square, out = np.zeros(d), np.zeros(d), np.empty(n)
    inverse, w = np.eye(d + 1) / penalty, np.zeros(d + 1)
    for t, x in enumerate(X):
        total += x
        square += x * x
        mean = total / (t + 1)
        deviation = np.sqrt(np.maximum(square / (t + 1) - mean * mean, 1e-12))
        z = np.append(np.clip((x - mean) / deviation, -5, 5), 1.0)
        out[t] = w @ z
        gain = inverse @ z / (1.0 + z @ inverse @ z)
        w += gain * (y[t] - out[t])
        inverse -= np.outer(gain, z @ inverse)
    return out


def _hours(hour: np.ndarray) -> list[np.ndarray]:
    return [f(2 * np.pi * k * hour / 24) for k in (1, 2) for f in (np.sin, np.cos)]


def _bike() -> tuple[np.ndarray, np.ndarray, None]:
    table = pd.read_csv(folder() / "bike/yellowbrick_bikeshare.csv.gz")
    hour = pd.get_dummies(table["hour"], dtype=float).to_numpy()
    rest = table.drop(columns=["date", "casual", "registered", "riders", "hour"]).to_numpy(float)
    return np.column_stack([rest, hour]), table["riders"].to_numpy(float), None


def _epex() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = pd.read_csv(folder() / "epex-lear/epex_lear_hourly.csv.gz")
    forecasts = table.filter(like="LEAR").to_numpy(float)
    return np.column_stack([forecasts, *_hours(table["hour"])]), table["price"].to_numpy(float), forecasts.mean(1)


def _spot() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = pd.read_csv(folder() / "spot-price-12models/spot_price_12models.csv.gz")
    forecasts = table.filter(like="model").to_numpy(float)
    return np.column_stack([forecasts, *_hours(table["hour"])]), table["y"].to_numpy(float), forecasts.mean(1)


def _magdeburg(file: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = pd.read_csv(folder() / f"magdeburg-ensemble/{file}")
    table = table[table["obs"].notna()]
    forecasts = table[[name for name in table.columns if name.startswith("forc")]].to_numpy(float)
    mean, spread = np.nanmean(forecasts, 1), np.nanstd(forecasts, 1)
    day = pd.to_datetime(table["date"].astype(str)).dt.dayofyear.to_numpy() / 365.25
    return np.column_stack([mean, spread, np.sin(2 * np.pi * day), np.cos(2 * np.pi * day)]), table["obs"].to_numpy(float), mean


def _load() -> tuple[np.ndarray, np.ndarray, None]:
    table = pd.read_csv(folder() / "opera-regional/regional_load.csv.gz")
    lags = [name for name in table.columns if name.endswith((".48", ".336")) and table[name].dtype.kind == "f"]
    features = [pd.get_dummies(table["WeekDays"], dtype=float).to_numpy(), table[["BH", "toy", *lags]].to_numpy(float)]
    regions = [name.removesuffix(".48") for name in lags if name.endswith(".48") and name.removesuffix(".48") in table.columns]
    X, y = np.column_stack(features), table[regions].sum(axis=1).to_numpy(float)
    good = np.isfinite(X).all(1) & np.isfinite(y)
    return X[good], y[good], None


def _pedestrian(key: int) -> tuple[np.ndarray, np.ndarray, None]:
    table = pd.read_csv(folder() / "pedestrian-keyed/pedestrian.csv.gz")
    table = table[table["key"] == sorted(table["key"].unique())[key]].reset_index(drop=True)
    weekend = (pd.to_datetime(table["Date"]).dt.dayofweek >= 5).to_numpy(float)
    hour = pd.get_dummies(table["hour"], dtype=float).to_numpy()
    y = table["target"].to_numpy(float)
    day = np.concatenate([np.full(24, y[0]), y[:-24]])
    return np.column_stack([hour, hour * weekend[:, None], day]), y, None


def _plain(path: str, **options: object) -> tuple[np.ndarray, np.ndarray, None]:
    table = pd.get_dummies(pd.read_csv(folder() / path, **options), dtype=float)  # type: ignore[call-overload]
    target = [name for name in table.columns if not str(name).startswith("0_")][-1]
    return table.drop(columns=[target]).to_numpy(float), table[target].to_numpy(float), None


def _river(name: str) -> tuple[np.ndarray, np.ndarray, None]:
    from river import datasets

    rows = list(getattr(datasets, name)())
    X = pd.DataFrame([x for x, _ in rows])
    for column in X.columns:
        if not pd.api.types.is_numeric_dtype(X[column]):
            when = pd.to_datetime(X[column], errors="coerce")
            X[column] = when.dt.dayofyear if when.notna().all() else pd.factorize(X[column])[0]
    return X.to_numpy(float), np.array([y for _, y in rows], float), None


def _diabetes() -> tuple[np.ndarray, np.ndarray, None]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, y, None


Source = Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray | None]]
TUNING: dict[str, Source] = {
    "bike": _bike,
    "epex": _epex,
    "magdeburg": lambda: _magdeburg("Magdeburg.csv.gz"),
    "abalone": lambda: _plain("abalone/abalone.csv", header=None),
    "ccpp": lambda: _plain("ccpp/ccpp_raw.txt.gz", header=None, sep="\t"),
    "pedestrian 0": lambda: _pedestrian(0),
    "trump": lambda: _river("TrumpApproval"),
}
SEALED: dict[str, Source] = {
    "spot": _spot,
    "magdeburg 48h": lambda: _magdeburg("Magdeburg48.csv.gz"),
    "load": _load,
    "protein": lambda: _plain("protein-casp/data.csv.gz", header=None),
    "cpusmall": lambda: _plain("cpusmall/cpusmall.csv.gz"),
    "pedestrian 2": lambda: _pedestrian(2),
    "water flow": lambda: _river("WaterFlow"),
    "chick weights": lambda: _river("ChickWeights"),
    "diabetes": _diabetes,
}


def series(name: str) -> Series:
    """One series with its point forecasts."""
    X, y, yhat = {**TUNING, **SEALED}[name]()
    X = np.where(np.isfinite(X), X, 0.0)
    return Series(name, X, y, ridge(X, y) if yhat is None else yhat)
