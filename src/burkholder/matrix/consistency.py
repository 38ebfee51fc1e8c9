"""Whether H, M, the rates and log tr exp(A) of a saved learner can belong together: A = ηH − cM on D nodes.

Three facts hold on every path, and cost nothing beside a decomposition: the mean of A's eigenvalues is −c·tr M/D, so
log tr exp(A) ≥ log D − c·tr M/D; no eigenvalue is above η·(largest row sum of |H|), so log tr exp(A) is at most log D plus that; and
(e_i ± e_j)/√2 sees η|H_ij| − c(M_ii + M_jj)/2, which is at most the largest eigenvalue and so at most log tr exp(A).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.matrix.sign_flip import FALL, FIXED, MIXTURE, Rule


def _entries(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(row, column, size) of everything that is not 0."""
    from scipy.sparse import coo_matrix

    listed = coo_matrix(matrix)
    return listed.row, listed.col, np.abs(listed.data)


def check_trace(log_trace: float, rate: float, damping: float, H: Any, diagonal: np.ndarray, error: float) -> None:
    """Refuse a log tr exp(A) that no such A has; `error` is what its updates may have been off by."""
    dimension = len(diagonal)
    if not dimension:
        return
    rows, columns, sizes = _entries(H)
    if _entries(H - H.T)[2].max(initial=0.0) > 1e-9 * sizes.max(initial=0.0):
        raise BadInput("H", float(sizes.max()), "a slope from row to column is another one back")
    sums = np.bincount(rows, sizes, dimension)
    slack = 1.0 + 0.01 * abs(log_trace) + error
    low = math.log(dimension) - damping * float(diagonal.mean())
    high = math.log(dimension) + rate * float(sums.max(initial=0.0))
    seen = float(np.max(rate * sizes - 0.5 * damping * (diagonal[rows] + diagonal[columns]), initial=-math.inf))
    if not max(low, seen) - slack <= log_trace <= high + slack:
        raise BadInput("log tr exp(A)", log_trace, f"with these slopes and rates it lies between {max(low, seen):.4g} and {high:.4g}")


def check_square(M: Any, top: float) -> None:
    """Refuse an M that is no sum of squares, or is larger than `top`: |M_ij| ≤ √(M_ii·M_jj) ≤ ‖M‖."""
    diagonal = np.asarray(M.diagonal(), float)
    rows, columns, sizes = _entries(M)
    most = np.sqrt(np.maximum(diagonal, 0.0))
    loose = 1e-6 * float(diagonal.max(initial=0.0))
    if (diagonal < 0.0).any() or (sizes > most[rows] * most[columns] + loose).any() or diagonal.max(initial=0.0) > top * (1.0 + 1e-6):
        raise BadInput("M", float(np.max(sizes, initial=0.0)), f"it is no sum of squares of norm {top:g}")


def check_anchor(log_trace: np.ndarray, anchor: np.ndarray) -> None:
    """Refuse a trace that should have been computed afresh: it has fallen too far."""
    if not (log_trace >= anchor - FALL - 1e-6).all():
        raise BadInput("anchor", float(anchor.max()), "log tr exp(A) has never been so high since it was last computed afresh")


def check_given(rule: Rule, rates: np.ndarray, given: np.ndarray) -> None:
    """Refuse other rates than those given, where they never change."""
    if rule.kind in (FIXED, MIXTURE) and not np.array_equal(rates, given):
        raise BadInput("rates", float(rates[0]), "the rates of this learner do not change, and these are others")


def check_rate(rate: float, most: float, top: float, ceiling: float) -> None:
    """Refuse a rate above what its ceiling allows, or a ceiling below ‖ΣM‖; before the first X there is none."""
    if ceiling > 0.0 and not (rate <= most * (1.0 + 1e-9) and top <= ceiling * (1.0 + 1e-9)):
        raise BadInput("rates", rate, f"with Λ = {ceiling:g} and ‖ΣM‖ = {top:g} it is at most {most:g}")
