"""The site: pages in Markdown, the reference from docstrings, a gallery of examples that are executed."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

project = "burkholder"
author = "the burkholder developers"
extensions = ["myst_parser", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/*", "_build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]
html_theme = "pydata_sphinx_theme"
html_title = "burkholder"
html_theme_options = {
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's machine is
html_sidebars = {path.stem: [] for path in HERE.glob("*.md")}  # there is nothing below them to navigate
html_static_path: list[str] = []
sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["examples"],
    "filename_pattern": r"/.*\.py",
    "download_all_examples": False,
    "show_memory": False,
    "image_scrapers": ("pictures.shown",),
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
}

reference.write(HERE)  # docs/api/*.md and docs/more.md, from the package as it is
