"""The catalogue: every function under a name, with the dimensions and claims its checks run on.

Being listed here is what gets a function its property checks, its stream tests and its line in `burkholder list`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from burkholder.errors import BadInput
from burkholder.functions.algebra import combine, minimum, softmax
from burkholder.functions.base import BurkholderFunction
from burkholder.functions.experts import ExpertAdvice
from burkholder.functions.matrix import MatrixPrediction
from burkholder.functions.parameter_free import AdaptiveParameterFree, GradientMixture, ParameterFree, PrintedParameterFree
from burkholder.functions.smoothness import Smoothness
from burkholder.functions.square_function import SquareFunction
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.functions.zigzag import ZigZag
from burkholder.geometries import Group, Mahalanobis, PNorm, Schatten, Supremum
from burkholder.suggestions import did_you_mean


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue."""

    about: str
    build: Callable[..., BurkholderFunction]
    options: dict[str, Any] = field(default_factory=dict)
    dims: tuple[int, ...] = (1, 3)
    curved: bool = False  # needs a strongly convex loss

    def make(self, **options: Any) -> BurkholderFunction:
        return self.build(**{**self.options, **options})


def _mahalanobis() -> Mahalanobis:
    return Mahalanobis([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 4.0]])  # type: ignore[arg-type]


CATALOGUE: dict[str, Entry] = {
    "square-function": Entry("sharp constant 1.3069 over a Euclidean ball", SquareFunction),
    "square-function-coordinates": Entry("sharp constant 1.3069 over |w_i| ≤ R", SquareFunction, {"geometry": "coordinates"}),
    "square-function-paper": Entry("the paper's U_sq, constant 2, l_2", SquareFunction, {"version": "paper"}),
    "square-function-paper-coordinates": Entry(
        "the paper's U_sq, constant 2, |w_i| ≤ R", SquareFunction, {"version": "paper", "geometry": "coordinates"}
    ),
    "adagrad-norm": Entry("tangent U_sq: full-norm AdaGrad, no L needed", SquareFunction, {"version": "tangent"}),
    "adagrad": Entry(
        "tangent U_sq per coordinate: AdaGrad, no L needed", SquareFunction, {"version": "tangent", "geometry": "coordinates"}
    ),
    "square-function-l4": Entry("sharp constant through the l_4 norm", SquareFunction, {"geometry": "l4"}),
    "parameter-free": Entry("anytime repair of the paper's parameter-free theorem", ParameterFree),
    "parameter-free-l3": Entry("the same through the l_3 norm", ParameterFree, {"geometry": "l3"}),
    "parameter-free-linf": Entry("the same for l_∞ features, l_1 comparators", ParameterFree, {"geometry": Supremum(3)}, (3,)),
    "adaptive": Entry("parameter-free, adapts to the features' sizes", AdaptiveParameterFree),
    "adaptive-coordinates": Entry("adaptive parameter-free, per coordinate", AdaptiveParameterFree, {"geometry": "coordinates"}),
    "adaptive-mahalanobis": Entry(
        "adaptive parameter-free in a Mahalanobis norm", AdaptiveParameterFree, {"geometry": _mahalanobis()}, (3,)
    ),
    "adaptive-group": Entry(
        "adaptive parameter-free in a group norm", AdaptiveParameterFree, {"geometry": Group(((0, 1), (2,)), p=3.0, q=2.0)}, (3,)
    ),
    "adaptive-schatten": Entry(
        "adaptive parameter-free in a Schatten norm", AdaptiveParameterFree, {"geometry": Schatten((2, 2), p=4.0)}, (4,)
    ),
    "mixture": Entry("gradient-adaptive mixture of rates, per coordinate, scale-free", GradientMixture),
    "mixture-norm": Entry("gradient-adaptive mixture of rates, l_2", GradientMixture, {"geometry": "l2"}),
    "smoothness": Entry("gradient descent as a Burkholder function", Smoothness),
    "smoothness-tangent": Entry("gradient descent, its cost in δ²‖x‖²", Smoothness, {"tangent": True}),
    "smoothness-l4": Entry("smoothness of the l_4 norm", Smoothness, {"geometry": PNorm(4.0)}),
    "experts": Entry("exponential weights over the simplex", ExpertAdvice, {"rate": 0.3}, (2, 5)),
    "experts-second-order": Entry(
        "exponential weights, second order per expert", ExpertAdvice, {"rate": 0.3, "second_order": True}, (2, 5)
    ),
    "strongly-convex": Entry("logarithmic regret for curved losses", StronglyConvex, curved=True),
    "matrix": Entry("matrix prediction, rate lowered without restart", MatrixPrediction, {"shape": (2, 3)}, (6,)),
    "matrix-doubling": Entry("matrix prediction, the paper's doubling", MatrixPrediction, {"shape": (2, 3), "rule": "doubling"}, (6,)),
    "matrix-fixed": Entry("matrix prediction at a fixed rate", MatrixPrediction, {"shape": (2, 3), "rate": 0.3}, (6,)),
    "matrix-tangent": Entry("matrix prediction, tangent strategy", MatrixPrediction, {"shape": (2, 3), "version": "tangent"}, (6,)),
    "matrix-parameter-free": Entry(
        "matrix prediction with neither radius nor rate", MatrixPrediction, {"shape": (2, 3), "version": "mixture"}, (6,)
    ),
    "zigzag": Entry("Burkholder's U_p, p = 2, in expectation", ZigZag, {"p": 2.0}),
    "zigzag-3": Entry("Burkholder's U_p, p = 3, in expectation", ZigZag, {"p": 3.0}),
    "zigzag-1.5": Entry("Burkholder's U_p, p = 1.5, in expectation", ZigZag, {"p": 1.5}),
    "combination": Entry(
        "convex combination of two square functions",
        lambda **options: combine(SquareFunction(1.0, **options), SquareFunction(5.0, **options)),
    ),
    "minimum": Entry(
        "minimum of two square functions",
        lambda **options: minimum(SquareFunction(1.0, **options), SquareFunction(1.0, version="paper", **options)),
    ),
    "softmax": Entry(
        "soft maximum of two square functions",
        lambda **options: softmax(SquareFunction(1.0, **options), SquareFunction(2.0, **options), rate=0.5),
    ),
}

# Claims that are false, kept with the witness that refutes them.
REFUTED: dict[str, Entry] = {
    "parameter-free-printed": Entry("the parameter-free theorem as printed: U_0(0) > 0", PrintedParameterFree, {"horizon": 10})
}


def get(function: str | BurkholderFunction, **options: Any) -> BurkholderFunction:
    """The function of that name with its options, the object itself, or what a find of `discover` or `sharp` plays as.

    >>> get("adagrad", radius=3.0).name
    'square-function (tangent)'
    """
    if isinstance(function, BurkholderFunction):
        return function
    if not isinstance(function, type) and callable(play := getattr(function, "as_function", None)):
        played = play(**options)
        if isinstance(played, BurkholderFunction):
            return played
    if not isinstance(function, str):
        raise BadInput("function", function, "give a name of the catalogue or a BurkholderFunction")
    entry = CATALOGUE.get(function) or REFUTED.get(function)
    if entry is None:
        raise BadInput("function", function, f"{did_you_mean(function, CATALOGUE)}`burkholder list` shows the catalogue")
    try:
        return entry.make(**options)
    except TypeError as error:
        raise BadInput("options", options, f"{function} does not take these: {error}") from None
