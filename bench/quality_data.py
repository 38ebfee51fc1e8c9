"""The data sets named in quality.toml, as scipy CSR matrices and label vectors: files here, the rest in quality_streams."""

from __future__ import annotations

import bz2
import csv
import gzip
import os
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.sparse as sp

import quality_streams

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
        reader = csv.reader(file, delimiter=entry.get("delimiter", ","))
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


def present(entry: dict[str, Any]) -> bool:
    """Whether the set can be read here."""
    return entry["format"] in quality_streams.SOURCES or (folder() / entry["path"]).exists()


def read(entry: dict[str, Any]) -> Iterator[tuple[list[tuple[str, float]], float]]:
    path = folder() / entry["path"]
    yield from csv_rows(entry, path) if entry["format"] == "csv" else sparse_rows(entry, path)


def indicators(rows: list[dict[Any, Any]]) -> Iterator[list[tuple[str, float]]]:
    """Named rows with text as indicators."""
    for row in rows:
        yield [(f"{name}={x}", 1.0) if isinstance(x, str) else (str(name), float(x)) for name, x in row.items()]


def assembled(rows: Iterable[list[tuple[str, float]]]) -> sp.csr_matrix:
    """Named rows as a matrix; zeros are left out."""
    ids: dict[str, int] = {}
    indptr, indices, values = [0], [], []
    for features in rows:
        for name, number in features:
            if number != 0.0:
                indices.append(ids.setdefault(name, len(ids)))
                values.append(number)
        indptr.append(len(indices))
    return sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, len(ids)), dtype=np.float64)


def load(entry: dict[str, Any]) -> tuple[sp.csr_matrix, np.ndarray]:
    """(X, y); two classes become ±1, several 0, 1, …"""
    if entry["format"] in quality_streams.SOURCES:
        found, y = quality_streams.SOURCES[entry["format"]](entry)
        X = assembled(indicators(found)) if isinstance(found, list) else sp.csr_matrix(found, dtype=np.float64)
    else:
        pairs = list(read(entry))
        X, y = assembled(features for features, _ in pairs), np.array([label for _, label in pairs])
    if entry["losses"][0] == "classes":
        return X, np.unique(y, return_inverse=True)[1]
    y = y.astype(np.float64)
    if entry["losses"][0] in ("logistic", "hinge"):
        y = np.where(y > 0, 1.0, -1.0)
    return X, y
