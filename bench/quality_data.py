"""The data sets named in quality.toml, as scipy CSR matrices and label vectors."""

from __future__ import annotations

import bz2
import csv
import gzip
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parent.parent


def folder() -> Path:
    """Where the data are: BURKHOLDER_DATA, or ../shared/data beside the repository."""
    return Path(os.environ.get("BURKHOLDER_DATA") or ROOT.parent / "shared" / "data")


def settings(path: Path | None = None) -> list[dict[str, Any]]:
    """The sets of the settings file."""
    return tomllib.loads((path or ROOT / "bench" / "quality.toml").read_text())["set"]


def opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt")
    if path.suffix == ".bz2":
        return bz2.open(path, "rt")
    return open(path)


def csv_rows(entry: dict[str, Any], path: Path) -> Iterator[tuple[list[tuple[str, float]], float]]:
    with opened(path) as file:
        reader = csv.reader(file)
        first = next(reader)
        header = first if entry.get("header", True) else [str(j) for j in range(len(first))]
        target = header.index(entry["target"]) if "target" in entry else len(header) - 1
        keep = [j for j, name in enumerate(header) if j != target and name not in entry.get("drop", ())]
        rows = reader if entry.get("header", True) else iter([first, *reader])
        for line in rows:
            features = []
            for j in keep:
                try:
                    features.append((header[j], float(line[j])))
                except ValueError:
                    features.append((f"{header[j]}={line[j]}", 1.0))
            yield features, float(line[target])


def sparse_rows(entry: dict[str, Any], path: Path) -> Iterator[tuple[list[tuple[str, float]], float]]:
    with opened(path) as file:
        for line in file:
            parts = line.split()
            label, parts = float(parts[0]), parts[1:]
            if entry["format"] == "vw":
                parts = [part for part in parts if not part.startswith("|")]
            pairs = [part.partition(":") for part in parts]
            yield [(name, float(number) if colon else 1.0) for name, colon, number in pairs], label


def load(entry: dict[str, Any]) -> tuple[sp.csr_matrix, np.ndarray]:
    """(X, y); labels of classes become ±1."""
    path = folder() / entry["path"]
    rows = csv_rows(entry, path) if entry["format"] == "csv" else sparse_rows(entry, path)
    ids: dict[str, int] = {}
    indptr, indices, values, labels = [0], [], [], []
    for features, y in rows:
        for name, number in features:
            if number != 0.0:
                indices.append(ids.setdefault(name, len(ids)))
                values.append(number)
        indptr.append(len(indices))
        labels.append(y)
    X = sp.csr_matrix((values, indices, indptr), shape=(len(labels), len(ids)), dtype=np.float64)
    y = np.array(labels)
    if entry["losses"][0] in ("logistic", "hinge"):
        y = np.where(y > 0, 1.0, -1.0)
    return X, y
