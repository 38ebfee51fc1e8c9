"""What a search returns: a constant, the function that proves it, and a certificate anybody can check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from burkholder.checker import Poly, number, parse
from burkholder.discovery.monomials import written
from burkholder.discovery.problems import Problem
from burkholder.errors import BadInput
from burkholder.limited import part, statement, verify

if TYPE_CHECKING:
    from burkholder.functions.base import BurkholderFunction


@dataclass(frozen=True)
class ProofCertificate:
    """An exact proof as plain data; `verify` re-checks it, `save` writes it for `burkholder check`.

    >>> import burkholder as bk
    >>> proof = bk.discover("smoothness-4").certificate
    >>> proof.constant, proof.verify()[:26]
    (Fraction(3, 1), 'proved in exact arithmetic')
    """

    data: Mapping[str, Any]

    @property
    def constant(self) -> Fraction:
        """The constant proved, exact."""
        return Fraction(self.data["constant"])

    def verify(self) -> str:
        """The statement proved; raises `burkholder.checker.Rejected` when it is not."""
        return verify(dict(self.data))

    def save(self, path: str | Path) -> Path:
        """Write the certificate as JSON and return its path."""
        path = Path(path)
        if not path.parent.is_dir():
            raise BadInput("path", str(path), "its folder does not exist")
        path.write_text(json.dumps(self.data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


@dataclass(frozen=True)
class FoundFunction:
    """The U that was found, evaluated on numbers or arrays; exact in `polynomial`, over `below` to a power in a quotient."""

    polynomial: Poly
    state: tuple[str, ...]
    below: Poly = field(default_factory=lambda: number(1))
    power: int = 0

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self.state):
            raise BadInput("values", values, f"give one value for each of {', '.join(self.state)}")
        at = dict(zip(self.state, (np.asarray(v, dtype=float) for v in values)))
        top, bottom = _evaluated(self.polynomial, at), _evaluated(self.below, at)
        if not self.power:
            return top
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(bottom == 0, 0.0, top / bottom**self.power)

    def __str__(self) -> str:
        if not self.power:
            return written(self.polynomial)
        return f"({written(self.polynomial)})/({written(self.below)})" + (f"**{self.power}" if self.power > 1 else "")


def _evaluated(polynomial: Poly, at: Mapping[str, Any]) -> Any:
    total: Any = 0.0
    for monomial, c in polynomial.items():
        term: Any = float(c)
        for name, k in monomial:
            term = term * at[name] ** k
        total = total + term
    return total


@dataclass(frozen=True)
class Found:
    """The outcome of `discover`: `exact` is proved, `constant` its floating value, `known` the sharp one.

    >>> import burkholder as bk
    >>> found = bk.discover("smoothness-4")
    >>> found.exact, found.sharp
    (Fraction(3, 1), True)
    """

    problem: Problem
    exact: Fraction
    numerical: float  # the solver's own optimum, not proved
    certificate: ProofCertificate
    seconds: float

    @property
    def name(self) -> str:
        """The problem's name."""
        return self.problem.name

    @property
    def constant(self) -> float:
        """The constant proved, as a float."""
        return float(self.exact)

    @property
    def known(self) -> float | None:
        """The sharp constant, where it is known."""
        return None if self.problem.known is None else float(self.problem.known)

    @property
    def sharp(self) -> bool:
        """Whether the constant proved is exactly the known sharp one."""
        known = self.problem.known
        return isinstance(known, (int, Fraction)) and self.exact == known

    @property
    def statement(self) -> str:
        """The inequality that the certificate proves, as the checker words it."""
        return statement(self.certificate.data["problem"], self.exact)

    @property
    def function(self) -> FoundFunction:
        """U; for a smooth norm, where U = V, there is no unknown polynomial and this is zero."""
        u = sum((parse(m) * number(Fraction(c)) for m, c in self.certificate.data["U"].items()), Poly())
        u = part(u, "a", 0)  # with limited steps the terms with a are slope and curvature
        if not self.problem.below:
            return FoundFunction(u, self.problem.state)
        return FoundFunction(u, self.problem.state, parse(self.problem.below), self.problem.power)

    def as_function(self, **options: Any) -> BurkholderFunction:
        """The found U as the Burkholder function of a learner, for problems that have a prediction side."""
        from burkholder.discovery.prediction import as_function

        return as_function(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "statement": self.statement,
            "constant": self.constant,
            "known": self.known,
            "exact": str(self.exact),
            "sharp": self.sharp,
            "numerical": self.numerical,
            "function": str(self.function),
            "certificate": dict(self.certificate.data),
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        about = f"{self.name}: C = {self.exact}"
        if self.exact.denominator != 1:
            about += f" = {self.constant:.10g}"
        if self.known is not None:
            about += ", best possible by theory" if self.sharp else f" (best possible by theory: {self.known:.10g})"
        lines = [about, f"  {self.statement}"]
        if self.problem.state:
            u = str(self.function)
            lines.append(f"  U = {u}" if len(u) < 200 else f"  U has {len(self.function.polynomial)} terms")
        return "\n".join([*lines, f"  proved in exact arithmetic in {self.seconds:.2f} s"])
