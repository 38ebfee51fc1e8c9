"""Every problem of the catalogue: constant found, sharp constant, exact certificate, time, and the checker's verdict.

    PYTHONPATH=src python bench/discovery.py

Prints a table and writes out/discovery.json. The first problem pays for importing the solver; its time is shown
apart. `accepted` counts single changes of the file, in type, value or shape, resealed with a fresh digest, that the checker let
pass although they change the type of an entry or the statement that is proved: it should be 0.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from burkholder.checker import verify
from burkholder.discovery import discover, names
from burkholder.discovery.mutations import Tally, attack

EXTRA = ["zigzag-10", "zigzag-12", "orthogonal-3", "smoothness-8"]


def main() -> None:
    began = perf_counter()
    discover("strongly-convex")
    warm_up = perf_counter() - began
    rows = []
    print(
        f"{'problem':34s} {'constant':>16s} {'sharp':>16s} {'excess':>9s} {'exact':>6s} {'seconds':>8s} "
        f"{'check s':>8s} {'tried':>6s} {'accepted':>8s}"
    )
    for name in [*names(), *EXTRA]:
        found = discover(name)
        data = json.loads(json.dumps(dict(found.certificate.data)))
        began = perf_counter()
        verify(data)
        checking = perf_counter() - began
        tally = attack(data) if name in names() else Tally(0, ())
        tried, accepted = tally.tried, len(tally.accepted)
        excess = None if found.known is None else found.constant / found.known - 1
        rows.append(
            {
                "name": name,
                "constant": found.constant,
                "known": found.known,
                "excess": excess,
                "numerical": found.numerical,
                "exact": str(found.exact),
                "sharp": found.sharp,
                "seconds": found.seconds,
                "check_seconds": checking,
                "changes_tried": tried,
                "changes_accepted": accepted,
            }
        )
        print(
            f"{name:34s} {found.constant:16.8f} {found.known or float('nan'):16.8f} "
            f"{float('nan') if excess is None else excess:9.1e} {'sharp' if found.sharp else 'above':>6s} "
            f"{found.seconds:8.2f} {checking:8.4f} {tried:6d} {accepted:8d}",
            flush=True,
        )
    known = [row for row in rows if row["known"] is not None and row["name"] in names()]
    summary = {
        "worst_excess": max(row["excess"] for row in known),
        "slowest": max(row["seconds"] for row in known),
        "exactly_sharp": sum(row["sharp"] for row in known),
        "of": len(known),
        "first_import": warm_up,
        "changes_tried": sum(row["changes_tried"] for row in rows),
        "changes_accepted": sum(row["changes_accepted"] for row in rows),
    }
    print(json.dumps(summary))
    out = Path(__file__).resolve().parent.parent / "out"
    out.mkdir(exist_ok=True)
    (out / "discovery.json").write_text(json.dumps({"summary": summary, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
