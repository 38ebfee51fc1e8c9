"""The work behind `burkholder experts`: one learner, or one for each group, over a table of forecasts."""

from __future__ import annotations

import os
import time
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from burkholder import losses, storage
from burkholder.cli.forecasts import Forecasts
from burkholder.errors import BadInput, printable
from burkholder.experts.hindsight import best_convex
from burkholder.experts.learner import Experts
from burkholder.losses.batch import values


def remembered(load: Path | None, columns: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """(a saved learner, what is said of the columns, else what was said when it was saved); with groups, any of their files tells."""
    if load is None:
        return None, columns
    groups = [] if load.exists() else sorted(load.parent.glob(f"{escape(load.stem)}.*{load.suffix}"))
    learner, extra = _loaded(groups[0] if groups else load)
    before = extra.get("said", {})
    return learner, {key: before.get(key) if value is None else value for key, value in columns.items()}


def _loaded(path: Path) -> tuple[Any, dict[str, Any]]:
    learner, extra = storage.load_with_extra(path)
    if not isinstance(learner, Experts):
        raise BadInput("load", str(path), f"it holds a {type(learner).__name__}, not expert advice")
    return learner, extra


def _agree(path: Path, learner: Experts, loss: str | None, method: str | None, rate: float | None, options: dict[str, Any]) -> None:
    """Refuse what is said of the learner and is not so."""
    if (loss or options) and repr(losses.get(loss or losses.name(learner.loss), **options)) != repr(learner.loss):
        raise BadInput("loss", loss or options, f"the model in {path} has {learner.loss}; leave it out")
    if method not in (None, learner.method):
        raise BadInput("method", method, f"the model in {path} is {learner.method!r}; leave it out")
    if rate is not None:
        raise BadInput("rate", rate, f"the model in {path} brings its own; leave it out")


class Advice:
    """Predictions of every row, and what was lost on those whose label is known."""

    def __init__(
        self,
        data: Forecasts,
        loss: str | None,
        method: str | None,
        rate: float | None,
        options: dict[str, Any],
        load: Path | None = None,
        together: bool = False,
    ) -> None:
        self.data, self.together = data, together
        self.grouped = any(data.groups)
        self.groups = list(dict.fromkeys(data.groups))
        self.learners: dict[str, Any] = {}
        for group in self.groups:
            path = None if load is None else self._file(load, group)
            if path is not None and (path.exists() or not self.grouped):
                learner = _loaded(path)[0]
                _agree(path, learner, loss, method, rate, options)
            else:
                learner = Experts(loss or "absolute", method=method or "huber-root", rate=rate, **options)
            self.learners[group] = learner
        self.loss = next(iter(self.learners.values())).loss
        self.rounds_before = sum(learner.rounds for learner in self.learners.values())
        known = list(dict.fromkeys(name for learner in self.learners.values() for name in learner.names))
        self.names = [*known, *(name for name in data.names if name not in known)]
        rows = len(data.y)
        self.predictions = np.full(rows, np.nan)
        self.weights: dict[str, np.ndarray] = {}
        self.seconds = 0.0

    def _file(self, path: Path, group: str) -> Path:
        """With groups, a file for each: model.GROUP.bk."""
        return path.with_name(f"{path.stem}.{quote(group, safe='')}{path.suffix}") if self.grouped else path

    # --- running -----------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Every row is predicted; labels are learned in order, those of one moment after all its rows were predicted."""
        began = time.perf_counter()
        label = np.array(self.data.groups)
        for group, learner in self.learners.items():
            mine = np.flatnonzero(label == group)
            self.weights[group] = self._advised(learner, mine)
        self.seconds = time.perf_counter() - began

    def _advised(self, learner: Any, mine: np.ndarray) -> np.ndarray:
        """The rows of one learner, in stretches: those with a label are learned as one run, the others are predicted."""
        y, forecasts = self.data.y[mine], self.data.values[mine]
        missing = np.isnan(y)
        used: list[list[float]] = [[] for _ in y]
        for start, stop in self._stretches(mine, missing):
            rows = np.arange(start, stop)
            ahead, due = rows[missing[start:stop]], rows[~missing[start:stop]]
            if ahead.size:  # first: nothing of their moment is known yet
                self.predictions[mine[ahead]] = learner.predict_many(dict(zip(self.data.names, forecasts[ahead].T)))
                for t in ahead.tolist():
                    used[t] = list(learner.weights(dict(zip(self.data.names, forecasts[t].tolist()))).values())
            if due.size:
                columns = dict(zip(self.data.names, forecasts[due].T))
                run = learner.run(columns, y[due], trace=0, together=int(due.size) if self.together else None)
                self.predictions[mine[due]] = run.predictions
                for t, row in zip(due.tolist(), run.details["weights"].tolist()):
                    used[t] = row
        width = len(learner.columns)
        return np.array([[*row, *[0.0] * (width - len(row))] for row in used]) if used else np.zeros((0, width))

    def _stretches(self, mine: np.ndarray, missing: np.ndarray) -> list[tuple[int, int]]:
        """(start, stop): rows of one moment, else as many as have labels (or lack them) in a row."""
        key = [self.data.moments[k] for k in mine.tolist()] if self.together else missing.tolist()
        cuts = [0, *(t for t in range(1, len(key)) if key[t] != key[t - 1]), len(key)]
        return [(a, b) for a, b in zip(cuts, cuts[1:]) if b > a]

    # --- telling -----------------------------------------------------------------------------------------------
    def _filled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(forecasts with ŷ in place of who slept, targets, predictions) of the rows whose label is known."""
        known = ~np.isnan(self.data.y)
        x, yhat = self.data.values[known], self.predictions[known]
        return np.where(np.isnan(x), yhat[:, None], x), self.data.y[known], yhat

    def result(self) -> dict[str, Any]:
        """The run as plain data: losses are those of this file, bounds those of the learners' lives."""
        x, y, yhat = self._filled()
        n = len(y)
        if not n:
            return {"rounds": 0, "rows": len(self.data.y), "predicted_only": len(self.data.y), "experts": self.names}
        per_expert = np.array([values(self.loss, np.ascontiguousarray(column), y).mean() for column in x.T])
        awake = np.where(np.isnan(self.data.values[~np.isnan(self.data.y)]), np.nan, x)
        with np.errstate(invalid="ignore"):
            counts = np.maximum((~np.isnan(awake)).sum(axis=1), 1)
            average = np.where((~np.isnan(awake)).any(axis=1), np.nansum(awake, axis=1) / counts, yhat)
        label = np.array(self.data.groups)[~np.isnan(self.data.y)]
        convex = gap = bound = realised = 0.0
        for group, learner in self.learners.items():
            mine = label == group
            if not mine.any():
                continue
            best = best_convex(self.loss, x[mine], y[mine])
            convex, gap = convex + best.loss * int(mine.sum()), gap + best.gap * int(mine.sum())
            mixture = dict(zip(self.data.names, best.weights.tolist()))
            certificate = learner.certificate()
            w = np.array([mixture.get(name, 0.0) for name in learner.names])
            bound += certificate.bound(w)
            realised += certificate.realised(w)
        whole = sum(learner.rounds for learner in self.learners.values())
        return {
            "rounds": n,
            "rows": len(self.data.y),
            "predicted_only": len(self.data.y) - n,
            "loss": type(self.loss).__name__.lower() if not hasattr(self.loss, "name") else self.loss.name,
            "method": next(iter(self.learners.values())).method,
            "learners": len(self.learners),
            "together": self.together,
            "mean_loss": float(values(self.loss, yhat, y).mean()),
            "best_expert": self.data.names[int(np.argmin(per_expert))],
            "best_expert_loss": float(per_expert.min()),
            "average_loss": float(values(self.loss, average, y).mean()),
            "best_convex_loss": convex / n,
            "best_convex_gap": gap / n,
            "bound": bound if np.isfinite(bound) else None,
            "bound_per_round": bound / whole if np.isfinite(bound) else None,
            "realised": realised,
            "life_rounds": whole,
            "experts": self.data.names,
            "expert_losses": dict(zip(self.data.names, per_expert.tolist())),
            "left_out": self.data.left_out,
            "bad_lines": self.data.bad_lines,
            "seconds": self.seconds,
        }

    def show(self) -> None:
        """The table for people: the answer first."""
        from burkholder.cli.console import tell

        told = self.result()
        if not told["rounds"]:
            tell(f"{told['rows']:,} rows predicted, none learned: their target is empty.")
            return
        rows = sorted(told["expert_losses"].items(), key=lambda pair: pair[1])
        width = max(31, *(len(printable(name)) for name, _ in rows))
        tell(f"{told['rounds']:,} rounds learned" + (f", {told['predicted_only']:,} rows predicted only" if told["predicted_only"] else ""))
        tell(f"  mean {told['loss']} loss")
        tell(f"  {told['method']:<{width}}  {told['mean_loss']:.6g}   <-- this")
        tell(f"  {'best fixed mixture in hindsight':<{width}}  {told['best_convex_loss']:.6g}")
        tell(f"  {'average of the experts':<{width}}  {told['average_loss']:.6g}")
        for name, paid in rows[:12]:
            tell(f"  {printable(name):<{width}}  {paid:.6g}")
        if len(rows) > 12:
            tell(f"  and {len(rows) - 12} more")
        if told["left_out"]:
            tell(f"Columns left out: {printable(', '.join(told['left_out']))}.")
        if told["bad_lines"]:
            tell(f"{told['bad_lines']:,} malformed lines skipped.")
        shown = f"nothing ({self._why()})" if told["bound"] is None else f"≤ {told['bound']:.6g}"
        tell(f"Regret to that mixture over {told['life_rounds']:,} rounds: realised ≤ {told['realised']:.6g}, promised {shown}.")

    def _why(self) -> str:
        """Why there is no promise about that mixture."""
        certificates = [learner.certificate() for learner in self.learners.values()]
        for certificate in certificates:
            for broken in certificate.assumptions:
                if not broken.held:
                    blocks = "; huber-root would count a block as one" if self.together else ""
                    return f"{broken.violations:,} of them without {broken.name}{blocks}"
        return next((note.removeprefix("no bound: ") for each in certificates for note in each.notes if note.startswith("no bound: ")),
                    "this method competes with single experts only")  # fmt: skip

    # --- writing -----------------------------------------------------------------------------------------------
    def write(
        self, predictions: Path | None, weights: Path | None, plot: Path | None, save: Path | None, columns: dict[str, Any] | None = None
    ) -> None:
        """Everything that was asked for; files appear whole. A model keeps what was said of its columns."""
        if predictions is not None:
            _whole(predictions, "".join(f"{number!r}\n" for number in self.predictions.tolist()))
        if weights is not None:
            _whole(weights, self._weights_csv())
        if plot is not None:
            for group, used in self.weights.items():
                self._picture(group, used).savefig(self._file(plot, group))
        if save is not None:
            for group, learner in self.learners.items():
                storage.save(learner, self._file(save, group), {"said": columns or {}})

    def _weights_csv(self) -> str:
        """One row a round, in the order of the file; behind the group where there are some."""
        columns = list(dict.fromkeys(name for learner in self.learners.values() for name in learner.columns))
        lines = [",".join([*(["group"] if self.grouped else []), *map(_quoted, columns)])]
        label = np.array(self.data.groups)
        rows: list[str] = [""] * len(label)
        for group, used in self.weights.items():
            names = self.learners[group].columns
            places = [names.index(name) if name in names else -1 for name in columns]
            for t, row in zip(np.flatnonzero(label == group).tolist(), used.tolist()):
                numbers = [f"{row[place]:.9g}" if place >= 0 else "0" for place in places]
                rows[t] = ",".join([*([_quoted(group)] if self.grouped else []), *numbers])
        return "\n".join([*lines, *rows]) + "\n"

    def _picture(self, group: str, used: np.ndarray) -> Any:
        from burkholder.experts.run import weights_figure

        mine = np.flatnonzero((np.array(self.data.groups) == group) & ~np.isnan(self.data.y))
        paid = values(self.loss, self.predictions[mine], self.data.y[mine])
        labelled = ~np.isnan(self.data.y[np.array(self.data.groups) == group])
        return weights_figure(self.learners[group].columns, used[labelled], paid)

    def report(self, path: str, file: str) -> None:
        """A page with the losses, the weights and the certificates."""
        from burkholder.report.advice import write_advice

        x, y, yhat = self._filled()
        label = np.array(self.data.groups)[~np.isnan(self.data.y)]
        write_advice(path, file, self.result(), self.learners, self.weights, values(self.loss, yhat, y), x, y, label, self.loss)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def _whole(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all; '-' is standard output."""
    if str(path) == "-":
        print(text, end="")
        return
    try:
        with open(f"{path}.partial", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{path}.partial", path)
    except OSError as error:
        raise BadInput("path", str(path), error.strerror or "it cannot be written") from None
