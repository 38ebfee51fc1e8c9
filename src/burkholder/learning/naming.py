"""How a value that is no number becomes a feature: the same rule for dicts, tables and every learner."""

from __future__ import annotations

from typing import Any


def indicator(name: Any, text: str) -> str:
    """The feature, worth 1, that says: this name had this text.

    >>> indicator("city", "Rome")
    'city=Rome'
    """
    return f"{name}={text}"


def missing(name: Any) -> str:
    """The feature, worth 1, that says: this name had no value.

    >>> missing("age")
    'age?'
    """
    return f"{name}?"
