"""Re-verify a discovered inequality in exact arithmetic: standard library only, nothing of the search.

A certificate states a problem, a rational constant C, a rational polynomial U and, for each condition that
makes U a Burkholder function, an identity  condition = Σ multiplier · bᵀQb.  This file rebuilds them from the
statement, expands both sides, compares all coefficients, and checks each Q by exact LDLᵀ. As a program:
python checker.py < zigzag-4.json

What a problem states (f and g are martingales started at 0) and the conditions that imply it:
  dyadic       E V(ΣT) ≤ 0, T polynomial in predictable variables and fair signs e, e1, …: U(τ) ≥ E U(τ+T)
  general      the same for a mean-zero variable a of any law: U(τ) + a·∂U(τ+T)/∂a at a=0 ≥ U(τ+T)
  zigzag       E V(|f|,|g|) ≤ 0, dg = ±df predictably: U(|x|,|y|) concave along (1,1), (1,-1), across axes too
  orthogonal   E V(|f|,|g|) ≤ 0, f = ∫H dB, g = ∫H dB', B and B' independent: U(|x|,|y|) superharmonic
  smooth       E‖f‖² ≤ C·ΣE‖df‖², ‖x‖ = N(x)^(1/p): (N''(x)[h,h]/p)^(p/2) ≤ C^(p/2)·N(x)^(p/2-1)·N(h)
  logarithmic  E V(f,m)/m^k ≤ C·E log(m/λ), df = e·d, m = λ+Σd²: U/m^k - C·log m, log(1+t) ≥ t/(1+t)
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

Monomial = tuple[tuple[str, int], ...]  # sorted (variable, positive power) pairs
Condition = tuple[str, "Poly", frozenset[str]]


class Rejected(ValueError):
    """The certificate does not prove what it states."""


class Poly(dict[Monomial, Fraction]):
    """A polynomial with rational coefficients: monomial -> nonzero coefficient."""

    def __add__(self, other: Poly) -> Poly:
        total = {m: self.get(m, Fraction(0)) + other.get(m, Fraction(0)) for m in {**self, **other}}
        return Poly({m: c for m, c in total.items() if c})

    def __sub__(self, other: Poly) -> Poly:
        return self + number(-1) * other

    def __mul__(self, other: Poly) -> Poly:
        total: dict[Monomial, Fraction] = {}
        for (m, c), (n, d) in product(self.items(), other.items()):
            key = tuple(sorted((Counter(dict(m)) + Counter(dict(n))).items()))
            total[key] = total.get(key, Fraction(0)) + c * d
        return Poly({m: c for m, c in total.items() if c})

    def __pow__(self, k: int) -> Poly:
        return self * self ** (k - 1) if k else number(1)

    def at(self, **values: Poly) -> Poly:
        """With polynomials in place of variables."""
        return sum((prod((values.get(n, variable(n)) ** k for n, k in m), start=number(c)) for m, c in self.items()), Poly())

    def d(self, name: str) -> Poly:
        """The partial derivative; each monomial loses one power of the variable, so no two collide."""
        return Poly(
            {
                tuple((n, i - (n == name)) for n, i in m if (n, i) != (name, 1)): c * dict(m)[name]
                for m, c in self.items()
                if name in dict(m)
            }
        )

    def variables(self) -> set[str]:
        return {name for monomial in self for name, _ in monomial}

    def plainly_nonnegative(self) -> bool:
        return all(c > 0 and all(k % 2 == 0 for _, k in m) for m, c in self.items())


def number(c: Fraction | int) -> Poly:
    return Poly({(): Fraction(c)} if c else {})


def variable(name: str) -> Poly:
    return Poly({((name, 1),): Fraction(1)})


def parse(text: str) -> Poly:
    """A polynomial in Python notation: integers, names, + - * ** and division by integers."""
    ring = {ast.Add: Poly.__add__, ast.Sub: Poly.__sub__, ast.Mult: Poly.__mul__}

    def walk(node: Any) -> Poly:
        if isinstance(node, ast.Name):
            return variable(node.id)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return number(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return number(-1) * walk(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in ring:
            return ring[type(node.op)](walk(node.left), walk(node.right))
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.Div)):
            p, k = walk(node.left), ast.literal_eval(node.right)
            return p**k if isinstance(node.op, ast.Pow) else p * number(Fraction(1, k))
        raise Rejected(f"{text!r} is not a polynomial with rational coefficients")

    return walk(ast.parse(text.strip(), mode="eval").body)


def mean(p: Poly, signs: set[str]) -> Poly:
    """The expectation over independent fair signs: odd powers vanish, even ones are 1."""
    even = Poly({m: c for m, c in p.items() if all(k % 2 == 0 for name, k in m if name in signs)})
    return even.at(**{name: number(1) for name in signs})


def conditions(problem: dict[str, Any], u: Poly, constant: Fraction) -> list[Condition]:
    """What must be ≥ 0 (name, polynomial, nonnegative variables); affine in U and C (smooth: in C^(p/2))."""
    kind = problem["martingale"]
    if kind in ("smooth", "logarithmic") and constant < 0:
        raise Rejected("the constant must not be negative")
    if kind == "smooth":
        norm, p = parse(problem["norm"]), int(problem["p"])
        h = {name: variable("h_" + name) for name in sorted(norm.variables())}
        pure = all(((name, p),) in norm for name in h) and all(sum(k for _, k in m) == p for m in norm)
        if u or not h or p % 2 or not pure or not norm.plainly_nonnegative():
            raise Rejected("the norm sums even monomials of degree p, each p-th power among them, and U is V")
        second = sum((norm.d(i).d(j) * h[i] * h[j] for i, j in product(h, h)), Poly())
        left = number(constant) ** (p // 2) * norm ** (p // 2 - 1) * norm.at(**h)
        return [("smooth", left - (second * number(Fraction(1, p))) ** (p // 2), frozenset())]
    target = parse(problem["target"]).at(C=number(constant))
    initial = {"m"} if kind == "logarithmic" else set()  # every other state starts at 0
    start = Poly({m: -c for m, c in u.items() if {name for name, _ in m} <= initial})
    if kind in ("zigzag", "orthogonal"):
        state, cone = {"x", "y"}, frozenset("xy")
        rest = [u.d("x").d("x") + number(k) * u.d("x").d("y") + u.d("y").d("y") for k in ((-2, 2) if kind == "zigzag" else (0,))]
        rest = [number(-1) * p for p in (*rest, *(u.d(i).at(**{i: number(0)}) for i in "xy"))]
    elif kind == "logarithmic":
        state, cone, k = {"x", "m"}, frozenset("m"), int(problem["power"])
        before, after, gain = parse("m") ** k, parse("m + d**2"), number(constant) * parse("d**2")
        later = mean(u.at(x=parse("x + e*d"), m=after), {"e"})
        rest = [u * after**k + before * (gain * after ** (k - 1) - later)]
    elif kind in ("dyadic", "general"):
        steps = {name: parse(text) for name, text in problem["statistic"].items()}
        state, jumps = set(steps), {name for step in steps.values() for name in step.variables()}
        if state & jumps or "C" in state | jumps or ("a" in jumps) != (kind == "general"):
            raise Rejected("steps may not use the names of their sums, nor C, nor (unless general) a")
        cone = frozenset(name for name, step in steps.items() if step.plainly_nonnegative())
        moved = u.at(**{name: variable(name) + step for name, step in steps.items()})
        if kind == "general":
            moved -= variable("a") * moved.d("a").at(a=number(0))
        rest = [u - mean(moved, {name for name in jumps if name[0] == "e"})]
    else:
        raise Rejected(f"unknown kind of martingale {kind!r}")
    if (u.variables() | target.variables()) - state:
        raise Rejected(f"U and the target may use {', '.join(sorted(state))} and C only")
    return [("start", start, cone), ("majorant", u - target, cone), *(("step", p, cone) for p in rest)]


def positive_semidefinite(rows: list[list[Fraction]]) -> bool:
    """Exact LDLᵀ of a lower triangle: no pivot is negative, and below a zero pivot the column is zero."""
    while rows:
        pivot, column = rows[0][0], [row[0] for row in rows]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        rows = [[entry - (row[0] * c / pivot if pivot else 0) for entry, c in zip(row[1:], column[1:])] for row in rows[1:]]
    return True


def squares(block: dict[str, Any], cone: frozenset[str]) -> Poly:
    """multiplier · bᵀQb, after checking that both factors are nonnegative."""
    multiplier, basis = parse(block["multiplier"]), [parse(text) for text in block["basis"]]
    if any(c < 0 or any(k % 2 and n not in cone for n, k in m) for m, c in multiplier.items()):
        raise Rejected(f"the multiplier {block['multiplier']!r} is not known to be nonnegative")
    gram = [[Fraction(entry) for entry in row] for row in block["gram"]]
    if [len(row) for row in gram] != list(range(1, len(basis) + 1)) or not positive_semidefinite(gram):
        raise Rejected("a Gram matrix is not positive semidefinite, or does not fit its basis")
    return multiplier * sum(
        (basis[i] * basis[j] * number(entry if i == j else 2 * entry) for i, row in enumerate(gram) for j, entry in enumerate(row)), Poly()
    )


def digest(certificate: dict[str, Any]) -> str:
    """Guards the words of the file; its numbers are guarded by the mathematics."""
    return hashlib.sha256(json.dumps({**certificate, "digest": ""}, sort_keys=True).encode()).hexdigest()


def verify(certificate: dict[str, Any]) -> str:
    """The statement that the certificate proves; raises Rejected if it does not prove it."""
    try:
        if certificate["digest"] != digest(certificate):
            raise Rejected("the file was changed after it was written: its digest differs")
        problem, constant = certificate["problem"], Fraction(certificate["constant"])
        u = sum((parse(m) * number(Fraction(c)) for m, c in certificate["U"].items()), Poly())
        needed, proofs = conditions(problem, u, constant), certificate["proofs"]
        if [name for name, _, _ in needed] != [proof["condition"] for proof in proofs]:
            raise Rejected("the conditions proved are not those the statement needs")
        for (name, p, cone), proof in zip(needed, proofs):
            if p != sum((squares(block, cone) for block in proof["blocks"]), Poly()):
                raise Rejected(f"the sum of squares does not equal the condition '{name}'")
        return f"proved in exact arithmetic with C = {constant}: {json.dumps(problem)}"
    except Exception as error:  # whatever goes wrong on the way, nothing is proved
        raise Rejected(f"{type(error).__name__}: {error}") from None


if __name__ == "__main__":
    print(verify(json.load(sys.stdin)))
