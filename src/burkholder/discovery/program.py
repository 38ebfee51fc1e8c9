"""The sum-of-squares program: conditions affine in U and C, equal to weighted squares, C minimised.

Everything here is exact until `solve`, which hands a floating copy to Clarabel through cvxpy. The same exact
columns serve the rounding, so that what is solved and what is proved cannot drift apart.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from burkholder.checker import Monomial, Poly, Rejected, metered, variable
from burkholder.discovery import monomials
from burkholder.discovery.monomials import Exponents, exponents
from burkholder.discovery.problems import Problem
from burkholder.errors import BadInput, BurkholderError, MissingExtra
from burkholder.limited import SPENT, conditions

LARGEST_GRAM = 160  # rows of one Gram matrix: Clarabel's factor grows with the fourth power of this
LARGEST_TOTAL = 40_000  # entries of all Gram matrices together

STATUS = {
    "optimal": "optimal",
    "optimal_inaccurate": "inaccurate",
    "infeasible": "infeasible",
    "infeasible_inaccurate": "infeasible",
    "unbounded": "unbounded",
    "unbounded_inaccurate": "unbounded",
}

Vector = dict[int, Fraction]


class NotFound(BurkholderError):
    """The search ended without a proof; the message says what to change.

    >>> raise NotFound("no polynomial of degree 2: try a higher degree")
    Traceback (most recent call last):
        ...
    burkholder.discovery.program.NotFound: no polynomial of degree 2: try a higher degree
    """


@dataclass
class Block:
    """multiplier · limits · (P b)ᵀ Q (P b): the rows of P span the face of the cone that Q may use."""

    condition: int
    multiplier: Exponents
    basis: list[Exponents]
    face: list[list[Fraction]]
    limits: tuple[str, ...]  # names of polynomials that are ≥ 0
    weight: dict[Exponents, Fraction]  # multiplier · limits

    @property
    def size(self) -> int:
        return len(self.face)


@dataclass
class Shape:
    """One condition in scaled variables: factor · (right + Σθ_i·linear_i + K·slope), rows of one system."""

    name: str
    variables: tuple[str, ...]
    factor: Exponents
    rows: dict[Exponents, int]


class Program:
    """Rows are coefficients of monomials; unknowns are θ (those of U), K = C^k and the Gram entries."""

    def __init__(self, problem: Problem, together: int = 2) -> None:
        self.problem, self.together = problem, together  # how many limits are multiplied with each other
        self.unknowns = monomials.candidates(problem)
        stated = problem.statement()
        zero, one = Fraction(0), Fraction(1)
        try:
            with metered(SPENT):
                base = conditions(stated, Poly(), zero)
                slope = conditions(stated, Poly(), one)
                pieces = [conditions(stated, Poly({m: one}), zero) for m in self.unknowns]
        except Rejected as error:
            raise BadInput("problem", problem.name, str(error)) from None
        self.scale = {name: Fraction(value) for name, value in problem.scale.items()}
        self.shapes: list[Shape] = []
        self.blocks: list[Block] = []
        self.right: Vector = {}
        self.slope: Vector = {}
        self.linear: list[Vector] = [{} for _ in self.unknowns]
        for i, (name, constant, cone) in enumerate(base):
            parts = [constant, slope[i][1] - constant, *(piece[i][1] - constant for piece in pieces)]
            self._add(i, name, parts, cone)
        self.count = sum(len(shape.rows) for shape in self.shapes)
        largest = max((block.size for block in self.blocks), default=0)
        total = sum(block.size**2 for block in self.blocks)
        if largest > LARGEST_GRAM or total > LARGEST_TOTAL:
            raise BadInput(
                "degree",
                problem.degree or problem.target or problem.norm,
                f"a Gram matrix of {largest} rows ({total} entries in all) exceeds the memory set "
                f"aside ({LARGEST_GRAM} rows, {LARGEST_TOTAL} entries): lower degree or dimension",
            )
        # Each unknown is measured in the size of its column, so that the solver sees numbers near one.
        self.units = [_unit(column) for column in self.linear]
        self.unit = _unit(self.slope)

    def _add(self, index: int, name: str, parts: list[Poly], cone: dict[str, Poly]) -> None:
        limits = {label: p for label, p in cone.items() if p != variable(label)} if any(parts) else {}
        names = tuple(sorted({v for part in (*parts, *limits.values()) for v in part.variables()}))
        scaled = [{exponents(m, names): c * self.stretch(m) for m, c in part.items()} for part in parts]
        support = {m for part in scaled for m in part}
        if not support:
            self.shapes.append(Shape(name, names, (), {}))
            return
        least = [min(m[i] for m in support) for i in range(len(names))]
        inside = [v in cone and v not in limits for v in names]
        known = {label: {exponents(m, names): c * self.stretch(m) for m, c in p.items()} for label, p in limits.items()}
        factor = tuple(k if yes else k - k % 2 for k, yes in zip(least, inside))
        reduced = [{tuple(np.subtract(m, factor)): c for m, c in part.items()} for part in scaled]
        bases = monomials.blocks({m for part in reduced for m in part}, inside, known, self.together)
        start = sum(len(shape.rows) for shape in self.shapes)
        rows: dict[Exponents, int] = {}
        for part in reduced:
            for m in part:
                rows.setdefault(m, start + len(rows))
        for multiplier, used, basis in bases:
            weight = monomials.product_of(multiplier, [known[label] for label in used])
            for a in basis:
                for b in basis:
                    for m in weight:
                        rows.setdefault(tuple(np.add(np.add(a, b), m)), start + len(rows))
            identity = [[Fraction(int(i == j)) for j in range(len(basis))] for i in range(len(basis))]
            self.blocks.append(Block(index, multiplier, basis, identity, used, weight))
        self.shapes.append(Shape(name, names, factor, rows))
        for part, column in zip(reduced, [self.right, self.slope, *self.linear]):
            column.update({rows[m]: c for m, c in part.items()})

    def stretch(self, m: Monomial) -> Fraction:
        """What rescaling the variables multiplies a monomial by."""
        return prod((self.scale.get(name, Fraction(1)) ** k for name, k in m), start=Fraction(1))

    def entry(self, block: Block, i: int, j: int) -> Vector:
        """The column of one Gram entry: the coefficients of multiplier · (Pb)_i (Pb)_j, counted once."""
        rows = self.shapes[block.condition].rows
        total: Vector = {}
        for a, left in zip(block.basis, block.face[i]):
            for b, right in zip(block.basis, block.face[j]) if left else ():
                for m, c in block.weight.items() if right else ():
                    row = rows[tuple(np.add(np.add(a, b), m))]
                    total[row] = total.get(row, Fraction(0)) + left * right * c
        return total

    def matrices(self) -> tuple[csr_matrix, list[csr_matrix], np.ndarray, np.ndarray]:
        """Floating copies: θ's columns, each block's columns over vec(Q), K's column, the constant."""
        theta = _sparse([{r: c / unit for r, c in column.items()} for column, unit in zip(self.linear, self.units)], self.count)
        grams = [
            _sparse([self.entry(block, i, j) for j in range(block.size) for i in range(block.size)], self.count) for block in self.blocks
        ]
        slope = _sparse([{r: c / self.unit for r, c in self.slope.items()}], self.count).toarray()[:, 0]
        return theta, grams, slope, _sparse([self.right], self.count).toarray()[:, 0]

    def solve(self, constant: Fraction | None = None) -> Solution:
        """Minimise C, or, with C given, find the proof whose Gram matrices lie deepest inside the cone."""
        try:
            import cvxpy as cp
        except ImportError:
            raise MissingExtra("cvxpy and clarabel", "discover") from None
        theta_columns, gram_columns, slope, right = self.matrices()
        theta: Any = cp.Variable(len(self.unknowns)) if self.unknowns else None
        grams: list[Any] = [cp.Variable((block.size, block.size), symmetric=True) for block in self.blocks]
        left: Any = sum((a @ cp.vec(q, order="F") for a, q in zip(gram_columns, grams)), np.zeros(self.count))
        value: Any = right if theta is None else right + theta_columns @ theta
        free: Any = cp.Variable()  # K, or with C given the least eigenvalue allowed
        margin: Any
        objective: Any
        if constant is None:
            margin, objective = 0.0, cp.Minimize(free)
            value = value + slope * free
        else:
            margin, objective = free, cp.Maximize(free)
            value = value + slope * float(constant**self.problem.exponent * self.unit)
        constraints: list[Any] = [left == value, *(q - margin * np.eye(q.shape[0]) >> 0 for q in grams)]
        status = _run(cp.Problem(objective, constraints if constant is None else [*constraints, free <= 1]))
        unknowns = [free, *grams] if theta is None else [free, theta, *grams]
        if any(v.value is None or not np.all(np.isfinite(v.value)) for v in unknowns):
            status = status if status in ("infeasible", "unbounded") else "failed"
        if status in ("infeasible", "unbounded", "failed"):
            return Solution(status, float("nan"), float("nan"), [], [])
        numbers = [] if theta is None else [float(v) / float(u) for v, u in zip(theta.value, self.units)]
        found, least = (
            (float(free.value) / float(self.unit), 0.0) if constant is None else (float(constant**self.problem.exponent), float(free.value))
        )
        return Solution(status, found, least, numbers, [np.asarray(q.value) for q in grams])


@dataclass
class Solution:
    """What the solver said: `constant` is K = C^k, `margin` the least eigenvalue of any Gram matrix."""

    status: str
    constant: float
    margin: float
    theta: list[float]
    grams: list[np.ndarray]


def _run(task: Any) -> str:
    """Solve as precisely as Clarabel can; where it loses its way at full precision, ask for less."""
    import cvxpy as cp

    for tolerance in (1e-11, 1e-9, 1e-7):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is welcome: nothing rests on its digits
            try:
                task.solve(solver=cp.CLARABEL, max_iter=200, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
            except (cp.error.SolverError, ValueError):
                continue
        if task.status in STATUS:
            return STATUS[task.status]
    return "failed"


def _unit(column: Vector) -> Fraction:
    """A power of two near the largest entry."""
    largest = max((abs(c) for c in column.values()), default=Fraction(1))
    return Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())


def _sparse(columns: list[Vector], rows: int) -> csr_matrix:
    entries = [(r, j, float(c)) for j, column in enumerate(columns) for r, c in column.items() if c]
    r, j, c = (list(part) for part in zip(*entries)) if entries else ([], [], [])
    return coo_matrix((c, (r, j)), shape=(rows, len(columns))).tocsr()
