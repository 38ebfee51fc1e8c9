"""Matrix prediction at the size of real rating streams: agreement, speed, errors beside peers.

    python bench/matrix.py [agreement] [speed] [ratings] [top] [--data NAME]

Prints tables and writes out/matrix-*.json. Data: the folder named by BURKHOLDER_DATA, else ../shared/data.
Times are of this process on one core (wall and CPU); compilation is done before the clock starts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.sign_flip import PAID, TIE
from burkholder.potentials import spectral as potential
from burkholder.potentials import spectral_mixture

OUT = Path(__file__).resolve().parents[1] / "out"
DATA = Path(os.environ.get("BURKHOLDER_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
STREAMS = {"movielens-100k": ("u.data.gz", 1.0, 5.0), "filmtrust": ("ratings.txt.gz", 0.5, 4.0)}


def load(name: str) -> Any:
    """(users, items, ratings, low, high), users and items numbered from 0, in time order where times are
    known.
    """
    file, low, high = STREAMS[name]
    path = DATA / name / file
    if not path.exists():
        print(f"no {path}: set BURKHOLDER_DATA to the data folder")
        return None
    with gzip.open(path) as stream:
        table = np.loadtxt(stream)
    if table.shape[1] > 3:
        table = table[np.argsort(table[:, 3], kind="stable")]
    users, items = (np.unique(table[:, k], return_inverse=True)[1].astype(np.int64) for k in (0, 1))
    return users, items, table[:, 2].copy(), low, high


def show(rows: list[dict[str, Any]]) -> None:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[("" if row.get(k) is None else f"{row[k]:.6g}" if isinstance(row[k], float) else str(row[k]))
              for k in keys] for row in rows]  # fmt: skip
    widths = [max(len(k), *(len(c[n]) for c in cells)) for n, k in enumerate(keys)]
    for line in [keys, *cells]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)))
    print()


def write(name: str, rows: Any) -> None:
    OUT.mkdir(exist_ok=True)
    (OUT / f"matrix-{name}.json").write_text(json.dumps(rows, indent=1, default=str))


def agreement(rounds: int = 1500) -> None:
    """Whole trajectories beside two eigendecompositions a round."""
    rows = []
    for shape in ((4, 6), (12, 20), (25, 25), (40, 60)):
        for rate in (0.1, "lowering", "mixture"):
            if rate == "mixture" and sum(shape) > 40:
                continue
            rng = np.random.default_rng(0)
            d1, D = shape[0], sum(shape)
            i, j = rng.integers(0, shape[0], rounds), d1 + rng.integers(0, shape[1], rounds)
            W = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1]))
            y = np.clip(0.5 * W[i, j - d1] + 0.1 * rng.normal(size=rounds), -1, 1)
            radius = float(np.linalg.norm(W, "nuc"))
            engine = SignFlipEntries(rate, radius, nodes=D, tol=1e-8)
            rates, masses = engine.rates.copy(), engine.masses
            begun = time.perf_counter()
            out = engine.rounds(i, j, y)
            ours = time.perf_counter() - begun
            H, M, ceiling, worst, eta = np.zeros((D, D)), np.zeros((D, D)), 1.0, 0.0, rate
            begun = time.perf_counter()
            for t in range(rounds):
                X = np.zeros(shape)
                X[i[t], j[t] - d1] = 1.0
                if rate == "lowering":
                    while max(M[i[t], i[t]], M[j[t], j[t]]) + 1.0 > ceiling:
                        ceiling *= 2.0
                    eta = np.sqrt(2.0 * np.log(D) / ceiling)
                if rate == "mixture":
                    yhat = float(spectral_mixture.sign_flip(H, M, X, rates, masses, 1.0, 1.0, 1.0))
                else:
                    yhat = float(potential.sign_flip(H, M, X, eta, radius, 1.0, 1.0))
                worst = max(worst, abs(yhat - out[t, 0]))
                delta = float(np.sign(yhat - y[t])) if abs(yhat - y[t]) >= TIE else 0.0
                H += delta * potential.hermitian(X)
                M += potential.square(X)
            naive = time.perf_counter() - begun
            rows.append({
                "shape": f"{shape[0]}x{shape[1]}", "rate": rate, "rounds": rounds, "worst |Δŷ|": worst,
                "largest rise of U": float(np.diff(out[:, 2]).max()), "block steps": float(out[:, 3].mean()),
                "seconds": ours, "naive seconds": naive,
            })  # fmt: skip
            show(rows[-1:])
    write("agreement", rows)


def speed(name: str, tol: float = 1e-6) -> None:
    """The paper's strategy over the whole stream at a stated tolerance, and the naive rate at the end."""
    data = load(name)
    if data is None:
        return
    users, items, ratings, low, high = data
    learner = MatrixCompletion(low, high, strategy="sign-flip", radius=1000.0, tol=tol)
    MatrixCompletion(low, high, strategy="sign-flip", radius=1.0, tol=tol).run([0, 1], [0, 1], [low, high])
    rows, quarter, total = [], len(ratings) // 4, 0.0
    for part in range(4):
        chunk = slice(part * quarter, (part + 1) * quarter if part < 3 else len(ratings))
        wall, cpu = time.perf_counter(), time.process_time()
        run = learner.run(users[chunk], items[chunk], ratings[chunk])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        total += cpu
        memory = sum(array.nbytes for array in learner.engine.arrays().values())
        rows.append({
            "part": f"{25 * (part + 1)} %", "wall s": wall, "cpu s": cpu,
            "ms a round": 1e3 * cpu / len(run.details["steps"]), "block steps": float(run.details["steps"].mean()),
            "most steps": int(run.details["steps"].max()), "worst error": float(run.details["errors"].max()),
            "state MB": memory / 1e6, "bytes a rating": memory / learner.rounds,
            "D": learner.rows + learner.columns,
        })  # fmt: skip
        show(rows[-1:])
    engine = learner.engine
    from burkholder.matrix import graph

    H, diagonal = graph.to_dense(engine.graph)
    A = engine.rates[0] * H - 0.5 * engine.rates[0] ** 2 * np.diag(diagonal)
    cpu = time.process_time()
    spectrum = np.linalg.eigvalsh(A)
    naive = 2.0 * (time.process_time() - cpu)
    exact = float(spectrum[-1] + np.log(np.exp(spectrum - spectrum[-1]).sum()))
    last = rows[-1]["cpu s"] / (len(ratings) - 3 * quarter)
    summary = {
        "stream": name, "rounds": len(ratings), "tol": tol, "cpu s": total, "naive s a round": naive,
        "times naive, last quarter": naive / last, "spectrum": [float(spectrum[0]), float(spectrum[-1])],
        "log trace drift": float(engine.log_trace[0]) - exact, "U": engine.value,
        "PAID": float(engine.scalars[PAID]),
        "mae": learner.mae, "rmse": learner.rmse,
    }  # fmt: skip
    print(json.dumps(summary, indent=1))
    write(f"speed-{name}", {"parts": rows, "summary": summary})


