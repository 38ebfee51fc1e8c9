"""Online learning with guarantees you can check."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name -> module that holds it. Nothing heavy is imported before it is used.
_PUBLIC: dict[str, str] = {
    "AdaptiveParameterFree": "functions",
    "Assumption": "certificates",
    "Audit": "audit",
    "BadInput": "errors",
    "BadLine": "errors",
    "BurkholderError": "errors",
    "BurkholderFunction": "functions",
    "CATALOGUE": "functions",
    "Certificate": "certificates",
    "ExpertAdvice": "functions",
    "GradientMixture": "functions",
    "Guarantee": "certificates",
    "Learner": "learner",
    "Linear": "functions",
    "MatrixPrediction": "functions",
    "MissingExtra": "errors",
    "ParameterFree": "functions",
    "Parity": "feature_maps",
    "PlainFunction": "functions",
    "PrintedParameterFree": "functions",
    "Smoothness": "functions",
    "SquareFunction": "functions",
    "StronglyConvex": "functions",
    "ZigZag": "functions",
    "combine": "functions",
    "minimum": "functions",
    "softmax": "functions",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(f"burkholder.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'burkholder' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
