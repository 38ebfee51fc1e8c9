"""A learner by its name, as the command line and the classes of other libraries ask for one."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE, SquareFunction
from burkholder.suggestions import did_you_mean

AUTO = "auto"
# what is said elsewhere than among the options; and feature maps, which see rows one at a time and never a batch
NO_OPTIONS = {"self", "function", "loss", "intercept", "features", "options"}


def learner_names() -> list[str]:
    """Every name `named_learner` takes."""
    return [AUTO, *CATALOGUE]


def keeps_constant(name: str) -> bool:
    """Whether the constant is no feature like the others to this learner: Auto does not scale it.

    Whoever reads rows in batches adds the constant to them for all other learners.
    """
    return name == AUTO


def named_learner(name: str, loss: Any, options: dict[str, Any] | None = None, intercept: bool = False) -> Any:
    """A fresh learner: "auto", or any name of `burkholder list`. Options may be the learner's or, where it is named, the loss's.

    >>> learner = named_learner("adagrad", "logistic", {"radius": 5.0})
    >>> learner.run_batch([0, 1, 2], [0, 0], [1.0, 1.0], [1, 1]).tolist()
    [0.0, 5.0]
    >>> named_learner("auto", "pinball", {"quantle": 0.9})
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: option = 'quantle=0.9' cannot be used: did you mean 'quantile'? Options: effort, \
full_features, high, low, max_pending, quantile
    More: docs/command-line.md
    """
    given = dict(options or {})
    if name == AUTO:
        from burkholder.auto.learner import Auto  # whoever asks for one learner does not wait for the other

        _check(given, inspect.signature(Auto).parameters, loss)
        return Auto(loss=loss, intercept=intercept, **given)
    if name not in CATALOGUE:
        raise BadInput("learner", name, f"{did_you_mean(name, learner_names())}`burkholder list` names the learners")
    from burkholder.learning.learner import Learner

    _check(given, {*inspect.signature(Learner).parameters, *function_options(name)}, loss)
    return Learner(name, loss=loss, intercept=intercept, **given)


def function_options(name: str) -> set[str]:
    """What the function of that name can be told.

    >>> sorted(function_options("parameter-free"))
    ['feature_bound', 'geometry', 'lipschitz']
    """
    taken = inspect.signature(CATALOGUE[name].build).parameters
    if any(part.kind is part.VAR_KEYWORD for part in taken.values()):  # several square functions, each with its own radius
        return set(inspect.signature(SquareFunction).parameters) - {"radius"}
    return set(taken)


def _check(given: dict[str, Any], known: Iterable[str], loss: Any) -> None:
    """Refuse an option nobody knows, and write a shape such as "4x5" as a pair."""
    of_the_loss = inspect.signature(type(losses.get(loss))).parameters if isinstance(loss, str) else ()
    names = sorted({*known, *of_the_loss} - NO_OPTIONS)
    for key, option in given.items():
        if key not in names:
            raise BadInput("option", f"{key}={option}", f"{did_you_mean(key, names)}Options: {', '.join(names)}")
    if not isinstance(given.get("strategy_options", {}), dict):
        raise BadInput("strategy_options", given["strategy_options"], "give a dict")
    if isinstance(given.get("shape"), str):
        try:
            given["shape"] = tuple(int(part) for part in given["shape"].lower().split("x"))
        except ValueError:
            raise BadInput("shape", given["shape"], "write it rows x columns, such as 4x5") from None