def errors(predictions: Any, y: Any, half: float) -> dict[str, float]:
    gap = (predictions - y) * half
    return {"MAE": float(np.abs(gap).mean()), "RMSE": float(np.sqrt((gap**2).mean()))}


def ratings_table(name: str, with_river: bool = True) -> None:
    """The default learner, untuned, and the peers, in one table; time and memory by quarters."""
    import matrix_peers

    data = load(name)
    if data is None:
        return
    users, items, ratings, low, high = data
    half = 0.5 * (high - low)
    y = (ratings - 0.5 * (low + high)) / half
    rows, bias = [], None
    for fast in (False, True):
        MatrixCompletion(low, high, fast=fast).run([0, 1], [0, 1], [low, high])
        learner, parts = MatrixCompletion(low, high, fast=fast), []
        quarter = len(ratings) // 4
        wall_all = cpu_all = 0.0
        quarters = []
        for part in range(4):
            chunk = slice(part * quarter, (part + 1) * quarter if part < 3 else len(ratings))
            wall, cpu = time.perf_counter(), time.process_time()
            parts.append(learner.run(users[chunk], items[chunk], ratings[chunk]))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            wall_all, cpu_all = wall_all + wall, cpu_all + cpu
            memory = sum(array.nbytes for array in learner.engine.arrays().values())
            quarters.append({
                "part": f"{25 * (part + 1)} %", "ms a round": 1e3 * cpu / len(parts[-1].details["steps"]),
                "block steps": float(parts[-1].details["steps"].mean()), "state MB": memory / 1e6,
                "bytes a rating": memory / learner.rounds,
            })  # fmt: skip
        show(quarters)
        run = np.concatenate([(p.predictions - 0.5 * (low + high)) / half for p in parts])
        bias = np.concatenate([(p.details["bias"] - 0.5 * (low + high)) / half for p in parts])
        label = "MatrixCompletion, untuned" + (", fast" if fast else "")
        rows.append({"learner": label, **errors(run, y, half), "cpu s": cpu_all, "wall s": wall_all})
        print(learner.certificate(), "\n")
    rows.append({"learner": "our bias model alone", **errors(bias, y, half)})
    for peer in matrix_peers.table(users, items, y, bias, with_river):
        rows.append({
            "learner": peer["name"], **errors(peer["predictions"], y, half), "cpu s": peer["seconds"],
            "setting": str(peer["setting"]),
        })  # fmt: skip
    show(rows)
    write(f"ratings-{name}", rows)


