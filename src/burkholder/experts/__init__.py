"""Expert advice: Huber-root by default, the well-known aggregators beside it."""

from __future__ import annotations

import importlib
from typing import Any

# Loaded when first asked for: other parts of the package use one kernel of this folder and nothing else.
_PUBLIC = {
    "METHODS": "methods",
    "Experts": "learner",
    "ExpertsCertificate": "certificate",
    "Mixture": "hindsight",
    "ModelExperts": "models",
    "Option": "dispatch",
    "QuantileExperts": "quantiles",
    "Rule": "dispatch",
    "best_convex": "hindsight",
    "best_mixture": "run",
    "filled": "run",
    "plot_weights": "run",
    "register": "methods",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"burkholder.experts.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'burkholder.experts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
