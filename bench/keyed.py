"""A learner a key: rows a second, bytes a key, and what keys gain by helping each other.

    python bench/keyed.py [--only speed,million,quality] [--keys 100000] [--dict-keys 100000] [--learners light,coordinates]

speed    rows of ten features, interleaved, fifty a key: `Keyed` beside a dict of river models and a dict of our own learners, in processor
         time of one run. `--dict-keys` times the dicts with fewer keys, which their caches like; `--words` has keys that are text.
million  10⁶ keys × 5 rows with the light learner: bytes and time. Needs the memory it prints first.
quality  many short real series: what pooled keys lose ÷ separate ones, ÷ one learner for all. The loss of a key is over the mean step of
         its series: every key counts alike. Sets of the folder BURKHOLDER_DATA, and what statsmodels ships. Writes out/keyed.json.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import burkholder as bk

OUT = Path(__file__).resolve().parent.parent / "out"
ROWS, FEATURES = 50, 10
LEARNERS: dict[str, Callable[[], Any]] = {
    "coordinates": lambda: bk.Learner("adagrad", loss="squared", bound=50.0),
    "light": lambda: bk.Auto("squared", effort="light", full_features=0),
    "light, absolute": lambda: bk.Auto("absolute", effort="light", full_features=0),
    "light, covariances": lambda: bk.Auto("squared", effort="light"),
}


# --- speed and memory ------------------------------------------------------------------------------------------------
def data(keys: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows interleaved: every key once, in random order, then again."""
    rng = np.random.default_rng(0)
    whose = np.concatenate([rng.permutation(keys) for _ in range(rows)])
    X = rng.normal(size=(keys * rows, FEATURES))
    return whose, X, np.clip(X @ rng.normal(size=FEATURES) + 0.1 * rng.normal(size=len(X)), -50.0, 50.0)


def resident() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def keyed(make: Callable[[], Any], keys: int, rows: int, pooled: bool, words: bool, block: int = 1_000_000) -> dict[str, float]:
    """Microseconds a row and bytes a key of `Keyed`."""
    whose, X, y = data(keys, rows)
    named: Any = [f"customer {key}" for key in range(keys)] if words else None
    for _ in range(2):  # compiled, then warm
        bk.Keyed(make(), pooled=pooled).learn_many(X[:100], y[:100], keys=whose[:100])
    before, learner = resident(), bk.Keyed(make(), pooled=pooled)
    spent = 0.0
    for at in range(0, len(y), block):
        part = slice(at, at + block)
        mine = whose[part] if named is None else [named[key] for key in whose[part].tolist()]
        start = time.process_time()
        learner.learn_many(X[part], y[part], keys=mine)
        spent += time.process_time() - start
    return {"us": 1e6 * spent / len(y), "bytes": (resident() - before) / keys, "state": learner.shelf.slabs.nbytes / keys}


def dictionary(make: Callable[[], Any], learn: str, predict: str, keys: int, rows: int) -> dict[str, float]:
    """The loop everybody writes, on rows that are dicts already."""
    whose, X, y = data(keys, rows)
    names, warm = [f"f{k}" for k in range(FEATURES)], make()
    for row, label in zip(X[:100].tolist(), y[:100].tolist()):
        getattr(warm, predict)(dict(zip(names, row))), getattr(warm, learn)(dict(zip(names, row)), label)
    before, models, spent = resident(), {}, 0.0
    for at in range(0, len(y), 50_000):  # as they come: what is not yet read takes no room
        part = slice(at, at + 50_000)
        table, labels, which = [dict(zip(names, row)) for row in X[part].tolist()], y[part].tolist(), whose[part].tolist()
        start = time.process_time()
        for key, row, label in zip(which, table, labels):
            model = models.get(key)
            if model is None:
                model = models[key] = make()
            getattr(model, predict)(row)
            getattr(model, learn)(row, label)
        spent += time.process_time() - start
    return {"us": 1e6 * spent / len(y), "bytes": (resident() - before) / keys}


