"""What the processor can do, and whether we make use of it."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

# With BURKHOLDER_PLAIN=1 everything runs on plain numba: no instruction is written by hand, no object of Python's is
# read where it lies. Slower, and for every processor and every release.
PLAIN = os.environ.get("BURKHOLDER_PLAIN", "") not in ("", "0")


@cache
def target() -> tuple[str, frozenset[str]]:
    """The name and the features of the processor that code is compiled for."""
    import llvmlite.binding as llvm
    from numba import config

    settings: Any = config
    if settings.CPU_FEATURES is not None:
        names = settings.CPU_FEATURES.split(",")
        return settings.CPU_NAME or "", frozenset(name[1:] for name in names if name.startswith("+"))
    if settings.CPU_NAME not in (None, "", "host"):
        return settings.CPU_NAME, frozenset()  # only named: portable code
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know this machine
        features = {}
    return llvm.get_host_cpu_name(), frozenset(name for name, there in features.items() if there)


def has(*features: str) -> bool:
    """Whether the processor has all of these, such as avx512bw."""
    return not PLAIN and target()[1].issuperset(features)
