"""Speed of the compiled stream engine, beside a bare gather + scatter loop and scikit-learn.

    python bench/engine.py                      # 10⁶ rows × 100 entries, 2¹⁸ features; needs about 4 GB
    python bench/engine.py --rows 200000

Processor time of one core is measured (the best of a few passes, the passes of all contestants interleaved),
so that a busy machine disturbs ratios little. Every row carries the progressive loss or what the peer reports.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import sparse

from burkholder import losses
from burkholder.functions.linear import Linear
from burkholder.learning import ledger
from burkholder.learning.rows import Table
from burkholder.machine.compiling import compiled
from burkholder.potentials import Adaptive, DavisWang, Quadratic, SquareRoot
from burkholder.rounds import LinearState

FUNCTIONS = [
    ("l2 tangent", SquareRoot(10.0), "l2", "gradient", 1.3, 1.5),
    ("l2 sign flip", SquareRoot(10.0), "l2", "square", 1.3, 1.5),
    ("l2 sharp sign flip", DavisWang(10.0), "l2", "square", 1.3, 1.5),
    ("l2 parameter-free", Adaptive(), "l2", "square", 1.3, 1.5),
    ("coordinate tangent", SquareRoot(0.05), "coordinates", "gradient", 2.2, 1.0),
    ("coordinate sign flip", SquareRoot(0.05), "coordinates", "square", 2.2, 1.0),
    ("coordinate gradient step", Quadratic(100.0), "coordinates", "gradient", 2.2, 1.0),
    ("coordinate sharp sign flip", DavisWang(0.05), "coordinates", "square", 2.2, 1.0),
    ("coordinate parameter-free", Adaptive(0.01), "coordinates", "square", 2.2, 1.0),
]


@compiled
def gather_scatter(indptr, indices, values, weights):  # type: ignore[no-untyped-def]
    """The least a linear learner can do: read the touched weights, then write them."""
    total = 0.0
    for row in range(indptr.size - 1):
        here = indices[indptr[row] : indptr[row + 1]]
        x = values[indptr[row] : indptr[row + 1]]
        dot = 0.0
        for k in range(here.size):
            dot += weights[here[k]] * x[k]
        step = 1e-6 * dot
        for k in range(here.size):
            weights[here[k]] += step * x[k]
        total += dot
    return total


def clock(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def planted(rows: int, width: int, dim: int, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Labels from a sparse logistic model; features drawn evenly, each row sorted and without repeats."""
    rng = np.random.default_rng(seed)
    indices = np.empty((rows, width), np.int32)
    step = max(1, 2**23 // width)
    for a in range(0, rows, step):
        b = min(rows, a + step)
        strip = dim / width  # one index from each of `width` strips
        indices[a:b] = (np.arange(width) * strip + strip * rng.random((b - a, width))).astype(np.int32)
    values = rng.standard_normal(rows * width)
    truth = rng.standard_normal(dim) * (rng.random(dim) < 0.1)
    margin = np.empty(rows)
    for a in range(0, rows, step):
        b = min(rows, a + step)
        block = values[a * width : b * width].reshape(b - a, width)
        margin[a:b] = np.einsum("ij,ij->i", block, truth[indices[a:b]])
    y = np.where(margin + rng.logistic(size=rows) > 0.0, 1.0, -1.0)
    indptr = np.arange(rows + 1, dtype=np.int32) * np.int32(width)
    return sparse.csr_matrix((values, indices.reshape(-1), indptr), shape=(rows, dim)), y


def table_of(x: sparse.csr_matrix) -> Table:
    """The matrix as learners hand it to their states; nothing is copied."""
    return Table(x.indptr, x.indices, x.data, "sparse", None)


def streams(rows: int, passes: int) -> list[dict[str, Any]]:
    x, y = planted(rows, 100, 2**18)
    indptr, indices = x.indptr.astype(np.int64), x.indices.view(np.uint32)
    entries = x.nnz
    best: dict[str, float] = {}
    lost: dict[str, float] = {}
    weights = np.zeros(x.shape[1])
    gather_scatter(indptr[:3], indices, x.data, weights)

    def note(name: str, seconds: float) -> None:
        best[name] = min(best.get(name, np.inf), seconds)

    for _, potential, geometry, tick, *_ in FUNCTIONS:  # compiled before anything is timed
        state = LinearState(Linear("warm", potential, geometry, tick))
        state.run(table_of(x).part(0, 2), y[:2], None, losses.Logistic(), np.inf, ledger.empty())
    for _ in range(passes):
        note("gather+scatter", clock(lambda: gather_scatter(indptr, indices, x.data, weights)))
        for name, potential, geometry, tick, *_ in FUNCTIONS:
            state, book = LinearState(Linear(name, potential, geometry, tick), x.shape[1]), ledger.empty()

            def learn(state: LinearState = state, book: np.ndarray = book) -> None:
                state.run(table_of(x), y, None, losses.Logistic(), np.inf, book)

            note(name, clock(learn))
            lost[name] = ledger.loss_of(book) / rows
        seconds, lost["sklearn SGDClassifier"] = sgd(x, y)
        note("sklearn SGDClassifier", seconds)
    reference, peer = best["gather+scatter"], best["sklearn SGDClassifier"]
    limits = {name: (most, least) for name, _, _, _, most, least in FUNCTIONS}
    table = []
    for name, seconds in best.items():
        most, least = limits.get(name, (None, None))
        table.append(
            {
                "work": name, "ns_per_entry": seconds / entries * 1e9, "loss": lost.get(name),
                "time_over_gather_scatter": seconds / reference, "at_most": most,
                "speed_over_sklearn": peer / seconds, "at_least": least,
            }
        )  # fmt: skip
    return table


def sgd(x: sparse.csr_matrix, y: np.ndarray) -> tuple[float, float]:
    """One pass in one call; its loss is progressive over ten chunks, in a second, untimed pass."""
    from sklearn.linear_model import SGDClassifier

    def fresh() -> Any:
        return SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False)

    seconds = clock(lambda: fresh().fit(x, y))
    model, total, cut = fresh(), 0.0, np.linspace(0, len(y), 11).astype(int)
    for a, b in itertools.pairwise(cut):
        part, labels = x[a:b], y[a:b]
        scores = model.decision_function(part) if a else np.zeros(b - a)
        total += float(np.logaddexp(0.0, -labels * scores).sum())
        model.partial_fit(part, labels, classes=[-1.0, 1.0])
    return seconds, total / len(y)


