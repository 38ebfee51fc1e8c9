"""What a run is compared with: the best constant and the best linear comparator, both found in hindsight."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import scipy  # its parts are imported when first used: most runs never do

from burkholder import losses
from burkholder.losses import dispatch
from burkholder.losses.batch import values
from burkholder.machine.compiling import compiled


@compiled
def _charged(loss, yhat, y, weight, slope):
    total = 0.0
    for t in range(y.size):
        total += weight[t] * dispatch.value(loss, yhat[t], y[t])
        slope[t] = weight[t] * dispatch.derivative(loss, yhat[t], y[t])
    return total


def charged(loss: Any, yhat: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """(Σ weight·ℓ(ŷ, y), the derivatives)."""
    slope = np.empty(y.size)
    return float(_charged(loss, np.ascontiguousarray(yhat, float), y, weight, slope)), slope


def each(loss: Any, yhat: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ℓ(ŷ_t, y_t) of every row."""
    return values(loss, np.ascontiguousarray(yhat, float), y)


def best_constant(loss: Any, y: np.ndarray, weight: np.ndarray) -> float:
    """min over c of Σ weight·ℓ(c, y)."""
    if not len(y) or weight.sum() <= 0.0:
        return 0.0
    if losses.is_classification(loss):
        low, high = -40.0, 40.0
        y, weight = np.array([-1.0, 1.0]), np.array([weight[y < 0.0].sum(), weight[y > 0.0].sum()])
    else:
        low, high = float(y.min()), float(y.max())
    for _ in range(80):  # the derivative is monotone
        middle = 0.5 * (low + high)
        if charged(loss, np.full(len(y), middle), y, weight)[1].sum() < 0.0:
            low = middle
        else:
            high = middle
    return min(charged(loss, np.full(len(y), c), y, weight)[0] for c in (low, high))


def best_linear(
    loss: Any,
    X: scipy.sparse.csr_matrix,
    y: np.ndarray,
    weight: np.ndarray,
    box: float | None = None,
    ball: float | None = None,
    seconds: float = math.inf,
) -> tuple[np.ndarray, float]:
    """(w, its loss): the best comparator a solver finds in so many seconds with |w_i| ≤ box, or ‖w‖₂ ≤ ball, or without limits.

    Every w is a comparator, so its loss is never below the true minimum: the regret shown is a regret really had.
    """
    turned = X.T.tocsr()
    size = np.maximum(abs(turned).max(axis=1).toarray().reshape(-1), 1e-300) if box is not None or ball is None else np.ones(X.shape[1])

    def minimised(ridge: float, first: np.ndarray, rounds: int) -> np.ndarray:
        best: list[Any] = [first, math.inf]

        def cost(v: np.ndarray) -> tuple[float, np.ndarray]:
            total, slope = charged(loss, X @ (v / size), y, weight)
            whole = total + 0.5 * ridge * float(v @ v)
            if whole < best[1]:
                best[:] = v.copy(), whole
            if time.perf_counter() > deadline:
                raise _OutOfTime
            return whole, (turned @ slope) / size + ridge * v

        bounds = None if box is None else [(-box * s, box * s) for s in size]
        try:
            return scipy.optimize.minimize(
                cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": rounds, "maxfun": 2 * rounds}
            ).x
        except _OutOfTime:
            return np.asarray(best[0])

    deadline = time.perf_counter() + seconds
    v = minimised(1e-9, np.zeros(X.shape[1]), 300)
    if ball is not None and np.linalg.norm(v) > ball:
        low, high = -9.0, 9.0
        for _ in range(14):  # the norm falls as the ridge grows
            if time.perf_counter() > deadline:
                break
            middle = 0.5 * (low + high)
            v = minimised(10.0**middle, v, 60)
            low, high = (middle, high) if np.linalg.norm(v) > ball else (low, middle)
        v *= min(1.0, ball / max(float(np.linalg.norm(v)), 1e-300))
    if box is not None:
        v = np.clip(v, -box * size, box * size)
    w = v / size
    return w, charged(loss, X @ w, y, weight)[0]


class _OutOfTime(Exception):
    """The solver's time is over."""


def limits(learner: Any, radius: float | None) -> tuple[float | None, float | None, str] | None:
    """(box, ball, in words): the comparators the learner's bounds are stated for; None where no solver is at hand."""
    function = getattr(learner, "function", None)
    if function is None:
        return None, None, "every linear predictor"
    geometry, own = (type(getattr(function, "geometry", None)).__name__, getattr(function, "default_radius", lambda: None)())
    chosen = radius if radius is not None else (own if own is not None else 1.0)
    if geometry == "Coordinates":
        return chosen, None, f"linear predictors with |w_i| ≤ {chosen:g}"
    if geometry == "Euclidean" or (geometry == "NoneType" and math.isfinite(chosen)):
        return None, chosen, f"linear predictors with ‖w‖ ≤ {chosen:g}"
    return None
