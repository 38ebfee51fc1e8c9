"""Machine code on disk: found again by every process that has the same sources, versions and processor.

numba's own cache watches only the file of the compiled loop, while our loops call potentials and losses that live in other
files; so the folder is named after the content of all of them. A file holds one loop for one list of argument types, behind
a checksum: whatever is damaged, unreadable or unwritable is compiled anew, silently. What depends on code outside this
package (a loss of the user's own) is not kept at all, for nothing here would notice that it changed.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from burkholder.machine.announcing import compiling
from burkholder.machine.processor import PLAIN, target

PACKAGE = __name__.split(".")[0]
# nothing in these is ever compiled, which an import contract sees to
EDGES = frozenset({"cli", "client", "discovery", "forecasting", "lab", "river", "serve", "sklearn", "spark"})


def fingerprint(root: Path) -> str:
    """Of the content of every source file below a folder that may hold a loop or be called by one, whenever and wherever it was written."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in EDGES:
            continue
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}:{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def cache_folder() -> Path | None:
    """The folder for these sources, this Python, numba and processor; None where there is no place for one."""
    try:
        home = os.environ.get("BURKHOLDER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        name, features = target()
        versions = [metadata.version(package) for package in ("numba", "llvmlite", "numpy")]
        python = [sys.implementation.cache_tag, sys.version, platform.system(), platform.machine()]
        key = repr([fingerprint(Path(__file__).parent.parent), versions, python, name, sorted(features), PLAIN])
        return Path(home) / PACKAGE / hashlib.sha256(key.encode()).hexdigest()[:16]
    except (OSError, RuntimeError, metadata.PackageNotFoundError):
        return None


def _ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _parts(kind: Any) -> Iterator[Any]:
    """A numba type and all types inside it."""
    yield kind
    inner = getattr(kind, "types", None) or [getattr(kind, name) for name in ("dtype", "content", "type") if hasattr(kind, name)]
    for part in inner if isinstance(inner, (list, tuple)) else ():
        if part is not kind:
            yield from _parts(part)


def _records(kinds: Any) -> list[type]:
    """The classes of the records among argument types."""
    parts = [part for kind in kinds for part in _parts(kind)]
    return [getattr(part, name) for part in parts for name in ("instance_class", "record") if isinstance(getattr(part, name, None), type)]


def depends_on_others(kinds: Any) -> bool:
    """Whether a class from outside this package or a function is among argument types."""
    functions = any(hasattr(part, "get_call_type") for kind in kinds for part in _parts(kind))
    return functions or not all(_ours(record.__module__) for record in _records(kinds))


class Kept:
    """The cache of one loop, with the methods numba asks for; none of them raises."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.enable()

    def _file(self, signature: Any) -> Path | None:
        kinds = getattr(signature, "args", signature)
        folder = cache_folder()
        if not self._enabled or folder is None or depends_on_others(kinds):
            return None
        records = [f"{record.__module__}.{record.__qualname__}" for record in _records(kinds)]  # two may share a name
        key = f"{self._function.__module__}.{self._function.__qualname__}{kinds!r}{records}"
        return folder / f"{self._function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"

    @property
    def cache_path(self) -> str:
        return str(cache_folder() or "")

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The machine code for these argument types; None when there is none, and it will be compiled."""
        found = None
        try:
            if (path := self._file(signature)) is not None:
                found = _rebuilt(path.read_bytes(), target_context)
                if found is not None and tuple(found.signature.args) != tuple(getattr(signature, "args", signature)):
                    found = None
        except Exception:  # damaged in whatever way: as if it were not there
            found = None
        if found is None:
            compiling()
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled; readers see the whole file or none."""
        try:
            path = self._file(signature)
            if path is None or result.lifted or result.library.has_dynamic_globals:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_reduced(result))
                os.replace(draft, path)
            except BaseException:
                os.unlink(draft)
                raise
        except Exception:  # no room, no right to write, nothing that can be written: the loop runs all the same
            return

    def enable(self) -> None:
        # what a function closes over would have to be watched too
        self._enabled = _ours(self._function.__module__) and self._function.__closure__ is None

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing is held back."""


def _reduced(result: Any) -> bytes:
    from numba.core.serialize import dumps

    content = dumps(result._reduce())
    return hashlib.sha256(content).digest() + content


def _rebuilt(data: bytes, target_context: Any) -> Any:
    from numba.core.compiler import CompileResult
    from numba.core.runtime import rtsys

    if hashlib.sha256(data[32:]).digest() != data[:32]:
        return None
    # Machine code needs the memory manager and nothing else of what `target_context.refresh()` would load: a third of
    # a second of declarations for a compiler that is not going to run.
    rtsys.initialize(target_context)
    return CompileResult._rebuild(target_context, *pickle.loads(data[32:]))
