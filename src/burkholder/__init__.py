"""Online learning with guarantees you can check."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name -> module that holds it. Nothing heavy is imported before it is used.
_PUBLIC: dict[str, str] = {
    "AdaptiveParameterFree": "functions",
    "Assumption": "learning.certificate",
    "Audit": "learning.audit",
    "Auto": "auto",
    "AutoMulticlass": "auto",
    "BadFile": "storage",
    "BadInput": "errors",
    "BadLine": "errors",
    "Batch": "streams.readers",
    "BurkholderError": "errors",
    "BurkholderFunction": "functions",
    "CATALOGUE": "functions",
    "Certificate": "learning.certificate",
    "ExpertAdvice": "functions",
    "Experts": "experts.learner",
    "Found": "discovery.result",
    "GradientMixture": "functions",
    "Guarantee": "learning.certificate",
    "Learner": "learning.learner",
    "Linear": "functions",
    "MatrixCompletion": "matrix.completion",
    "MatrixLearner": "matrix.learner",
    "MatrixPrediction": "functions",
    "MissingExtra": "errors",
    "ModelExperts": "experts.models",
    "NotFound": "discovery.program",
    "ParameterFree": "functions",
    "Parity": "learning.feature_maps",
    "PlainFunction": "functions",
    "PrintedParameterFree": "functions",
    "Problem": "discovery.problems",
    "ProofCertificate": "discovery.result",
    "Report": "lab.verdicts",
    "Smoothness": "functions",
    "SquareFunction": "functions",
    "StronglyConvex": "functions",
    "Verdict": "lab.verdicts",
    "Witness": "lab.verdicts",
    "ZigZag": "functions",
    "batches": "streams.readers",
    "best_convex": "experts.hindsight",
    "combine": "functions",
    "discover": "discovery.search",
    "feature_index": "streams.readers",
    "inequality": "lab.inequalities",
    "load": "storage",
    "matrix_square": "lab.matrix_square",
    "merge": "learning.merging",
    "minimum": "functions",
    "open_reader": "streams.readers",
    "read": "streams.readers",
    "save": "storage",
    "sharp": "lab.sharp",
    "softmax": "functions",
    "suggest": "discovery.statistics",
    "tight": "lab.necessary",
    "verify": "lab.verify",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(f"burkholder.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'burkholder' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
