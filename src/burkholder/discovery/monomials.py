"""Which monomials U and each sum of squares may use: weights, sign symmetries, Newton polytopes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from math import lcm

import numpy as np
from scipy.optimize import linprog

from burkholder.checker import SIGN, Monomial, Poly, parse, variable
from burkholder.discovery.problems import Problem
from burkholder.errors import BadInput
from burkholder.limited import KIND

Exponents = tuple[int, ...]
LARGEST_BASIS = 20_000  # monomials looked at for one basis; beyond this the search itself is hopeless
LARGEST_U = 400  # coefficients of U
LARGEST_SQUARES = 4_000  # monomials that may enter squares, before symmetry splits them into blocks


def exponents(monomial: Monomial, names: Sequence[str]) -> Exponents:
    powers = dict(monomial)
    return tuple(powers.get(name, 0) for name in names)


def monomial(powers: Exponents, names: Sequence[str]) -> Monomial:
    return tuple(sorted((name, k) for name, k in zip(names, powers) if k))


def text(powers: Monomial) -> str:
    """Python notation, as the checker reads it.

    >>> text((("x", 2), ("y", 1)))
    'x**2*y'
    """
    return "*".join(name if k == 1 else f"{name}**{k}" for name, k in powers) or "1"


def written(p: Poly) -> str:
    """A polynomial in Python notation.

    >>> from burkholder.checker import parse
    >>> written(parse("(x - 3*y)**2"))
    'x**2 - 6*x*y + 9*y**2'
    """
    return str(p)


def weights(problem: Problem, with_target: bool = True) -> dict[str, int] | None:
    """Positive integer weights under which every step of T, and V, are homogeneous, or None."""
    steps = problem.steps
    target = list(problem.goal)[: None if with_target else 1]
    names = sorted({n for p in steps.values() for n in p.variables()} | set(problem.state) | ({problem.variance} - {""}))
    rows = [np.subtract(exponents(m, names), exponents(target[0], names)) for m in target[1:]]
    for name, step in steps.items():
        rows += [np.subtract(exponents(m, names), exponents(((name, 1),), names)) for m in step]
    for name, p in _limits(problem) if with_target and names else ():
        first = ((name, 1),) if name else next(iter(p))
        rows += [np.subtract(exponents(m, names), exponents(first, names)) for m in p]
    if not names or not target:
        return None
    signs = [i for i, name in enumerate(names) if name[0] == "e" and name not in problem.state]
    limits = [(0, 0) if i in signs else (1, None) for i in range(len(names))]
    equal = np.array(rows, dtype=float) if rows else None
    nothing = None if equal is None else np.zeros(len(rows))
    found = linprog(np.ones(len(names)), A_eq=equal, b_eq=nothing, bounds=limits)
    if found.status != 0:
        return None
    fractions = [Fraction(float(w)).limit_denominator(64) for w in found.x]
    whole = np.array([int(w * lcm(*(f.denominator for f in fractions))) for w in fractions])
    if equal is not None and np.any(equal @ whole):
        return None
    return dict(zip(names, (int(w) for w in whole)))


def parities(vectors: Iterable[Sequence[int]], size: int) -> list[Exponents]:
    """A basis of the sign flips s in {0,1}^size with s·v even for each v: algebra over two elements."""
    rows = {tuple(int(k) % 2 for k in v) for v in vectors}
    matrix = [list(row) for row in rows if any(row)]
    pivots: list[int] = []
    for column in range(size):
        found = next((r for r in range(len(pivots), len(matrix)) if matrix[r][column]), None)
        if found is None:
            continue
        at = len(pivots)
        matrix[at], matrix[found] = matrix[found], matrix[at]
        for r in range(len(matrix)):
            if r != at and matrix[r][column]:
                matrix[r] = [a ^ b for a, b in zip(matrix[r], matrix[at])]
        pivots.append(column)
    flips = []
    for free in (c for c in range(size) if c not in pivots):
        flip = [0] * size
        flip[free] = 1
        for r, column in enumerate(pivots):
            flip[column] = matrix[r][free]
        flips.append(tuple(flip))
    return flips


def even(powers: Sequence[int], flips: list[Exponents]) -> tuple[int, ...]:
    """How a monomial changes under each flip: 0 where it stays, 1 where it changes sign."""
    return tuple(sum(a * b for a, b in zip(powers, flip)) % 2 for flip in flips)


def candidates(problem: Problem) -> list[Monomial]:
    """The monomials of U: of V's weighted degree where V is homogeneous (more never helps), else up to it."""
    state = problem.state
    if not state:
        return []
    graded = weights(problem)
    scale = graded or weights(problem, with_target=False)
    weight = [scale[name] if scale else 1 for name in state]
    exactly = graded is not None and problem.degree is None
    degree = problem.degree or max(int(np.dot(weight, exponents(m, state))) for m in problem.goal)
    powers = list(islice(_compositions(weight, degree, exactly), LARGEST_BASIS + 1))
    if len(powers) > LARGEST_BASIS:
        raise BadInput("degree", degree, f"U could have over {LARGEST_BASIS} coefficients; lower it")
    if not any(m in ((), (("C", 1),)) for m in problem.goal):
        powers = [k for k in powers if any(k)]  # V(0) = 0 ≤ U(0) ≤ 0: no constant term
    if len(powers) > LARGEST_U:
        raise BadInput("degree", degree, f"U could have {len(powers)} coefficients, over {LARGEST_U}; lower it")
    if problem.martingale in ("zigzag", "orthogonal"):
        return [monomial(k, state) for k in powers]
    steps = problem.steps
    names = sorted({n for p in steps.values() for n in p.variables()} | set(state) | ({problem.variance} - {""}))
    invariant = [exponents(m, names) for m in problem.goal]
    for name, step in (*steps.items(), *_limits(problem)):
        invariant += [tuple(np.add(exponents(m, names), exponents(((name, 1),) if name else (), names))) for m in step]
    flips = parities(invariant, len(names))
    found = [monomial(k, state) for k in powers]
    if problem.martingale == KIND and "a" in names:  # slope and curvature
        around = [n for n in names if n == "a" or (n not in state and not SIGN.fullmatch(n))]
        both = [*state, *around]
        weight = [scale[name] if scale else 1 for name in both]
        more = islice(_compositions(weight, degree, exactly), LARGEST_BASIS)
        at = both.index("a")
        found += [monomial(k, both) for k in more if k[at] == 1 or (k[at] == 2 and problem.variance)]
    return [m for m in found if not any(even(exponents(m, names), flips))]


