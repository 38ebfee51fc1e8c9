"""How well verification works: proofs and their times, the catalogue examined, and every constant moved by 5 %.

    python bench/verify.py [--only proofs|catalogue|mutants] [--names NAME ...] [--seconds 10]

Prints tables and writes out/verify.json. A mutant's seconds are those until its first refutation.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from burkholder.functions import CATALOGUE, REFUTED
from burkholder.lab.exact import adaptive, davis, experts, smoothness, square, strongly_convex, zigzag
from burkholder.lab.mutations import everything
from burkholder.lab.verify import verify

PROOFS = {
    "U_sq, tangent majorant": square.majorant,
    "U_sq ≥ V": square.majorises,
    "l_4 smoothness, dimension 3": smoothness.l4,
    "strongly convex": strongly_convex.scalar,
    "experts, any number": experts.anyone,
    "adaptive parameter-free, all g": adaptive.everywhere,
    "adaptive parameter-free, box": adaptive.box,
    "Davis/Wang, 3′": davis.step,
    "Davis/Wang, 2°": davis.majorises,
    "zigzag concavity, p = 3": lambda: zigzag.concave(3),
    "U_3 ≥ V": lambda: zigzag.majorises(3),
}


def proofs() -> list[dict[str, Any]]:
    print(f"{'proof':<34}{'verdict':<14}{'seconds':>8}  where")
    rows = []
    for name, prove in PROOFS.items():
        started = time.perf_counter()
        verdict = prove()
        rows.append(
            {
                "proof": name,
                "status": verdict.status.value,
                "seconds": time.perf_counter() - started,
                "domain": verdict.domain,
                "arithmetic": verdict.arithmetic,
            }
        )
        print(f"{name:<34}{verdict.status.value:<14}{rows[-1]['seconds']:>8.2f}  {verdict.domain}", flush=True)
    return rows


def catalogue(names: list[str], seconds: float) -> list[dict[str, Any]]:
    print(f"\n{'function':<36}{'verdict':<14}{'points':>10}{'worst':>10}{'seconds':>9}")
    rows = []
    for name in names:
        report = verify(name, seconds=seconds)
        points = sum(verdict.points for verdict in report.verdicts)
        worst = max(verdict.worst for verdict in report.verdicts if verdict.worst is not None)
        rows.append({"function": name, "status": report.status.value, "points": points, "worst": worst, "seconds": report.seconds})
        print(f"{name:<36}{report.status.value:<14}{points:>10,}{worst:>10.1e}{report.seconds:>9.1f}", flush=True)
    return rows


def mutated(names: list[str], seconds: float) -> list[dict[str, Any]]:
    print(f"\n{'function':<34}{'constant':<30}{'factor':>7}{'room':>8}  {'verdict':<13}{'seconds':>8}  claim")
    rows = []
    for mutant in everything():
        if mutant.name not in names:
            continue
        started = time.perf_counter()
        report = verify(mutant.function, seconds=seconds, dims=CATALOGUE[mutant.name].dims, first=True)
        claim = report.refuted[0].claim if report.refuted else ""
        rows.append(
            {
                "function": mutant.name,
                "constant": mutant.constant,
                "factor": mutant.factor,
                "room": mutant.room.factor,
                "why": mutant.room.why,
                "status": report.status.value,
                "seconds": time.perf_counter() - started,
                "claim": claim,
            }
        )
        print(
            f"{mutant.name:<34}{mutant.constant:<30}{mutant.factor:>7.3f}{mutant.room.factor:>8.3f}  "
            f"{report.status.value:<13}"
            f"{rows[-1]['seconds']:>8.2f}  {claim}",
            flush=True,
        )
    done = [row for row in rows if row["status"] == "refuted"]
    sharp = [row for row in rows if abs(row["factor"] - row["room"]) < 0.051 * row["room"]]
    reasons = {row["why"]: [other["function"] for other in rows if other["why"] == row["why"]] for row in rows if row["why"]}
    for why, where in reasons.items():
        print(f"room to spare in {', '.join(dict.fromkeys(where))}: {why}")
    late = max((row["seconds"] for row in rows), default=0.0)
    print(f"\n{len(done)} of {len(rows)} mutants refuted ({len(sharp)} of them moved 5 % past what still holds), slowest {late:.1f} s")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("proofs", "catalogue", "mutants"))
    parser.add_argument("--names", nargs="*", default=None)
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    out = Path("out") / "verify.json"
    out.parent.mkdir(exist_ok=True)
    result: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
    if chosen.only in (None, "proofs"):
        result["proofs"] = proofs()
    if chosen.only in (None, "catalogue"):
        result["catalogue"] = catalogue(chosen.names or [*CATALOGUE, *REFUTED], chosen.seconds)
    if chosen.only in (None, "mutants"):
        result["mutants"] = mutated(chosen.names or list(CATALOGUE), chosen.seconds)
    out.write_text(json.dumps(result, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
