"""The martingale inequality behind every function of the catalogue: named, evaluated, searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from burkholder.functions.base import BurkholderFunction
from burkholder.functions.registry import CATALOGUE, get
from burkholder.lab.adversary import Attack, search
from burkholder.lab.expectation import Expectation, Process, expectation, monte_carlo
from burkholder.lab.trees import Tree

# Catalogue name (or its beginning) -> what E V ≤ 0 says, f_n = Σδ_t x_t along a martingale difference sequence.
STATEMENTS: dict[str, tuple[str, str]] = {
    "square-function-paper-coordinates": ("square function, coordinates", "Σ_i E|f_i| ≤ 2·L·Σ_i E√Σx_i²"),
    "square-function-paper": ("square function", "E‖f‖₂ ≤ 2·L·E√Σ‖x‖²"),
    "square-function-coordinates": ("Davis–Wang, coordinates", "Σ_i E|f_i| ≤ 1.30693·L·Σ_i E√Σx_i²"),
    "square-function-l4": ("Davis–Wang through a smooth norm", "E‖f‖₄ ≤ 1.30693·√3·L·E√Σ‖x‖₄²"),
    "square-function": ("Davis–Wang", "E‖f‖₂ ≤ 1.30693·L·E√Σ‖x‖²"),
    "adagrad-norm": ("square function, general increments", "E‖f‖₂ ≤ 2·E√Σδ²‖x‖²"),
    "adagrad": ("square function, general increments, coordinates", "Σ_i E|f_i| ≤ 2·Σ_i E√Σδ²x_i²"),
    "parameter-free": ("exponential square", "E exp(‖f‖²/(2βn) − ½H_n) ≤ 1 for ‖x‖ ≤ 1 (the repaired corollary)"),
    "adaptive": ("exponential square, self-normalised", "E √(v/D)·exp(‖f‖²/(2βD)) ≤ 1, D = v + L²Σ‖x‖²"),
    "mixture": ("mixture of exponentials", "E ∫exp(λf − ψ_h(λ)Σδ²x²)dπ(λ) ≤ 1"),
    "smoothness": ("2-smoothness (martingale type 2)", "E‖f‖² ≤ β·L²·E Σ‖x‖²"),
    "experts": ("finite class maximal inequality", "E max_j(−f_j) ≤ ln(d)/η + ½ηL²X²n"),
    "strongly-convex": ("self-normalised log-determinant", "E fᵀM⁻¹f ≤ (L²/ρ)·E ln det(M/λ), M = λI + ρΣzzᵀ"),
    "matrix-parameter-free": ("matrix exponential", "E Σ_kπ_k tr exp(η_kH − ½η_k²L²M)/D ≤ 1"),
    "matrix": ("matrix square function", "E‖ΣδX‖_σ ≤ ½ηL²·E‖ΣM(X)‖_σ + ln(D)/η"),
    "zigzag": ("martingale transform", "E‖Σδx‖_p^p ≤ (p*−1)^p·E‖Σεδx‖_p^p"),
    "combination": ("convex combination", "E ΣλV_i ≤ 0"),
    "minimum": ("minimum", "E min V_i ≤ 0"),
    "softmax": ("soft maximum", "E V ≤ 0 for the soft maximum"),
}


@dataclass(frozen=True)
class Inequality:
    """E V(ζ_n) ≤ 0 for one function, over every predictable process in some dimension."""

    key: str
    name: str
    statement: str
    function: BurkholderFunction
    dim: int

    def evaluate(self, tree: Tree) -> Expectation:
        """E V over every path of a tree, exactly."""
        return expectation(self.function, tree)

    def estimate(self, process: Process, rounds: int, **options: Any) -> Expectation:
        """E V along a process by Monte Carlo, with an interval."""
        return monte_carlo(self.function, process, rounds, **options)

    def search(self, rounds: int = 4, seconds: float = 2.0, seed: int = 0) -> Attack:
        """The largest E V an adversary finds."""
        rounds = min(rounds, 4) if self.function.in_expectation else rounds
        return search(self.function, rounds, self.dim, seconds, seed)


def inequality(function: str | BurkholderFunction, dim: int | None = None) -> Inequality:
    """The martingale inequality of a catalogue name or of a function of one's own.

    >>> inequality("square-function").statement
    'E‖f‖₂ ≤ 1.30693·L·E√Σ‖x‖²'
    """
    if isinstance(function, str):
        key, built = function, get(function)
        entry = CATALOGUE.get(function)
        dim = dim or (entry.dims[-1] if entry else 1)
        begun = [name for name in STATEMENTS if key == name or key.startswith(name + "-")]
        name, statement = STATEMENTS[max(begun, key=len)] if begun else (key, "E V(ΣT) ≤ 0")
        return Inequality(key, name, statement, built, dim)
    return Inequality(function.name, function.name, "E V(ΣT) ≤ 0", function, dim or 1)