def _limits(problem: Problem) -> list[tuple[str, Poly]]:
    """What else must scale, and keep its signs, together: each polynomial, and the name it goes with, or none."""
    found = [("", parse(text)) for text in problem.within]
    found += [(name, parse(text)) for name, texts in problem.peak.items() for text in texts]
    if problem.below and problem.martingale == KIND:
        found.append(("", parse(problem.below)))
    return found + [("", variable("a") ** 2 + variable(problem.variance))] * bool(problem.variance)


def _compositions(weight: Sequence[int], degree: int, exactly: bool) -> Iterator[Exponents]:
    """Exponents of weighted degree `degree`, or up to it, in lexicographic order."""
    if not weight:
        if degree == 0 or not exactly:
            yield ()
        return
    for k in range(degree // weight[0] + 1):
        for rest in _compositions(weight[1:], degree - k * weight[0], exactly):
            yield (k, *rest)


Weight = dict[Exponents, Fraction]


def product_of(multiplier: Exponents, factors: Sequence[Weight]) -> Weight:
    """A monomial times polynomials, by exponents."""
    total: Weight = {multiplier: Fraction(1)}
    for factor in factors:
        terms: Weight = {}
        for (m, c), (n, d) in product(total.items(), factor.items()):
            key = tuple(int(k) for k in np.add(m, n))
            terms[key] = terms.get(key, Fraction(0)) + c * d
        total = {m: c for m, c in terms.items() if c}
    return total


def blocks(
    support: set[Exponents], cone: Sequence[bool], limits: Mapping[str, Weight] | None = None, together: int = 2
) -> list[tuple[Exponents, tuple[str, ...], list[Exponents]]]:
    """Triples (multiplier, limits, basis): products of cone variables, of at most `together` of the polynomials known to be ≥ 0, and
    monomials that fit half the Newton polytope; with limits, half of a box that is as high, since what sticks out may cancel."""
    points = np.array(sorted(support))
    size = points.shape[1]
    if size == 0:
        return [((), (), [()])]  # a constant is its own square
    if limits and together:
        return _limited(points, cone, limits, together)
    flips = parities(support, size)
    usable = [i for i in range(size) if cone[i] and points[:, i].any()]
    found = []
    for count in range(len(usable) + 1):
        for chosen in combinations(usable, count):
            multiplier = tuple(int(i in chosen) for i in range(size))
            if any(even(multiplier, flips)):
                continue
            classes: dict[tuple[int, ...], list[Exponents]] = {}
            for b in _half_polytope(points, np.array(multiplier)):
                classes.setdefault(even(b, flips), []).append(b)
            found += [(multiplier, basis) for basis in classes.values()]
    return [(multiplier, (), basis) for multiplier, basis in _consistent(found, support)]


def _limited(
    points: np.ndarray, cone: Sequence[bool], limits: Mapping[str, Weight], together: int
) -> list[tuple[Exponents, tuple[str, ...], list[Exponents]]]:
    size = points.shape[1]
    flips = parities([*map(tuple, points), *(m for g in limits.values() for m in g)], size)
    shifts = [np.subtract(m, next(iter(g))) for g in limits.values() for m in g]
    directions = np.vstack([points - points[0], *shifts]).astype(float)
    _, sizes, axes = np.linalg.svd(directions, full_matrices=True)
    normal = axes[int((sizes > 1e-9).sum()) :]
    top = points.max(axis=0) + points.max(axis=0) % 2
    highest = int(points.sum(axis=1).max())
    highest += highest % 2
    trial = np.array(list(product(*(range(k // 2 + 1) for k in top)))).reshape(-1, size)
    usable = [i for i in range(size) if cone[i]]
    found = []
    for count in range(min(len(usable), 1) + 1):
        for chosen in combinations(usable, count):
            multiplier = tuple(int(i in chosen) for i in range(size))
            for used in (u for k in range(together + 1) for u in combinations(limits, k)):
                weight = product_of(multiplier, [limits[label] for label in used])
                if not weight or any(any(even(m, flips)) for m in weight):
                    continue
                fits = np.ones(len(trial), bool)
                for m in weight:
                    whole = 2 * trial + np.array(m)
                    fits &= np.all(whole <= top, axis=1) & (whole.sum(axis=1) <= highest)
                    fits &= np.abs((whole - points[0]) @ normal.T).max(axis=1, initial=0.0) < 1e-6
                classes: dict[tuple[int, ...], list[Exponents]] = {}
                for b in trial[fits]:
                    classes.setdefault(even(b, flips), []).append(tuple(int(k) for k in b))
                found += [(multiplier, used, weight, basis) for basis in classes.values()]
    kept = _cancelling([(weight, basis) for _, _, weight, basis in found], set(map(tuple, points.tolist())))
    return [(multiplier, used, basis) for (multiplier, used, _, _), basis in zip(found, kept) if basis]


def _cancelling(found: list[tuple[Weight, list[Exponents]]], support: set[Exponents]) -> list[list[Exponents]]:
    """Without the squares that nothing can cancel: where all that is left of a monomial has one sign, it must vanish."""
    bases = [basis for _, basis in found]
    while True:
        crossed, alone = set[Exponents](), dict[Exponents, list[tuple[int, Exponents, bool]]]()
        for i, ((weight, _), basis) in enumerate(zip(found, bases)):
            for m, c in weight.items():
                crossed |= {tuple(map(sum, zip(a, b, m))) for a, b in combinations(basis, 2)}
                for b in basis:
                    alone.setdefault(tuple(2 * j + k for j, k in zip(b, m)), []).append((i, b, c > 0))
        gone = {
            (i, b)
            for at, terms in alone.items()
            if at not in support and at not in crossed and len({sign for *_, sign in terms}) == 1
            for i, b, _ in terms
        }
        if not gone:
            return bases
        bases = [[b for b in basis if (i, b) not in gone] for i, basis in enumerate(bases)]


def _half_polytope(points: np.ndarray, multiplier: np.ndarray) -> list[Exponents]:
    low, high = (points.min(axis=0) - multiplier + 1) // 2, (points.max(axis=0) - multiplier) // 2
    count = float(np.prod(np.maximum(high - np.maximum(low, 0) + 1.0, 0.0)))
    if count > LARGEST_BASIS * 50:
        raise BadInput("degree", int(points.sum(axis=1).max()), "squares need too many monomials; lower it")
    ranges = [range(max(a, 0), b + 1) for a, b in zip(low, high)]
    trial = np.array(list(product(*ranges))).reshape(-1, points.shape[1])
    if not len(trial):
        return []
    doubled = 2 * trial + multiplier
    # The affine hull first: homogeneity discards nearly all candidates before any linear program is solved.
    centred = points - points[0]
    _, sizes, axes = np.linalg.svd(centred.astype(float), full_matrices=True)
    normal = axes[int((sizes > 1e-9).sum()) :]
    flat = np.abs((doubled - points[0]) @ normal.T).max(axis=1, initial=0.0) < 1e-6
    if int(flat.sum()) > LARGEST_SQUARES:
        raise BadInput("degree", int(points.sum(axis=1).max()), "squares need too many monomials; lower it")
    inside = {tuple(point) for point in points}
    hull = np.vstack([points.T, np.ones(len(points))])
    kept: list[Exponents] = []
    for b, point in zip(trial[flat], doubled[flat]):
        member = (
            tuple(point) in inside or linprog(np.zeros(len(points)), A_eq=hull, b_eq=np.append(point, 1.0), bounds=(0, None)).status == 0
        )
        if member:
            kept.append(tuple(int(k) for k in b))
    return kept


def _consistent(found: list[tuple[Exponents, list[Exponents]]], support: set[Exponents]) -> list[tuple[Exponents, list[Exponents]]]:
    """Drop squares that nothing can cancel: their coefficient must vanish, and so their Gram row."""
    while True:
        crossed = {tuple(np.add(np.add(a, b), m)) for m, basis in found for a, b in combinations(basis, 2)}
        kept = [
            (m, [b for b in basis if (square := tuple(np.add(np.multiply(b, 2), m))) in support or square in crossed]) for m, basis in found
        ]
        kept = [(m, basis) for m, basis in kept if basis]
        if kept == found:
            return kept
        found = kept
