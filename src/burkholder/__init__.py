"""Online learning with guarantees you can check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burkholder.version import __version__

# Public name -> module that holds it; a package holds itself. Nothing heavy is imported before it is used.
_PUBLIC: dict[str, str] = {
    "AdaptiveParameterFree": "functions",
    "Assumption": "learning.certificate",
    "AsyncClient": "client.clients",
    "Audit": "learning.audit",
    "Auto": "auto",
    "AutoMulticlass": "auto",
    "BadFile": "storage",
    "BadInput": "errors",
    "BadLine": "errors",
    "Batch": "streams.readers",
    "Betting": "confidence.betting",
    "BooleanTrees": "experts.boolean_trees",
    "BurkholderError": "errors",
    "BurkholderFunction": "functions",
    "CATALOGUE": "functions",
    "Certificate": "learning.certificate",
    "Client": "client.clients",
    "Comparators": "learning.certificate",
    "Comparison": "confidence.compare",
    "Confidence": "confidence.sequence",
    "DescribedCompletion": "merged.described",
    "ExpertAdvice": "functions",
    "Experts": "experts.learner",
    "Found": "discovery.result",
    "GradientMixture": "functions",
    "Guarantee": "learning.certificate",
    "Inequality": "lab.inequality",
    "Intervals": "intervals.learner",
    "Keyed": "keyed.learner",
    "Learner": "learning.learner",
    "Linear": "functions",
    "MatrixCompletion": "matrix.completion",
    "MatrixLearner": "matrix.learner",
    "MatrixPrediction": "functions",
    "Merged": "merged.learner",
    "MissingExtra": "errors",
    "ModelExperts": "experts.models",
    "NotFound": "discovery.program",
    "OnlineLearner": "learning.protocol",
    "ParameterFree": "functions",
    "Parity": "learning.feature_maps",
    "PlainFunction": "functions",
    "PredictionSets": "intervals.sets",
    "PrintedParameterFree": "functions",
    "Probabilities": "opinions.learner",
    "Problem": "discovery.problems",
    "ProofCertificate": "discovery.result",
    "Quantiles": "intervals.quantiles",
    "Report": "lab.verdicts",
    "Rivals": "functions",
    "Run": "learning.runs",
    "ServiceRefused": "client.calls",
    "Smoothness": "functions",
    "SquareFunction": "functions",
    "StronglyConvex": "functions",
    "Ticket": "learning.tickets",
    "VectorConfidence": "confidence.vectors",
    "Verdict": "lab.verdicts",
    "Witness": "lab.verdicts",
    "ZigZag": "functions",
    "batches": "streams.readers",
    "best_convex": "experts.hindsight",
    "clicks": "matrix.implicit",
    "combine": "functions",
    "compare": "confidence.compare",
    "discover": "discovery.search",
    "equivalence": "lab.optimal",
    "feature_index": "streams.readers",
    "forced": "lab.optimal",
    "inequality": "lab.inequalities",
    "load": "storage",
    "matrix_equivalence": "lab.matrix_square",
    "matrix_square": "lab.matrix_square",
    "merge": "learning.merging",
    "minimax": "lab.optimal",
    "minimum": "functions",
    "open_reader": "streams.readers",
    "optimal": "lab.optimal",
    "read": "streams.readers",
    "save": "storage",
    "sharp": "lab.sharp",
    "smoothest": "lab.smoothest",
    "softmax": "functions",
    "suggest": "discovery.statistics",
    "tight": "lab.necessary",
    "verify": "lab.verify",
    "geometries": "geometries",
    "losses": "losses",
}

if TYPE_CHECKING:  # the same table, as type checkers read it
    from burkholder import geometries as geometries
    from burkholder import losses as losses
    from burkholder.auto import Auto as Auto
    from burkholder.auto import AutoMulticlass as AutoMulticlass
    from burkholder.client.calls import ServiceRefused as ServiceRefused
    from burkholder.client.clients import AsyncClient as AsyncClient
    from burkholder.client.clients import Client as Client
    from burkholder.confidence.betting import Betting as Betting
    from burkholder.confidence.compare import Comparison as Comparison
    from burkholder.confidence.compare import compare as compare
    from burkholder.confidence.sequence import Confidence as Confidence
    from burkholder.confidence.vectors import VectorConfidence as VectorConfidence
    from burkholder.discovery.problems import Problem as Problem
    from burkholder.discovery.program import NotFound as NotFound
    from burkholder.discovery.result import Found as Found
    from burkholder.discovery.result import ProofCertificate as ProofCertificate
    from burkholder.discovery.search import discover as discover
    from burkholder.discovery.statistics import suggest as suggest
    from burkholder.errors import BadInput as BadInput
    from burkholder.errors import BadLine as BadLine
    from burkholder.errors import BurkholderError as BurkholderError
    from burkholder.errors import MissingExtra as MissingExtra
    from burkholder.experts.boolean_trees import BooleanTrees as BooleanTrees
    from burkholder.experts.hindsight import best_convex as best_convex
    from burkholder.experts.learner import Experts as Experts
    from burkholder.experts.models import ModelExperts as ModelExperts
    from burkholder.functions import CATALOGUE as CATALOGUE
    from burkholder.functions import AdaptiveParameterFree as AdaptiveParameterFree
    from burkholder.functions import BurkholderFunction as BurkholderFunction
    from burkholder.functions import ExpertAdvice as ExpertAdvice
    from burkholder.functions import GradientMixture as GradientMixture
    from burkholder.functions import Linear as Linear
    from burkholder.functions import MatrixPrediction as MatrixPrediction
    from burkholder.functions import ParameterFree as ParameterFree
    from burkholder.functions import PlainFunction as PlainFunction
    from burkholder.functions import PrintedParameterFree as PrintedParameterFree
    from burkholder.functions import Rivals as Rivals
    from burkholder.functions import Smoothness as Smoothness
    from burkholder.functions import SquareFunction as SquareFunction
    from burkholder.functions import StronglyConvex as StronglyConvex
    from burkholder.functions import ZigZag as ZigZag
    from burkholder.functions import combine as combine
    from burkholder.functions import minimum as minimum
    from burkholder.functions import softmax as softmax
    from burkholder.intervals.learner import Intervals as Intervals
    from burkholder.intervals.quantiles import Quantiles as Quantiles
    from burkholder.intervals.sets import PredictionSets as PredictionSets
    from burkholder.keyed.learner import Keyed as Keyed
    from burkholder.lab.inequalities import inequality as inequality
    from burkholder.lab.inequality import Inequality as Inequality
    from burkholder.lab.matrix_square import matrix_equivalence as matrix_equivalence
    from burkholder.lab.matrix_square import matrix_square as matrix_square
    from burkholder.lab.necessary import tight as tight
    from burkholder.lab.optimal import equivalence as equivalence
    from burkholder.lab.optimal import forced as forced
    from burkholder.lab.optimal import minimax as minimax
    from burkholder.lab.optimal import optimal as optimal
    from burkholder.lab.sharp import sharp as sharp
    from burkholder.lab.smoothest import smoothest as smoothest
    from burkholder.lab.verdicts import Report as Report
    from burkholder.lab.verdicts import Verdict as Verdict
    from burkholder.lab.verdicts import Witness as Witness
    from burkholder.lab.verify import verify as verify
    from burkholder.learning.audit import Audit as Audit
    from burkholder.learning.certificate import Assumption as Assumption
    from burkholder.learning.certificate import Certificate as Certificate
    from burkholder.learning.certificate import Comparators as Comparators
    from burkholder.learning.certificate import Guarantee as Guarantee
    from burkholder.learning.feature_maps import Parity as Parity
    from burkholder.learning.learner import Learner as Learner
    from burkholder.learning.merging import merge as merge
    from burkholder.learning.protocol import OnlineLearner as OnlineLearner
    from burkholder.learning.runs import Run as Run
    from burkholder.learning.tickets import Ticket as Ticket
    from burkholder.matrix.completion import MatrixCompletion as MatrixCompletion
    from burkholder.matrix.implicit import clicks as clicks
    from burkholder.matrix.learner import MatrixLearner as MatrixLearner
    from burkholder.merged.described import DescribedCompletion as DescribedCompletion
    from burkholder.merged.learner import Merged as Merged
    from burkholder.opinions.learner import Probabilities as Probabilities
    from burkholder.storage import BadFile as BadFile
    from burkholder.storage import load as load
    from burkholder.storage import save as save
    from burkholder.streams.readers import Batch as Batch
    from burkholder.streams.readers import batches as batches
    from burkholder.streams.readers import feature_index as feature_index
    from burkholder.streams.readers import open_reader as open_reader
    from burkholder.streams.readers import read as read
else:
    __all__ = ["__version__", *_PUBLIC]

    def __getattr__(name: str) -> object:
        if name not in _PUBLIC:
            raise AttributeError(f"module 'burkholder' has no attribute {name!r}")
        import importlib

        module = importlib.import_module(f"burkholder.{_PUBLIC[name]}")
        value = module if name == _PUBLIC[name] else getattr(module, name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)
