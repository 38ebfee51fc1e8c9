"""How loops are compiled: numba with a disk cache that notices any edit of this package.

numba's cache watches only the file of the compiled loop. Our loops call potentials and losses that live
in other files, so the cache folder carries a fingerprint of every source file: edit one and a new folder
is used.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@cache
def cache_folder() -> str:
    """The folder for this very version of the sources (name, size and time of each file)."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        stat = path.stat()
        digest.update(f"{path.relative_to(root)}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
    base = os.environ.get("BURKHOLDER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return str(Path(base or Path.home() / ".cache") / "burkholder" / digest.hexdigest()[:16])


def compiled(function: F, **options: Any) -> F:
    """Compile a loop, cached on disk under `cache_folder` and nowhere else.

    numba reads its cache folder from a global setting at decoration time; it is put back at once so that
    other packages' caches stay where they were.
    """
    import numba

    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = cache_folder()
    try:
        return numba.njit(cache=True, error_model="numpy", **options)(function)
    finally:
        settings.CACHE_DIR = before


def lean(function: F) -> F:
    """Compile a loop that creates no arrays: without reference counts, which cost 100 ns and more a row.

    Slices of its arguments are fine; `np.zeros` and the like are refused at compile time.
    """
    return compiled(function, _nrt=False, forceinline=True)
