"""How the cost of a round grows: time per round against the row's nonzeros, the dimension, or the matrix's side.

    python bench/scaling.py

The exponent is the slope of log(time) over log(size) across the two largest sizes: 1 is linear, 2 quadratic, 0 means
that the size does not matter. Prints a table and writes out/scaling.json.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from burkholder import Learner

OUT = Path(__file__).resolve().parent.parent / "out"


def _sparse(nonzeros: int, dim: int, rounds: int = 3000) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, dim, (rounds, nonzeros)), axis=1)
    indptr = np.arange(rounds + 1) * nonzeros
    values = rng.standard_normal(rounds * nonzeros) / math.sqrt(nonzeros)
    return sparse.csr_matrix((values, indices.reshape(-1), indptr), (rounds, dim)), rng.choice([-1.0, 1.0], rounds)


def _stream(name: str, nonzeros: int, dim: int) -> float:
    """Seconds a round on sparse rows, the best of five passes."""
    X, y = _sparse(nonzeros, dim)
    Learner(name, loss="logistic").run_batch(X.indptr, X.indices, X.data, y)
    best = math.inf
    for _ in range(5):
        learner = Learner(name, loss="logistic")
        start = time.process_time()
        learner.run_batch(X.indptr, X.indices, X.data, y)
        best = min(best, (time.process_time() - start) / len(y))
    return best


def _dense(name: str, dim: int, rounds: int = 30, **options: object) -> float:
    """Seconds a round on dense rows, one by one."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((rounds + 2, dim)) / math.sqrt(dim), rng.uniform(-1, 1, rounds + 2)
    learner = Learner(name, loss="squared", bound=1.0, **options)
    for x, label in zip(X[:2], y[:2]):
        learner.update(x, label)
    start = time.process_time()
    for x, label in zip(X[2:], y[2:]):
        learner.update(x, label)
    return (time.process_time() - start) / rounds


STUDIES: list[tuple[str, str, str, list[int], Callable[[int], float]]] = [
    *(
        (name, "nonzeros", "1", [64, 512, 4096], lambda k, name=name: _stream(name, k, 1 << 16))
        for name in ("square-function", "adagrad", "adaptive-coordinates", "mixture", "smoothness-l4")
    ),
    *(
        (name, "dimension", "0", [1 << 10, 1 << 14, 1 << 18], lambda k, name=name: _stream(name, 64, k))
        for name in ("square-function", "adagrad")
    ),
    ("strongly-convex", "dimension", "2", [200, 600, 1800], lambda k: _dense("strongly-convex", k)),
    ("experts", "dimension", "1", [1 << 12, 1 << 15, 1 << 18], lambda k: _dense("experts", k)),
    ("zigzag", "dimension", "1", [1 << 12, 1 << 15, 1 << 18], lambda k: _dense("zigzag", k)),
    ("matrix-fixed", "side", "3", [32, 96, 192], lambda k: _dense("matrix-fixed", k * k // 4, rounds=4, shape=(k // 2, k // 2))),
]


def main() -> None:
    rows = []
    print(f"{'learner':22}{'size':12}{'expected':>9}{'measured':>10}   microseconds a round")
    for name, kind, expected, sizes, measure in STUDIES:
        seconds = [measure(size) for size in sizes]
        slope = math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])
        shown = ", ".join(f"{size:,}: {1e6 * s:.1f}" for size, s in zip(sizes, seconds))
        print(f"{name:22}{kind:12}{expected:>9}{slope:>10.2f}   {shown}", flush=True)
        rows.append(
            {"learner": name, "size": kind, "expected": expected, "exponent": slope, "seconds": dict(zip(map(str, sizes), seconds))}
        )
    OUT.mkdir(exist_ok=True)
    (OUT / "scaling.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
