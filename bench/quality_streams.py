"""Streams that come with river and scikit-learn, and made ones: what no data folder holds.

Each returns (rows, labels): rows as a dense array, a CSR matrix or a list of dicts. They are fixed by the seed, so
that a figure can be had again. The made ones are each about one difficulty a linear learner meets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

Stream = tuple[Any, np.ndarray]


def from_river(entry: dict[str, Any]) -> Stream:
    """A data set shipped within river, or one of its generators (`synth.NAME`), `rows` of it at most.

    `concepts`: a list of options, one for each stretch of the stream (abrupt drift). `target`: which output.
    """
    from river import datasets
    from river.datasets import synth

    kind = entry["river"].removeprefix("synth.")
    made = getattr(synth if entry["river"].startswith("synth.") else datasets, kind)
    concepts = entry.get("concepts", [{}])
    limit = entry.get("rows")
    each = None if limit is None else limit // len(concepts)
    rows, labels = [], []
    for options in concepts:
        for x, y in itertools.islice(iter(made(**entry.get("options", {}), **options)), each):
            rows.append({name: number for name, number in x.items() if name not in entry.get("drop", ())})
            labels.append(y[entry["target"]] if isinstance(y, dict) else y)
    return rows, np.array(labels)


def from_sklearn(entry: dict[str, Any]) -> Stream:
    """A data set shipped within scikit-learn, its rows shuffled (several are sorted by class).

    `against_rest`: that class against the others.
    """
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{entry['sklearn']}")(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    if "against_rest" in entry:
        y = (y == entry["against_rest"]).astype(float)
    return X[order], y[order]


def lagged(series: np.ndarray, lags: tuple[int, ...], extra: np.ndarray | None = None) -> Stream:
    """The series from its own past, raw, and further columns known in advance."""
    first = max(lags)
    columns = [series[first - lag : len(series) - lag] for lag in lags]
    X = np.column_stack(columns if extra is None else [*columns, extra[first:]])
    return X, series[first:]


def series(entry: dict[str, Any]) -> Stream:
    """A series shipped within river, predicted from its lags."""
    from river import datasets

    values = np.array([next(iter(y.values())) if isinstance(y, dict) else y for _, y in getattr(datasets, entry["series"])()], dtype=float)
    return lagged(values, tuple(entry["lags"]))


def coin(rng: np.random.Generator, odds: np.ndarray) -> np.ndarray:
    """Labels ±1 with these log-odds."""
    return np.where(rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds)), 1.0, -1.0)


def zipf_text(rng: np.random.Generator, rows: int, flipped: float, words: int = 20_000, length: int = 60) -> Stream:
    """Text-like rows: Zipf words, tf-idf-like values of norm 1, a planted sparse logistic model, labels flipped."""
    share = 1.0 / np.arange(1, words + 1) ** 1.1
    cumulative = np.cumsum(share / share.sum())
    cumulative /= cumulative[-1]
    weight = rng.standard_normal(words) * (rng.random(words) < 0.3)
    indptr, indices, values = [0], [], []
    odds = np.empty(rows)
    for t in range(rows):
        drawn = np.searchsorted(cumulative, rng.random(rng.integers(length // 3, 2 * length)))
        ids, counts = np.unique(drawn, return_counts=True)
        x = (1.0 + np.log(counts)) * np.log(1.0 / cumulative.size / share[ids] * share.sum() + 10.0)
        x /= np.linalg.norm(x)
        odds[t] = 12.0 * x @ weight[ids]
        indices.append(ids)
        values.append(x)
        indptr.append(indptr[-1] + len(ids))
    y = coin(rng, odds)
    y = np.where(rng.random(rows) < flipped, -y, y)
    return sp.csr_matrix((np.concatenate(values), np.concatenate(indices), indptr), shape=(rows, words)), y


def categories(rng: np.random.Generator, rows: int) -> Stream:
    """Click-like rows: twelve categorical columns of 10 to 3,000 levels with Zipf shares, 4 % positive."""
    sizes = np.geomspace(10, 3000, 12).astype(int)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ids = np.empty((rows, 12), int)
    odds = np.full(rows, -4.0)
    for j, size in enumerate(sizes):
        share = 1.0 / np.arange(1, size + 1)
        level = rng.choice(size, rows, p=share / share.sum())
        odds += 0.6 * rng.standard_normal(size)[level]
        ids[:, j] = starts[j] + level
    X = sp.csr_matrix((np.ones(rows * 12), ids.ravel(), np.arange(0, rows * 12 + 1, 12)), shape=(rows, starts[-1]))
    return X, coin(rng, odds)


def cauchy_features(rng: np.random.Generator, rows: int, regression: bool) -> Stream:
    """Cauchy features; the label hangs on their arctangents, or linearly on them with noise of size 1."""
    X = rng.standard_cauchy((rows, 10))
    w = rng.standard_normal(10)
    if regression:
        return X, X @ w + rng.standard_normal(rows)
    return X, coin(rng, 2.0 * np.arctan(X) @ w)


def heavy_noise(rng: np.random.Generator, rows: int) -> Stream:
    """Linear regression, Gaussian features, noise of Student's t with 1.5 degrees of freedom."""
    X = rng.standard_normal((rows, 20))
    return X, X @ rng.standard_normal(20) + rng.standard_t(1.5, rows)


