"""Peers tuned in hindsight: SGD and AdaGrad over a grid of rates (compiled here), and river.

Each returns the progressive mean loss of its best setting: predicted before learned, raw features plus a
constant, one pass. A setting that overflows counts as infinitely bad.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

RATES = 10.0 ** np.arange(-6.0, 2.01, 0.5)
SLOPES = {"logistic": 0, "absolute": 1, "squared": 2}


@numba.njit(error_model="numpy")
def loss_and_slope(kind, p, y):
    if kind == 0:
        m = y * p
        e = np.exp(-abs(m))
        return (np.log1p(e) if m > 0 else np.log1p(e) - m), -y * (e / (1 + e) if m > 0 else 1 / (1 + e))
    if kind == 1:
        return abs(p - y), np.sign(p - y)
    return (p - y) ** 2, 2 * (p - y)


@numba.njit(error_model="numpy")
def gradient_grid(indptr, indices, values, d, y, kind, rates, adagrad):
    """Mean progressive loss at every rate of SGD (rate/√t) or diagonal AdaGrad, all rates in one pass."""
    n, k = len(y), len(rates)
    w, squares = np.zeros((d, k)), np.zeros((d, k))
    total, p = np.zeros(k), np.zeros(k)
    for t in range(n):
        p[:] = 0.0
        for j in range(indptr[t], indptr[t + 1]):
            for r in range(k):
                p[r] += w[indices[j], r] * values[j]
        for r in range(k):
            paid, slope = loss_and_slope(kind, p[r], y[t])
            total[r] += paid
            p[r] = slope
        for j in range(indptr[t], indptr[t + 1]):
            i, x = indices[j], values[j]
            for r in range(k):
                g = p[r] * x
                if adagrad:
                    squares[i, r] += g * g
                    if squares[i, r] > 0:
                        w[i, r] -= rates[r] * g / np.sqrt(squares[i, r])
                else:
                    w[i, r] -= rates[r] / np.sqrt(t + 1.0) * g
    return total / n


@numba.njit(error_model="numpy")
def adagrad_pass(indptr, indices, values, d, y, rate):
    """One diagonal AdaGrad pass for the logistic loss, what Auto's time is measured against."""
    w, squares = np.zeros(d), np.zeros(d)
    total = 0.0
    for t in range(len(y)):
        p = 0.0
        for j in range(indptr[t], indptr[t + 1]):
            p += w[indices[j]] * values[j]
        paid, slope = loss_and_slope(0, p, y[t])
        total += paid
        for j in range(indptr[t], indptr[t + 1]):
            i, g = indices[j], slope * values[j]
            squares[i] += g * g
            if squares[i] > 0:
                w[i] -= rate * g / np.sqrt(squares[i])
    return total / len(y)


def with_constant(X: sp.csr_matrix) -> sp.csr_matrix:
    return sp.hstack([X, np.ones((X.shape[0], 1))], format="csr")


def standardised(X: sp.csr_matrix) -> sp.csr_matrix:
    """Running standardisation, this row included; wide sparse sets are scaled but not centred."""
    n, d = X.shape
    if d <= 200:
        dense = X.toarray()
        counts = np.arange(1, n + 1)[:, None]
        shift = dense[0]  # moments about the first row, against cancellation
        mean = np.cumsum(dense - shift, axis=0) / counts
        variance = np.cumsum((dense - shift) ** 2, axis=0) / counts - mean**2
        scale = np.sqrt(np.maximum(variance, 0.0))
        centred = dense - shift - mean
        varied = scale > 1e-9 * np.abs(dense).max(axis=0)
        return sp.csr_matrix(np.where(varied, centred / np.where(scale > 0, scale, 1), 0.0))
    out = X.copy()
    squares = np.zeros(d)
    for t in range(n):
        part = slice(X.indptr[t], X.indptr[t + 1])
        squares[X.indices[part]] += X.data[part] ** 2
        out.data[part] = X.data[part] / np.sqrt(squares[X.indices[part]] / (t + 1))
    return out


def gradient_peers(X: sp.csr_matrix, y: np.ndarray, loss: str) -> dict[str, dict[str, float]]:
    found = {}
    for scaling, rows in (("raw", X), ("standardised", standardised(X))):
        full = with_constant(rows)
        for name, adagrad in (("SGD", False), ("AdaGrad", True)):
            with np.errstate(all="ignore"):
                means = gradient_grid(full.indptr, full.indices, full.data, full.shape[1], y, SLOPES[loss], RATES, adagrad)
            means = np.where(np.isfinite(means), means, np.inf)
            best = int(np.argmin(means))
            found[f"{name} {scaling}, tuned"] = {"loss": float(means[best]), "rate": float(RATES[best])}
    return found


def mean_loss(loss: str, p: np.ndarray, y: np.ndarray) -> float:
    if loss == "logistic":
        return float(np.logaddexp(0.0, -y * p).mean())
    return float(np.abs(p - y).mean() if loss == "absolute" else ((p - y) ** 2).mean())


def river_peers(X: sp.csr_matrix, y: np.ndarray, loss: str) -> dict[str, dict[str, float]]:
    try:
        from river import linear_model, optim, preprocessing
    except ImportError:
        return {}
    if loss == "logistic":
        model: Any = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    else:
        chosen = optim.losses.Absolute() if loss == "absolute" else optim.losses.Squared()
        model = preprocessing.StandardScaler() | linear_model.LinearRegression(loss=chosen)
    total = 0.0
    for t in range(len(y)):
        part = slice(X.indptr[t], X.indptr[t + 1])
        row = dict(zip(X.indices[part].tolist(), X.data[part].tolist()))
        if loss == "logistic":
            up = min(max(model.predict_proba_one(row).get(True, 0.5), 1e-15), 1 - 1e-15)
            total += -np.log(up if y[t] > 0 else 1 - up)
            model.learn_one(row, bool(y[t] > 0))
        else:
            p = model.predict_one(row)
            total += abs(p - y[t]) if loss == "absolute" else (p - y[t]) ** 2
            model.learn_one(row, float(y[t]))
    return {"river, StandardScaler": {"loss": float(total / len(y)) if np.isfinite(total) else np.inf}}