def top_speed(users: int = 1000, items: int = 5000, rounds: int = 20_000) -> None:
    """Milliseconds of processor time to rank every item for one user, ratings made from a matrix of rank 4."""
    rng = np.random.default_rng(0)
    i = rng.integers(0, users, rounds)
    j = np.concatenate([np.arange(items), rng.integers(0, items, rounds - items)])
    p, q = rng.normal(size=(users, 4)), rng.normal(size=(items, 4))
    y = np.clip(np.rint(3.0 + 0.5 * (p[i] * q[j]).sum(axis=1) + 0.5 * rng.normal(size=rounds)), 1.0, 5.0)
    learner = MatrixCompletion(1, 5, fast=True)
    learner.run(i.tolist(), j.tolist(), y.tolist())
    learner.top(0)
    times = []
    for user in range(1, 51):
        began = time.process_time()
        learner.top(user)
        times.append(1e3 * (time.process_time() - began))
    rows = [{"items": items, "ratings": rounds, "median ms": float(np.median(times)), "least ms": min(times)}]
    show(rows)
    write("top", rows)


def million(users: int = 6040, items: int = 3706, ratings: int = 1_000_000) -> None:
    """A stream of the shape of MovieLens-1M: offsets, a matrix of rank eight and noise as large as those of MovieLens-100K."""
    rng = np.random.default_rng(0)
    user = rng.choice(users, ratings, p=rng.dirichlet(np.full(users, 0.8)))
    item = rng.choice(items, ratings, p=rng.dirichlet(np.full(items, 0.5)))
    left, right = rng.normal(size=(users, 8)), rng.normal(size=(items, 8))
    clean = 3.53 + 0.42 * rng.normal(size=users)[user] + 0.5 * rng.normal(size=items)[item]
    clean += 0.12 * np.einsum("tk,tk->t", left[user], right[item])
    rating = np.clip(np.round(clean + 0.85 * rng.normal(size=ratings)), 1, 5)
    learner, rows, part = MatrixCompletion(1, 5), [], 100_000
    learner.run([0], [0], [3.0])
    for begin in range(0, ratings, part):
        began = time.process_time()
        run = learner.run(user[begin : begin + part].tolist(), item[begin : begin + part].tolist(), rating[begin : begin + part].tolist())
        spent, off = time.process_time() - began, run.predictions - rating[begin : begin + part]
        bias = run.details["bias"] - rating[begin : begin + part]
        rows.append({
            "ratings": begin + part, "cpu s": spent, "µs a round": 1e6 * spent / part, "MAE": float(np.abs(off).mean()),
            "RMSE": float(np.sqrt((off**2).mean())), "RMSE of the bias model": float(np.sqrt((bias**2).mean())),
        })  # fmt: skip
        show(rows[-1:])
    noise = np.sqrt(np.mean((rating - clean) ** 2))
    print(f"altogether {sum(row['cpu s'] for row in rows):.0f} s of one core; RMSE of the noise alone {noise:.4f}")
    write("million", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[], help="agreement, speed, ratings, top, million (all if none)")
    parser.add_argument("--data", choices=STREAMS, help="one stream only")
    parser.add_argument("--no-river", action="store_true", help="leave out the slow peer")
    options = parser.parse_args()
    parts = options.parts or ["agreement", "speed", "ratings", "top", "million"]
    names = [options.data] if options.data else list(STREAMS)
    if "agreement" in parts:
        agreement()
    if "speed" in parts:
        for name in names[:1]:
            speed(name)
    if "million" in parts:
        million()
    if "top" in parts:
        top_speed()
    if "ratings" in parts:
        for name in names:
            ratings_table(name, not options.no_river)


if __name__ == "__main__":
    main()
