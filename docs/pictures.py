"""The picture of an example: whatever it calls `figure`, whichever way it was made."""

from __future__ import annotations

from typing import Any


def shown(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save it once, and say where it is."""
    from matplotlib import pyplot
    from sphinx_gallery.scrapers import figure_rst

    figure = variables["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = next(variables["image_path_iterator"])
    figure.savefig(path, dpi=100)
    pyplot.close("all")
    return figure_rst([path], settings["src_dir"])
