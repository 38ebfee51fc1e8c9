"""Forecast sets for `experts.py`: published ones, and ones made here from series of the data folder.

A set is streams of (forecasts, targets): one stream for each hour of day where the hours of a day are published together.
The made ones come from six families of forecasters, each using the past alone: the last value, the value a season ago, a mean by
hour of week that forgets, an autoregression learned online, a moving average, and gradient boosting refitted every so often.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

Streams = list[tuple[np.ndarray, np.ndarray]]
ROOT = Path(os.environ.get("BURKHOLDER_DATA", "../shared/data"))


def _table(path: str, delimiter: str = ",") -> list[list[str]]:
    with gzip.open(ROOT / path, "rt") as file:
        return list(csv.reader(file, delimiter=delimiter))


def _numbers(rows: list[list[str]]) -> np.ndarray:
    return np.array([[float(cell) if cell not in ("", "NA") else np.nan for cell in row] for row in rows])


def _by(key: np.ndarray, x: np.ndarray, y: np.ndarray) -> Streams:
    return [(x[key == value], y[key == value]) for value in np.unique(key)]


def epex() -> Streams:
    table = _numbers(_table("epex-lear/epex_lear_hourly.csv.gz")[1:])
    return _by(table[:, 1], table[:, 3:], table[:, 2])


def spot() -> Streams:
    table = _numbers(_table("spot-price-12models/spot_price_12models.csv.gz")[1:])
    return _by(table[:, 1], table[:, 3:], table[:, 2])


def regional() -> Streams:
    x = _numbers(_table("opera-regional/regional_experts.csv.gz")[1:])
    load = _table("opera-regional/regional_load.csv.gz")
    y = np.array([float(row[load[0].index("Load")]) for row in load[1:]])
    return [(x, y[-len(x) :])]


def magdeburg(hours: str = "") -> Streams:
    rows = _table(f"magdeburg-ensemble/Magdeburg{hours}.csv.gz")
    table = _numbers([row[5:] for row in rows[1:]])
    table = table[~np.isnan(table).any(axis=1)]
    return [(table[:, 1:], table[:, 0])]


def tennis_books() -> tuple[np.ndarray, np.ndarray]:
    """Winning probabilities, and who won; sides are flipped at random, for the file names the winner first."""
    table = _numbers(_table("tennis-bookmakers/tennis1.txt.gz", "\t"))
    flip = np.random.default_rng(0).random(len(table)) < 0.5
    return np.where(flip[:, None], table[:, 4::2], table[:, 3::2]), np.where(flip, 0.0, 1.0)


def tennis() -> Streams:
    return [tennis_books()]


def made(y: np.ndarray, season: int, week: int, start: int, refit: int) -> tuple[np.ndarray, np.ndarray]:
    """Six families of one-step forecasts of a series, from its round `start` on."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    n, d = len(y), 8
    x = np.full((n, 7), np.nan)
    means = np.full(week, y[:week].mean())
    lags = np.array([1, 2, 3, season, season + 1, 2 * season, week, week + 1])
    scale = np.abs(y[:week]).mean() + 1e-9
    w, P = np.zeros(d + 1), np.eye(d + 1) * 10.0
    level, forest = y[0], None
    rows = np.full((n, d), np.nan)
    for t in range(week + 1, n):
        rows[t] = y[t - lags]
        z = np.append(rows[t] / scale, 1.0)
        x[t, :6] = y[t - 1], y[t - season], means[t % week], scale * (w @ z), level, y[t - season] + y[t - 1] - y[t - season - 1]
        if t >= start and (forest is None or t % refit == 0):
            past = slice(max(week + 1, t - 20 * refit), t)
            hour = np.arange(n)[:, None] % week
            forest = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(np.hstack([rows, hour])[past], y[past])
            ahead = slice(t, min(n, t - t % refit + refit))
            full = np.array([y[s - lags] for s in range(ahead.start, ahead.stop)])
            x[ahead, 6] = forest.predict(np.hstack([full, hour[ahead]]))
        gain = P @ z / (1.0 + z @ P @ z)
        w += gain * (y[t] / scale - w @ z)
        P -= np.outer(gain, z @ P)
        means[t % week] += 0.2 * (y[t] - means[t % week])
        level += 0.3 * (y[t] - level)
    return x[start:], y[start:]


def _column(path: str, name: str) -> np.ndarray:
    rows = _table(path)
    return np.array([float(row[rows[0].index(name)]) for row in rows[1:]])


def bike() -> Streams:
    return [made(_column("bike/yellowbrick_bikeshare.csv.gz", "riders"), 24, 168, 1000, 500)]


def demand() -> Streams:
    return [made(_column("electricity/elec.csv.gz", "feat_3")[:20000], 48, 336, 2000, 1000)]


def price() -> Streams:
    return [made(_column("electricity/elec.csv.gz", "feat_2")[:20000], 48, 336, 2000, 1000)]


def pedestrians() -> Streams:
    rows = _table("pedestrian-keyed/pedestrian.csv.gz")
    key, target = (next(i for i, name in enumerate(rows[0]) if name in names) for names in (("key", "sensor"), ("target",)))
    keys = sorted({row[key] for row in rows[1:]})[:2]
    return [made(np.array([float(row[target]) for row in rows[1:] if row[key] == k])[:8000], 24, 168, 1000, 500) for k in keys]


def retail() -> Streams:
    rows = _table("aus-retail-keyed/aus_retail.csv.gz")
    head = rows[0]
    key, target = head.index("key"), head.index("target")
    series: dict[str, list[float]] = {}
    for row in rows[1:]:
        series.setdefault(row[key], []).append(float(row[target]))
    longest = sorted(k for k, values in series.items() if len(values) == 441)[:20]
    return [made(np.array(series[k]), 12, 24, 60, 60) for k in longest]


SETS: dict[str, Callable[[], Streams]] = {
    "epex-lear": epex,
    "spot-price": spot,
    "opera-regional": regional,
    "magdeburg": magdeburg,
    "magdeburg-48": lambda: magdeburg("48"),
    "tennis": tennis,
    "bike": bike,
    "demand": demand,
    "price": price,
    "pedestrians": pedestrians,
    "retail": retail,
}
