"""A of a function after n equal rounds, without playing them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE
from burkholder.functions.base import positive
from burkholder.learning.factory import function_options, named_learner


def promised(learner: str, loss: str, rounds: int, norm: float, radius: float, features: int, options: dict[str, Any]) -> dict[str, Any]:
    """The promise for n rounds of features of that size and the steepest derivative the loss allows.

    A depends on the stream through sums only, so n equal rounds are one round with its sums n times over.
    """
    if learner == "auto":
        raise BadInput("learner", learner, "its promise depends on the stream; read it from the certificate of `learn`")
    positive("norm", norm), positive("radius", radius)
    own = {"radius": radius} if learner in CATALOGUE and "radius" in function_options(learner) else {}
    built = named_learner(learner, loss, {**own, **options}).function
    lipschitz = built.lipschitz
    x = np.full(features, norm) if getattr(built, "separable", False) else norm * np.eye(1, features)[0]
    size = next((float(np.max(seen)) / limit for seen, limit in built.sizes(x).values()), 1.0)
    if size > 1.0 + 1e-12:
        raise BadInput("norm", norm, f"this learner assumes features no larger than {norm / size:g}; raise its feature_bound with --option")
    one = built.advance(built.zero(features), x, np.asarray(0.0), np.asarray(lipschitz))
    many = tuple(part * rounds for part in one[:3]) + tuple(one[3:])
    value = float(built.ball(radius, many))
    return {
        "learner": learner,
        "loss": loss,
        "rounds": rounds,
        "norm": norm,
        "radius": radius,
        "features": features,
        "lipschitz": lipschitz,
        "bound": value,
        "per_round": value / rounds,
        "finite": math.isfinite(value),
    }
