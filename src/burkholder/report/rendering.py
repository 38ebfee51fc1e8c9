"""Plain data to a page, by a template engine that escapes whatever it is given."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from burkholder import __version__
from burkholder.errors import BadInput, MissingExtra
from burkholder.report.style import SCRIPT, STYLE


def rendered(title: str, facts: list[tuple[str, str]], parts: list[dict[str, Any]], warning: str = "") -> str:
    """The whole page as text: charts, tables and bars in their order."""
    return _template().render(
        title=title, facts=facts, parts=[part for part in parts if part], warning=warning, style=STYLE, script=SCRIPT, version=__version__
    )


@cache
def _template() -> Any:
    """The page to fill in, compiled once."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtra("jinja2", "report") from None
    engine = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined)
    return engine.get_template("page.html")


def written(path: str, text: str) -> None:
    """The page as one self-contained file."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput("report", path, error.strerror or "it cannot be written") from None
