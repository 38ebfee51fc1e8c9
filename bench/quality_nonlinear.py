"""Nonlinear peers at their defaults, on the first rows of every set, in the order given and shuffled (seeded).

CapyMOA (needs Java 17) and river run in this Python where they can be imported, or in the one named by BURKHOLDER_NONLINEAR_PYTHON.
Random forests and patches have ten members; everything else is as it comes. Each is predicted before it learns; probabilities are
kept within [1e-3, 1 − 1e-3]: the log loss of a vote of 0 is infinite otherwise. Each peer's figures are kept apart, the quick
ones found first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

PYTHON = os.environ.get("BURKHOLDER_NONLINEAR_PYTHON", sys.executable if find_spec("capymoa") else "")
ROWS = 10_000
WIDEST = 200  # features of a dense copy
WARMING = 40  # rows that Auto learns once before its time is taken
CLASSES = ("ARF 10", "KNN", "LeveragingBagging 10", "SRP 10", "SGBT", "AMF")
NUMBERS = ("ARF 10", "KNN", "SOKNL 10", "SGBT", "AMF")

SCRIPT = r"""
import json, sys, time
import numpy as np

def told(name, p, seconds):
    if loss in ("logistic", "classes"):
        chance = np.clip(p[np.arange(n), y.astype(int)], 1e-3, 1 - 1e-3)
        found[name] = {"loss": float(-np.log(chance).mean()), "errors": float((p.argmax(1) != y).mean()), "seconds": seconds}
    else:
        found[name] = {"absolute": float(np.abs(p - y).mean()), "squared": float(((p - y) ** 2).mean()), "seconds": seconds}

def capymoa():
    from capymoa import classifier, regressor
    from capymoa.stream import NumpyStream
    kinds = int(y.max()) + 1
    if loss in ("logistic", "classes"):
        makers = {
            "ARF 10": lambda s: classifier.AdaptiveRandomForestClassifier(schema=s, ensemble_size=10),
            "SRP 10": lambda s: classifier.StreamingRandomPatches(schema=s, ensemble_size=10),
            "LeveragingBagging 10": lambda s: classifier.LeveragingBagging(schema=s, ensemble_size=10),
            "KNN": lambda s: classifier.KNN(schema=s),
            "SGBT": lambda s: classifier.StreamingGradientBoostedTrees(schema=s),
        }
    else:
        makers = {
            "ARF 10": lambda s: regressor.AdaptiveRandomForestRegressor(schema=s, ensemble_size=10),
            "KNN": lambda s: regressor.KNNRegressor(schema=s),
            "SGBT": lambda s: regressor.StreamingGradientBoostedRegression(schema=s),
            "SOKNL 10": lambda s: regressor.SOKNL(schema=s, ensemble_size=10),
        }
    for name, make in makers.items():
        if name != wanted:
            continue
        try:
            stream = NumpyStream(X, y.astype(int) if loss in ("logistic", "classes") else y,
                                 target_type="categorical" if loss in ("logistic", "classes") else "numeric")
            model, t, start = make(stream.get_schema()), 0, time.process_time()
            p = np.zeros((n, kinds)) if loss in ("logistic", "classes") else np.zeros(n)
            while stream.has_more_instances():
                row = stream.next_instance()
                if loss in ("logistic", "classes"):
                    votes = model.predict_proba(row)
                    votes = np.zeros(0) if votes is None else np.nan_to_num(np.asarray(votes, float))
                    total = votes.sum()
                    p[t] = 1.0 / kinds
                    if total > 0:
                        p[t] = 0.0
                        p[t, : len(votes)] = votes[:kinds] / total
                else:
                    guess = model.predict(row)
                    p[t] = 0.0 if guess is None or not np.isfinite(guess) else guess
                model.train(row)
                t += 1
            told(name, p, time.process_time() - start)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)

def river():
    from river import forest
    classes = loss in ("logistic", "classes")
    kinds = int(y.max()) + 1
    model = (forest.AMFClassifier if classes else forest.AMFRegressor)(n_estimators=10, seed=1)
    p, start = (np.zeros((n, kinds)) if classes else np.zeros(n)), time.process_time()
    names = [str(i) for i in range(X.shape[1])]
    for t in range(n):
        row = dict(zip(names, X[t].tolist()))
        if classes:
            votes = model.predict_proba_one(row)
            p[t] = [votes.get(c, 0.0) for c in range(kinds)]
            p[t] = p[t] / p[t].sum() if p[t].sum() > 0 else 1.0 / kinds
            model.learn_one(row, int(y[t]))
        else:
            p[t] = model.predict_one(row) or 0.0
            model.learn_one(row, float(y[t]))
    told("AMF", p, time.process_time() - start)

for line in sys.stdin:
    path, loss, wanted = json.loads(line)
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    n, found = len(y), {}
    (river if wanted == "AMF" else capymoa)()
    print("FOUND" + json.dumps(found), flush=True)
"""


def rows_of(X: sp.csr_matrix, y: np.ndarray, shuffled: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """The first rows, dense; the same rows in a seeded random order. None where they are too wide."""
    if X.shape[1] > WIDEST:
        return None
    dense, labels = X[:ROWS].toarray(), y[:ROWS]
    order = np.random.default_rng(0).permutation(len(labels)) if shuffled else np.arange(len(labels))
    return dense[order], labels[order]


def names(loss: str) -> tuple[str, ...]:
    """The peers for a loss, the quick ones first."""
    return CLASSES if loss in ("logistic", "classes") else NUMBERS


@cache
def company() -> subprocess.Popen[str]:
    """The Python of the peers: one for all of them, since Java starts slowly."""
    return subprocess.Popen([PYTHON, "-c", SCRIPT], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def nonlinear_peer(X: np.ndarray, y: np.ndarray, loss: str, name: str) -> dict[str, dict[str, Any]]:
    """Mean loss, error rate and processor time of one peer by its name; nothing without a Python that has it."""
    if not PYTHON:
        return {}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "rows.npz"
        np.savez(path, X=X, y=np.where(y > 0, 1, 0) if loss == "logistic" else y)
        talk = company()
        assert talk.stdin and talk.stdout
        print(json.dumps([str(path), loss, name]), file=talk.stdin, flush=True)
        told = next((line for line in talk.stdout if line.startswith("FOUND")), None)
    if told is None:
        raise SystemExit(f"{PYTHON} ended at {name}")
    return json.loads(told.removeprefix("FOUND"))
