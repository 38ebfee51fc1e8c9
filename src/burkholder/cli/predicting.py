"""The work behind `burkholder predict`: rows as the model takes them, in blocks, and its answers written line by line."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

import numpy as np

from burkholder import losses
from burkholder.cli.tasks import chances
from burkholder.errors import BadInput
from burkholder.learning.factory import keeps_constant
from burkholder.storage import load_with_extra
from burkholder.storage.tables import reading_of
from burkholder.streams.readers import open_reader, read

BLOCK = 4096


class Answers:
    """Lines of predictions: plain where there is one column, delimited with a header where there are more, or JSON objects."""

    def __init__(self, path: str | None, as_json: bool = False) -> None:
        self.path, self.json = path, as_json
        self._file: IO[str] = sys.stdout
        self._headed = False

    def __enter__(self) -> Answers:
        if self.path is not None:
            try:
                self._file = open(f"{self.path}.partial", "w", encoding="utf-8", newline="")
            except OSError as error:
                raise BadInput("output", self.path, error.strerror or "it cannot be written") from None
        return self

    def write(self, columns: dict[str, Any]) -> None:
        """Some rows: a column of answers by name; the first is the prediction."""
        if self.json:
            names = [json.dumps(name, ensure_ascii=False) for name in columns]
            spelled = [_spelled(column) for column in columns.values()]
            pattern = "{" + ", ".join(f"{name.replace('%', '%%')}: %s" for name in names) + "}\n"
            self._file.writelines(map(pattern.__mod__, zip(*spelled)))
        elif len(columns) == 1:
            (column,) = columns.values()
            self._file.writelines(f"{word}\n" for word in (map(repr, column.tolist()) if isinstance(column, np.ndarray) else column))
        else:
            writer = csv.writer(self._file, lineterminator="\n")
            if not self._headed:
                writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values())))
        self._headed = True
        self._file.flush()  # whoever follows a live stream sees each block at once

    def __exit__(self, kind: Any, *reason: object) -> None:
        if self.path is None:
            return
        self._file.close()
        if kind is None:
            os.replace(f"{self.path}.partial", self.path)


def _spelled(column: Any) -> list[str]:
    """The values of a column as JSON has them; a number that is none is null."""
    if isinstance(column, np.ndarray):
        return [repr(value) if math.isfinite(value) else "null" for value in column.tolist()]
    words = {word: json.dumps(word, ensure_ascii=False) for word in set(column)}
    return [words[word] for word in column]


def asked(model: str, data: str, answers: Answers, proba: bool, intervals: float | None, reading: dict[str, Any]) -> int:
    """Answer every row of the data; returns how many lines were skipped."""
    learner, extra = load_with_extra(model)
    run = extra.get("run", {})
    if hasattr(learner, "forecast_rows"):
        return _bands(learner, data, answers, proba, intervals, reading)
    if intervals is not None:
        remedy = f"{model} gives numbers alone; learn it with --intervals {intervals:g}, or put intervals around them: burkholder intervals"
        raise BadInput("intervals", intervals, remedy)
    if hasattr(learner, "keys"):
        return _keyed(learner, data, answers, reading, extra)
    if hasattr(learner, "top"):
        return _pairs(learner, data, answers)
    if hasattr(learner, "average_loss"):
        return _forecasts(learner, data, answers, reading)
    if not hasattr(learner, "predict_batch"):
        raise BadInput("model", model, f"it holds a {type(learner).__name__}, which predicts no rows of a file")
    names = (run.get("task") or {}).get("names") or ["-1", "1"]
    table = reading_of(learner)
    if table is None and learner.rows.kind == "names":
        for rows in _blocks(x for x, _ in read(data, labels="ignored", **reading)):
            answers.write(
                _columns(learner, learner.probabilities(rows) if hasattr(learner, "classes") else learner.predict_many(rows), names, proba)
            )
        return 0
    known = run.get("learner", "")
    constant = run.get("reading", {}).get("intercept", False) and not keeps_constant(known) and table is None
    before = {} if table is not None else {"bits": run.get("reading", {}).get("bits")}
    with open_reader(data, labels="ignored", intercept=constant or None, reading=table, **before, **reading) as reader:
        for batch in reader:
            answers.write(_columns(learner, learner.predict_batch(batch.indptr, batch.indices, batch.values), names, proba))
        return int(reader.bad_lines)


def _bands(learner: Any, data: str, answers: Answers, proba: bool, intervals: float | None, reading: dict[str, Any]) -> int:
    """A model of intervals: the forecast, low and high."""
    if proba:
        raise BadInput("proba", proba, "this model predicts numbers, not classes")
    if intervals is not None and intervals != learner.coverage:
        raise BadInput("intervals", intervals, f"this model's intervals were learned to cover {learner.coverage:g}; give that, or nothing")
    with open_reader(data, labels="ignored", reading=reading_of(learner), **reading) as reader:
        for batch in reader:
            centre, bands = learner.forecast_rows(batch.indptr, batch.indices, batch.values)
            answers.write({"prediction": centre, "low": bands[:, 0], "high": bands[:, 1]})
        return int(reader.bad_lines)


def _columns(learner: Any, found: Any, names: list[str], proba: bool) -> dict[str, Any]:
    """The columns of an answer: the prediction, and what else was asked for."""
    if hasattr(learner, "classes"):
        classes = [str(label) for label in learner.classes]
        if not proba:
            return {"prediction": [classes[place] for place in found.argmax(axis=1)] if classes else [""] * len(found)}
        return {f"p({label})": found[:, place] for place, label in enumerate(classes)}
    if not losses.is_classification(learner.loss):
        if proba:
            raise BadInput("proba", proba, "this model predicts numbers, not classes")
        return {"prediction": found}
    if not proba:
        return {"prediction": [names[int(margin > 0.0)] for margin in found.tolist()]}
    if not learner.loss.odds:
        raise BadInput("proba", proba, f"the {losses.name(learner.loss)} loss gives no probabilities")
    return {f"p({names[1]})": chances(found)}


def _blocks(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while block := list(islice(rows, BLOCK)):
        yield block


def _keyed(learner: Any, data: str, answers: Answers, reading: dict[str, Any], extra: dict[str, Any]) -> int:
    """A model of many keys: rows with their column of keys."""
    from burkholder.cli.keyed import opened, table_of, with_keys

    reader = opened(data, learner.key, {**reading, "labels": "ignored"}, table_of(extra))
    for rows in _blocks(with_keys(reader, learner.key)):
        answers.write({"prediction": learner.predict_many([x for x, _, _ in rows])})
    return int(reader.bad_lines)


def _forecasts(learner: Any, data: str, answers: Answers, reading: dict[str, Any]) -> int:
    """A model of expert advice: the columns called like its experts."""
    from burkholder.cli.forecasts import read_forecasts

    found = read_forecasts(data, None, list(learner.names), labels="ignored", **reading)
    for start in range(0, len(found.values), BLOCK):
        answers.write({"prediction": learner.predict_many(dict(zip(found.names, found.values[start : start + BLOCK].T)))})
    return found.bad_lines


def _pairs(learner: Any, data: str, answers: Answers) -> int:
    """A model of ratings: pairs of ids."""
    from burkholder.matrix.ratings import read_pairs

    for block in _blocks(iter(zip(*read_pairs(data)))):
        answers.write({"prediction": learner.predict_many(learner.spelled_pairs(*zip(*block)))})
    return 0
