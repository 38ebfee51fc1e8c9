"""The live page: one file of its own, which loads nothing from anywhere but this service."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def page() -> str:
    """The page as it is sent."""
    return (files("burkholder.serve") / "page.html").read_text(encoding="utf-8")
