"""The rules `experts.py` compares with, besides those of burkholder: plain loops over one stream, each returning its predictions.

Untuned: AdaNormalHedge (Luo and Schapire 2015) on slopes, in units of the largest seen, the Vovk-Azoury-Warmuth forecaster on forecasts
in units of their running root mean square, and BOA and MLpol as the public source of opera's Python package has them. Tuned in
hindsight by the caller: ridge regression online, with its penalty.
"""

from __future__ import annotations

import math

import numba
import numpy as np


@numba.njit(cache=True)
def _slope(squared: bool, yhat: float, y: float) -> float:
    return 2.0 * (yhat - y) if squared else np.sign(yhat - y)


@numba.njit(cache=True)
def ada_normal_hedge(x: np.ndarray, y: np.ndarray, squared: bool) -> np.ndarray:
    n, d = x.shape
    out, R, C, largest = np.empty(n), np.zeros(d), np.zeros(d), 0.0
    for t in range(n):
        p = np.empty(d)
        for j in range(d):
            up, down = max(R[j] + 1.0, 0.0), max(R[j] - 1.0, 0.0)
            c = 3.0 * (C[j] + 1.0)
            p[j] = math.exp(min(up * up / c, 600.0)) - math.exp(min(down * down / c, 600.0))
        total = p.sum()
        p = p / total if total > 0.0 else np.full(d, 1.0 / d)
        out[t] = np.sum(p * x[t])
        r = _slope(squared, out[t], y[t]) * (out[t] - x[t])
        top = np.max(np.abs(r))
        if top > largest:
            R *= largest / top
            C *= largest / top
            largest = top
        if largest > 0.0:
            R += r / largest
            C += np.abs(r) / largest
    return out


@numba.njit(cache=True)
def ridge(x: np.ndarray, y: np.ndarray, penalty: float, forward: bool) -> np.ndarray:
    """Online ridge on the forecasts and a constant, pulled towards the plain mean; `forward` is Vovk's and Azoury and Warmuth's version."""
    n, d = x.shape
    out, size = np.empty(n), 0.0
    b, inverse = np.zeros(d + 1), np.eye(d + 1)
    for t in range(n):
        size = max(size, np.sqrt(np.mean(x[t] ** 2)))
        if t == 0:
            inverse = np.eye(d + 1) / (penalty * max(size * size, 1e-300))
            inverse[d, d] *= max(size * size, 1e-300)
            unit = max(size, 1e-150)
            inverse[d, d] = 1.0 / penalty
        z = np.append(x[t], unit)
        mean = x[t].mean()
        pull = inverse @ z
        gain = pull / (1.0 + z @ pull)
        if forward:
            inverse -= np.outer(gain, pull)
            out[t] = mean + (inverse @ b) @ z
        else:
            out[t] = mean + (inverse @ b) @ z
            inverse -= np.outer(gain, pull)
        b += (y[t] - mean) * z
    return out


@numba.njit(cache=True)
def opera_boa(x: np.ndarray, y: np.ndarray, squared: bool) -> np.ndarray:
    """Bernstein's online aggregation on slopes, with the starting values and the powers of two of opera's public source."""
    n, d = x.shape
    tiny = 2.0**-20
    out, R, V, widest, rate = np.empty(n), np.zeros(d), np.full(d, tiny), np.full(d, tiny), np.full(d, tiny)
    for t in range(n):
        logs = np.log(rate) + rate * R
        p = np.exp(logs - logs.max())
        p /= p.sum()
        out[t] = np.sum(p * x[t])
        r = _slope(squared, out[t], y[t]) * (out[t] - x[t])
        widest = np.maximum(widest, np.abs(r))
        unit = 2.0 ** np.ceil(np.log2(widest))
        V += r * r
        rate = np.minimum(1.0 / unit, np.sqrt(math.log(d) / V))
        R += 0.5 * (r - rate * r * r + np.where(rate * r > 0.5, unit, 0.0))
    return out


@numba.njit(cache=True)
def opera_mlpol(x: np.ndarray, y: np.ndarray, squared: bool) -> np.ndarray:
    """Polynomial weights on slopes, with the starting values of opera's public source."""
    n, d = x.shape
    out, R, rate, largest = np.empty(n), np.zeros(d), np.full(d, 2.0**-20), 0.0
    for t in range(n):
        p = rate * np.maximum(R, 0.0)
        p = p / p.sum() if p.sum() > 0.0 else np.full(d, 1.0 / d)
        out[t] = np.sum(p * x[t])
        r = _slope(squared, out[t], y[t]) * (out[t] - x[t])
        R += r
        more = max(np.max(r * r) - largest, 0.0)
        rate = 1.0 / (1.0 / rate + r * r + more)
        largest += more
    return out
