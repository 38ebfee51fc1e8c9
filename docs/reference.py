"""The reference: a page for every public name, from its docstring; and a list of the pages nobody else lists."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import burkholder as bk

MODULES = ("sklearn", "river", "forecasting", "report", "storage")  # those of Spark are in scale.md: it need not be installed
SPECIAL = re.compile(r"([\\*_<>\[\]|$#~^])")
LISTED = re.compile(r"^(?:[^<\n]+<)?([\w-]+)>?$", re.MULTILINE)


def public() -> dict[str, Any]:
    """Every public name behind `burkholder.`, and what it is."""
    found = {name: getattr(bk, name) for name in sorted(bk.__all__) if not name.startswith("_")}
    for place in MODULES:
        module = importlib.import_module(f"burkholder.{place}")
        own = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        things = {name: getattr(module, name) for name in sorted(own)}
        found |= {f"{place}.{name}": thing for name, thing in things.items() if callable(thing) and found.get(name) is not thing}
    return found


def write(docs: Path) -> None:
    """Make docs/api, a page a name, and docs/more.md."""
    folder = docs / "api"
    folder.mkdir(exist_ok=True)
    names = public()
    for name, thing in names.items():
        _put(folder / f"{name}.md", page(name, thing))
    for old in folder.glob("*.md"):
        if old.stem not in {*names, "index"}:
            old.unlink()
    lines = "\n".join(f"| [`{name}`]({name}.md) | {_escaped(_first(thing))} |" for name, thing in names.items())
    tree = "\n".join(names)
    head = "# Every public name\n\nAll of them are `burkholder.NAME`. Learners share [OnlineLearner](OnlineLearner.md)'s methods."
    head += " What `burkholder.spark` has is in [many streams, many machines](../scale.md)."
    _put(folder / "index.md", f"{head}\n\n| | |\n|---|---|\n{lines}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n")
    known = set(LISTED.findall((docs / "index.md").read_text(encoding="utf-8"))) | {"index", "more"}
    others = sorted(path.stem for path in docs.glob("*.md") if path.stem not in known)
    _put(docs / "more.md", "# More pages\n\n```{toctree}\n" + "\n".join(others or ["start"]) + "\n```\n")


def _put(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # pages that did not change are not built again
        path.write_text(text, encoding="utf-8")


def page(name: str, thing: Any) -> str:
    """The page of one name."""
    parts = [f"# {name}", _signature(name, thing), _prose(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing):
        for key, member in _members(thing):
            parts += [f"## {key}", _signature(key, member), _prose(inspect.getdoc(member) or "")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _members(thing: type) -> list[tuple[str, Any]]:
    found = []
    for key, member in inspect.getmembers(thing):
        ours = getattr(member, "__module__", None) or getattr(getattr(member, "fget", None), "__module__", "")
        if not key.startswith("_") and (callable(member) or isinstance(member, property)) and str(ours).startswith("burkholder"):
            found.append((key, member))
    return found


def _signature(name: str, thing: Any) -> str:
    if not callable(thing):
        return ""
    try:
        text = str(inspect.signature(thing)).replace("'", "")
    except (TypeError, ValueError):
        return ""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return f"```python\n{name}{text}\n```"


def _first(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").strip().split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".:")


def _prose(text: str) -> str:
    """A docstring as Markdown: paragraphs, examples and indented passages."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.lstrip().startswith(">>>"):
            out.append(f"```pycon\n{inspect.cleandoc(block)}\n```")
        elif block.startswith(" ") or "\n " in block or "----" in block:
            out.append(f"```text\n{block}\n```")
        else:
            out.append(_escaped(block))
    return "\n\n".join(out)


def _escaped(text: str) -> str:
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else SPECIAL.sub(r"\\\1", piece) for piece in pieces)
