"""Progressive loss of Auto, of single learners and of peers tuned in hindsight, on the sets of quality.toml.

Raw features plus a constant, one pass, predicted before learned. Prints tables, and writes out/quality.json and
out/quality.png (quality-GROUP for another group of sets). Figures of the peers and of the single learners are kept in
out/quality-cache (delete it to run them again). Vowpal Wabbit is used when it can be imported here, or through the
Python named by BURKHOLDER_VW_PYTHON. --nonlinear sets Auto beside forests, neighbours and boosting (quality_nonlinear), --frozen
beside scikit-learn's (quality_frozen), each in the order given and shuffled.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import quality_classes
import quality_data
import quality_frozen
import quality_nonlinear
import quality_peers
import quality_single
import quality_vw
from burkholder.auto import Auto, AutoMulticlass

OUT = quality_data.ROOT / "out"
CACHE = OUT / "quality-cache"
FAMILIES: dict[str, Any] = {
    "gradient": quality_peers.gradient_peers,
    "vw": quality_vw.vw_peers,
    "river": quality_peers.river_peers,
    "gradient classes": quality_classes.softmax_peers,
    "vw classes": quality_vw.vw_peers,
    "river classes": quality_classes.river_classes,
    "single": lambda X, y, loss: {"single": quality_single.single_learners(X, y, loss)},
}


def cached(name: str, loss: str, family: str, X: Any, y: np.ndarray) -> dict[str, Any]:
    def find() -> dict[str, Any]:
        return FAMILIES[family if loss != "classes" else f"{family} classes"](X, y, loss)

    return kept(f"{name} {loss} {family}", find)


def kept(name: str, find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was found under this name before, or what is found now."""
    path = CACHE / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.json"
    if not path.exists():
        found = find()
        if not found:
            return {}
        CACHE.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return json.loads(path.read_text())


def nonlinear_peer(entry: dict[str, Any], rows: Any, loss: str, shuffled: bool, peer: str) -> dict[str, Any]:
    numbers = loss not in ("logistic", "classes")  # what is predicted there does not depend on the loss
    where = f"{entry['name']} {'numbers' if numbers else loss} nonlinear{' shuffled' if shuffled else ''} {len(rows[1])} {peer}"
    found = kept(where, lambda: quality_nonlinear.nonlinear_peer(*rows, loss, peer))
    return {name: told | {"loss": told[loss]} if numbers else told for name, told in found.items()}


def nonlinear_peers(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str, shuffled: bool) -> dict[str, Any]:
    rows = quality_nonlinear.rows_of(X, y, shuffled)
    found: dict[str, Any] = {}
    for peer in quality_nonlinear.names(loss) if rows is not None else ():
        found |= nonlinear_peer(entry, rows, loss, shuffled, peer)
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


def peers_of(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str) -> dict[str, dict[str, float]]:
    peers: dict[str, dict[str, float]] = {}
    for family in ("gradient", "vw", "river"):
        peers |= cached(entry["name"], loss, family, X, y)
    return peers


def singles_of(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str) -> list[dict[str, Any]]:
    return cached(entry["name"], loss, "single", X, y)["single"]


def task(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str, single: bool, clock: bool) -> dict[str, Any]:
    peers = peers_of(entry, X, y, loss)
    best = min(peers, key=lambda name: peers[name]["loss"])
    result: dict[str, Any] = {
        "set": entry["name"],
        "group": entry.get("group", "folder"),
        "loss": loss,
        "rounds": len(y),
        "features": X.shape[1],
        "best_peer": best,
        "best_peer_loss": peers[best]["loss"],
        "peers": peers,
        "single": {},
        "single_left_out": {},
    }
    if loss == "classes":
        result["auto"] = quality_classes.auto_classes(X, y)
    else:
        run = Auto(loss).run(X, y)
        result["auto"] = run.mean_loss
        result["lanes"] = {lane.name: lane.loss / len(y) for lane in run.certificate.lanes}
        result["best_lane"] = min(result["lanes"], key=result["lanes"].get)
        if single:
            result["single"], result["single_left_out"] = singles_of(entry, X, y, loss)
    result["ratio"] = result["auto"] / peers[best]["loss"]
    if clock and loss == "logistic" and X.nnz < 0.5 * X.shape[0] * X.shape[1]:
        result["time_over_adagrad"] = time_ratio(X, y)
    return result


