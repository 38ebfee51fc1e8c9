"""One synthetic sparse stream in every form the speed benchmarks read: libsvm, VW text, arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

DIMENSION, WIDTH = 1 << 18, 100


def write(folder: Path, count: int, chunk: int = 20_000) -> dict[str, Path]:
    """The files, made once per folder and size."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"libsvm": folder / f"sparse-{count}.svm", "vw": folder / f"sparse-{count}.vw"}
    if all(path.exists() for path in paths.values()):
        return paths
    partial = {kind: path.with_suffix(path.suffix + ".partial") for kind, path in paths.items()}
    with open(partial["libsvm"], "w") as svm, open(partial["vw"], "w") as text:
        for start in range(0, count, chunk):
            indices, values, labels = rows(start, min(chunk, count - start))
            for row in range(len(labels)):
                body = " ".join(f"{k}:{v:.6g}" for k, v in zip(indices[row].tolist(), values[row].tolist()))
                svm.write(f"{labels[row]} {body}\n")
                text.write(f"{labels[row]} | {body}\n")
    for kind, path in paths.items():
        partial[kind].rename(path)
    return paths


def rows(start: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indices, values, labels) from row `start` on: 100 distinct features, labels ±1 by a noisy linear rule."""
    truth = np.random.default_rng(0).standard_normal(DIMENSION)
    rng = np.random.default_rng([1, start])
    # One feature from each of 100 equal ranges: distinct and sorted without rejection.
    step = (DIMENSION - 1) // WIDTH
    indices = (np.arange(WIDTH) * step + rng.integers(0, step, (count, WIDTH)) + 1).astype(np.int32)
    values = rng.random((count, WIDTH))
    score = (truth[indices] * values).sum(axis=1)
    return indices, values, np.where(score > rng.standard_normal(count), 1, -1)
