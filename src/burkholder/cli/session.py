"""One run of `burkholder learn`, from the first batch to the summary."""

from __future__ import annotations

import re
import time
from importlib.resources import files
from typing import Any

from burkholder import losses
from burkholder.cli.interrupts import Interrupts
from burkholder.cli.live import LiveLine
from burkholder.cli.options import parsed
from burkholder.cli.predictions import Predictions
from burkholder.errors import BadInput, BadLine, printable
from burkholder.learning.factory import keeps_constant, named_learner
from burkholder.storage.checkpoints import COLUMNS, Checkpoints
from burkholder.streams.readers import open_reader

WIDEST = 1 << 27  # a learner with a place for every feature number takes 2 GiB for so many


def shipped() -> str:
    """The electricity stream that comes with the package."""
    return str(files("burkholder") / "data" / "elec.csv.gz")


class Session:
    """Reads, learns, counts. `complete` is False until the last row of the last pass was learned."""

    def __init__(
        self,
        data: str,
        name: str,
        reading: dict[str, Any],
        loss: str | None,
        learner: str,
        options: list[str],
        radius: float | None,
        passes: int,
        predictions: str | None,
        quiet: bool,
        checkpoints: Any = None,
        recorder: Any = None,
    ) -> None:
        if passes > 1 and data == "-":
            raise BadInput("passes", passes, "standard input can be read once only; give a file")
        if radius is not None and not 0.0 < radius < float("inf"):
            raise BadInput("radius", radius, "give a positive finite number")
        self.data, self.name, self.reading = data, name, reading
        self.learner_name, self.radius, self.passes = learner, radius, passes
        self.quiet, self.predictions = quiet, Predictions(predictions)
        self.options = parsed(options)
        self.checkpoints, self.recorder = checkpoints or Checkpoints(), recorder
        self.loss: Any = None
        self.learner: Any = None
        if loss is not None:
            self._choose(loss)
        self.complete = False
        self.interrupts = Interrupts()
        self.passes_done = self.bad_lines = self.features = self.errors = 0
        self.bad_examples: list[str] = []
        self.labels = [0, 0]  # of the classes −1 and 1
        self.seconds = self.weight = 0.0
        self.first_pass: tuple[float, float, int, int] | None = None  # loss, weight, errors, rounds
        self.format = ""
        self.stated_for: float | None = None  # the radius the bounds were last stated for; None: the learner's own

    # -- setting up --------------------------------------------------------------------------------------
    def _choose(self, loss: str) -> None:
        """Fix loss and learner; each option goes to the one that knows it."""
        self.learner = named_learner(self.learner_name, loss, self.options, self.constant and keeps_constant(self.learner_name))
        self.loss = self.learner.loss

    @property
    def constant(self) -> bool:
        """Whether there is a constant feature, from the rows or kept by the learner itself."""
        return self.reading["intercept"] is not False

    def _open(self) -> Any:
        classes = None if self.loss is None else losses.is_classification(self.loss)
        from_rows = self.constant and not keeps_constant(self.learner_name)
        reading = {**self.reading, "intercept": from_rows or None}
        if self.checkpoints.table is not None:
            reading = {key: item for key, item in reading.items() if key not in (*COLUMNS, "intercept")}
            reading["reading"] = self.checkpoints.table
        return open_reader(self.data, classes=classes, **reading)

    def _begin(self, reader: Any) -> None:
        """Settle loss and learner with the first batch."""
        if self.learner is None:
            self._choose("logistic" if reader.classes else "squared")
        self.checkpoints.opened(self, reader)

    # -- running -----------------------------------------------------------------------------------------
    def run(self) -> None:
        """Learn every pass, or until Ctrl-C."""
        start = time.perf_counter()
        self.checkpoints.begin(self)
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
        begun = False
        with self._open() as reader:
            for batch in self.checkpoints.pieces(reader, self.recorder):
                interrupts.busy = True
                if not begun:
                    self._begin(reader)
                    begun = True
                self._look(reader)
                yhat = self._learn(batch)
                self.weight += float(batch.weight.sum())
                self.errors += int((batch.y * yhat <= 0.0).sum())  # meaningful for labels ±1 only
                positives = int((batch.y > 0.0).sum())
                self.labels = [self.labels[0] + batch.rows - positives, self.labels[1] + positives]
                if self.passes_done == 0:
                    self.predictions.write(yhat)
                self.checkpoints.learned(self, batch.rows)
                if self.recorder is not None:
                    self.recorder.learned(batch, self.learner)
                interrupts.busy = False
                if line.due():
                    line.show(self._line(reader.progress(), time.perf_counter() - start))
                if interrupts.requested:
                    return False
            self._look(reader)
        self._two_classes()
        if self.passes_done == 0:
            self.first_pass = self._totals()
        return True

    def _two_classes(self) -> None:
        """A target that is always the same teaches nothing: most often it is not the column, or the word, that was meant."""
        if self.learner is None or not losses.is_classification(self.loss) or all(self.labels):
            return
        positive = self.reading.get("positive")
        if positive is not None and not self.labels[1]:
            raise BadInput("positive", positive, f"the target never has this value in the {self.labels[0]:,} rows of {self.name}")
        raise BadInput("target", self.reading.get("target"), f"every row of {self.name} has the same class: there is nothing to learn")

    def _learn(self, batch: Any) -> Any:
        """Learn a batch; what the learner refuses gets the line it came from."""
        if not keeps_constant(self.learner_name) and self.format in ("libsvm", "npz") and self.features > WIDEST:
            remedy = f"{self.learner_name} keeps a place for every number up to the largest; --learner auto keeps the features it meets"
            raise BadInput("data", f"features up to number {self.features:,}", remedy)
        try:
            return self.learner.run_batch(batch.indptr, batch.indices, batch.values, batch.y, batch.weight)
        except BadInput as error:
            place = re.search(r"\[(\d+)\]$", error.argument)
            if place is None:
                raise
            raise BadLine(self.name, int(batch.line[int(place[1])]), str(error)) from None

    def _look(self, reader: Any) -> None:
        self.features, self.format = reader.features, reader.format
        self.bad_lines, self.bad_examples = reader.bad_lines, reader.bad_examples

    def _totals(self) -> tuple[float, float, int, int]:
        return self.learner.cumulative_loss, self.weight, self.errors, int(self.learner.rounds)

    @property
    def _learned(self) -> int:
        """Rounds of this session alone."""
        return int(self.learner.rounds) - self.checkpoints.rounds_before

    # -- telling -----------------------------------------------------------------------------------------
    @property
    def _honest(self) -> tuple[float, float, int, int]:
        """The totals of the first pass: later ones predict labels already seen."""
        return self.first_pass or self._totals()

    @property
    def mean_loss(self) -> float | None:
        loss, weight, *_ = self._honest
        return loss / weight if weight > 0.0 else None

    @property
    def error_rate(self) -> float | None:
        *_, errors, rounds = self._honest
        return errors / rounds if rounds and losses.is_classification(self.loss) else None

    def _bound(self, kind: str) -> float | None:
        """`bound` or `realised` over the ball; None where the learner states none."""
        state = getattr(self.learner.certificate(), kind)
        for radius in self._radii():
            try:
                number = float(state(radius=radius))
            except BadInput:
                continue  # no ball of its own, or none at all
            self.stated_for = radius
            return number
        return None

    def _radii(self) -> tuple[float | None, ...]:
        """The radii to try in turn: the one asked for, else the function's own ball (None), else 1."""
        if self.radius is not None:
            return (self.radius,)
        return (None, 1.0) if hasattr(self.learner, "function") else (1.0,)

    def _radius(self) -> float | None:
        """The radius the bounds are stated for, as a number where it is known."""
        own = getattr(getattr(self.learner, "function", None), "default_radius", None)
        return self.stated_for if self.stated_for is not None or own is None else own()

    def _line(self, share: float | None, seconds: float) -> str:
        loss, regret = self.mean_loss, self._bound("realised")
        parts = [] if share is None else [f"{share:.0%}"]
        parts.append(f"{self.learner.rounds:,} rounds")
        parts.append(f"{self._learned / seconds:,.0f}/s")
        parts.append("" if loss is None else f"mean loss {loss:.5g}")
        parts.append("" if regret is None else f"certified regret ≤ {regret:.5g}")
        return " · ".join(part for part in parts if part)

    def result(self) -> dict[str, Any]:
        """Everything of the run, as plain data."""
        certificate = self.learner.certificate()
        told = certificate.to_dict()
        rounds = int(self.learner.rounds)
        return {
            "data": self.name,
            "format": self.format,
            "rounds": rounds,
            "passes": self.passes,
            "features": self.features,
            "loss": losses.name(self.loss),
            "learner": self.learner_name,
            "mean_loss": self.mean_loss,
            "error_rate": self.error_rate,
            "cumulative_loss": self.learner.cumulative_loss,
            "bound": self._bound("bound"),
            "realised_regret_bound": self._bound("realised"),
            "comparators": {**told["comparators"], **({} if self.stated_for is None else {"radius": self.stated_for})},
            "radius": self._radius(),
            "potential": certificate.potential,
            "guarantees": told["guarantees"],
            "assumptions": told["assumptions"],
            "valid": told["valid"],
            "notes": told["notes"],
            "bad_lines": self.bad_lines,
            "complete": self.complete,
            "seconds": self.seconds,
            "rounds_per_second": self._learned / self.seconds if self.seconds > 0.0 else None,
        }

    def summary(self) -> str:
        """The run, for people."""
        lines = [] if self.complete else ["INTERRUPTED: what follows covers the rounds learned so far, not all."]
        lines.append(f"{printable(self.name)} ({self.format}, {self.features:,} features)")
        lines.append(str(self.learner.certificate()))
        if self.error_rate is not None:
            lines.append(f"  error rate  {self.error_rate:.6g}")
        for kind, words in (("bound", "regret promised"), ("realised", "regret certified on this stream")):
            number = self._bound(kind) if self.radius is not None else None
            if number is not None:
                lines.append(f"  {words} ≤ {number:.6g} against comparators of size {self.radius:g}")
        if self.passes > 1:
            lines.append(f"  {self.passes} passes; over the first, mean loss {self.mean_loss:.6g}")
        if self.bad_lines:
            lines.append(f"  {self.bad_lines:,} malformed lines skipped, such as {printable(self.bad_examples[0])}")
        rate = self._learned / self.seconds if self.seconds else 0.0
        lines.append(f"  {self.seconds:.2f} s, {rate:,.0f} rounds/s")
        if self.predictions.left_over and not self.complete:
            lines.append(f"  predictions so far: {self.predictions.left_over}")
        return "\n".join(lines)
