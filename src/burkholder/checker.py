"""Re-verify a discovered inequality in exact arithmetic: standard library only, nothing shared with the search.

A certificate states a problem, a rational constant C, a rational polynomial U and, for every condition that makes
U a Burkholder function, an identity  condition = factor · Σ multiplier · bᵀQb.  This file rebuilds the conditions
from the statement alone, expands both sides, compares every coefficient and checks each Q by an exact LDLᵀ.

    python checker.py zigzag-4.json

What a problem states (f and g are martingales started at 0), and why the conditions suffice:
  dyadic      E V(ΣT) ≤ 0, T polynomial in predictable variables and fair signs e, e1, ...: U(τ) ≥ E U(τ+T).
  general     the same, T polynomial in predictable variables and a mean-zero a: U(τ) + a·∂_aU(τ+T)|₀ ≥ U(τ+T).
  zigzag      E V(|f|,|g|) ≤ 0, dg = ±df predictably: U(|x|,|y|) concave along (1,1) and (1,-1), kinks included.
  orthogonal  E V(|f|,|g|) ≤ 0, f = ∫H dB, g = ∫H dB' with independent Brownian B, B': U(|x|,|y|) superharmonic.
  smooth      E‖f‖² ≤ C·ΣE‖df‖², ‖x‖ = N(x)^(1/p): (N''(x)[h,h]/p)^(p/2) ≤ C^(p/2)·N(x)^(p/2-1)·N(h).
  logarithmic E V(f,m)/m^k ≤ C·E log(m/λ), df = e·d, m = λ+Σd²: U/m^k - C·log m, by log(1+t) ≥ t/(1+t).
"""

from __future__ import annotations

import ast
import hashlib
import json
import operator
import sys
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

Monomial = tuple[tuple[str, int], ...]  # sorted (variable, positive power) pairs
Condition = tuple[str, "Poly", frozenset[str]]  # name, polynomial, the variables known to be nonnegative


class Rejected(ValueError):
    """The certificate does not prove what it states."""


class Poly(dict[Monomial, Fraction]):
    """A polynomial with rational coefficients: monomial -> nonzero coefficient."""

    @staticmethod
    def collect(terms: Iterable[tuple[Monomial, Fraction]]) -> Poly:
        total = Poly()
        for monomial, c in terms:
            total[monomial] = total.get(monomial, Fraction(0)) + c
        return Poly({monomial: c for monomial, c in total.items() if c})

    def __add__(self, other: Poly) -> Poly:
        return Poly.collect([*self.items(), *other.items()])

    def __neg__(self) -> Poly:
        return number(-1) * self

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        def times(m: Monomial, n: Monomial) -> Monomial:
            powers = dict(m)
            for name, k in n:
                powers[name] = powers.get(name, 0) + k
            return tuple(sorted(powers.items()))
        return Poly.collect((times(m, n), c * d) for (m, c), (n, d) in product(self.items(), other.items()))

    def __pow__(self, k: int) -> Poly:
        return self * self ** (k - 1) if k else number(1)

    def at(self, **values: Poly) -> Poly:
        """With polynomials in place of variables."""
        total = Poly()
        for monomial, c in self.items():
            term = number(c)
            for name, k in monomial:
                term *= values.get(name, variable(name)) ** k
            total += term
        return total

    def d(self, name: str) -> Poly:
        """The partial derivative."""
        return Poly.collect((tuple((n, i - (n == name)) for n, i in m if (n, i) != (name, 1)), c * k)
                            for m, c in self.items() if (k := dict(m).get(name, 0)))

    def variables(self) -> set[str]:
        return {name for monomial in self for name, _ in monomial}

    def plainly_nonnegative(self) -> bool:
        return all(c > 0 and all(k % 2 == 0 for _, k in m) for m, c in self.items())


def number(c: Fraction | int) -> Poly:
    return Poly({(): Fraction(c)} if c else {})


def variable(name: str) -> Poly:
    return Poly({((name, 1),): Fraction(1)})


def parse(text: str) -> Poly:
    """A polynomial in Python notation: integers, names, + - * and **; division by numbers only."""
    ring = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}

    def walk(node: ast.AST) -> Poly:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return number(node.value)
        if isinstance(node, ast.Name):
            return variable(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.BinOp):
            left, right = walk(node.left), walk(node.right)
            if type(node.op) in ring:
                return ring[type(node.op)](left, right)
            if set(right) == {()} and isinstance(node.op, ast.Div):
                return left * number(1 / right[()])
            if set(right) == {()} and isinstance(node.op, ast.Pow) and right[()] in range(65):
                return left ** int(right[()])
        raise Rejected(f"{text!r} is not a polynomial with rational coefficients")
    try:
        return walk(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError) as error:
        raise Rejected(f"{text!r} cannot be read: {error}") from None


def mean(p: Poly, signs: set[str]) -> Poly:
    """The expectation over independent fair signs: odd powers vanish, even ones are 1."""
    even = Poly({m: c for m, c in p.items() if all(k % 2 == 0 for name, k in m if name in signs)})
    return even.at(**{name: number(1) for name in signs})


