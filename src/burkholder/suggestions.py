"""What was probably meant by a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from burkholder.errors import BadInput


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """ "did you mean 'radius'? ", with the nearest known name, or nothing where none is near.

    >>> did_you_mean("raduis", ["radius", "rate"]), did_you_mean("X", ["x"]), did_you_mean("x", ["radius"])
    ("did you mean 'radius'? ", "did you mean 'x'? ", '')
    """
    words = [str(other) for other in known]
    near = [word for word in words if word.lower() == str(name).lower()][:1] or difflib.get_close_matches(str(name), words, 1)
    return f"did you mean '{near[0]}'? " if near else ""


def choose(argument: str, value: Any, known: Iterable[str], heading: str) -> str:
    """The value if it is one of those known; else an error that lists them and names the nearest.

    >>> choose("fruit", "appel", ["apple", "pear"], "Fruits")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: fruit = 'appel' cannot be used: did you mean 'apple'? Fruits: apple, pear
    """
    names = sorted(known)
    if isinstance(value, str) and value in names:
        return value
    raise BadInput(argument, value, f"{did_you_mean(value, names)}{heading}: {', '.join(names)}")
