"""Several classes: progressive log loss of AutoMulticlass and of peers tuned in hindsight.

Peers: softmax regression by SGD and AdaGrad over the rates, raw and standardised; river's SoftmaxRegression with
StandardScaler; Vowpal Wabbit one against all (quality_vw). All know the number of classes beforehand; Auto is told
the classes too.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from burkholder.auto import AutoMulticlass
from quality_peers import RATES, standardised, with_constant


@numba.njit(error_model="numpy")
def softmax_pass(indptr, indices, values, d, y, classes, rate, adagrad):
    """Mean progressive log loss of softmax regression at one rate."""
    w, squares = np.zeros((d, classes)), np.zeros((d, classes))
    p = np.zeros(classes)
    total = 0.0
    for t in range(len(y)):
        p[:] = 0.0
        for j in range(indptr[t], indptr[t + 1]):
            for c in range(classes):
                p[c] += w[indices[j], c] * values[j]
        top = p.max()
        size = np.exp(p - top).sum()
        total += np.log(size) + top - p[y[t]]
        p = np.exp(p - top) / size
        p[y[t]] -= 1.0
        for j in range(indptr[t], indptr[t + 1]):
            i, x = indices[j], values[j]
            for c in range(classes):
                g = p[c] * x
                if adagrad:
                    squares[i, c] += g * g
                    if squares[i, c] > 0:
                        w[i, c] -= rate * g / np.sqrt(squares[i, c])
                else:
                    w[i, c] -= rate / np.sqrt(t + 1.0) * g
    return total / len(y)


def softmax_peers(X: sp.csr_matrix, y: np.ndarray, loss: str) -> dict[str, dict[str, float]]:
    found = {}
    for scaling, rows in (("raw", X), ("standardised", standardised(X))):
        full = with_constant(rows)
        for name, adagrad in (("SGD", False), ("AdaGrad", True)):
            arrays = full.indptr, full.indices, full.data, full.shape[1]
            with np.errstate(all="ignore"):
                means = np.array([softmax_pass(*arrays, y, int(y.max()) + 1, rate, adagrad) for rate in RATES])
            means = np.where(np.isfinite(means), means, np.inf)
            best = int(np.argmin(means))
            found[f"{name} {scaling}, tuned"] = {"loss": float(means[best]), "rate": float(RATES[best])}
    return found


def river_classes(X: sp.csr_matrix, y: np.ndarray, loss: str) -> dict[str, dict[str, float]]:
    try:
        from river import linear_model, preprocessing
    except ImportError:
        return {}
    model: Any = preprocessing.StandardScaler() | linear_model.SoftmaxRegression()
    total, known = 0.0, int(y.max()) + 1
    for t in range(len(y)):
        part = slice(X.indptr[t], X.indptr[t + 1])
        row = dict(zip(X.indices[part].tolist(), X.data[part].tolist()))
        given = model.predict_proba_one(row)
        total -= np.log(min(max(given.get(int(y[t]), 1.0 / known), 1e-15), 1.0))
        model.learn_one(row, int(y[t]))
    return {"river, StandardScaler": {"loss": float(total / len(y))}}


def auto_classes(X: sp.csr_matrix, y: np.ndarray) -> float:
    """Auto's mean log loss."""
    learner = AutoMulticlass(classes=range(int(y.max()) + 1))
    return float(learner.run(X, y).losses.mean())