def conditions(problem: dict[str, Any], u: Poly, constant: Fraction) -> list[Condition]:
    """What U and C must satisfy, rebuilt from the statement; affine in U and in C (smooth: in C^(p/2))."""
    kind = problem["martingale"]
    if kind in ("smooth", "logarithmic") and constant < 0:
        raise Rejected("the constant must not be negative")
    if kind == "smooth":
        norm, p = parse(problem["norm"]), int(problem["p"])
        h = {name: variable("h_" + name) for name in sorted(norm.variables())}
        if p % 2 or not norm.plainly_nonnegative() or any(((name, p),) not in norm for name in h) or any(
                sum(k for _, k in m) != p for m in norm):
            raise Rejected("the norm must sum even monomials of degree p, every p-th power among them")
        second = sum((norm.d(i).d(j) * h[i] * h[j] for i, j in product(h, h)), Poly()) * number(Fraction(1, p))
        left = number(constant) ** (p // 2) * norm ** (p // 2 - 1) * norm.at(**h)
        return [("smooth", left - second ** (p // 2), frozenset())]
    target = parse(problem["target"]).at(C=number(constant))
    initial = {"m"} if kind == "logarithmic" else set()  # every other state starts at 0
    start = Poly({m: -c for m, c in u.items() if {name for name, _ in m} <= initial})
    if kind in ("zigzag", "orthogonal"):
        state, cone = {"x", "y"}, frozenset("xy")
        cross = [number(-2), number(2)] if kind == "zigzag" else [number(0)]
        rest = [-(u.d("x").d("x") + k * u.d("x").d("y") + u.d("y").d("y")) for k in cross]
        rest += [-u.d(i).at(**{i: number(0)}) for i in "xy"]
    elif kind == "logarithmic":
        state, cone, k = {"x", "m"}, frozenset("m"), int(problem["power"])
        m, after, jump = parse("m"), parse("m + d**2"), parse("d**2")
        later = m ** k * mean(u.at(x=parse("x + e*d"), m=after), {"e"})
        rest = [u * after ** k + number(constant) * jump * m ** k * after ** (k - 1) - later]
    elif kind in ("dyadic", "general"):
        steps = {name: parse(text) for name, text in problem["statistic"].items()}
        state, jumps = set(steps), {name for step in steps.values() for name in step.variables()}
        if state & jumps or "C" in state | jumps:
            raise Rejected("the steps of the statistic may not use the names of its sums, nor C")
        cone = frozenset(name for name, step in steps.items() if step.plainly_nonnegative())
        moved = u.at(**{name: variable(name) + step for name, step in steps.items()})
        if kind == "general":
            moved -= variable("a") * moved.d("a").at(a=number(0))
        rest = [u - mean(moved, {name for name in jumps if name[0] == "e"})]
    else:
        raise Rejected(f"unknown kind of martingale {kind!r}")
    if (u.variables() | target.variables()) - state:
        raise Rejected(f"U and the target may use {', '.join(sorted(state))} and C only")
    return [(name, p, cone) for name, p in zip(["start", "majorant", *map("step {}".format, range(len(rest)))],
                                               [start, u - target, *rest])]


def positive_semidefinite(gram: list[list[Fraction]]) -> bool:
    """Exact LDLᵀ of a lower triangle: no pivot is negative, and below a zero pivot the column is zero."""
    rows = [list(row) for row in gram]
    for k in range(len(rows)):
        pivot, column = rows[k][k], [rows[i][k] for i in range(k, len(rows))]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        for i in range(k + 1, len(rows) if pivot else 0):
            for j in range(k + 1, i + 1):
                rows[i][j] -= column[i - k] * column[j - k] / pivot
    return True


def sign_known(text: str, cone: frozenset[str]) -> Poly:
    """A monomial that is nonnegative because its variables are, or because their powers are even."""
    p = parse(text)
    if len(p) != 1 or any(c != 1 or any(k % 2 and n not in cone for n, k in m) for m, c in p.items()):
        raise Rejected(f"{text!r} is not known to be nonnegative")
    return p


def digest(certificate: dict[str, Any]) -> str:
    """Guards the words of the file; its numbers are guarded by the mathematics."""
    body = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def squares(block: dict[str, Any], cone: frozenset[str]) -> Poly:
    """multiplier · bᵀQb, after checking that it is nonnegative."""
    basis = [parse(text) for text in block["basis"]]
    gram = [[Fraction(entry) for entry in row] for row in block["gram"]]
    if [len(row) for row in gram] != [i + 1 for i in range(len(basis))] or not positive_semidefinite(gram):
        raise Rejected("a Gram matrix is not positive semidefinite, or does not fit its basis")
    entries = ((basis[i], basis[j], gram[i][j] * (2 - (i == j))) for i in range(len(gram)) for j in range(i + 1))
    return sign_known(block["multiplier"], cone) * sum((p * q * number(c) for p, q, c in entries), Poly())


def verify(certificate: dict[str, Any]) -> str:
    """The statement that the certificate proves; raises Rejected if it does not prove it."""
    try:
        if certificate["digest"] != digest(certificate):
            raise Rejected("the file was changed after it was written (its digest differs)")
        problem, constant = certificate["problem"], Fraction(certificate["constant"])
        u = sum((parse(m) * number(Fraction(c)) for m, c in certificate["U"].items()), Poly())
        needed, proofs = conditions(problem, u, constant), certificate["proofs"]
        if [name for name, _, _ in needed] != [proof["condition"] for proof in proofs]:
            raise Rejected("the conditions proved are not those the statement needs")
        for (name, p, cone), proof in zip(needed, proofs):
            total = sum((squares(block, cone) for block in proof["blocks"]), Poly())
            if p != sign_known(proof["factor"], cone) * total:
                raise Rejected(f"{name}: the sum of squares does not equal the condition")
        return f"proved in exact arithmetic with C = {constant}: {json.dumps(problem)}"
    except Rejected:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ZeroDivisionError) as error:
        raise Rejected(f"not a certificate: {error!r}") from None


if __name__ == "__main__":
    try:
        print(verify(json.loads(Path(sys.argv[1]).read_text())))
    except Rejected as rejected:
        sys.exit(f"Rejected: {rejected}")
