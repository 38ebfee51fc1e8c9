"""Saving during a run over a file, and taking it up again: after a kill the rest is learned as if nothing had happened.

A checkpoint is a model file that also says how many rows of which data were learned and how long the file of
predictions was. Everything after that point is read, predicted and learned again, to the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from burkholder.errors import BadInput
from burkholder.storage import load_with_extra, save
from burkholder.storage.tables import give, reading_of
from burkholder.streams.readers.reading import Reading

SETTINGS = ("options", "passes", "predictions")  # what must be the same to take a run up again
COLUMNS = ("target", "weight", "drop", "categorical", "positive", "header", "decimal", "bits")  # said by a table's reading


class Checkpoints:
    """`--load`, `--save` and `--checkpoint-every` of one session; without them it does nothing.

    The session is whatever has `data, reading, learner, learner_name, loss, passes, passes_done, weight, first_pass,
    predictions` and `options`.
    """

    def __init__(self, load: str | None = None, save: str | None = None, every: int | None = None) -> None:
        if every is not None and every < 1:
            raise BadInput("checkpoint-every", every, "give a number of rows ≥ 1")
        if every is not None and save is None:
            raise BadInput("checkpoint-every", every, "say where to with --save")
        self.load, self.save, self.every = load, save, every
        self.rows = 0  # learned in this pass
        self.rounds_before = 0  # of the learner, when this session began
        self.done = False  # the file says that this very run was finished
        self.table: Any = None  # how the table of the model was read
        self._format: str | None = None  # what the model learned from
        self._skip = 0
        self.features: list[str] | None = None  # names of a table's feature columns, in the order of their places

    # --- taking up ---------------------------------------------------------------------------------------
    def begin(self, session: Any) -> None:
        """Put the saved learner, and where it was, into the session."""
        if self.load is None:
            return
        again = self.save is not None and os.path.abspath(self.load) == os.path.abspath(self.save)
        if again and self.every is not None and not os.path.exists(self.load):
            return  # killed before its first checkpoint: from the first row
        learner, extra = load_with_extra(self.load)
        run = extra.get("run", {})
        if not hasattr(learner, "run_batch"):
            raise BadInput("load", self.load, f"a {type(learner).__name__} does not learn from rows of features")
        self._agree(session, learner, run)
        self._same_reading(session, learner, run)
        session.learner, session.loss = learner, learner.loss
        session.learner_name = run.get("learner", session.learner_name)
        session.multiclass = hasattr(learner, "classes")
        self.rounds_before, session.weight = int(learner.rounds), float(run.get("weight", 0.0))
        session.earlier = learner.cumulative_loss, session.weight
        if not run:
            return
        same = run["data"] == session.data and run["fingerprint"] == fingerprint(session.data)
        if run["complete"]:
            self.done = same and again and run["predictions"] == session.predictions.path
            if self.done:
                self._restore(session, run)
            return
        if not same:
            raise BadInput("load", self.load, f"this run over {run['data']} is not finished: give the same file, unchanged")
        for key in SETTINGS:
            if run[key] != _setting(session, key):
                raise BadInput(key, _setting(session, key), f"the run in {self.load} has {run[key]!r}: repeat its settings")
        self._restore(session, run)

    def _agree(self, session: Any, learner: Any, run: dict[str, Any]) -> None:
        # losses of different classes may be equal as tuples
        if session.loss is not None and repr(session.loss) != repr(learner.loss):
            raise BadInput("loss", session.loss, f"the model in {self.load} has {learner.loss}; leave --loss out")
        if run and session.learner_name not in ("auto", run["learner"]):
            raise BadInput("learner", session.learner_name, f"the model in {self.load} is {run['learner']!r}")
        if run and session.options and session.options != run["options"]:
            raise BadInput("option", session.options, f"the model in {self.load} has {run['options']}")

    def _same_reading(self, session: Any, learner: Any, run: dict[str, Any]) -> None:
        """Read as before: what was said then holds, and nothing else may be said now."""
        self.table, self._format = reading_of(learner), run.get("format")
        before = dict(run.get("reading", {}))
        if self.table is not None:
            self.table.agree(session.reading)
        said = {key: item for key, item in session.reading.items() if item is not None and item != ()}
        free = {"format", "delimiter", "skip_bad"} if run.get("complete", True) else set()  # of each file alone
        for key, item in said.items():
            known = self.table is not None and key in COLUMNS
            if run and not known and key not in free and item != before.get(key):
                raise BadInput(key, item, f"the model in {self.load} has {before.get(key)!r}: leave it out")
        kept = {key: item for key, item in before.items() if key not in free}
        session.reading = {**session.reading, **kept, **{key: said[key] for key in said if key in free}}

    def _restore(self, session: Any, run: dict[str, Any]) -> None:
        session.earlier, session.counted = tuple(run.get("earlier", (0.0, 0.0))), run.get("task") or {}
        session.passes_done, self._skip = run["pass"], run["rows"]
        session.first_pass = None if run["first_pass"] is None else tuple(run["first_pass"])
        session.options = run["options"]
        session.predictions.resume(run["predictions_bytes"])

    # --- on the way --------------------------------------------------------------------------------------
    def pieces(self, reader: Any, recorder: Any = None) -> Iterator[Any]:
        """The batches still to be learned, cut where a checkpoint is due (and where the recorder wants to look)."""
        skip, self._skip, self.rows = self._skip, 0, 0
        for batch in reader:
            start = min(skip, batch.rows)
            skip -= start
            self.rows += start
            if recorder is not None:
                recorder.expects(batch.rows, reader.progress())
            if recorder is not None and start:
                recorder.passed(part(batch, 0, start))
            while start < batch.rows:
                room = [batch.rows - start]
                if self.every is not None:
                    room.append(self.every - self.rows % self.every)
                if recorder is not None:
                    room.append(recorder.room)
                stop = start + min(room)
                yield batch if (start, stop) == (0, batch.rows) else part(batch, start, stop)
                start = stop
        if skip:
            raise BadInput("load", self.load, f"the data end {skip} rows before the row this run had reached")

    def opened(self, session: Any, reader: Any) -> None:
        """The learner takes its rows as this reader makes them."""
        reading = Reading.of(reader)
        if self._format is not None and (reading is None) != (self.table is None):
            raise BadInput("load", self.load, f"it learned from {self._format}; this file is {reader.format}")
        if reading is None:
            return
        self.features = reading.features
        self.table = reading
        give(session.learner, reading)

    def learned(self, session: Any, rows: int) -> None:
        """So many more rows were learned and predicted; save where one is due."""
        self.rows += rows
        if self.every is not None and self.rows % self.every == 0:
            self.store(session, complete=False)

    def store(self, session: Any, complete: bool) -> None:
        """Save learner and place. The predictions are on the disk before the file that counts them."""
        if self.save is None or session.learner is None:
            return
        run = {
            "data": session.data,
            "fingerprint": fingerprint(session.data),
            "learner": session.learner_name,
            "pass": session.passes_done,
            "rows": 0 if complete else self.rows,
            "weight": session.weight,
            "task": None if session.task is None else session.task.to_dict(),
            "earlier": list(session.earlier),
            "settings": {"class_weight": session.class_weight, "proba": session.proba},
            "first_pass": None if session.first_pass is None else list(session.first_pass),
            "complete": complete,
            "format": session.format,
            "reading": {**session.reading, "intercept": session.constant},
            "predictions_bytes": session.predictions.settled(),
            **{key: _setting(session, key) for key in SETTINGS},
        }
        save(session.learner, self.save, {"run": run})


class Interrupted(NamedTuple):
    """The settings of a run that was interrupted."""

    data: str
    passes: int
    options: list[str]
    predictions: Path | None
    class_weight: str | None
    proba: bool


def interrupted(path: str) -> Interrupted:
    """What the unfinished run in that file was told."""
    run = load_with_extra(path)[1].get("run", {})
    if run.get("complete", True):
        raise BadInput("load", path, "it holds no interrupted run: say which data to go on with")
    if run["data"] == "-":
        raise BadInput("load", path, "its run read standard input: pipe the same data in again, with '-'")
    more = run.get("settings", {})
    options = [f"{key}={value}" for key, value in run["options"].items()]
    where = None if run["predictions"] is None else Path(run["predictions"])
    return Interrupted(run["data"], run["passes"], options, where, more.get("class_weight"), bool(more.get("proba")))


def _setting(session: Any, key: str) -> Any:
    return session.predictions.path if key == "predictions" else getattr(session, key)


def fingerprint(data: str) -> list[int] | None:
    """Size and time of change of a file or of the files in a folder; None for a pipe."""
    path = Path(data)
    if data == "-" or not path.exists():
        return None
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [number for file in files for number in (file.stat().st_size, file.stat().st_mtime_ns)]


def part(batch: Any, start: int, stop: int) -> Any:
    """Rows start … stop − 1 of a batch."""
    begin, end = int(batch.indptr[start]), int(batch.indptr[stop])
    return batch._replace(
        indptr=batch.indptr[start : stop + 1] - begin,
        indices=batch.indices[begin:end],
        values=batch.values[begin:end],
        y=batch.y[start:stop],
        weight=batch.weight[start:stop],
        line=batch.line[start:stop],
    )