def river() -> Any:
    from river import linear_model, preprocessing

    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def speed(keys: int, fewer: int, chosen: list[str], words: bool) -> dict[str, Any]:
    theirs = dictionary(river, "learn_one", "predict_one", fewer, ROWS)
    print(f"{keys:,} keys × {ROWS} rows × {FEATURES} features (dicts: {fewer:,} keys); microseconds a row, bytes a key")
    print(f"{'a dict of river models':32}{theirs['us']:9.2f}{theirs['bytes']:12,.0f}", flush=True)
    found: dict[str, Any] = {"river": theirs}
    for name in chosen:
        make = LEARNERS[name]
        some = min(fewer, 1000) if name == "light, covariances" else fewer
        own = dictionary(make, "update", "predict", some, ROWS)
        print(f"{'a dict of learners, ' + name:32}{own['us']:9.2f}{own['bytes']:12,.0f}", flush=True)
        found[name] = {"dict": own}
        for pooled in (False, True):
            ours = keyed(make, keys, ROWS, pooled, words)
            found[name]["pooled" if pooled else "apart"] = ours
            label = f"Keyed, {name}{', pooled' if pooled else ''}"
            ratios = f"river ÷ {theirs['us'] / ours['us']:.1f}, dict ÷ {own['us'] / ours['us']:.1f}"
            print(f"{label:32}{ours['us']:9.2f}{ours['bytes']:12,.0f}   (state {ours['state']:,.0f})   {ratios}", flush=True)
    return found


def million(chosen: list[str]) -> dict[str, Any]:
    found = {}
    for name in chosen:
        ours = keyed(LEARNERS[name], 1_000_000, 5, False, False)
        found[name] = ours | {"gib": 1e6 * ours["bytes"] / 2**30}
        print(f"10⁶ keys × 5 rows, {name}: {ours['us']:.2f} µs a row, {found[name]['gib']:.2f} GiB more", flush=True)
    return found


# --- quality ---------------------------------------------------------------------------------------------------------
Series = dict[Any, list[tuple[Any, float]]]  # key → (moment, value), in order


def lagged(
    series: Series, lags: tuple[int, ...], season: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Any, Any, dict[str, Any], float]]:
    """(moment, key, row, target): the values of earlier moments, and the season; nothing of the target's own."""
    for key, points in series.items():
        values = [value for _, value in points]
        for t in range(max(lags), len(points)):
            row: dict[str, Any] = {f"lag{lag}": values[t - lag] for lag in lags}
            if season is not None:
                row["season"] = str(season(points[t][0]))
            yield points[t][0], key, row, values[t]


def _csv(path: str, *columns: str) -> Iterator[list[str]]:
    with gzip.open(Path(os.environ["BURKHOLDER_DATA"]) / path, "rt") as file:
        for row in csv.DictReader(file):
            yield [row[column] for column in columns]


def retail() -> Iterator[Any]:
    series: Series = defaultdict(list)
    for month, key, target in _csv("aus-retail-keyed/aus_retail.csv.gz", "month", "key", "target"):
        series[key].append((month, float(target)))
    return lagged(series, (1, 2, 12, 13))


def pedestrian() -> Iterator[Any]:
    """Every sensor and week is a key: many short series."""
    series: Series = defaultdict(list)
    for when, key, target in _csv("pedestrian-keyed/pedestrian.csv.gz", "time_utc", "key", "target"):
        series[key].append((when, float(target)))
    for when, key, row, y in lagged(series, (1, 2, 24, 168)):
        yield when, f"{key} {np.datetime64(when[:10], 'W')}", row, y


def ratings() -> Iterator[Any]:
    """Every user is a key; what is known of a film is what others said before."""
    with gzip.open(Path(os.environ["BURKHOLDER_DATA"]) / "movielens-100k/u.data.gz", "rt") as file:
        rows = [line.split() for line in file]
    tally: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for user, film, rating, when in sorted(rows, key=lambda row: float(row[3])):
        total, many = tally[film]
        yield float(when), user, {"film": (total + 3.5) / (many + 1.0), "seen": math.log1p(many)}, float(rating)
        tally[film] = [total + float(rating), many + 1.0]


def fertility() -> Iterator[Any]:
    from statsmodels.datasets import fertility as source

    frame = source.load_pandas().data
    series: Series = {}
    for row in frame.to_dict("records"):
        points = [(int(year), float(value)) for year, value in row.items() if str(year).isdigit() and value == value]
        if len(points) > 10:
            series[row["Country Name"]] = points
    return lagged(series, (1, 2, 3))


