"""Expert advice on eleven sets of forecasts: `Experts` untuned beside the well-known rules, absolute and squared loss.

Sets are described in `experts_data.py`, peers in `experts_peers.py`; hours of a day that are published together have a learner
each. EWA and online ridge are tuned in hindsight, the best of a grid for each set. "without lanes" is Huber-root on the forecasts
alone. The last table is what the certificate says of the regret to the best mixture of the experts in hindsight: promised,
realised, and the true one. Run from the repository root:

    python bench/experts.py [set ...] [--before TREE]

With --before, `Experts()` of another tree of this repository is one column more.

The data folder is BURKHOLDER_DATA, or ../shared/data; out/experts.json gets the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.experts import Experts, best_mixture
from experts_data import ROOT, SETS, Streams
from experts_peers import ada_normal_hedge, opera_boa, opera_mlpol, ridge

RATES = [10.0 ** (power / 2) for power in range(-8, 5)]
PENALTIES = [10.0**power for power in range(-4, 5)]
OURS = "experts"


def paid(loss: str, predictions: np.ndarray, y: np.ndarray) -> float:
    return float(np.sum((predictions - y) ** 2 if loss == "squared" else np.abs(predictions - y)))


def aggregated(streams: Streams, loss: str, **options: Any) -> float:
    return sum(Experts(loss, **options).run(x, y, trace=0, weights=False).losses.sum() for x, y in streams)


def scale(streams: Streams, loss: str) -> float:
    """The unit of a regret of one round, so that one grid of rates does for every set."""
    spread = np.mean([np.mean(np.ptp(x, axis=1)) for x, _ in streams])
    error = np.mean([np.mean(np.abs(x.mean(axis=1) - y)) for x, y in streams])
    return float(spread * (2.0 * error if loss == "squared" else 1.0))


def certified(streams: Streams, loss: str) -> dict[str, float]:
    """Promised, realised and true regret to the best mixture of each stream."""
    figures = dict.fromkeys(("loss", "promised", "realised", "true", "best mixture"), 0.0)
    for x, y in streams:
        run = Experts(loss).run(x, y, trace=0, weights=False)
        best = best_mixture(run)
        figures["loss"] += run.losses.sum()
        figures["best mixture"] += best.loss * len(y)
        figures["promised"] += run.certificate.bound(best.weights)
        figures["realised"] += run.certificate.realised(best.weights)
        figures["true"] += run.losses.sum() - best.loss * len(y)
    return figures


ELSEWHERE = """
import pickle, sys
from burkholder.experts import Experts
loss, streams = pickle.load(sys.stdin.buffer)
print(sum(float(Experts(loss).run(x, y).losses.sum()) for x, y in streams))
"""


def before(tree: Path, streams: Streams, loss: str) -> float:
    """What `Experts()` of another tree loses."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    line, given = [sys.executable, "-c", ELSEWHERE], pickle.dumps((loss, streams))
    return float(subprocess.run(line, input=given, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def task(streams: Streams, loss: str, tree: Path | None) -> dict[str, Any]:
    """Every rule on one set, as mean losses."""
    n = sum(len(y) for _, y in streams)
    began = time.process_time()
    sums = {OURS: aggregated(streams, loss)}
    seconds = time.process_time() - began
    sums["without lanes"] = aggregated(streams, loss, lanes=False)
    for method in ("boa", "ml-poly", "squint"):
        sums[method] = aggregated(streams, loss, method=method)
    for name, rule in (("ada-normal-hedge", ada_normal_hedge), ("opera's boa", opera_boa), ("opera's mlpol", opera_mlpol)):
        sums[name] = sum(paid(loss, rule(x, y, loss == "squared"), y) for x, y in streams)
    sums["vaw"] = sum(paid(loss, ridge(x, y, 1.0, True), y) for x, y in streams)
    unit = scale(streams, loss)
    sums["ewa tuned"] = min(
        aggregated(streams, loss, method="ewa", rate=rate / unit, linear=linear) for rate in RATES for linear in (True, False)
    )
    sums["ridge tuned"] = min(sum(paid(loss, ridge(x, y, penalty, False), y) for x, y in streams) for penalty in PENALTIES)
    sums["mean"] = sum(paid(loss, x.mean(axis=1), y) for x, y in streams)
    if tree is not None:
        sums["before"] = before(tree, streams, loss)
    result = {"loss": loss, "rounds": n, "seconds": seconds, "mean_loss": {rule: float(total / n) for rule, total in sums.items()}}
    return result | {"certificate": certified(streams, loss)}


def table(results: list[dict[str, Any]]) -> None:
    """Losses over ours, and their geometric means."""
    rules = list(results[0]["mean_loss"])
    print(f"{'':26s}{OURS:>12s}" + "".join(f"{rule:>17s}" for rule in rules[1:]))
    ratios = []
    for result in results:
        ours = result["mean_loss"][OURS]
        ratios.append([result["mean_loss"][rule] / ours for rule in rules])
        print(f"{result['set'] + ', ' + result['loss']:26s}{ours:12.5g}" + "".join(f"{ratio:17.4f}" for ratio in ratios[-1][1:]))
    means = np.exp(np.mean(np.log(ratios), axis=0))
    print(f"{'geometric mean':38s}" + "".join(f"{mean:17.4f}" for mean in means[1:]))
    print(f"\n{'regret to the best mixture':38s}{'promised/loss':>15s}{'realised/loss':>15s}{'true/loss':>15s}")
    for result in results:
        figures = result["certificate"]
        shares = [figures[key] / figures["loss"] for key in ("promised", "realised", "true")]
        print(f"{result['set'] + ', ' + result['loss']:38s}" + "".join(f"{share:15.4f}" for share in shares))


def main() -> None:
    if not ROOT.exists():
        sys.exit(f"{ROOT} is not there: set BURKHOLDER_DATA to the folder with the data")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="set", help=f"of {', '.join(SETS)}; all if none")
    parser.add_argument("--before", type=Path, metavar="TREE")
    options = parser.parse_args()
    results = []
    for name in options.sets or SETS:
        streams = SETS[name]()
        for loss in ("absolute", "squared"):
            results.append({"set": name, **task(streams, loss, options.before)})
            print(f"{name}, {loss}: {results[-1]['seconds']:.1f} s", file=sys.stderr)
    table(results)
    Path("out").mkdir(exist_ok=True)
    Path("out/experts.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
