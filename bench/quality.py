"""Progressive loss of Auto, of single learners and of peers tuned in hindsight, on the sets of quality.toml.

Raw features plus a constant, one pass, predicted before learned. Prints a table, and writes out/quality.json and
out/quality.png. Peers' figures are kept in out/quality-cache (delete it to run them again). Vowpal Wabbit is used
when it can be imported here, or through the Python named by BURKHOLDER_VW_PYTHON.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import burkholder as bk
import quality_data
import quality_peers
from burkholder.auto import Auto
from burkholder.errors import BurkholderError

OUT = quality_data.ROOT / "out"
CACHE = OUT / "quality-cache"
SINGLE = ("square-function", "square-function-coordinates", "adagrad", "adaptive", "adaptive-coordinates", "mixture")
FAMILIES = {
    "gradient": quality_peers.gradient_peers, "vw": quality_peers.vw_peers, "river": quality_peers.river_peers,
}


def cached(name: str, loss: str, family: str, X: Any, y: np.ndarray) -> dict[str, dict[str, float]]:
    path = CACHE / f"{name}-{loss}-{family}.json"
    if not path.exists():
        found = FAMILIES[family](X, y, loss)
        if not found:
            return {}
        CACHE.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return json.loads(path.read_text())


def single_learners(X: Any, y: np.ndarray, loss: str) -> dict[str, float]:
    """Our Burkholder learners one by one, at their defaults; targets' largest modulus is given as the bound."""
    found = {}
    rows = quality_peers.with_constant(X)
    for name in SINGLE:
        try:
            bound = None if loss == "logistic" else float(np.abs(y).max())
            learner = bk.Learner(name, loss=loss, bound=bound)
            p = learner.run_batch(rows.indptr, rows.indices, rows.data, y)
            found[name] = quality_peers.mean_loss(loss, p, y)
        except BurkholderError as error:
            print(f"  {name} does not apply: {error}", file=sys.stderr)
    return found


def time_ratio(X: Any, y: np.ndarray) -> float:
    """CPU time of Auto over that of one AdaGrad pass, the least of alternating repetitions."""
    rows = quality_peers.with_constant(X)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    ada, auto = [], []
    for _ in range(12):
        start = time.thread_time()
        quality_peers.adagrad_pass(rows.indptr, rows.indices, rows.data, rows.shape[1], y, 0.1)
        ada.append(time.thread_time() - start)
        learner = Auto("logistic")
        start = time.thread_time()
        learner.run_batch(indptr, indices, X.data, y)
        auto.append(time.thread_time() - start)
    return min(auto) / min(ada[1:])


def task(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str) -> dict[str, Any]:
    peers: dict[str, dict[str, float]] = {}
    for family in FAMILIES:
        peers |= cached(entry["name"], loss, family, X, y)
    run = Auto(loss).run(X, y)
    best = min(peers, key=lambda name: peers[name]["loss"])
    result = {
        "set": entry["name"], "loss": loss, "rounds": len(y), "features": X.shape[1], "auto": run.mean_loss,
        "best_lane": min((lane.loss / len(y), lane.name) for lane in run.certificate.lanes),
        "best_peer": best, "best_peer_loss": peers[best]["loss"], "ratio": run.mean_loss / peers[best]["loss"],
        "peers": peers, "single": single_learners(X, y, loss),
    }
    if loss == "logistic" and X.nnz < 0.5 * X.shape[0] * X.shape[1]:
        result["time_over_adagrad"] = time_ratio(X, y)
    return result


def table(results: list[dict[str, Any]]) -> str:
    lines = ["| set | loss | Auto | best peer, tuned in hindsight | its loss | ratio | time / AdaGrad |",
             "|---|---|---|---|---|---|---|"]
    for r in results:
        seconds = f"{r['time_over_adagrad']:.1f}" if "time_over_adagrad" in r else ""
        lines.append(f"| {r['set']} | {r['loss']} | {r['auto']:.5g} | {r['best_peer']} | {r['best_peer_loss']:.5g} "
                     f"| {r['ratio']:.4f} | {seconds} |")
    return "\n".join(lines)


def picture(results: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.45 * len(results) + 1.2))
    axes = figure.subplots()
    for place, r in enumerate(results):
        others = [p["loss"] / r["auto"] for p in r["peers"].values() if math.isfinite(p["loss"])]
        singles = [loss / r["auto"] for loss in r["single"].values() if math.isfinite(loss)]
        axes.plot(np.clip(others, 0, 4), [place] * len(others), "o", color="tab:grey", alpha=0.6)
        axes.plot(np.clip(singles, 0, 4), [place] * len(singles), "x", color="tab:blue")
    axes.axvline(1.0, color="tab:red")
    axes.set_yticks(range(len(results)), [f"{r['set']}, {r['loss']}" for r in results])
    axes.set_xlabel("loss over Auto's (beyond 4 drawn at 4); grey: peers tuned in hindsight, blue: single learners")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=None, help="another settings file")
    parser.add_argument("--only", default="", help="only sets whose name contains this")
    options = parser.parse_args()
    if not quality_data.folder().exists():
        print(f"no data at {quality_data.folder()}; set BURKHOLDER_DATA to the folder of data sets")
        return
    results = []
    for entry in quality_data.settings(options.settings):
        if options.only not in entry["name"]:
            continue
        if not (quality_data.folder() / entry["path"]).exists():
            print(f"{entry['name']}: no {entry['path']} in the data folder, left out", file=sys.stderr)
            continue
        X, y = quality_data.load(entry)
        for loss in entry["losses"]:
            results.append(task(entry, X, y, loss))
            print(table(results[-1:]).splitlines()[-1], flush=True)
    if not results:
        print("no data set found")
        return
    ratios = np.array([r["ratio"] for r in results])
    summary = {
        "tasks": len(results), "at_most_1": int((ratios <= 1.0).sum()), "largest_ratio": float(ratios.max()),
        "geometric_mean": float(np.exp(np.log(ratios).mean())),
    }
    OUT.mkdir(exist_ok=True)
    (OUT / "quality.json").write_text(json.dumps({"summary": summary, "results": results}, indent=1))
    picture(results, OUT / "quality.png")
    print("\n" + table(results))
    print("\nsingle learners: " + "; ".join(
        f"{r['set']} {r['loss']}: " + ", ".join(f"{k} {v:.5g}" for k, v in r["single"].items()) for r in results))
    print(f"\n{summary}")


if __name__ == "__main__":
    main()
