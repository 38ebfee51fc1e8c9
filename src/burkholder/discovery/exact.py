"""From a floating solution to a proof: shrink to the face that contact leaves, round, project, check LDLᵀ."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from fractions import Fraction
from operator import add
from typing import Any

import numpy as np

from burkholder.checker import FORMAT, Poly, digest, positive_semidefinite
from burkholder.discovery.monomials import monomial, text, written
from burkholder.discovery.program import Block, Program, Solution, Vector
from burkholder.errors import MissingExtra
from burkholder.limited import verify

Exact = tuple[list[Fraction], list[list[list[Fraction]]]]  # θ, and the lower triangle of each Gram matrix


def prove(program: Program, constant: Fraction) -> dict[str, Any] | None:
    """A certificate at this constant, or None. Whatever the floating solver says, only an exact check counts.

    At a sharp constant the Gram matrices are singular: V touches U somewhere, where each square must vanish.
    The kernel seen in the floating solution is rounded to rationals and divided out, and the smaller program
    is solved anew.
    """
    program = copy(program)
    program.blocks = [copy(block) for block in program.blocks]  # faces are cut for this constant only
    for _ in range(6):
        solution = program.solve(constant)
        if solution.status in ("infeasible", "unbounded", "failed") or not np.isfinite(solution.margin):
            return None
        for exact in _rounded(program, constant, solution):
            certificate = write(program, constant, exact)
            verify(certificate)
            return certificate
        # limits often make a matrix singular whatever C is: what vanishes altogether is divided out before what is only small
        if not (program.problem.limited and _shrink(program, solution, 1e-8)) and not _shrink(program, solution):
            return None
    return None


def _rounded(program: Program, constant: Fraction, solution: Solution) -> Iterator[Exact]:
    for bits in (12, 24, 40, 60):
        found = project(program, constant, solution, bits)
        if found is None:
            return
        if all(positive_semidefinite(gram) for gram in found[1]):
            yield found


def project(program: Program, constant: Fraction, solution: Solution, bits: int) -> Exact | None:
    """The exact solution of the identities nearest to the rounded one; None when they have no solution."""
    try:
        from flint import fmpq, fmpq_mat
    except ImportError:
        raise MissingExtra("python-flint", "discover") from None
    columns: list[Vector] = [{r: -c / unit for r, c in column.items()} for column, unit in zip(program.linear, program.units)]
    start = [Fraction(round(v * float(u) * 2**bits), 2**bits) for v, u in zip(solution.theta, program.units)]
    for block, gram in zip(program.blocks, solution.grams):
        for i in range(block.size):
            for j in range(i + 1):
                once = program.entry(block, i, j)
                columns.append(once if i == j else {r: 2 * c for r, c in once.items()})
                start.append(Fraction(round(float(gram[i, j] + gram[j, i]) * 2 ** (bits - 1)), 2**bits))
    k = constant**program.problem.exponent
    residual = [program.right.get(r, Fraction(0)) + k * program.slope.get(r, Fraction(0)) for r in range(program.count)]
    for column, value in zip(columns, start):
        for r, c in column.items():
            residual[r] -= c * value
    matrix = fmpq_mat(program.count, len(columns) + 1)
    for j, column in enumerate(columns):
        for r, c in column.items():
            matrix[r, j] = fmpq(c.numerator, c.denominator)
    for r, c in enumerate(residual):
        matrix[r, len(columns)] = fmpq(c.numerator, c.denominator)
    reduced, rank = matrix.rref()
    full = [[reduced[r, j] for j in range(len(columns) + 1)] for r in range(rank)]
    if rank and all(entry == 0 for entry in full[-1][:-1]):
        return None
    if rank:
        a = fmpq_mat([row[:-1] for row in full])
        step = a.transpose() * (a * a.transpose()).solve(fmpq_mat([[row[-1]] for row in full]))
        moves = [Fraction(int(step[j, 0].p), int(step[j, 0].q)) for j in range(len(columns))]
        start = [value + move for value, move in zip(start, moves)]
    theta = [value / unit for value, unit in zip(start, program.units)]
    rest = iter(start[len(theta) :])
    triangles = [[[next(rest) for _ in range(i + 1)] for i in range(block.size)] for block in program.blocks]
    return theta, triangles


def _shrink(program: Program, solution: Solution, threshold: float = 1e-4) -> bool:
    """Divide the contact out of every block whose floating Gram matrix is singular; whether any was."""
    changed = False
    for block, gram in zip(program.blocks, solution.grams):
        kernel = _kernel(gram, threshold)
        if kernel:
            block.face = _complement(kernel, block)
            changed = True
    program.blocks = [block for block in program.blocks if block.size]
    return changed


def _kernel(gram: np.ndarray, threshold: float) -> list[list[Fraction]]:
    """Rational vectors near the singular directions: reduced echelon form, then small denominators."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    rows = vectors[:, values < threshold * max(1.0, float(values[-1]))].T.copy()
    pivots: list[int] = []
    for r in range(len(rows)):
        free = [c for c in range(rows.shape[1]) if c not in pivots]
        column = max(free, key=lambda c: abs(rows[r, c]))
        rows[r] /= rows[r, column]
        pivots.append(column)
        for other in range(len(rows)):
            if other != r:
                rows[other] -= rows[other, column] * rows[r]
    guessed = [[Fraction(float(v)).limit_denominator(60) for v in row] for row in rows]
    close = all(abs(float(g) - v) < 1e-2 for line, row in zip(guessed, rows) for g, v in zip(line, row))
    return guessed if close else []


