"""Burkholder functions: the catalogue, the algebra, and the base for one's own."""

from burkholder.functions import seal
from burkholder.functions.algebra import combine, minimum, softmax
from burkholder.functions.base import CLOSED, CONVEX, SIGN_FLIP, TANGENT, BurkholderFunction, Tau
from burkholder.functions.experts import ExpertAdvice
from burkholder.functions.linear import Linear
from burkholder.functions.matrix import MatrixPrediction
from burkholder.functions.parameter_free import AdaptiveParameterFree, GradientMixture, ParameterFree, PrintedParameterFree
from burkholder.functions.plain import PlainFunction
from burkholder.functions.registry import CATALOGUE, REFUTED, Entry, get
from burkholder.functions.rivals import Rivals
from burkholder.functions.smoothness import Smoothness
from burkholder.functions.square_function import SquareFunction
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.functions.zigzag import ZigZag

seal.take()  # proofs are about these functions as they are written here

__all__ = [
    "CATALOGUE",
    "CLOSED",
    "CONVEX",
    "REFUTED",
    "SIGN_FLIP",
    "TANGENT",
    "AdaptiveParameterFree",
    "BurkholderFunction",
    "Entry",
    "ExpertAdvice",
    "GradientMixture",
    "Linear",
    "MatrixPrediction",
    "ParameterFree",
    "PlainFunction",
    "PrintedParameterFree",
    "Rivals",
    "Smoothness",
    "SquareFunction",
    "StronglyConvex",
    "Tau",
    "ZigZag",
    "combine",
    "get",
    "minimum",
    "softmax",
]
