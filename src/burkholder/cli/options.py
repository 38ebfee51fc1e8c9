"""`--option key=value`: numbers where they look like numbers."""

from __future__ import annotations

from typing import Any

from burkholder.errors import BadInput


def parsed(pairs: list[str]) -> dict[str, Any]:
    """The options as a dict.

    >>> parsed(["radius=10", "geometry=l2", "exact=true"])
    {'radius': 10, 'geometry': 'l2', 'exact': True}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise BadInput("option", pair, "write it key=value, such as radius=10")
        options[key.strip().replace("-", "_")] = _number(text.strip())
    return options


def _number(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
