"""Learners by name, for streams that come in batches."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE, SquareFunction
from burkholder.suggestions import did_you_mean

AUTO = "auto"


def learner_names() -> list[str]:
    """Every name `open_learner` takes."""
    return [AUTO, *CATALOGUE]


def keeps_constant(name: str) -> bool:
    """Whether the learner of that name adds the constant feature itself; for the others it comes with the rows.

    Auto's constant is no feature like others: it is not scaled.
    """
    return name == AUTO


def open_learner(name: str, loss: Any, options: dict[str, Any] | None = None, intercept: bool = False) -> Any:
    """A learner that takes batches of rows: `run_batch`, `certificate`, `cumulative_loss`, `rounds`, `errors`.

    `intercept` is for learners that keep the constant themselves.

    >>> learner = open_learner("adagrad", "logistic", {"radius": 5.0})
    >>> learner.run_batch([0, 1, 2], [0, 0], [1.0, 1.0], [1, 1]).tolist()
    [0.0, 5.0]
    """
    given = dict(options or {})
    if name == AUTO:
        from burkholder.auto import Auto

        _check(given, inspect.signature(Auto).parameters, loss)
        return Auto(loss=loss, intercept=intercept, **given)
    if name not in CATALOGUE:
        raise BadInput("learner", name, f"{did_you_mean(name, learner_names())}`burkholder list` names the learners")
    from burkholder.learning.learner import Learner

    if "shape" in given and isinstance(given["shape"], str):
        given["shape"] = tuple(int(part) for part in given["shape"].lower().split("x"))
    own = set(inspect.signature(Learner).parameters) - {"function", "loss", "features", "intercept", "options"}
    _check(given, {*own, *_options_of(name)}, loss)
    return Learner(name, loss=loss, **given)


def _options_of(name: str) -> set[str]:
    """What the function of that name can be told."""
    taken = inspect.signature(CATALOGUE[name].build).parameters
    if any(part.kind is part.VAR_KEYWORD for part in taken.values()):  # handed on to square functions
        return {*taken, *inspect.signature(SquareFunction).parameters} - {"options"}
    return set(taken)


def _check(given: dict[str, Any], known: Iterable[str], loss: Any) -> None:
    """Refuse an option nobody knows."""
    names = sorted({*known, *inspect.signature(type(losses.get(loss))).parameters} - {"self", "loss", "intercept", "options"})
    for key, option in given.items():
        if key not in names:
            raise BadInput("option", f"{key}={option}", f"{did_you_mean(key, names)}Options: {', '.join(names)}")