def _complement(kernel: list[list[Fraction]], block: Block) -> list[list[Fraction]]:
    """Rows spanning the orthogonal complement of the kernel, expressed in the block's own monomials."""
    from flint import fmpq, fmpq_mat

    reduced, rank = fmpq_mat([[fmpq(v.numerator, v.denominator) for v in row] for row in kernel]).rref()
    size = block.size
    lead = [next(c for c in range(size) if reduced[r, c] != 0) for r in range(rank)]
    rows = []
    for free in (c for c in range(size) if c not in lead):
        row = [Fraction(0)] * size
        row[free] = Fraction(1)
        for r, c in enumerate(lead):
            row[c] = -Fraction(int(reduced[r, free].p), int(reduced[r, free].q))
        rows.append(row)
    columns = list(zip(*block.face))
    return [[sum((a * b for a, b in zip(row, column)), Fraction(0)) for column in columns] for row in rows]


def write(program: Program, constant: Fraction, exact: Exact) -> dict[str, Any]:
    """The certificate in the problem's own variables, readable by `burkholder.checker` alone."""
    theta, grams = exact
    proofs: list[dict[str, Any]] = []
    for index, shape in enumerate(program.shapes):
        entries = []
        for block, gram in zip(program.blocks, grams):
            if block.condition != index:
                continue
            outer = monomial(tuple(map(add, shape.factor, block.multiplier)), shape.variables)
            # Scaled variables are the stated ones over their scale: absorb it into basis and Gram matrix.
            basis = [
                Poly({m: c / program.stretch(m) for c, b in zip(row, block.basis) if c for m in [monomial(b, shape.variables)]})
                for row in block.face
            ]
            units = [max(abs(c) for c in p.values()) for p in basis]
            alive = [i for i in range(block.size) if gram[i][i]]
            if alive:
                entries.append(
                    {
                        "multiplier": text(tuple(sorted((*outer, *((name, 1) for name in block.limits))))),
                        "basis": [written(Poly({m: c / units[i] for m, c in basis[i].items()})) for i in alive],
                        "gram": [[str(gram[i][j] * units[i] * units[j] / program.stretch(outer)) for j in alive if j <= i] for i in alive],
                    }
                )
        proofs.append({"condition": shape.name, "blocks": entries})
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "name": program.problem.name,
        "problem": program.problem.statement(),
        "constant": str(constant),
        "U": {text(m): str(c) for m, c in zip(program.unknowns, theta) if c},
        "proofs": proofs,
    }
    return certificate | {"digest": digest(certificate)}