def grunfeld() -> Iterator[Any]:
    from statsmodels.datasets import grunfeld as source

    frame = source.load_pandas().data.sort_values(["firm", "year"])
    for firm, part in frame.groupby("firm"):
        before = part.shift(1)
        for (_, now), (_, last) in list(zip(part.iterrows(), before.iterrows()))[1:]:
            row = {"last": last["invest"], "value": last["value"], "capital": last["capital"]}
            yield int(now["year"]), str(firm), {name: float(number) for name, number in row.items()}, float(now["invest"])


def elnino() -> Iterator[Any]:
    """Every month of the year is a key: the sea's warmth from the three months before."""
    from statsmodels.datasets import elnino as source

    frame = source.load_pandas().data
    months = [name for name in frame.columns if name != "YEAR"]
    values = [(int(row["YEAR"]), k, float(row[month])) for _, row in frame.iterrows() for k, month in enumerate(months)]
    for t in range(12, len(values)):
        year, month, y = values[t]
        yield 12 * year + month, f"month {month + 1}", {f"lag{lag}": values[t - lag][2] for lag in (1, 2, 12)}, y


SETS = {"retail": retail, "pedestrian": pedestrian, "ratings": ratings, "fertility": fertility, "grunfeld": grunfeld, "elnino": elnino}


def steps(keys: list[Any], y: np.ndarray) -> dict[Any, float]:
    """The mean step of each key's series."""
    last: dict[Any, float] = {}
    moved: dict[Any, list[float]] = defaultdict(list)
    for key, value in zip(keys, y.tolist()):
        if key in last:
            moved[key].append(abs(value - last[key]))
        last[key] = value
    return {key: float(np.mean(moved[key])) for key in moved if np.mean(moved[key]) > 0.0}


def quality(names: list[str], make: Callable[[], Any], most: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    print(f"{'':14}{'keys':>7}{'rows':>8}{'apart':>9}{'one':>9}{'pooled':>9}{'÷ apart':>9}{'÷ one':>9}")
    for name in names:
        rows = sorted(SETS[name](), key=lambda row: (row[0], str(row[1])))[:most]
        keys, X, y = [row[1] for row in rows], [row[2] for row in rows], np.array([row[3] for row in rows])
        scale = steps(keys, y)
        said = {
            "apart": bk.Keyed(make(), pooled=False).learn_many(X, y, keys=keys),
            "one": make().learn_many(X, y),
            "pooled": bk.Keyed(make()).learn_many(X, y, keys=keys),
        }
        lost: dict[str, dict[Any, list[float]]] = {way: defaultdict(list) for way in said}
        for way, predictions in said.items():
            for key, p, label in zip(keys, np.asarray(predictions).tolist(), y.tolist()):
                if key in scale:
                    lost[way][key].append(abs(p - label) / scale[key])
        mean = {way: float(np.mean([np.mean(part) for part in each.values()])) for way, each in lost.items()}
        found[name] = mean | {"keys": len(set(keys)), "rows": len(y)}
        ratios = mean["pooled"] / mean["apart"], mean["pooled"] / mean["one"]
        shown = "".join(f"{mean[way]:9.3f}" for way in said) + "".join(f"{ratio:9.3f}" for ratio in ratios)
        print(f"{name:14}{len(set(keys)):7,}{len(y):8,}{shown}", flush=True)
    for way in ("apart", "one"):
        logs = [math.log(found[name]["pooled"] / found[name][way]) for name in names]
        found[f"pooled / {way}"] = math.exp(sum(logs) / len(logs))
        print(f"pooled ÷ {way}, geometric mean: {found[f'pooled / {way}']:.3f}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="speed,quality")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--dict-keys", type=int, default=100_000)
    parser.add_argument("--words", action="store_true", help="keys of Keyed are text")
    parser.add_argument("--learners", default="coordinates;light;light, absolute")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rows", type=int, default=20_000, help="of each set, at most")
    given = parser.parse_args()
    chosen, told = given.learners.split(";"), {}
    for part in given.only.split(","):
        if part == "speed":
            told[part] = speed(given.keys, given.dict_keys, chosen, given.words)
        elif part == "million":
            told[part] = million(chosen)
        else:
            told[part] = quality(given.sets.split(","), lambda: bk.Auto("absolute", effort="light"), given.rows)
    OUT.mkdir(exist_ok=True)
    (OUT / "keyed.json").write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
