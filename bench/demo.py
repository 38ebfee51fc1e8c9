"""`burkholder learn` on the shipped electricity stream for three learners: a table, and a plot saved to a file.

python bench/demo.py [--learners auto adagrad mixture] [--plot out/demo.png]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import peers
from burkholder.streams.readers import batches


def learned(learner: str, folder: Path) -> tuple[dict[str, object], np.ndarray]:
    """One run of the command: what it printed, and its progressive predictions."""
    out = folder / learner
    line = [
        sys.executable,
        "-c",
        "from burkholder.cli import main; main()",
        "learn",
        "--learner",
        learner,
        "--json",
        "--quiet",
        "--predictions",
        str(out),
    ]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1]), np.loadtxt(out)


def proved() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(rounds, promised, realised): what Auto's certificate says of the regret to linear predictors, as the stream goes on."""
    from scipy import sparse

    import burkholder as bk
    from burkholder.cli.session import shipped

    parts, labels = [], []
    for batch in batches(shipped(), classes=True):
        parts.append(sparse.csr_matrix((batch.values.copy(), batch.indices.copy(), batch.indptr.copy()), shape=(batch.rows, 64)))
        labels.append(batch.y.copy())
    trace = bk.Auto("logistic").run(sparse.vstack(parts).tocsr(), np.concatenate(labels), trace=60).trace
    return trace["rounds"], trace["promised"], trace["realised"]


def drawn(curves: dict[str, np.ndarray], y: np.ndarray, rounds: np.ndarray, promised: np.ndarray, realised: np.ndarray) -> object:
    """Two panels: what was lost, and what is proved about it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    colours = ["#0550ae", "#8c959f", "#bc4c00"]
    up = np.cumsum(y > 0.0) / np.arange(1, len(y) + 1)
    constant = -(up * np.log(np.maximum(up, 1e-12)) + (1.0 - up) * np.log(np.maximum(1.0 - up, 1e-12)))
    left.plot(np.arange(200, len(y)), constant[200:], ":", color="#57606a", lw=1.5, label="best constant, known afterwards")
    for (learner, curve), colour in zip(curves.items(), colours):
        main = learner == "auto"
        left.plot(
            np.arange(200, len(y)), curve[200:], color=colour, lw=2.5 if main else 1.2, label="Auto, nothing tuned" if main else learner
        )
    left.set(xlabel="rows", ylabel="mean log loss so far", title="Every row is predicted before it is learned", ylim=(0.0, None))
    left.legend(frameon=False, fontsize=9, loc="center right", bbox_to_anchor=(1.0, 0.64))
    each = realised / rounds
    right.plot(rounds, promised / rounds, "--", color="#57606a", lw=1.5, label="promised before the first row")
    right.plot(rounds, each, color="#0550ae", lw=2.5, label="proved on these very rows")
    right.fill_between(rounds, each, 0.0, where=each < 0.0, color="#0550ae", alpha=0.12)
    right.axhline(0.0, color="#1b1f24", lw=0.8)
    right.annotate(
        f"at least {-each[-1]:.2f} a row better than\nevery linear model with |u| ≤ 1",
        (rounds[-1], each[-1]), xytext=(0.97, 0.30), textcoords="axes fraction", ha="right", fontsize=9,
    )  # fmt: skip
    right.set(
        xlabel="rows", ylabel="regret a row, at most", title="… and the result is a theorem about your data", ylim=(1.15 * each[-1], 0.6)
    )
    right.legend(frameon=False, fontsize=9, loc="upper right")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--learners", nargs="+", default=["auto", "adagrad", "mixture"])
    options.add_argument("--plot", type=Path, default=peers.OUT / "demo.png")
    given = options.parse_args()
    from burkholder.cli.session import shipped

    y = np.concatenate([batch.y.copy() for batch in batches(shipped(), classes=True)])
    rows, curves = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for learner in given.learners:
            result, yhat = learned(learner, Path(folder))
            rows.append(
                {
                    key: result[key] if result[key] is not None else "none stated"
                    for key in ("learner", "rounds", "mean_loss", "error_rate", "realised_regret_bound", "bound", "rounds_per_second")
                }
            )
            curves[learner] = np.cumsum(np.logaddexp(0.0, -y * yhat)) / np.arange(1, len(y) + 1)
    print(peers.table(rows))
    figure = drawn(curves, y, *proved())
    given.plot.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.plot, dpi=130)
    print(f"plot: {given.plot}")


if __name__ == "__main__":
    main()