def scales(rng: np.random.Generator, rows: int, regression: bool) -> Stream:
    """Features on scales 1e-6 … 1e6, some far from zero, each worth the same once standardised."""
    Z = rng.standard_normal((rows, 13))
    y = Z @ rng.standard_normal(13)
    X = (Z + rng.choice([0.0, 5.0], 13)) * 10.0 ** np.arange(-6, 7)
    return X, y + rng.standard_normal(rows) if regression else coin(rng, y)


def abrupt(rng: np.random.Generator, rows: int, regression: bool) -> Stream:
    """The weights are drawn anew four times."""
    X = rng.standard_normal((rows, 15))
    w = np.repeat(rng.standard_normal((5, 15)), -(-rows // 5), axis=0)[:rows]
    y = (X * w).sum(axis=1)
    return X, y + 0.5 * rng.standard_normal(rows) if regression else coin(rng, 2.0 * y)


def walk(rng: np.random.Generator, rows: int) -> Stream:
    """Logistic weights that wander: a random walk that changes each completely in about a thousand rows."""
    X = rng.standard_normal((rows, 15))
    w = 1.5 * np.cumsum(rng.standard_normal((rows, 15)) / np.sqrt(1000.0), axis=0)
    return X, coin(rng, (X * w).sum(axis=1))


def seasonal(rng: np.random.Generator, rows: int) -> Stream:
    """Daily and weekly seasons, a trend and autocorrelated noise, predicted from lags 1, 2, 24, 168 and the hour."""
    hour = np.arange(rows)
    noise = np.zeros(rows)
    shocks = rng.standard_normal(rows)
    for t in range(1, rows):
        noise[t] = 0.8 * noise[t - 1] + shocks[t]
    y = 100.0 + 0.01 * hour + 15.0 * np.sin(hour * 2 * np.pi / 24) + 8.0 * np.sin(hour * 2 * np.pi / 168) + 2.0 * noise
    return lagged(y, (1, 2, 24, 168), np.eye(24)[hour % 24])


def short(rng: np.random.Generator, regression: bool) -> Stream:
    """200 rows of ten features."""
    X = rng.standard_normal((200, 10)) * rng.uniform(0.1, 10.0, 10)
    y = X @ (rng.standard_normal(10) / X.std(axis=0))
    return X, y + rng.standard_normal(200) if regression else coin(rng, y)


def wide(rng: np.random.Generator, regression: bool) -> Stream:
    """500 rows of 1,000 features, twenty of which matter."""
    X = rng.standard_normal((500, 1000))
    y = X[:, :20] @ rng.standard_normal(20)
    return X, y + rng.standard_normal(500) if regression else coin(rng, y)


def redundant(rng: np.random.Generator, rows: int, regression: bool) -> Stream:
    """Ten features, each five times, and ten constants."""
    Z = rng.standard_normal((rows, 10))
    y = Z @ rng.standard_normal(10)
    X = np.hstack([np.repeat(Z, 5, axis=1), np.full((rows, 10), 3.0)])
    return X, y + rng.standard_normal(rows) if regression else coin(rng, y)


def rare(rng: np.random.Generator, rows: int) -> Stream:
    """One label in a hundred is positive."""
    X = rng.standard_normal((rows, 20))
    return X, coin(rng, 1.2 * X[:, :8] @ rng.standard_normal(8) / np.sqrt(2.0) - 6.0)


def counts(rng: np.random.Generator, rows: int) -> Stream:
    """Poisson targets with a multiplicative mean, Poisson and indicator features."""
    X = np.hstack([rng.poisson(2.0, (rows, 6)), np.eye(7)[np.arange(rows) % 7], rng.exponential(1.0, (rows, 4))])
    rate = np.exp(0.1 * X[:, :6] @ rng.standard_normal(6) + 0.5 * X[:, 6:13] @ rng.standard_normal(7) + 1.0)
    return X, rng.poisson(np.minimum(rate * (1.0 + 0.3 * X[:, 13]), 1e6)).astype(float)


def noise(rng: np.random.Generator, rows: int, regression: bool) -> Stream:
    """Nothing to learn: labels that do not depend on the features."""
    X = rng.standard_normal((rows, 30))
    return X, 5.0 + rng.standard_normal(rows) if regression else np.where(rng.random(rows) < 0.3, 1.0, -1.0)


def letters(rng: np.random.Generator, rows: int, classes: int, features: int, shapes: int) -> Stream:
    """Letter-like: whole numbers from 0 to 15, every class of so many shapes."""
    centres = rng.uniform(2.0, 12.0, (classes, 1, features)) + 1.5 * rng.standard_normal((classes, shapes, features))
    y = rng.integers(classes, size=rows)
    X = centres[y, rng.integers(shapes, size=rows)] + 2.0 * rng.standard_normal((rows, features))
    return np.clip(np.round(X), 0.0, 15.0), y


def cover(rng: np.random.Generator, rows: int) -> Stream:
    """Covertype-like: seven classes by steps of height that move with area, soil and distance; ten numbers, 44 indicators."""
    height, slope, aspect = rng.normal(2800.0, 300.0, rows), rng.gamma(4.0, 4.0, rows), rng.uniform(0.0, 360.0, rows)
    far = rng.gamma(1.5, 200.0, (rows, 4))
    light = 220.0 + 20.0 * np.cos((aspect[:, None] - [45.0, 180.0, 315.0]) * np.pi / 180.0) - slope[:, None]
    area = rng.choice(4, rows, p=[0.45, 0.05, 0.43, 0.07])
    soil = np.clip(((height - 2000.0) / 50.0 + 4.0 * rng.standard_normal(rows)).astype(int), 0, 39)
    steps = np.array([2350.0, 2550.0, 2750.0, 2950.0, 3150.0, 3300.0]) + 60.0 * (area[:, None] - 1.5)
    steps = steps + 0.1 * (far[:, :1] - 300.0) + 15.0 * (soil[:, None] % 3)
    y = (height[:, None] + 50.0 * rng.standard_normal((rows, 1)) > steps).sum(axis=1)
    y = np.where((y == 2) & (light[:, 1] > 215.0), 5, y)
    return np.hstack([height[:, None], aspect[:, None], slope[:, None], far, light, np.eye(4)[area], np.eye(40)[soil]]), y


MADE: dict[str, Callable[..., Stream]] = {
    f.__name__: f
    for f in (
        zipf_text,
        categories,
        cauchy_features,
        heavy_noise,
        scales,
        abrupt,
        walk,
        seasonal,
        short,
        wide,
        redundant,
        rare,
        counts,
        noise,
        letters,
        cover,
    )
}


def made(entry: dict[str, Any]) -> Stream:
    """A made stream by its name, with its options and seed."""
    options = dict(entry.get("options", {}))
    return MADE[entry["made"]](np.random.default_rng(options.pop("seed", 1)), **options)


SOURCES: dict[str, Callable[[dict[str, Any]], Stream]] = {"river": from_river, "sklearn": from_sklearn, "series": series, "made": made}
