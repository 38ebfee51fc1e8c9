"""Model files to spoil: every kind that can be saved, each in states worth spoiling.

`MODELS` says how the models of each kind in the registry are made: a kind without a line there cannot be surveyed, which is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix

import burkholder as bk
from burkholder import functions, storage
from burkholder.auto import Auto, AutoMulticlass
from burkholder.experts import METHODS, Experts
from burkholder.learning.feature_maps import Parity
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.learner import MatrixLearner
from burkholder.storage import tables
from burkholder.streams.readers.reading import Reading
from robust_use import Use, interval, learning, plays, predicting, revealing

Made = tuple[bytes, Use]
Maker = Callable[[], Made]


def _learner(name: str) -> tuple[bytes, Use]:
    entry = functions.CATALOGUE[name]
    dim = entry.dims[-1]
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (6, dim)) / dim
    learner = bk.Learner(name, loss="squared" if entry.curved else "absolute", bound=1.0)
    for x in X[:5]:
        learner.update(x, float(np.clip(x.sum(), -1, 1)))
    learner.play(X[5])
    return storage.pack(learner), plays(X[5], 0.25, (np.full(dim, 0.5), np.zeros(dim)))


def _named(**options: Any) -> tuple[bytes, Use]:
    """Features by name."""
    learner = bk.Learner("adagrad", loss="logistic", intercept=True, **options)
    row = {"a": 1.0, "b": -0.5}
    for t in range(6):
        learner.update({**row, f"n{t}": 0.25}, t % 2)
    learner.play({"a": 1.0, "new": 3.0})
    return storage.pack(learner), plays({**row, "later": 1.0}, 1.0, ({"a": 0.5},))


def _general() -> tuple[bytes, Use]:
    """The strategy that searches a grid."""
    learner = bk.Learner("square-function", loss="absolute", bound=1.0, strategy="general", strategy_options={"grid": 65})
    for t in range(4):
        learner.update([1.0, t % 3 - 1.0], 0.5)
    return storage.pack(learner), plays([0.5, 0.5], 0.25, ([0.5, 0.5],))


def _merged() -> tuple[bytes, Use]:
    parts = [bk.Learner("adagrad-norm", loss="absolute", radius=2.0) for _ in range(2)]
    for t in range(8):
        parts[t % 2].update({"a": 1.0, f"n{t}": 1.0}, 0.5)
    return storage.pack(bk.merge(*parts)), plays({"a": 1.0, "b": 2.0}, 0.5, ({"a": 0.5},))


def _of_table(kind: Any) -> tuple[bytes, Use]:
    """A learner that takes rows as a table had them."""
    learner, columns = kind(), ("size", "city", "price")
    tables.give(learner, Reading(columns, ("number", "category", "target"), None, 6, False, True, "."))
    for t in range(6):
        learner.update({"size": float(t), "city": "Rome" if t % 2 else "Oslo"}, 0.5)
    return storage.pack(learner), plays({"size": None, "city": "Bern"}, 0.25)


def _auto(loss: str, named: bool, rounds: int = 30) -> tuple[bytes, Use]:
    learner = Auto(loss, full_features=6)
    rng = np.random.default_rng(2)
    for _ in range(rounds):
        x = rng.normal(size=4)
        row = {"a": x[0], "b": x[1], "c": "red" if x[2] > 0 else "blue", "d": x[3]} if named else x
        learner.update(row, float(x.sum() > 0) if loss == "logistic" else float(x.sum()))
    row = {"a": 1.0, "c": "green", "new": 2.0} if named else np.ones(4)
    learner.play(row)
    return storage.pack(learner), plays(row, 1.0, ({"a": 0.5, "d": -0.25},) if named else (np.full(4, 0.5),))


def _sparse() -> tuple[bytes, Use]:
    learner = Auto("hinge", full_features=0)
    for t in range(9):
        learner.update((np.array([t % 4, 7]), np.array([1.0, -0.5])), t % 2)
    learner.play((np.array([2, 30]), np.array([1.0, 2.0])))
    return storage.pack(learner), plays((np.array([1, 99]), np.array([1.0, 2.0])), 1.0)


def _classes() -> tuple[bytes, Use]:
    learner = AutoMulticlass(full_features=3)
    for t in range(20):
        learner.update({"x": t % 3 - 1.0, "z": float(t)}, "abc"[t % 3])
    learner.play({"x": 1.0, "w": 2.0})

    steps = (predicting({"x": 1.0}, how="predict_proba"), learning({"x": 1.0, "new": 2.0}, "a"), learning({"x": -1.0}, "d"), revealing("b"))
    return storage.pack(learner), Use(*steps)


def _experts(method: str) -> tuple[bytes, Use]:
    learner = Experts("pinball", method=method, rate=0.5 if method == "ewa" else None, quantile=0.7)
    rng = np.random.default_rng(3)
    for _ in range(8):
        learner.update({"a": rng.normal(), "b": rng.normal(), "c": None}, rng.normal())
    learner.play({"b": 1.0, "e": 0.5})
    return storage.pack(learner), plays({"a": 1.0, "b": 0.5, "d": 2.0}, 0.75)


def _ratings(**options: Any) -> tuple[bytes, Use]:
    learner = MatrixCompletion(1, 5, **options)
    rng = np.random.default_rng(4)
    for _ in range(20):
        learner.update(int(rng.integers(5)), f"m{rng.integers(4)}", float(rng.integers(1, 6)))
    learner.play(1, "m2")
    learner.play(7, "later")

    steps = (
        predicting(1, "m1"),
        learning(1, "m1", 4.0),
        learning(99, "new", 2.0),
        revealing(3.0),
        revealing(2.0),
        lambda other: other.top(1, 2),
    )
    return storage.pack(learner), Use(*steps)


def _matrix(shape: tuple[int, int], entries: bool, **options: Any) -> tuple[bytes, Use]:
    learner = MatrixLearner(*shape, **options)
    rng = np.random.default_rng(5)
    for _ in range(6):
        i, j = int(rng.integers(3)), int(rng.integers(3))
        left, right = rng.normal(size=(shape[0], 1)), rng.normal(size=(shape[1], 1))
        left[4:] = 0.0  # what is kept of a wide matrix is its nonzeros: few, or the file is large
        learner.update((i, j) if entries else (left, right), 0.5)
    learner.play((2, 1, 0.5))
    if not entries:
        dense = rng.normal(size=shape)
        dense[4:] = 0.0
        learner.play(dense)
        learner.play(coo_matrix(([1.0, 2.0], ([0, 1], [2, 0])), shape=shape))
    return storage.pack(learner), plays((1, 2), -0.5)


def _audit() -> tuple[bytes, Use]:
    audit = bk.Audit("squared")
    for t in range(4):
        audit.update([1.0, float(t)], 0.5, 1.0)
    return storage.pack(audit), Use(learning([1.0, 2.0], 0.5, 1.0), comparators=([0.5, 0.25],))


def _bands(kind: Any, *options: Any, **more: Any) -> tuple[bytes, Use]:
    """Intervals and quantiles, past the labels that warm them."""
    learner, rng = kind(*options, **more), np.random.default_rng(6)
    X = rng.normal(size=(40, 3))
    learner.run(X, X[:, 0] + 0.1 * rng.normal(size=40), trace=0)
    learner.play(X[0])
    return storage.pack(learner), plays(X[1], 0.5)


def _sets() -> tuple[bytes, Use]:
    learner = bk.PredictionSets(0.8)
    for t in range(9):
        learner.update({"a": 0.5, "b": 0.3, "c": 0.2}, "abc"[t % 3])
    learner.play({"a": 0.9, "b": 0.1})
    steps = (lambda other: other.predict({"a": 1.0}), learning({"a": 0.6, "d": 0.4}, "d"), revealing("a"))
    return storage.pack(learner), Use(*steps, comparators=([0.5],))


def _quantiles() -> Made:
    """Forecasts of points and of every level."""
    learner, rng = Experts(quantiles=(0.1, 0.5, 0.9)), np.random.default_rng(7)
    for t in range(8):
        level = np.sort(rng.normal(size=3))
        learner.update({"point": rng.normal(), "levels": level, "asleep": None if t % 2 else 0.5}, rng.normal())
    learner.play({"levels": [0.0, 0.5, 1.0], "new": 0.5})
    return storage.pack(learner), plays({"point": 0.5, "levels": [-1.0, 0.0, 1.0]}, 0.25)


def _opinions(loss: str, outcomes: int, odds: bool) -> Made:
    learner, rng = bk.Probabilities(loss, odds=odds), np.random.default_rng(8)
    rows = rng.dirichlet(np.ones(outcomes), size=(9, 2))
    rows = 1.0 / (0.9 * rows + 0.05) if odds else rows
    for t, row in enumerate(rows[:8]):
        learner.update({"a": row[0], "b": None if t % 3 == 2 else row[1]}, t % outcomes)
    learner.play({"b": rows[8, 0], "new": rows[8, 1]})
    steps = (predicting({"a": rows[0, 0]}), learning({"a": rows[0, 0], "c": rows[1, 1]}, 0), revealing(1))
    return storage.pack(learner), Use(*steps, comparators=("a",))


def _keyed(learner: Any, labels: tuple[Any, ...], **options: Any) -> Made:
    """Three keys, one of them only played."""
    many, rng = bk.Keyed(learner, key="shop", **options), np.random.default_rng(9)
    for t in range(12):
        many.update({"shop": ("north", 7)[t % 2], "a": rng.normal(), "b": rng.normal()}, labels[t % len(labels)])
    many.play({"shop": "north", "a": 1.0})
    many.play({"shop": "new", "b": 1.0})
    row, other = {"shop": "north", "a": 0.5, "b": -1.0}, {"shop": "later", "a": 0.25}
    how = (lambda one: one.predict(row)) if isinstance(learner, AutoMulticlass) else predicting(row)
    steps = (how, learning(row, labels[0]), learning(other, labels[-1]), revealing(labels[0]), revealing(labels[1]))
    return storage.pack(many), Use(*steps)


def _lanes(make: Callable[[], Any]) -> Made:
    """Learners of two shards, merged, some rounds later."""
    parts, rng = [make(), make()], np.random.default_rng(10)
    for t in range(12):
        parts[t % 2].update({"a": rng.normal(), "b": rng.normal()}, rng.normal())
    whole = bk.Merged(parts)
    for _ in range(3):
        whole.update({"a": rng.normal(), "b": rng.normal()}, rng.normal())
    whole.play({"a": 1.0, "b": 0.5})
    return storage.pack(whole), plays({"a": 0.5, "b": -0.25}, 0.25)


def _described() -> Made:
    """Ratings with features: one late, one of a column nobody has met."""
    learner, rng = bk.DescribedCompletion(1, 5, effort="light"), np.random.default_rng(12)
    for t in range(12):
        learner.update((int(rng.integers(4)), f"m{rng.integers(3)}", {"a": rng.normal(), "kind": "xy"[t % 2]}), float(rng.integers(1, 6)))
    learner.play((1, "m2", {"a": 0.5}))
    row = (7, "later", {"a": 1.0, "kind": "x"})
    return storage.pack(learner), Use(predicting(row), learning(row, 4.0), revealing(3.0), predicting((1, "m1", {})))


def _confidence(streams: Any, constant: bool) -> Made:
    sequence, rng = bk.Confidence(-1.0, 3.0, 0.1, streams=streams, constant=constant), np.random.default_rng(11)
    shape = sequence.state.shape[1:]
    for _ in range(9):
        sequence.update(rng.uniform(-1.0, 3.0, shape))
    return storage.pack(sequence), Use(interval, learning(np.zeros(shape)), learning(np.full(shape, 3.0)), interval)


def _absolute() -> Any:
    return Auto("absolute", effort="light", full_features=0)


# --- the list --------------------------------------------------------------------------------------------------------
MODELS: dict[str, dict[str, Maker]] = {
    "Audit": {"audit": _audit},
    "Learner": {
        **{name: partial(_learner, name) for name in functions.CATALOGUE},
        "named": _named,
        "parity": partial(_named, features=Parity(2)),
        "general": _general,
        "merged exactly": _merged,
        "table": lambda: _of_table(lambda: bk.Learner("adaptive", loss="absolute")),
    },
    "Auto": {
        "logistic": lambda: _auto("logistic", True),
        "squared": lambda: _auto("squared", False),
        "absolute": lambda: _auto("absolute", True),
        "sparse": _sparse,
        "table": lambda: _of_table(lambda: Auto("absolute")),
    },
    "AutoMulticlass": {"classes": _classes},
    "Experts": {method: partial(_experts, method) for method in METHODS},
    "QuantileExperts": {"levels": _quantiles},
    "Probabilities": {
        "log": lambda: _opinions("log", 3, False),
        "brier": lambda: _opinions("brier", 3, False),
        "odds": lambda: _opinions("log", 2, True),
    },
    "MatrixCompletion": {
        "default": _ratings,
        "fast": lambda: _ratings(fast=True),
        **{
            rate: partial(_ratings, strategy="sign-flip", rate=rate, radius=None if rate == "mixture" else 2.0)
            for rate in ("lowering", "doubling", "mixture")
        },
    },
    "MatrixLearner": {
        "small": lambda: _matrix((4, 3), False, radius=1.0),
        "entries": lambda: _matrix((60, 50), True, radius=1.0),
        "doubling": lambda: _matrix((60, 50), True, radius=1.0, rate="doubling"),
        "wide": lambda: _matrix((2040, 20), False, radius=1.0),
        "tangent": lambda: _matrix((4, 3), False, radius=1.0, strategy="tangent"),
    },
    "Intervals": {"own": lambda: _bands(bk.Intervals, 0.8), "around a column": lambda: _bands(bk.Intervals, 0.8, model=1)},
    "Quantiles": {"own": lambda: _bands(bk.Quantiles, (0.2, 0.6))},
    "PredictionSets": {"sets": _sets},
    "Merged": {
        "auto": lambda: _lanes(_absolute),
        "experts": lambda: _lanes(lambda: Experts("squared")),
        "learner": lambda: _lanes(lambda: bk.Learner("adagrad", loss="absolute")),
    },
    "DescribedCompletion": {"squared": _described},
    "Keyed": {
        "helped": lambda: _keyed(_absolute(), (0.5, -1.0, 2.0)),
        "logistic": lambda: _keyed(bk.Learner("adagrad", loss="logistic"), (0, 1)),
        "alone": lambda: _keyed(Experts("absolute"), (0.5, -1.0), pooled=False),
        "classes": lambda: _keyed(AutoMulticlass(full_features=0), ("x", "y", "z"), pooled=False),
    },
    "Confidence": {"one": lambda: _confidence((), False), "constant": lambda: _confidence((2, 2), True)},
}
FEW = {"Learner": ("adagrad", "strongly-convex", "mixture", "matrix"), "Experts": ("squint",)}  # what does not compile for long


def makers(few: bool = False) -> dict[str, Maker]:
    """How to make each model, for every kind in the registry; `few` takes one of most kinds."""
    found = {}
    for kind in storage.KINDS:
        if kind not in MODELS:
            raise KeyError(f"say in MODELS how a {kind} to be spoiled is made")
        for name in FEW.get(kind, tuple(MODELS[kind])[:1]) if few else MODELS[kind]:
            found[f"{kind}, {name}"] = MODELS[kind][name]
    return found


def seeds(few: bool = False) -> dict[str, Made]:
    """(file, what is done with it) for each of `makers`."""
    return {name: make() for name, make in makers(few).items()}
