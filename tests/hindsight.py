"""The best comparator in hindsight, by a convex solver."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np

from burkholder import functions, losses
from burkholder.geometries.base import conjugate


def _total(loss: Any, prediction: Any, y: np.ndarray) -> Any:
    residual = prediction - y
    if isinstance(loss, losses.Absolute):
        return cvxpy.norm1(residual)
    if isinstance(loss, losses.Squared):
        return cvxpy.sum_squares(residual)
    if isinstance(loss, losses.Huber):
        return 0.5 * cvxpy.sum(cvxpy.huber(residual, loss.threshold))
    if isinstance(loss, losses.Pinball):
        return cvxpy.sum(cvxpy.maximum(-loss.quantile * residual, (1 - loss.quantile) * residual))
    if isinstance(loss, losses.EpsilonInsensitive):
        return cvxpy.sum(cvxpy.pos(cvxpy.abs(residual) - loss.epsilon))
    if isinstance(loss, losses.Hinge):
        return cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, prediction)))
    return cvxpy.sum(cvxpy.logistic(-cvxpy.multiply(y, prediction)))


def _ball(function: Any, w: Any) -> list[Any]:
    if isinstance(function, functions.ExpertAdvice):
        return [w >= 0, cvxpy.sum(w) == 1]
    if isinstance(function, functions.MatrixPrediction):
        radius = 1.0 if function.version == "mixture" else function.radius
        return [cvxpy.normNuc(cvxpy.reshape(w, function.shape, order="C")) <= radius]
    if isinstance(function, functions.ZigZag):
        return [cvxpy.pnorm(w, conjugate(function.p)) <= function.radius]
    if isinstance(function, functions.Linear):
        radius = function.default_radius() or 1.0
        if function.separable:
            return [cvxpy.abs(w) <= radius]
        if hasattr(function.geometry, "p") and not hasattr(function.geometry, "shape"):
            return [cvxpy.pnorm(w, conjugate(function.geometry.p)) <= radius]
    return [cvxpy.norm2(w) <= 1.0]


def best(function: Any, loss: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A comparator of the function's own ball (radius 1 where it has none) with the least total loss."""
    w = cvxpy.Variable(X.shape[1])
    problem = cvxpy.Problem(cvxpy.Minimize(_total(loss, X @ w, y)), _ball(function, w))
    problem.solve(solver=cvxpy.CLARABEL)
    assert problem.status in ("optimal", "optimal_inaccurate")
    found = np.array(w.value)
    if isinstance(function, functions.ExpertAdvice):
        found = np.maximum(found, 0.0)
        return found / found.sum()
    # the solver may leave the ball by its tolerance; bounds are infinite outside
    return found * (1 - 1e-6)
