"""Small models of this version, for the tests of later ones: `python tests/storage/released/make.py`, once a release."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import burkholder as bk


def main() -> None:
    folder = Path(__file__).parent / bk.__version__
    folder.mkdir(exist_ok=True)
    X = np.random.default_rng(0).standard_normal((30, 3)).round(3)
    y = np.clip(X @ [0.5, -0.2, 0.1], -1.0, 1.0).round(3)
    named = bk.Learner("adagrad", loss="absolute", radius=2.0)
    for row, label in zip(X.tolist(), y.tolist()):
        named.update(dict(zip("abc", row)), label)
    audit = bk.Audit(loss="absolute")
    audit.run(X, 0.9 * y, y)
    ratings = bk.MatrixCompletion(1, 5)
    ratings.run([f"u{k % 4}" for k in range(12)], [f"i{k % 3}" for k in range(12)], [1 + k % 5 for k in range(12)])
    models = {
        "learner": named,
        "vector": bk.Learner("square-function", loss="squared", bound=1.0).run(X, y).learner,
        "experts": bk.Experts("absolute").run({"a": X[:, 0], "b": X[:, 1]}, y).learner,
        "ratings": ratings,
        "audit": audit,
    }
    for name, model in models.items():
        bk.save(model, folder / f"{name}.bk")


if __name__ == "__main__":
    main()