def beside(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str, shuffled: bool) -> dict[str, Any] | None:
    """Auto and the nonlinear peers on the same first rows; None where there is nothing to compare."""
    rows = quality_nonlinear.rows_of(X, y, shuffled)
    peers = nonlinear_peers(entry, X, y, loss, shuffled)
    if rows is None or not peers:
        return None
    few = [array[: quality_nonlinear.WARMING] for array in rows]  # the loops are compiled, or loaded, before the clock is looked at
    (AutoMulticlass() if loss == "classes" else Auto(loss)).run(*few)
    start = time.process_time()
    if loss == "classes":
        learner = AutoMulticlass(classes=range(int(y.max()) + 1))
        run = learner.run(*rows, trace=1)
        mean, errors = float(run.losses.mean()), float((np.array(run.predictions) != rows[1]).mean())
    else:
        run = Auto(loss).run(*rows, trace=1)
        mean, errors = run.mean_loss, float((np.sign(run.predictions) != rows[1]).mean())
    seconds = time.process_time() - start
    best = min(peers, key=lambda name: peers[name]["loss"])
    told = {
        "set": entry["name"],
        "loss": loss,
        "shuffled": shuffled,
        "auto": mean,
        "best_peer": best,
        "best_peer_loss": peers[best]["loss"],
    }
    told |= {"ratio": mean / peers[best]["loss"], "peers": peers, "seconds": seconds}
    if loss in ("logistic", "classes"):
        fewest = min(peer["errors"] for peer in peers.values())
        told |= {"errors": errors, "fewest": fewest, "error_ratio": errors / fewest if fewest else math.inf}
    if "ARF 10" in peers:
        told["times_faster_than_arf"] = peers["ARF 10"]["seconds"] / seconds
    return told


def compared(entry: dict[str, Any], X: Any, y: np.ndarray, loss: str, how: str) -> list[dict[str, Any]]:
    """Lines of --nonlinear or --frozen: in order, then shuffled."""
    found = []
    for shuffled in (False, True):
        if how == "nonlinear":
            line = beside(entry, X, y, loss, shuffled)
        else:
            rows = quality_nonlinear.rows_of(X, y, shuffled)
            if rows is None or loss == "absolute":
                continue
            line = {"set": entry["name"], "loss": loss, "shuffled": shuffled} | quality_frozen.frozen(*rows, loss)
            if not shuffled:
                split = quality_frozen.by_time(*rows, loss)
                line |= {"by_time": split["auto"], "linear_by_time": split["linear"], "ratio_by_time": split["ratio"]}
        if line is not None:
            found.append(line)
            print(
                " | ".join(
                    f"{key} {value:.4g}" if isinstance(value, float) else f"{value}" for key, value in line.items() if key != "peers"
                )
            )
    return found


def table(results: list[dict[str, Any]]) -> str:
    lines = ["| set | loss | Auto | best peer, tuned in hindsight | its loss | ratio | time / AdaGrad |", "|---|---|---|---|---|---|---|"]
    for r in results:
        seconds = f"{r['time_over_adagrad']:.1f}" if "time_over_adagrad" in r else ""
        lines.append(
            f"| {r['set']} | {r['loss']} | {r['auto']:.5g} | {r['best_peer']} | {r['best_peer_loss']:.5g} | {r['ratio']:.4f} | {seconds} |"
        )
    return "\n".join(lines)


