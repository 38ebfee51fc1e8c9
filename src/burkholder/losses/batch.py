"""Loss formulas over whole arrays, and labels of whole streams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from burkholder.errors import BadInput
from burkholder.losses import dispatch, has_minimiser, is_classification, name
from burkholder.machine.compiling import compiled


@compiled
def _values(loss, yhat, y, out):
    for i in range(out.size):
        out[i] = dispatch.value(loss, yhat[i], y[i])


def values(loss: Any, yhat: ArrayLike, y: ArrayLike) -> np.ndarray:
    """ℓ(ŷ_t, y_t) for every t."""
    yhat, y = np.ascontiguousarray(yhat, float), np.ascontiguousarray(y, float)
    if not loss.compiled:
        return np.array([dispatch.value(loss, p, t) for p, t in zip(yhat.tolist(), y.tolist())])
    out = np.empty(y.size)
    _values(loss, yhat, y, out)
    return out


def labels(loss: Any, y: ArrayLike, bound: float = math.inf) -> np.ndarray:
    """`losses.label` for a whole stream; an error names the first bad place."""
    try:
        out = np.array(y, dtype=float).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("y", y, "give numbers") from None
    if is_classification(loss):
        good = (out == 0.0) | (np.abs(out) == 1.0)
        remedy = f"the {name(loss)} loss takes labels -1 and 1, or 0 and 1"
        if good.all() and np.any(out == 0.0) and np.any(out == -1.0):
            raise BadInput("y", [-1, 0, 1], "give two classes: -1 and 1, or 0 and 1, not both codes at once")
        out[out == 0.0] = -1.0
    else:
        good = np.isfinite(out)
        remedy = "give finite numbers; drop or fill missing targets first"
        if good.all() and has_minimiser(loss):
            good = np.abs(out) <= bound
            remedy = f"targets must lie in [-{bound:g}, {bound:g}], the range given as bound"
    if not good.all():
        place = int(np.argmin(good))
        raise BadInput(f"y[{place}]", float(out[place]), remedy)
    return out
