"""What was probably meant by a name that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """ "did you mean 'radius'? ", with the nearest known name, or nothing where none is near.

    >>> did_you_mean("raduis", ["radius", "rate"]), did_you_mean("x", ["radius"])
    ("did you mean 'radius'? ", '')
    """
    near = difflib.get_close_matches(str(name), [str(other) for other in known], 1)
    return f"did you mean '{near[0]}'? " if near else ""