def single_table(results: list[dict[str, Any]]) -> str:
    """Rows: learners; columns: tasks; entries: loss over Auto's."""
    told = [r for r in results if r["single"] or r["single_left_out"]]
    if not told:
        return ""
    lines = ["| learner | " + " | ".join(f"{r['set']}, {r['loss']}" for r in told) + " |", "|---" * (len(told) + 1) + "|"]
    for name in quality_single.names():
        cells = []
        for r in told:
            slow = r["single_left_out"].get(name) == "slow"
            cells.append(f"{r['single'][name] / r['auto']:.3g}" if name in r["single"] else "slow" if slow else "–")
        if any(cell != "–" for cell in cells):
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def picture(results: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 0.3 * len(results) + 1.2))
    axes = figure.subplots()
    for place, r in enumerate(results):
        others = [p["loss"] / r["auto"] for p in r["peers"].values() if math.isfinite(p["loss"])]
        singles = [loss / r["auto"] for loss in r["single"].values() if math.isfinite(loss)]
        axes.plot(np.clip(others, 0, 4), [place] * len(others), "o", color="tab:grey", alpha=0.6)
        axes.plot(np.clip(singles, 0, 4), [place] * len(singles), "x", color="tab:blue", alpha=0.6)
    axes.axvline(1.0, color="tab:red")
    axes.set_yticks(range(len(results)), [f"{r['set']}, {r['loss']}" for r in results])
    axes.set_ylim(-1, len(results))
    axes.set_xlabel("loss over Auto's (beyond 4 drawn at 4); grey: peers tuned in hindsight, blue: single learners")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    ratios = np.array([r["ratio"] for r in results])
    return {
        "tasks": len(results),
        "at_most_1": int((ratios <= 1.0).sum()),
        "at_most_1.01": int((ratios <= 1.01).sum()),
        "largest_ratio": float(ratios.max()),
        "geometric_mean": float(np.exp(np.log(ratios).mean())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, default=None, help="another settings file")
    parser.add_argument("--group", default="folder", help="folder, held-out, sealed, classes, or all")
    parser.add_argument("--only", default="", help="only sets whose name contains this")
    parser.add_argument("--no-single", action="store_true", help="leave out the single learners")
    parser.add_argument("--no-clock", action="store_true", help="leave out the times")
    parser.add_argument("--peers", action="store_true", help="only run the peers that are not in out/quality-cache")
    parser.add_argument("--singles", action="store_true", help="only run the single learners that are not in there")
    parser.add_argument("--nonlinear", action="store_true", help="beside nonlinear peers, in order and shuffled")
    parser.add_argument("--frozen", action="store_true", help="fitted on 70 %% and scored on the rest, in order and shuffled")
    options = parser.parse_args()
    how = "nonlinear" if options.nonlinear else "frozen" if options.frozen else ""
    results: list[dict[str, Any]] = []
    for entry in quality_data.settings(options.settings):
        group = entry.get("group", "folder")
        if options.only not in entry["name"] or options.group not in (group, "all"):
            continue
        if not quality_data.present(entry):
            where = quality_data.folder()
            print(f"{entry['name']}: no {entry['path']} in {where} (BURKHOLDER_DATA names the folder), left out", file=sys.stderr)
            continue
        X, y = quality_data.load(entry)
        for loss in entry["losses"]:
            if options.nonlinear and options.peers:
                for shuffled in (False, True):
                    nonlinear_peers(entry, X, y, loss, shuffled)
                continue
            if how:
                results += compared(entry, X, y, loss, how)
                continue
            if options.peers:
                peers_of(entry, X, y, loss)
                continue
            if options.singles:
                if loss != "classes":
                    singles_of(entry, X, y, loss)
                continue
            results.append(task(entry, X, y, loss, not options.no_single, not options.no_clock))
            print(table(results[-1:]).splitlines()[-1], flush=True)
    if not results:
        print("nothing to tell" if options.peers or options.singles else "no data set found")
        return
    OUT.mkdir(exist_ok=True)
    if how:
        for shuffled in (False, True):
            part = [r for r in results if r["shuffled"] == shuffled]
            print("shuffled" if shuffled else "in order", summary(part) if part else "nothing")
            if part and "ratio_by_time" in part[0]:
                print("by TimeSeriesSplit", summary([{"ratio": line["ratio_by_time"]} for line in part]))
        (OUT / f"quality-{how}-{options.group}.json").write_text(json.dumps(results, indent=1))
        return
    name = "quality" if options.group == "folder" else f"quality-{options.group}"
    groups = {group: summary([r for r in results if r["group"] == group]) for group in {r["group"] for r in results}}
    (OUT / f"{name}.json").write_text(json.dumps({"summary": groups, "results": results}, indent=1))
    picture(results, OUT / f"{name}.png")
    print("\n" + table(results))
    if not options.no_single:
        print("\nsingle learners, loss over Auto's:\n" + single_table(results))
    print(f"\n{groups}")


if __name__ == "__main__":
    main()
