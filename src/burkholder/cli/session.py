"""One run of `burkholder learn`, from the first batch to the last; what is told of it is in `telling`."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from burkholder import losses
from burkholder.cli.interrupts import Interrupts
from burkholder.cli.live import LiveLine
from burkholder.cli.options import parsed
from burkholder.cli.predictions import Predictions
from burkholder.cli.tasks import KINDS, TASKS
from burkholder.errors import BadInput, BadLine
from burkholder.learning.factory import keeps_constant, named_learner
from burkholder.storage.checkpoints import COLUMNS, Checkpoints
from burkholder.streams.readers import open_reader

WIDEST = 1 << 27  # a learner with a place for every feature number takes 2 GiB for so many


def shipped() -> str:
    """The electricity stream that comes with the package."""
    return str(files("burkholder") / "data" / "elec.csv.gz")


class Asked(NamedTuple):
    """What is to be learned, as it was asked for."""

    loss: str | None = None  # None: told by the target
    learner: str = "auto"
    options: Sequence[str] = ()
    multiclass: bool = False
    class_weight: str | None = None
    proba: bool = False


class Session:
    """Reads, learns, counts. `complete` is False until the last row of the last pass was learned."""

    def __init__(
        self,
        data: str,
        name: str,
        reading: dict[str, Any],
        asked: Asked,
        radius: float | None = None,
        passes: int = 1,
        predictions: str | None = None,
        quiet: bool = False,
        checkpoints: Any = None,
        recorder: Any = None,
    ) -> None:
        if passes > 1 and data == "-":
            raise BadInput("passes", passes, "standard input can be read once only; give a file")
        if radius is not None and not 0.0 < radius < float("inf"):
            raise BadInput("radius", radius, "give a positive finite number")
        self.data, self.name, self.reading = data, name, reading
        self.learner_name, self.radius, self.passes = asked.learner, radius, passes
        self.quiet, self.predictions = quiet, Predictions(predictions)
        self.options = parsed(list(asked.options))
        self.checkpoints, self.recorder = checkpoints or Checkpoints(), recorder
        self.multiclass, self.class_weight, self.proba = asked.multiclass, asked.class_weight, asked.proba
        self.task: Any = None
        self.loss: Any = None
        self.learner: Any = None
        if asked.loss is not None:
            self._choose(asked.loss)
        self.complete = False
        self.interrupts = Interrupts()
        self.passes_done = self.bad_lines = self.unlabelled = self.features = 0
        self.bad_examples: list[str] = []
        self.remarks: list[str] = []  # of the reader, on columns
        self.seconds = self.weight = 0.0
        self.earlier = (0.0, 0.0)  # loss and weight of the learner's life before the data of this run
        self.counted: dict[str, Any] = {}  # what an interrupted run had counted
        self.first_pass: tuple[float, float, int, int] | None = None  # loss, weight, errors, rounds
        self.format = ""

    # -- setting up --------------------------------------------------------------------------------------
    def _choose(self, loss: str) -> None:
        """Fix loss and learner; each option goes to the one that knows it."""
        if self.multiclass:
            self.learner = self._several(loss)
        else:
            self.learner = named_learner(self.learner_name, loss, self.options, self.constant and keeps_constant(self.learner_name))
        self.loss = self.learner.loss

    def _several(self, loss: str) -> Any:
        """Several classes are Auto's."""
        from burkholder.auto import AutoMulticlass

        if self.learner_name != "auto" or loss != "logistic":
            raise BadInput("learner", self.learner_name, "several classes are learned by auto, with the logistic loss")
        strange = sorted(set(self.options) - {"full_features", "effort"})
        if strange:
            raise BadInput("option", strange[0], "several classes have two options, full_features and effort")
        return AutoMulticlass(intercept=self.constant, **self.options)

    @property
    def constant(self) -> bool:
        """Whether there is a constant feature, from the rows or kept by the learner itself."""
        return self.reading["intercept"] is not False

    def _open(self) -> Any:
        from_rows = self.constant and not keeps_constant(self.learner_name)
        reading = {**self.reading, "intercept": from_rows or None}
        if self.checkpoints.table is not None:
            reading = {key: item for key, item in reading.items() if key not in (*COLUMNS, "intercept")}
            reading["reading"] = self.checkpoints.table
        return open_reader(self.data, classes=self._classes(), **reading)

    def _classes(self) -> Any:
        """What the reader is told of the labels."""
        if self.multiclass:
            return "many"
        if self.loss is None:
            return None
        if not losses.is_classification(self.loss):
            return False
        fresh = self.learner.rounds == 0 and self.task is None
        return "any" if fresh and self.learner_name == "auto" and self.loss.odds else True

    def _begin(self, reader: Any) -> None:
        """Settle task, loss and learner with the first batch."""
        if reader.classes == "many" and not self.multiclass:
            self.multiclass, self.learner = True, None
        if self.learner is None:
            self._choose("logistic" if reader.classes else "squared")
        if self.task is None:
            self.task = TASKS[reader.classes](self.loss, reader.class_names, self.class_weight)
        self.task.names = reader.class_names  # they grow on the way
        self.checkpoints.opened(self, reader)

    # -- running -----------------------------------------------------------------------------------------
    def run(self) -> None:
        """Learn every pass, or until Ctrl-C."""
        start = time.perf_counter()
        self.checkpoints.begin(self)
        if self.counted:
            self.task = KINDS[self.counted["kind"]](self.loss, self.counted["names"], self.class_weight)
            self.task.restore(self.counted)
        with self.interrupts as interrupts, self.predictions:
            try:
                if self.checkpoints.done:
                    self.complete = True
                    self.predictions.keep()
                    return
                with LiveLine(self.quiet) as line:
                    for _ in range(self.passes_done, self.passes):
                        if not self._one_pass(interrupts, line, start):
                            self.checkpoints.store(self, complete=False)
                            return
                        self.passes_done += 1
                self.complete = True
                self.checkpoints.store(self, complete=True)
                self.predictions.keep()
            except KeyboardInterrupt:
                if self.learner is None:
                    raise  # nothing was learned: nothing to sum up
                self.checkpoints.store(self, complete=False)
            finally:
                self.seconds = time.perf_counter() - start

    def _one_pass(self, interrupts: Interrupts, line: LiveLine, start: float) -> bool:
        from burkholder.cli.telling import live

        begun = False
        with self._open() as reader:
            for batch in self.checkpoints.pieces(reader, self.recorder):
                interrupts.busy = True
                if not begun:
                    self._begin(reader)
                    begun = True
                self._look(reader)
                yhat, weight = self._learn(batch)
                self.weight += float(weight.sum())
                if self.passes_done == 0:
                    self.task.seen(batch.y, yhat, weight)
                    if self.predictions.path is not None:
                        self.predictions.write(self.task.lines(yhat, self.learner, self.proba))
                self.checkpoints.learned(self, batch.rows)
                if self.recorder is not None:
                    self.recorder.learned(batch, self.learner, self.task, yhat)
                interrupts.busy = False
                if line.due():
                    line.show(live(self, reader.progress(), time.perf_counter() - start))
                if interrupts.requested:
                    return False
            self._look(reader)
        self._two_classes()
        if self.passes_done == 0:
            self.first_pass = self._totals()
        return True

    def _two_classes(self) -> None:
        """A target that is always the same teaches nothing: most often it is not the column, or the word, that was meant."""
        if self.task is None or not self.task.classifies or np.count_nonzero(self.task.counts) != 1 or self.checkpoints.rounds_before:
            return
        positive = self.reading.get("positive")
        if positive is not None and not self.task.counts[1]:
            raise BadInput("positive", positive, f"the target never has this value in the {self.task.rows:,} rows of {self.name}")
        raise BadInput("target", self.reading.get("target"), f"every row of {self.name} has the same class: there is nothing to learn")

    def _learn(self, batch: Any) -> tuple[Any, np.ndarray]:
        """Learn a batch: (predictions, weights); what the learner refuses gets the line it came from."""
        if not keeps_constant(self.learner_name) and self.format in ("libsvm", "npz") and self.features > WIDEST:
            remedy = f"{self.learner_name} keeps a place for every number up to the largest; --learner auto keeps the features it meets"
            raise BadInput("data", f"features up to number {self.features:,}", remedy)
        try:
            weight = self.task.weighed(batch.y, batch.weight)
            return self.task.learn(self.learner, batch, weight), weight
        except BadInput as error:
            place = re.search(r"\[(\d+)\]$", error.argument)
            if place is None:
                raise
            raise BadLine(self.name, int(batch.line[int(place[1])]), str(error)) from None

    def _look(self, reader: Any) -> None:
        self.features, self.format = reader.features, reader.format
        self.bad_lines, self.bad_examples, self.unlabelled = reader.bad_lines, reader.bad_examples, reader.unlabelled
        self.remarks = [*reader.remarks, *([] if self.task is None else self.task.remarks())]

    # -- what was lost -------------------------------------------------------------------------------------
    def _totals(self) -> tuple[float, float, int, int]:
        """Of the data of this run: loss, weight, errors, rounds."""
        loss, weight = self.earlier
        errors, rows = (0, 0) if self.task is None else (self.task.errors, self.task.rows)
        return self.learner.cumulative_loss - loss, self.weight - weight, errors, rows

    @property
    def learned(self) -> int:
        """Rounds of this session alone."""
        return int(self.learner.rounds) - self.checkpoints.rounds_before

    @property
    def honest(self) -> tuple[float, float, int, int]:
        """The totals of the first pass: later ones predict labels already seen."""
        return self.first_pass or self._totals()

    @property
    def mean_loss(self) -> float | None:
        loss, weight, *_ = self.honest
        return loss / weight if weight > 0.0 else None

    @property
    def error_rate(self) -> float | None:
        *_, errors, rounds = self.honest
        return errors / rounds if rounds and losses.is_classification(self.loss) else None
