"""Check the links of the built site without a network: every file that a page names is there, and every place in it.

python docs/links.py out/docs
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page refers to, and the places it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def broken(site: Path) -> list[str]:
    """Every link that leads nowhere, with its page."""
    written = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)  # there are templates in it
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in written}
    found = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # of another site
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            aim = aim / "index.html" if aim.is_dir() else aim
            place = unquote(parts.fragment)
            if not aim.is_file() or (place and aim in pages and place not in pages[aim].places):
                found.append(f"{path.relative_to(site.resolve())}: {link}")
    return found


if __name__ == "__main__":
    lost = broken(Path(sys.argv[1]))
    print("\n".join(lost) or "every link of the site leads somewhere")
    sys.exit(bool(lost))
