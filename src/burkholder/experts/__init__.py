"""Expert advice: Huber-root by default, the well-known aggregators beside it."""

from __future__ import annotations

import importlib
from typing import Any

# Loaded when first asked for: other parts of the package use one kernel of this folder and nothing else.
_PUBLIC = {
    "METHODS": "learner",
    "Experts": "learner",
    "ExpertsCertificate": "certificate",
    "ExpertsRun": "run",
    "Mixture": "hindsight",
    "ModelExperts": "models",
    "best_convex": "hindsight",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"burkholder.experts.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'burkholder.experts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
