"""A learner by its name, as the adapters of other libraries ask for one."""

from __future__ import annotations

from typing import Any


def named_learner(name: str, loss: str, intercept: bool, options: dict[str, Any] | None) -> Any:
    """A fresh learner: "auto", or any name of `burkholder list`.

    >>> named_learner("adagrad", "squared", True, {"bound": 2.0}).bound
    2.0
    """
    given = dict(options or {})
    if name == "auto":
        from burkholder.auto import Auto

        return Auto(loss=loss, intercept=intercept, **given)
    from burkholder.learning.learner import Learner

    return Learner(name, loss=loss, intercept=intercept, **given)
