"""Re-verify a discovered inequality in exact arithmetic: standard library only, nothing of the search.

A certificate states a problem, a rational constant C, a rational polynomial U and, for each condition that
makes U a Burkholder function, an identity  condition = Σ multiplier · bᵀQb.  This file rebuilds them from the
problem, expands both sides, compares all coefficients, checks each Q by exact LDLᵀ, and words the theorem itself:
of what the file says about itself (its name) nothing is believed. As a program: python checker.py < zigzag-4.json

The conditions of each kind of problem (f and g are martingales started at 0):
  dyadic       E V(ΣT) ≤ 0, T polynomial in predictable variables and fair signs e, e1, …: U(τ) ≥ E U(τ+T)
  general      the same for a mean-zero variable a of any law: U(τ) + a·∂U(τ+T)/∂a at a=0 ≥ U(τ+T)
  quotient     the same with U = P/q^k, every coefficient of q positive; a start moved by ε has U > 0 as small as one likes
  zigzag       E V(|f|,|g|) ≤ 0, dg = ±df predictably: U(|x|,|y|) concave along (1,1), (1,-1), across axes too
  orthogonal   E V(|f|,|g|) ≤ 0, f = ∫H dB, g = ∫H dB', B and B' independent: U(|x|,|y|) superharmonic
  smooth       ‖x+h‖² ≤ ‖x‖² + ∂_h‖x‖² + C‖h‖², ‖x‖ = N(x)^(1/p): (N''(x)[h,h]/p)^(p/2) ≤ C^(p/2)·N(x)^(p/2-1)·N(h)
  logarithmic  E V(f,m)/m^k ≤ C·E log(m/λ), df = e·d, m = λ+Σd²: U/m^k - C·log m, log(1+t) ≥ t/(1+t)
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

Monomial = tuple[tuple[str, int], ...]  # sorted (variable, positive power) pairs
Condition = tuple[str, "Poly", dict[str, "Poly"]]  # its name, what is ≥ 0, and where: names of what is known to be ≥ 0

FORMAT = "burkholder certificate 1"
KINDS: dict[str, dict[str, type]] = {
    "dyadic": {"target": str, "statistic": dict}, "general": {"target": str, "statistic": dict},
    "quotient": {"target": str, "statistic": dict, "below": str, "power": int}, "zigzag": {"target": str},
    "orthogonal": {"target": str}, "smooth": {"norm": str, "p": int}, "logarithmic": {"target": str, "power": int},
}  # fmt: skip
# C is the constant, a the mean-zero variable, e, e1, e2, … are signs, h_x is the step of x in a smooth norm
NAME, SIGN, RATIONAL = re.compile("(h_)?[A-Za-z][A-Za-z0-9]*"), re.compile("e[0-9]*"), re.compile("-?[0-9]+(/[0-9]+)?")
# characters of a number, a polynomial or a name; of a file; nesting; exponents; and operations, about a second's worth
LONGEST, LARGEST, DEEPEST, POWER, WORK = 4000, 2_000_000, 200, 64, 120_000


class Rejected(ValueError):
    """The certificate does not prove what it states."""


_work: ContextVar[list[int] | None] = ContextVar("work", default=None)


@contextmanager
def metered(work: int = WORK) -> Iterator[None]:
    """A fresh allowance of work, unless one is already being spent."""
    token = None if _work.get() else _work.set([work])
    try:
        yield
    finally:
        if token is not None:
            _work.reset(token)


def spend(count: int, *numbers: Fraction) -> None:
    """Charge for operations on numbers of this size, before they are done; long numbers cost with their square."""
    left = _work.get()
    if left is not None:
        bits = sum(c.numerator.bit_length() + c.denominator.bit_length() for c in numbers)
        left[0] -= count + bits // 256 + (bits // 4096) ** 2
        if left[0] < 0:
            raise Rejected("too much work: lower the degree, the number of variables or the size of the numbers")


class Poly(dict[Monomial, Fraction]):
    """A polynomial with rational coefficients: monomial -> nonzero coefficient."""

    def __add__(self, other: Poly) -> Poly:
        total = dict(self)
        for m, c in other.items():
            before = total.get(m, Fraction(0))
            spend(0, before, c)
            total[m] = before + c
        return Poly({m: c for m, c in total.items() if c})

    def __sub__(self, other: Poly) -> Poly:
        return self + Poly({m: -c for m, c in other.items()})

    def __mul__(self, other: Poly) -> Poly:
        spend(len(self) * len(other))
        total: dict[Monomial, Fraction] = {}
        for (m, c), (n, d) in product(self.items(), other.items()):
            powers = dict(m)
            for name, k in n:
                powers[name] = powers.get(name, 0) + k
            key = tuple(sorted(powers.items()))
            before = total.get(key, Fraction(0))
            spend(0, before, c, d)
            total[key] = before + c * d
        return Poly({m: c for m, c in total.items() if c})

    def __pow__(self, k: int) -> Poly:
        return prod([self] * k, start=number(1))

    def at(self, **values: Poly) -> Poly:
        """With polynomials in place of variables."""
        return sum((prod((values.get(n, variable(n)) ** k for n, k in m), start=number(c)) for m, c in self.items()), Poly())

    def d(self, name: str) -> Poly:
        """The partial derivative; each monomial loses one power of the variable, so no two collide."""
        lower = ((tuple((n, i - (n == name)) for n, i in m if (n, i) != (name, 1)), c * dict(m).get(name, 0)) for m, c in self.items())
        return Poly({m: c for m, c in lower if c})

    def variables(self) -> set[str]:
        return {name for monomial in self for name, _ in monomial}

    def plainly_nonnegative(self, cone: Collection[str] = ()) -> bool:
        return all(c > 0 and all(k % 2 == 0 or name in cone for name, k in m) for m, c in self.items())

    def __str__(self) -> str:
        """In Python notation, as `parse` reads it."""
        total = ""
        for m, c in sorted(self.items(), key=lambda item: [(name, -k) for name, k in item[0]] or [("~", 0)]):
            size = "*".join([str(abs(c))] * (abs(c) != 1 or not m) + [n if k == 1 else f"{n}**{k}" for n, k in m])
            total += ((" - " if c < 0 else " + ") if total else ("-" if c < 0 else "")) + size
        return total or "0"


def number(c: Fraction | int) -> Poly:
    return Poly({(): Fraction(c)} if c else {})


def variable(name: str) -> Poly:
    return Poly({((name, 1),): Fraction(1)})


def rational(text: Any) -> Fraction:
    """A rational number in lowest terms, as `str` writes it, and nothing else."""
    spend(1 + len(str(text)) // 64)
    if type(text) is not str or len(text) > LONGEST or not RATIONAL.fullmatch(text) or str(value := Fraction(text)) != text:
        raise Rejected(f"{str(text)[:40]!r} is not a rational number in lowest terms, of at most {LONGEST} characters")
    return value


def parse(text: Any) -> Poly:
    """A polynomial in Python notation: integers, names, + - * ** and division by integers."""
    ring: dict[type, Callable[[Poly, Poly], Poly]] = {ast.Add: Poly.__add__, ast.Sub: Poly.__sub__, ast.Mult: Poly.__mul__}
    if type(text) is not str or len(text) > LONGEST or not text.isascii():
        raise Rejected(f"a polynomial is written in at most {LONGEST} plain characters")
    spend(10 + len(text) // 4)

    def walk(node: Any, depth: int) -> Poly:
        right = node.right.value if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) else None
        if depth > DEEPEST:
            raise Rejected(f"{text[:40]!r}… is nested deeper than {DEEPEST}")
        if isinstance(node, ast.Name) and NAME.fullmatch(node.id):
            if node.id[0] == "e" and not SIGN.fullmatch(node.id):
                raise Rejected(f"the name {node.id!r} is reserved: names that begin with e are signs, e, e1, e2, …")
            return variable(node.id)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return number(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return number(-1) * walk(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in ring:
            return ring[type(node.op)](walk(node.left, depth + 1), walk(node.right, depth + 1))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and type(right) is int and right:
            return walk(node.left, depth + 1) * number(Fraction(1, right))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and type(right) is int:
            if right > POWER:
                raise Rejected(f"a power of {str(right)[:9]} is too high; {POWER} is the highest")
            return walk(node.left, depth + 1) ** right
        raise Rejected(f"{text[:80]!r} is not a polynomial with rational coefficients")

    try:
        with metered():
            return walk(ast.parse(text.strip(), mode="eval").body, 0)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise Rejected(f"{text[:40]!r} is not a polynomial: {error}") from None


def mean(p: Poly, signs: set[str]) -> Poly:
    """The expectation over independent fair signs: odd powers vanish, even ones are 1."""
    even = Poly({m: c for m, c in p.items() if all(k % 2 == 0 for name, k in m if name in signs)})
    return even.at(**{name: number(1) for name in signs})


def fields(data: Any, what: str, **types: type) -> Any:
    """The same dictionary, after checking that it has these keys, of these very types, and no others."""
    if type(data) is not dict or any(type(key) is not str for key in data):
        raise Rejected(f"{what} is not a dictionary of named entries")
    for key in [*types, *data]:
        if key not in types or key not in data:
            raise Rejected(f"{what} {'has no' if key in types else 'has an unknown'} entry {key[:40]!r}")
        if type(data[key]) is not types[key]:
            raise Rejected(f"the entry {key!r} of {what} is of type {type(data[key]).__name__}, not {types[key].__name__}")
    return data


def stated(problem: Any) -> tuple[str, dict[str, Poly]]:
    """The kind of a problem and its polynomials, each name used for one thing only."""
    kind = problem.get("martingale") if type(problem) is dict else None
    if type(kind) is not str or kind not in KINDS:
        raise Rejected(f"unknown kind of martingale {str(kind)[:40]!r}")
    fields(problem, "the problem", martingale=str, **KINDS[kind])
    steps = problem.get("statistic", {})
    if "statistic" in problem and not steps:
        raise Rejected("give a step for each coordinate of the state")
    texts = {f"step of {name}": text for name, text in steps.items()} | {k: problem[k] for k in ("target", "norm", "below") if k in problem}
    found = {name: parse(text) for name, text in texts.items()}
    for name in steps:
        if type(name) is not str or parse(name) != variable(name):
            raise Rejected(f"{str(name)[:40]!r} is not a name")
    used = set(steps).union(*(p.variables() for p in found.values()))
    for name in used:
        if "_" in name:
            raise Rejected(f"the name {name!r} is reserved: h_ marks the steps of a smooth norm")
        if (name in steps or not steps) and (SIGN.fullmatch(name) or name == "a" or (name == "C" and (name in steps or "norm" in found))):
            raise Rejected(f"the name {name!r} is reserved: e, e1, … are signs, a is the mean-zero variable, C the constant")
    jumps = {name for key, p in found.items() if key.startswith("step of ") for name in p.variables()}
    if set(steps) & jumps or "C" in jumps or ("a" in jumps) != (kind in ("general", "quotient")):
        raise Rejected("steps may not use the names of their sums, nor C, nor (but for general) a")
    seen: set[str] = set()
    for m, c in (item for name in steps for item in sorted(found[f"step of {name}"].items())):
        fresh = {n for n, k in m if k % 2 and (SIGN.fullmatch(n) or n == "a")} - seen
        if c < 0 and fresh:
            raise Rejected(f"{min(fresh)} and -{min(fresh)} have the same laws: write it with + where it first appears")
        seen |= fresh
    return kind, found


def conditions(problem: Any, u: Poly, constant: Fraction) -> list[Condition]:
    """What must be ≥ 0 (name, polynomial, nonnegative variables); affine in U and C (smooth: in C^(p/2))."""
    with metered():
        kind, given = stated(problem)
        if kind in ("smooth", "logarithmic") and constant < 0:
            raise Rejected("the constant must not be negative")
        if kind == "smooth":
            norm, p = given["norm"], problem["p"]
            h = {name: variable("h_" + name) for name in sorted(norm.variables())}
            pure = all(((name, p),) in norm for name in h) and all(sum(k for _, k in m) == p for m in norm)
            if u or not h or not 2 <= p <= POWER or p % 2 or not pure or not norm.plainly_nonnegative():
                raise Rejected("the norm sums even monomials of degree p, each p-th power among them, and U is V")
            second = sum((norm.d(i).d(j) * h[i] * h[j] for i, j in product(h, h)), Poly())
            left = number(constant) ** (p // 2) * norm ** (p // 2 - 1) * norm.at(**h)
            return [("smooth", left - (second * number(Fraction(1, p))) ** (p // 2), {})]
        target = given["target"].at(C=number(constant))
        initial = {"m"} if kind == "logarithmic" else set()  # every other state starts at 0
        start = Poly({m: -c for m, c in u.items() if {name for name, _ in m} <= initial})
        if kind in ("zigzag", "orthogonal"):
            state, cone = {"x", "y"}, {name: variable(name) for name in "xy"}
            across = [u.d(i).at(**{i: number(0)}) for i in "xy"]
            along = [u.d("x").d("x") + number(k) * u.d("x").d("y") + u.d("y").d("y") for k in ((-2, 2) if kind == "zigzag" else (0,))]
            rest = [number(-1) * p for p in (*along, *across)]
        elif kind == "logarithmic":
            state, cone, k = {"x", "m"}, {"m": variable("m")}, problem["power"]
            if not 1 <= k <= POWER:
                raise Rejected(f"the power is between 1 and {POWER}")
            before, after, gain = parse("m") ** k, parse("m + d**2"), number(constant) * parse("d**2")
            later = mean(u.at(x=parse("x + e*d"), m=after), {"e"})
            rest = [u * after**k + before * (gain * after ** (k - 1) - later)]
        else:
            steps = {name: given[f"step of {name}"] for name in problem["statistic"]}
            state, jumps = set(steps), {name for step in steps.values() for name in step.variables()}
            cone = {name: variable(name) for name, step in steps.items() if step.plainly_nonnegative()}
            landed, signs = {name: variable(name) + step for name, step in steps.items()}, {name for name in jumps if SIGN.fullmatch(name)}
            q, k, rest = given.get("below", number(1)), problem.get("power", 0), [u - mean(u.at(**landed), signs)]
            if kind != "dyadic":  # U = P/q^k, times q^(k+1) before and q^k after the step; k is 0 in general
                up, uq = (f + variable("a") * f.at(**landed).d("a").at(a=number(0)) for f in (u, q))
                rest = [mean((q * up + number(k) * u * (q - uq)) * q.at(**landed) ** k - u.at(**landed) * q ** (k + 1), signs)]
            if kind == "quotient":
                bare = [f.at(**{n: number(0) for n in state - set(cone)}) for f in (q, u)]  # with every cone variable ε, the rest 0
                low, least = (min((sum(j for _, j in m) for m in f), default=None) for f in bare)
                sure = q.plainly_nonnegative(cone) and not q.variables() - state
                if signs or not 1 <= k <= POWER or not sure or low is None or (least is not None and least <= k * low):
                    raise Rejected("q is positive where a cone variable is, k is 1 or more, P/q^k is 0 at the start, there are no signs")
            target = target * q**k
        if (u.variables() | target.variables()) - state:
            raise Rejected(f"U and the target may use {', '.join(sorted(state))} and C only")
        return [("start", start, cone), ("majorant", u - target, cone), *(("step", p, cone) for p in rest)]


def statement(problem: Any, constant: Fraction | None = None) -> str:
    """The theorem that a proof of the conditions proves, in words made from the problem alone."""
    kind, given = stated(problem)
    c = "C" if constant is None else str(constant)
    if kind == "smooth":
        return (
            f"‖x+h‖² ≤ ‖x‖² + ∂_h‖x‖² + {c}·‖h‖² for all x and h, so that (‖x+h‖² + ‖x-h‖²)/2 ≤ ‖x‖² + {c}·‖h‖²; "
            f"‖x‖ = N(x)^(1/{problem['p']}), N = {given['norm']}"
        )
    v = given["target"] if constant is None else given["target"].at(C=number(constant))
    if kind == "zigzag":
        pair = "f, g real martingales from 0 with finitely many bounded steps, dg = df or dg = -df as decided before each step"
        return f"E[{v}] ≤ 0, x = |f|, y = |g|: {pair}"
    if kind == "orthogonal":
        pair = "f = ∫H dB, g = ∫H dB', B and B' independent Brownian motions that H, real and bounded, may both look back at"
        return f"E[{v}] ≤ 0, x = |f|, y = |g|: {pair}, up to a fixed time"
    signs = "fair signs, fresh in each round, independent of each other and of all that was chosen before them"
    if kind == "logarithmic":
        whole = f"E[({v})/m**{problem['power']}] ≤ {c}·E[log(m/λ)], x = Σ e*d, m = λ + Σ d**2, λ > 0"
        who = "d chosen before the round from everything seen, every earlier sign included, bounded"
        return f"{whole}: e {signs}; {who}; finitely many rounds"
    steps = {name: given[f"step of {name}"] for name in problem["statistic"]}
    names = sorted({name for step in steps.values() for name in step.variables()})
    parts = [f"{', '.join(tossed)} {signs}"] if (tossed := [name for name in names if SIGN.fullmatch(name)]) else []
    apart = ", independent of the signs of the round" if tossed else ""
    parts += [f"a bounded, of any law with mean 0 given all that came before{apart}"] * ("a" in names)
    free = [name for name in names if name != "a" and name not in tossed]
    parts += [f"{', '.join(free)} chosen before the round from everything seen, every earlier sign and step included, bounded"] * bool(free)
    parts += ["finitely many rounds"]  # without end, a sum stopped when it is 1 has mean 1
    return f"E[{v}] ≤ 0, {', '.join(f'{name} = Σ ({step})' for name, step in steps.items())}: {'; '.join(parts)}"


def positive_semidefinite(rows: list[list[Fraction]]) -> bool:
    """Exact LDLᵀ of a lower triangle: no pivot is negative, and below a zero pivot the column is zero."""
    while rows:
        pivot, column = rows[0][0], [row[0] for row in rows]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        for row in rows[1:]:
            spend(len(row), *row, *[pivot] * len(row))
        rows = [[entry - (row[0] * c / pivot if pivot else 0) for entry, c in zip(row[1:], column[1:])] for row in rows[1:]]
    return True


def squares(block: Any, cone: dict[str, Poly]) -> Poly:
    """multiplier · bᵀQb, after checking that both factors are nonnegative."""
    fields(block, "a block", multiplier=str, basis=list, gram=list)
    multiplier, basis = parse(block["multiplier"]), [parse(text) for text in block["basis"]]
    if not multiplier.plainly_nonnegative(cone):
        raise Rejected(f"the multiplier {block['multiplier'][:40]!r} is not known to be nonnegative")
    if [len(row) if type(row) is list else 0 for row in block["gram"]] != list(range(1, len(basis) + 1)):
        raise Rejected("a Gram matrix does not fit its basis")
    gram = [[rational(entry) for entry in row] for row in block["gram"]]
    if not positive_semidefinite(gram):
        raise Rejected("a Gram matrix is not positive semidefinite")
    total = (basis[i] * basis[j] * number(entry if i == j else 2 * entry) for i, row in enumerate(gram) for j, entry in enumerate(row))
    return multiplier.at(**cone) * sum(total, Poly())


def digest(certificate: dict[str, Any]) -> str:
    """Tells a file that was changed by accident; who changes it on purpose meets the mathematics."""
    return hashlib.sha256(json.dumps({**certificate, "digest": ""}, sort_keys=True).encode()).hexdigest()


def read(text: str) -> Any:
    """JSON without floats, without numbers of more than nine digits, and without a key given twice."""

    def refuse(what: str) -> Any:
        raise Rejected(f"{what[:40]} has no place in a certificate")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs) if len({key for key, _ in pairs}) == len(pairs) else refuse("a key given twice")

    def whole(digits: str) -> int:
        return int(digits) if len(digits) < 10 else refuse("a number of that length")

    try:
        if len(text) > LARGEST:
            refuse(f"a file of over {LARGEST} characters")
        return json.loads(text, object_pairs_hook=once, parse_float=refuse, parse_constant=refuse, parse_int=whole)
    except (ValueError, RecursionError) as error:
        raise error if type(error) is Rejected else Rejected(f"not a certificate: {error}") from None


def verify(certificate: Any, conditions: Callable[..., list[Condition]] = conditions, statement: Callable[..., str] = statement) -> str:
    """The statement that the certificate proves; raises Rejected if it does not prove it."""
    try:
        with metered():
            entries = {"format": str, "name": str, "problem": dict, "constant": str, "U": dict, "proofs": list, "digest": str}
            fields(certificate, "the certificate", **entries)
            if certificate["format"] != FORMAT or len(certificate["name"]) > LONGEST or not certificate["name"].isprintable():
                raise Rejected(f"the format is not {FORMAT!r}, or the name is not plain text")
            problem, constant = certificate["problem"], rational(certificate["constant"])
            u = Poly()
            for m, c in certificate["U"].items():
                term = parse(m)
                if str(term) != m or len(term) != 1 or list(term.values()) != [1] or next(iter(term)) in u or c == "0":
                    raise Rejected(f"{m[:40]!r} is not a monomial in its plain form, with a coefficient other than 0")
                u += term * number(rational(c))
            needed = conditions(problem, u, constant)
            if set(problem.get("statistic", ())) - u.variables() - parse(problem.get("target", "0")).variables():
                raise Rejected("a coordinate of the state is used by neither U nor the target")
            proofs = [fields(proof, "a proof", condition=str, blocks=list) for proof in certificate["proofs"]]
            if [name for name, _, _ in needed] != [proof["condition"] for proof in proofs]:
                raise Rejected("the conditions proved are not those the statement needs")
            for (name, p, cone), proof in zip(needed, proofs):
                if p != sum((squares(block, cone) for block in proof["blocks"]), Poly()):
                    raise Rejected(f"the sum of squares does not equal the condition '{name}'")
            if certificate["digest"] != digest(certificate):
                raise Rejected("the file was changed after it was written: its digest differs")
            return f"proved in exact arithmetic with C = {constant}: {statement(problem, constant)}"
    except Exception as error:  # whatever goes wrong on the way, nothing is proved
        raise error if type(error) is Rejected else Rejected(f"{type(error).__name__}: {error}") from None


if __name__ == "__main__":
    print(verify(read(sys.stdin.read())))
