"""2-smoothness of the l_4 norm with C = 3: an exact sum of squares, for any dimension asked for.

Claim: E‖g+εx‖₄² ≤ ‖g‖₄² + C‖x‖₄² for a Rademacher sign ε. With u = g+tx and N = ‖u‖₄²,

    d²/dt² ‖u‖₄² = 6Σu²x²/N − 4(Σu³x)²/N³ ≤ 6Σu²x²/N,

which is ≤ 2C‖x‖₄² as soon as C²·Σu⁴·Σx⁴ − 9(Σu²x²)² ≥ 0, and integrating twice gives the claim. That quartic
form is quadratic in the monomials m_ij = u_i²x_j²; its Gram matrix is written down, expanded and compared with
the form coefficient by coefficient, and factored as LDLᵀ with D ≥ 0, all in rational numbers.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from itertools import product

from burkholder.errors import BadInput
from burkholder.lab.exact.reals import Number, ball, rational, shown
from burkholder.lab.verdicts import Status, Verdict, Witness

Monomial = tuple[int, ...]


def l4(smoothness: Number = 3, dimension: int = 3) -> Verdict:
    """E‖g+εx‖₄² ≤ ‖g‖₄² + C‖x‖₄² in the given dimension.

    >>> l4(3).status.value, l4("2.85").status.value
    ('proved', 'refuted')
    """
    if not 1 <= dimension <= 8:
        raise BadInput("dimension", dimension, "give a dimension between 1 and 8")
    started = time.perf_counter()
    C = rational(smoothness)
    statement, domain = f"E‖g+εx‖₄² ≤ ‖g‖₄² + {shown(smoothness)}·‖x‖₄²", f"all g, x in ℝ^{dimension}"
    arithmetic = "rational sum of squares: Gram matrix expanded and factored exactly"
    gram = gram_matrix(C, dimension)
    if expand(gram, dimension) == form(C, dimension) and positive_semidefinite(gram):
        return Verdict(
            "3'",
            Status.PROVED,
            statement,
            domain,
            arithmetic,
            seconds=time.perf_counter() - started,
            note="C²·Σu⁴·Σx⁴ − 9(Σu²x²)² is a sum of squares, and it bounds the second derivative",
        )
    witness = _witness(C) if dimension >= 2 else None
    return Verdict("3'", Status.of(False, witness), statement, domain, arithmetic, witness, seconds=time.perf_counter() - started)


def everywhere(smoothness: Number = 3) -> Verdict:
    """The same in every dimension.

    Each monomial of the form and of its squares has at most two different indices, and both sides look the same under
    every permutation of the coordinates: the identity in two dimensions is the identity in all, and its squares too.

    >>> everywhere(3).domain
    'all g, x in ℝ^d, every d'
    """
    plane, space = l4(smoothness, 2), l4(smoothness, 3)
    if not (plane.proved and space.proved):
        return plane
    return replace(plane, domain="all g, x in ℝ^d, every d", seconds=plane.seconds + space.seconds)


def form(C: Fraction, dimension: int) -> dict[Monomial, Fraction]:
    """C²·Σu⁴·Σx⁴ − 9(Σu²x²)² as exponents of (u, x) with coefficients."""
    terms: dict[Monomial, Fraction] = {}
    for i, j in product(range(dimension), repeat=2):
        _add(terms, _power(dimension, i, i, j, j), C * C)
        _add(terms, _power(dimension, i, j, i, j), Fraction(-9))
    return {key: value for key, value in terms.items() if value}


def gram_matrix(C: Fraction, dimension: int) -> list[list[Fraction]]:
    """(C²−9)Σm_ij² + 9Σ_{i<j}(m_ij − m_ji)², by Lagrange's identity the form above."""
    size = dimension * dimension
    gram = [[Fraction(0)] * size for _ in range(size)]
    for i, j in product(range(dimension), repeat=2):
        here, there = i * dimension + j, j * dimension + i
        gram[here][here] += C * C - 9
        if i != j:
            gram[here][here] += 9
            gram[here][there] -= 9
    return gram


def expand(gram: list[list[Fraction]], dimension: int) -> dict[Monomial, Fraction]:
    """The polynomial Σ G_{ij,kl}·m_ij·m_kl."""
    terms: dict[Monomial, Fraction] = {}
    pairs = list(product(range(dimension), repeat=2))
    for row, (i, j) in zip(gram, pairs, strict=True):
        for entry, (k, l) in zip(row, pairs, strict=True):
            _add(terms, _power(dimension, i, k, j, l), entry)
    return {key: value for key, value in terms.items() if value}


def positive_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """LDLᵀ without pivoting in rationals: no negative pivot, and a zero pivot only above a zero column.

    >>> positive_semidefinite([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(3)]])
    False
    """
    rest = [row[:] for row in matrix]
    for k in range(len(rest)):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[i][k] for i in range(k, len(rest)))):
            return False
        if pivot:
            for i in range(k + 1, len(rest)):
                factor = rest[i][k] / pivot
                for j in range(k, len(rest)):
                    rest[i][j] -= factor * rest[k][j]
    return True


def _witness(C: Fraction) -> Witness | None:
    """g = (1,1), x = (e,−e): E‖g+εx‖² − ‖g‖² − C‖x‖² = √2·(√(1+6e²+e⁴) − 1 − Ce²), positive for small e if C < 3."""
    for k in range(1, 60):
        e = Fraction(1, 2**k)
        residual = ball(2).sqrt() * (ball(1 + 6 * e**2 + e**4).sqrt() - ball(1 + C * e**2))
        if residual > 0:
            point = {"g": ["1", "1"], "x": [str(e), str(-e)]}
            return Witness(point, float(residual.lower()), "ball arithmetic at a rational point")
    return None


def _power(dimension: int, i: int, k: int, j: int, l: int) -> Monomial:
    """The exponents of u_i²u_k²x_j²x_l²."""
    exponents = [0] * (2 * dimension)
    for index in (i, k, dimension + j, dimension + l):
        exponents[index] += 2
    return tuple(exponents)


def _add(terms: dict[Monomial, Fraction], key: Monomial, value: Fraction) -> None:
    terms[key] = terms.get(key, Fraction(0)) + value
