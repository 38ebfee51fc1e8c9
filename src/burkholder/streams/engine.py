"""Learners by name, for streams that come in batches."""

from __future__ import annotations

from typing import Any

from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE
from burkholder.suggestions import did_you_mean

AUTO = "auto"


def learner_names() -> list[str]:
    """Every name `open_learner` takes."""
    return [AUTO, *CATALOGUE]


def open_learner(name: str, loss: Any, options: dict[str, Any] | None = None, dtype: Any = "float64") -> Any:
    """A learner that takes batches of rows: `run_batch`, `certificate`, `cumulative_loss`, `rounds`, `errors`.

    Rows bring their own constant feature, so none is added here.

    >>> learner = open_learner("adagrad", "logistic", {"radius": 5.0})
    >>> learner.run_batch([0, 1, 2], [0, 0], [1.0, 1.0], [1, 1]).tolist()
    [0.0, 5.0]
    """
    given = dict(options or {})
    if name == AUTO:
        from burkholder.auto import Auto

        return Auto(loss=loss, intercept=False, **given)
    if name not in CATALOGUE:
        raise BadInput("learner", name, f"{did_you_mean(name, learner_names())}`burkholder list` names the learners")
    from burkholder.learning.learner import Learner

    if "shape" in given and isinstance(given["shape"], str):
        given["shape"] = tuple(int(part) for part in given["shape"].lower().split("x"))
    return Learner(name, loss=loss, dtype=dtype, **given)