def memory(rounds: int) -> list[dict[str, Any]]:
    """Resident memory after 10⁵ rounds and after a hundred times as many, fed in reused chunks."""
    x, y = planted(10_000, 20, 2**16, seed=2)
    state = LinearState(Linear("long", SquareRoot(1.0), "coordinates", "gradient"))
    book = ledger.empty()
    table = []
    for target in (100_000, rounds):
        while book[ledger.ROUNDS] < target:
            state.run(table_of(x), y, None, losses.Logistic(), np.inf, book)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
        table.append({"work": f"peak memory after {target:,} rounds", "megabytes": peak, "loss": book[1] / book[0]})
    return table


def show(table: list[dict[str, Any]]) -> None:
    for entry in table:
        cells = [
            f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
            for key, value in entry.items() if key != "work" and value is not None
        ]  # fmt: skip
        print(f"{entry['work']:<34}", "  ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--long", type=int, default=10_000_000, help="rounds of the memory row")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", choices=["streams", "memory"])
    parser.add_argument("--out", type=Path, default=Path("out/engine.json"))
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    # memory first: its peak is the process's own
    for name, work in (("memory", lambda: memory(options.long)), ("streams", lambda: streams(options.rows, options.passes))):
        if options.only in (None, name):
            part = work()
            show(part)
            table += part
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
