"""Matrices of signs as they come (who trusts whom, who says yes to what): `MatrixCompletion` untuned, peers tuned in hindsight.

    python bench/matrix_signs.py

Logistic: mean loss in nats, and the share of wrong signs. Absolute: mean |ŷ − y| of predictions in [−1, 1]. Biases and
factorisations by SGD on the same loss; the best of a grid on the whole stream is reported. The data folder is BURKHOLDER_DATA, or
../shared/data; out/matrix-signs.json gets the figures.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

from burkholder.matrix.completion import MatrixCompletion

ROOT = Path(os.environ.get("BURKHOLDER_DATA", "../shared/data"))


def _rows(path: str) -> list[dict[str, str]]:
    with gzip.open(ROOT / path, "rt") as file:
        return list(csv.DictReader(file))


def bitcoin() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = sorted(_rows("bitcoin-trust/bitcoin_alpha.csv.gz"), key=lambda row: float(row["time"]))
    return _numbered(rows, "from"), _numbered(rows, "to"), np.array([1.0 if float(row["rating"]) > 0 else -1.0 for row in rows])


def verbagg() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Complete and without times: in a seeded order."""
    rows = _rows("verbagg/verbagg.csv.gz")
    rows = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
    return _numbered(rows, "person"), _numbered(rows, "item"), np.array([float(row["sign"]) for row in rows])


def _numbered(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.unique([row[name] for row in rows], return_inverse=True)[1].astype(np.int64)


@numba.njit(cache=True)
def factorised(u, i, y, p, q, rate, ridge, absolute):
    """μ + b_u + c_i + ⟨p_u, q_i⟩ by SGD on the logistic or the absolute loss; no factors: biases alone."""
    p, q, out = p.copy(), q.copy(), np.zeros(y.size)
    b, c, mu = np.zeros(p.shape[0]), np.zeros(q.shape[0]), 0.0
    for t in range(y.size):
        score = mu + b[u[t]] + c[i[t]]
        for f in range(p.shape[1]):
            score += p[u[t], f] * q[i[t], f]
        out[t] = min(max(score, -1.0), 1.0) if absolute else score
        slope = float(np.sign(out[t] - y[t])) if absolute else -y[t] / (1.0 + np.exp(y[t] * score))
        mu -= 0.1 * rate * slope
        b[u[t]] -= rate * (slope + ridge * b[u[t]])
        c[i[t]] -= rate * (slope + ridge * c[i[t]])
        for f in range(p.shape[1]):
            left, right = p[u[t], f], q[i[t], f]
            p[u[t], f] -= rate * (slope * right + ridge * left)
            q[i[t], f] -= rate * (slope * left + ridge * right)
    return out


def paid(loss: str, out: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.logaddexp(0.0, -y * out) if loss == "logistic" else np.abs(out - y)))


def tuned(u: Any, i: Any, y: Any, loss: str, ranks: tuple[int, ...]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    best: dict[str, Any] = {"loss": np.inf}
    for k in ranks:
        p, q = rng.normal(size=(u.max() + 1, k)), rng.normal(size=(i.max() + 1, k))
        for rate, ridge in itertools.product((0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0), (0.0, 0.01, 0.03, 0.1)):
            out = factorised(u, i, y, 0.1 * p, 0.1 * q, rate, ridge, loss == "absolute")
            if np.isfinite(out).all() and paid(loss, out, y) < best["loss"]:
                best = {"loss": paid(loss, out, y), "wrong": float(np.mean(np.sign(out) != y)), "setting": [k, rate, ridge]}
    return best


def main() -> None:
    results = []
    for name, (u, i, y) in {"bitcoin-trust": bitcoin(), "verbagg": verbagg()}.items():
        for loss in ("logistic", "absolute"):
            began = time.process_time()
            learner = MatrixCompletion(-1, 1, loss=loss)
            run = learner.run(u.tolist(), i.tolist(), y.tolist())
            spent, certificate = time.process_time() - began, learner.certificate()
            total = learner.cumulative_loss
            ours = {
                "loss": paid(loss, run.predictions, y),
                "wrong": float(np.mean(np.where(run.predictions > 0, 1.0, -1.0) != y)),
                "cpu s": spent,
            }
            ours |= {"bias alone": paid(loss, run.details["bias"], y), "promised/loss to biases": certificate.others[0].value / total}
            ours |= {f"{word}/loss, ‖W‖ = 1": getattr(certificate, word)(radius=1.0) / total for word in ("bound", "corrected", "realised")}
            row = {"set": name, "loss": loss, "untuned": ours, "biases tuned": tuned(u, i, y, loss, (0,))}
            row["factorisation tuned"] = tuned(u, i, y, loss, (2, 5, 10))
            results.append(row)
            print(json.dumps(row, default=float), flush=True)
    Path("out").mkdir(exist_ok=True)
    Path("out/matrix-signs.json").write_text(json.dumps(results, indent=1, default=float))


if __name__ == "__main__":
    main()
