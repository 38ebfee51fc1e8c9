"""Vowpal Wabbit as a peer: default, coin, ftrl, and the best of ten learning rates, more while the best is at an end.

It runs in this Python when it can be imported here, or in the one named by BURKHOLDER_VW_PYTHON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from quality_peers import mean_loss

PYTHON = os.environ.get("BURKHOLDER_VW_PYTHON", sys.executable if find_spec("vowpalwabbit") else "")
POWERS = np.arange(-2.5, 2.01, 0.5)
FURTHER = 8  # half decades by which the grid may grow in all
FLAVOURS = {"logistic": "logistic", "squared": "squared", "absolute": "quantile --quantile_tau 0.5"}

SCRIPT = """
import sys, json
import vowpalwabbit
for arguments in json.load(sys.stdin):
    vowpalwabbit.Workspace(arguments).finish()
"""


def write_rows(path: Path, X: sp.csr_matrix, y: np.ndarray) -> None:
    with open(path, "w") as file:
        for t in range(len(y)):
            part = slice(X.indptr[t], X.indptr[t + 1])
            row = zip(X.indices[part].tolist(), X.data[part].tolist())
            file.write(f"{float(y[t])!r} | " + " ".join(f"{i}:{v!r}" for i, v in row) + "\n")


def losses(loss: str, y: np.ndarray, data: Path, options: dict[str, str]) -> dict[str, float]:
    """The progressive mean loss of VW with each of these options."""
    outputs = {name: data.with_name(f"{place}.txt") for place, name in enumerate(options)}
    # labels count from 1 in several classes, and each row ends with class:probability pairs
    task = (
        f"--loss_function logistic --oaa {int(y.max()) + 1} --probabilities" if loss == "classes" else f"--loss_function {FLAVOURS[loss]}"
    )
    jobs = [f"--quiet -b 20 {task} {option} -d {data} -p {outputs[name]}" for name, option in options.items()]
    subprocess.run([PYTHON, "-c", SCRIPT], input=json.dumps(jobs), text=True, check=True)
    return {name: one(loss, y, path) for name, path in outputs.items()}


def one(loss: str, y: np.ndarray, path: Path) -> float:
    if loss == "classes":
        given = [dict(pair.split(":") for pair in line.split()) for line in path.read_text().splitlines()]
        if len(given) != len(y):
            return np.inf
        paid = [-np.log(max(float(row.get(str(int(c) + 1), 0.0)), 1e-15)) for row, c in zip(given, y)]
        return float(np.mean(paid))
    p = np.loadtxt(path, ndmin=1)
    found = mean_loss(loss, p, y) if len(p) == len(y) else np.inf
    return found if np.isfinite(found) else np.inf


def vw_peers(X: sp.csr_matrix, y: np.ndarray, loss: str) -> dict[str, dict[str, float]]:
    if not PYTHON:
        return {}
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / "data.vw"
        write_rows(data, X, y + 1 if loss == "classes" else y)
        found = losses(loss, y, data, {"default": "", "coin": "--coin", "ftrl": "--ftrl"})
        by_power: dict[float, float] = {}
        wanted = [float(power) for power in POWERS]
        for _ in range(FURTHER + 1):
            fresh = losses(loss, y, data, {str(p): f"-l {10.0**p:.6g}" for p in wanted})
            by_power |= {float(p): value for p, value in fresh.items()}
            best = min(by_power, key=by_power.__getitem__)
            if min(by_power) < best < max(by_power):
                break
            wanted = [best - 0.5 if best == min(by_power) else best + 0.5]
    peers = {f"VW {name}": {"loss": value} for name, value in found.items()}
    peers["VW best rate"] = {"loss": by_power[best], "rate": 10.0**best, "rates": len(by_power)}
    return peers
