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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for learner, curve in curves.items():
        axes.plot(np.arange(200, len(curve)), curve[200:], label=learner)
    axes.set(xlabel="rounds", ylabel="mean log loss so far", title="Electricity, predicted before learned")
    axes.legend(frameon=False)
    given.plot.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.plot, dpi=130)
    print(f"plot: {given.plot}")


if __name__ == "__main__":
    main()
