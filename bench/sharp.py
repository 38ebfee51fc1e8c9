"""Sharp constants and the martingale lab: every row, its bracket and its time. Prints tables, writes out/sharp.json.

Run from the repository root: python bench/sharp.py [--quick]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from burkholder.functions.registry import CATALOGUE, REFUTED
from burkholder.lab import trees
from burkholder.lab.expectation import expectation
from burkholder.lab.inequalities import inequality
from burkholder.lab.inequality import Inequality
from burkholder.lab.matrix_square import hardest
from burkholder.lab.necessary import tight
from burkholder.lab.sharp import names, sharp


def constants() -> list[dict]:
    print(
        f"{'inequality':34s} {'constant':>13s} {'theory':>13s} {'lower':>12s} {'upper':>12s} {'width':>8s}"
        f" {'program':>10s} {'proved':>6s} {'seconds':>7s}"
    )
    rows = []
    for name in names():
        found = sharp(name)
        rows.append(found.to_dict())
        print(
            f"{name:34s} {found.constant:13.8f} {found.known or float('nan'):13.8f} {found.lower:12.6f} {found.upper:12.6f}"
            f" {found.width:8.1e} {found.estimate:10.5f} {found.proved!s:>6s} {found.seconds:7.2f}",
            flush=True,
        )
    worst = max(abs(row["constant"] - row["known"]) for row in rows if row["known"] is not None)
    print(
        f"largest error {worst:.1e}, widest bracket {max(r['upper'] - r['lower'] for r in rows):.1e},"
        f" slowest {max(r['seconds'] for r in rows):.1f} s"
    )
    return rows


SQUARE = {"x": "x + a", "s": "s + a**2"}
VARIANCE = {"x": "x + a", "v": "v + sigma2"}
BOTH = {"s": "s + a**2", "v": "v + sigma2"}
LIMITED: list[tuple[dict[str, str], str, str, str, list[str]]] = [
    (VARIANCE, "general", "v**2", "C*x**4", []),
    (VARIANCE, "general", "v**3", "C*x**6", []),
    (BOTH, "general", "v**2", "C*s**2", []),
    (VARIANCE, "general", "x**2*v", "C*x**4", []),
    (VARIANCE, "general", "v**2 + x**2*v", "C*x**4", []),
    (BOTH | {"q": "q + a**4"}, "general", "v**2", "C*(s**2 + q)", []),
    (VARIANCE | {"m": "max(m, x**2)"}, "general", "v**2", "C*m*x**2", []),
    (VARIANCE, "general", "x**3", "C*(v + v**2)", ["a <= 1"]),
    (BOTH, "general", "s**2", "C*(v + v**2)", ["a**2 <= 1"]),
    (SQUARE, "rademacher", "x**4/(1 + s)", "C*s", []),
    (VARIANCE | {"q": "q + a**4"}, "general", "x**4", "C*(v**2 + q)", []),
    (VARIANCE | {"j": "max(j, a**2)"}, "general", "x**4", "C*(v**2 + j**2)", []),
    (VARIANCE, "general", "x**4", "C*v**2", ["a**2 <= 4*sigma2"]),
    (SQUARE | {"m": "max(m, x)"}, "general", "m**2*s", "C*x**4", []),
]
OWN = [
    ("general", "s**2", "C*x**4"),
    ("general", "x**2*s", "C*x**4"),
    ("general", "s**2 + x**2*s", "C*x**4"),
    ("general", "x**2", "C*s"),
    ("general", "s**3", "C*x**6"),
    ("general", "s**4", "C*x**8"),
    ("general", "x**4", "C*s**2"),
    ("general", "x**2*s", "C*s**2"),
    ("general", "abs(x)**3", "C*s**1.5"),
    ("rademacher", "s**2", "C*x**4"),
    ("rademacher", "x**2*s", "C*x**4"),
    ("rademacher", "s**2", "C*x**2*s"),
    ("rademacher", "s**2 + x**2*s", "C*x**4"),
    ("rademacher", "s**3", "C*x**6"),
    ("rademacher", "s**4", "C*x**8"),
    ("rademacher", "x**4", "C*s**2"),
    ("rademacher", "abs(x)", "C*sqrt(s)"),
    ("rademacher", "s**1.5", "C*abs(x)**3"),
]


def own() -> list[dict]:
    """Inequalities from formulas alone: nothing about them is written down but the formulas."""
    print(f"\n{'moves':11s} {'left':16s} {'right':14s} {'lower':>12s} {'upper':>12s} {'width':>8s} {'program':>12s} {'seconds':>7s}")
    rows = []
    for state, moves, left, right, where in [(SQUARE, *row, []) for row in OWN] + LIMITED:
        found = sharp(Inequality(state, moves, left, right, where))
        rows.append(found.to_dict())
        ends = [f"{end:12.7f}" if end is not None else f"{'-':>12s}" for end in (found.lower, found.upper, found.estimate)]
        print(
            f"{moves:11s} {left:16s} {right:14s} {ends[0]} {ends[1]} {found.width:8.1e} {ends[2]} {found.seconds:7.2f} {', '.join(where)}",
            flush=True,
        )
    return rows


def inequalities(seconds: float) -> list[dict]:
    print(f"\n{'function':34s} {'dim':>3s} {'trees':>7s} {'largest E V / size':>18s}  verdict")
    rows = []
    for name in [*CATALOGUE, *REFUTED]:
        found = inequality(name)
        attack = found.search(rounds=4, seconds=seconds)
        relative = attack.best.value / max(attack.best.magnitude, 1e-300)
        rows.append({"function": name, "inequality": found.name, "statement": found.statement, **attack.to_dict()})
        verdict = "REFUTED" if attack.refuted else "not refuted"
        print(f"{name:34s} {found.dim:3d} {attack.evaluations:7d} {relative:18.2e}  {verdict}", flush=True)
    return rows


def tightness(rounds: int, paths: int) -> list[dict]:
    print(f"\n{'learner':34s} {'hardest':>13s} {'regret':>10s} {'bound':>10s} {'ratio':>6s}")
    rows = []
    for name, entry in CATALOGUE.items():
        if entry.curved:
            continue
        found = tight(name, rounds=rounds, paths=paths)
        rows.append(found.to_dict())
        print(
            f"{name:34s} {found.process:>13s} {found.regret:10.4g} {found.bound:10.4g} {found.ratio:6.3f} ± {found.error:.3f}", flush=True
        )
    return rows


def main() -> None:
    quick = "--quick" in sys.argv
    result: dict = {"constants": constants(), "own": own()}
    result["inequalities"] = inequalities(0.3 if quick else 1.0)
    result["tightness"] = tightness(64, 200 if quick else 500)
    began = time.perf_counter()
    tree = trees.random(np.random.default_rng(0), 20, 1)
    value = expectation(inequality("square-function").function, tree)
    result["exact"] = {"paths": value.paths, "seconds": time.perf_counter() - began, "value": value.value}
    print(f"\nexact expectation over {value.paths} paths: {result['exact']['seconds']:.2f} s")
    worst, _ = hardest((2, 2), rounds=4, seconds=0.5 if quick else 5.0)
    result["matrix_square"] = worst.to_dict()
    print(f"matrix square function, 2×2, 4 rounds: largest left ÷ right found {worst.ratio:.3f}")
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "sharp.json").write_text(json.dumps(result, indent=1, ensure_ascii=False))
    print(f"written {out / 'sharp.json'}")


if __name__ == "__main__":
    main()
