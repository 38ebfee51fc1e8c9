"""The page of a run of `learn`: what was lost, what is guaranteed, what the errors look like, and what matters."""

from __future__ import annotations

import math
import os
import platform
import sys
from functools import cached_property
from importlib import metadata
from typing import Any

import numpy as np

from burkholder import __version__, losses
from burkholder.errors import BadInput
from burkholder.report.charts import Line, bars, chart, number
from burkholder.report.rendering import rendered, written

SHOWN_WEIGHTS = 15


def write_page(recorder: Any, session: Any, result: dict[str, Any]) -> None:
    """One self-contained file."""
    written(recorder.path, page(recorder, session, result))


def page(recorder: Any, session: Any, result: dict[str, Any]) -> str:
    """The whole page as text."""
    hindsight = recorder.hindsight(session.learner, session.seconds) if recorder.moments else {}
    title = f"{os.path.basename(str(result['data']))}: {result['learner']}, {result['loss']} loss"
    parts = [
        _loss_chart(recorder, hindsight, result),
        _regret_chart(recorder, hindsight),
        _potential_chart(recorder),
        _residuals(recorder),
        _confusion(recorder),
        _calibration(recorder, result),
        _important(session),
        _weights(session),
        _guarantees(result),
        _assumptions(result),
        _settings(result, session),
    ]
    warning = "" if result["complete"] else "The run was interrupted: this covers the rounds learned so far."
    return rendered(title, _facts(result, hindsight), parts, warning)


def _facts(result: dict[str, Any], hindsight: dict[str, Any]) -> list[tuple[str, str]]:
    base = result["baselines"]
    facts = [("mean loss", _shown(result["mean_loss"]))]
    if "best_constant" in base:
        facts.append(("best constant", _shown(base["best_constant"])))
    if "last_value" in base:
        facts.append(("last value again", _shown(base["last_value"])))
    if result["error_rate"] is not None:
        facts += [
            ("error rate", f"{result['error_rate']:.2%}"),
            ("most frequent class", f"{base.get('most_frequent_class_error', math.nan):.2%}"),
        ]
    facts += [("rows", f"{result['rounds_today']:,}"), ("columns", f"{result['features']:,}")]
    facts.append(("assumptions", "all held" if result["valid"] else "violated, see below"))
    if hindsight.get("stated"):
        facts.append(("regret had", number(hindsight["regret"][-1])))
    return facts


def _loss_chart(recorder: Any, hindsight: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    rounds = [moment["rounds"] for moment in recorder.moments]
    total = dict(zip(rounds, hindsight.get("weights", [])))
    lines = [Line(result["learner"], rounds, [m["loss"] / total[m["rounds"]] for m in recorder.moments if total.get(m["rounds"])], 0)]
    if "constant" in hindsight:
        at = hindsight["rounds"]
        lines.append(Line("best constant in hindsight", at, [c / total[n] for c, n in zip(hindsight["constant"], at)], 1))
    if "linear" in hindsight:
        at = hindsight["solved"]
        lines.append(Line("best linear in hindsight", at, [c / total[n] for c, n in zip(hindsight["linear"], at)], 2))
    about = "Mean loss so far, each row predicted before it was learned. "
    if "against" in hindsight:
        about += (
            f"The best constant knows all rows up to that moment, the best linear predictor all rows: the best of {hindsight['against']}"
        )
    else:
        about += f"The best linear predictor in hindsight: {hindsight.get('why', 'nothing was learned')}"
    if recorder.skipped:
        about += f". Curves of the learner begin where the run was taken up again, after {recorder.skipped:,} rows"
    return chart("Progressive loss", about + ".", lines, "rounds", f"mean {result['loss']} loss", key="loss")


def _regret_chart(recorder: Any, hindsight: dict[str, Any]) -> dict[str, Any]:
    rounds = [moment["rounds"] for moment in recorder.moments]
    names = list(dict.fromkeys(name for moment in recorder.moments for name in moment["bounds"] if "regret" in name))
    lines = [Line(name, rounds, [m["bounds"].get(name, math.nan) for m in recorder.moments], look) for look, name in enumerate(names[:4])]
    about = "What the certificate guaranteed at every moment. Small is good; the scale is logarithmic."
    if hindsight.get("stated"):
        lines.append(Line("regret had, against the best comparator found", hindsight["solved"], hindsight["regret"], 4))
        about += f" The regret really had is against the best of {hindsight['against']} that a solver found, over all rows."
    elif "regret" in hindsight:
        about += f" They are about the comparators named below; the best of {hindsight['against']}, drawn above, may be none of them."
    elif "why" in hindsight:
        about += f" The regret really had: {hindsight['why']}."
    return chart("Certificate over time", about, lines, "rounds", "regret at most", wide=True, key="certificate")


def _potential_chart(recorder: Any) -> dict[str, Any]:
    moments = [moment for moment in recorder.moments if moment["potential"] is not None]
    lines = [Line("potential U(ζ)", [m["rounds"] for m in moments], [m["potential"] for m in moments], 3)]
    about = (
        "U(ζ) of the Burkholder function: it starts at 0 and does not rise while every assumption holds; how far it "
        "is below 0 is how much better than promised the stream went."
    )
    if not moments:
        about = "This learner is an aggregate of several and has no single potential."
    return chart("Potential", about, lines if moments else [], "rounds", "U(ζ)", key="potential")


def _residuals(recorder: Any) -> dict[str, Any]:
    """How far predictions were off over time, where labels are numbers."""
    found = [(moment["rounds"], *moment["residual"]) for moment in recorder.moments if moment["residual"] is not None]
    if not found:
        return {}
    rounds, mean, size = (list(column) for column in zip(*found))
    lines = [Line("mean of y − ŷ", rounds, mean, 0), Line("root mean square of y − ŷ", rounds, size, 1)]
    about = "How far predictions were off, from one moment to the next. A mean away from 0 for long says that something drifts."
    return chart("Residuals over time", about, lines, "rounds", "y − ŷ", key="residuals")


def _confusion(recorder: Any) -> dict[str, Any]:
    """What was predicted for rows of each class."""
    if not recorder.confusion:
        return {}
    confusion = recorder.confusion
    names, kinds = sorted({said for _, said in confusion}), sorted({was for was, _ in confusion})
    if max(len(names), len(kinds)) > 30:
        return {}
    rows = [[f"was {was}", *(f"{confusion.get((was, said), 0):,}" for said in names)] for was in kinds]
    about = "Rows of each class by what was predicted before the label came."
    return {
        "title": "Confusion",
        "about": about,
        "head": ["", *(f"said {name}" for name in names)],
        "rows": rows,
        "headed": True,
        "notes": (),
    }


def _calibration(recorder: Any, result: dict[str, Any]) -> dict[str, Any]:
    """How often it happened, beside how likely it was said to be."""
    count, said, came = recorder.calibration
    full = np.flatnonzero(count)
    if not full.size:
        return {}
    x, happened, told = (said[full] / count[full]).tolist(), (came[full] / count[full]).tolist(), "as said"
    lines = [Line("happened", x, happened, 0), Line(told, [0.0, *x, 1.0], [0.0, *x, 1.0], 1)]
    names = result["classes"] or ["-1", "1"]
    about = f"Rows in ten groups by the probability given to class {names[1]}, and how often it was that class. On the line is right."
    return chart("Calibration", about, lines, "probability said", "share that happened", key="calibration")


def _important(session: Any) -> dict[str, Any]:
    """The features that move predictions most."""
    if not hasattr(session.learner, "importances"):
        return {}
    found = session.learner.importances()
    items = found.items() if isinstance(found, dict) else enumerate(np.asarray(found, float).tolist())
    top = sorted(((name, value) for name, value in items if value > 0.0), key=lambda pair: -pair[1])[:SHOWN_WEIGHTS]
    names = _Names(session, shift=0)
    about = "How far one standard deviation of each feature moves the prediction."
    return bars("Most important features", about, [(names(name), value) for name, value in top]) if top else {}


def _weights(session: Any) -> dict[str, Any]:
    """The largest weights, where predictions are linear in the features."""
    try:
        weights = session.learner.weights()
    except (AttributeError, BadInput, TypeError):
        return {}
    if isinstance(weights, dict):
        items = [(str(name), float(value)) for name, value in weights.items() if isinstance(value, (int, float))]
    else:
        vector = np.asarray(weights, float)
        if vector.ndim != 1:
            return {}
        top = np.argsort(-np.abs(vector), kind="stable")[:SHOWN_WEIGHTS]
        names = _Names(session, shift=int(session.constant))
        items = [(names(int(place)), float(vector[place])) for place in top]
    items = sorted((item for item in items if item[1] != 0.0), key=lambda item: -abs(item[1]))[:SHOWN_WEIGHTS]
    return bars("Largest weights", "The weights of the last round, by size.", items) if items else {}


class _Names:
    """Features by their names: columns of a table, and the words of its first rows. `shift`: 1 behind the constant."""

    def __init__(self, session: Any, shift: int) -> None:
        self._columns, self._shift, self._session = session.checkpoints.features, shift, session

    @cached_property
    def _words(self) -> dict[int, str]:
        """Asked for by hashed words alone: the file's first rows are read again for them."""
        return self._session.recorder.words(self._session.checkpoints.table, self._session.data)

    def __call__(self, place: Any) -> str:
        if not isinstance(place, int):
            return str(place)
        inside = place - self._shift
        if inside < 0:
            return "(constant)"
        if self._columns is None:
            return f"feature {inside}"
        if inside < len(self._columns):
            return self._columns[inside]
        if inside < 2 * len(self._columns):
            return f"{self._columns[inside - len(self._columns)]} missing"
        return self._words.get(inside, f"category {inside - 2 * len(self._columns)}")


def _guarantees(result: dict[str, Any]) -> dict[str, Any]:
    rows = [
        (item["name"], _shown(item["value"]), item["statement"] + ("" if item["holds"] else " (void: an assumption was violated)"))
        for item in result["guarantees"]
    ]
    return {"title": "Guarantees", "about": "", "head": ("guarantee", "value", "statement"), "rows": rows, "notes": result["notes"]}


def _assumptions(result: dict[str, Any]) -> dict[str, Any]:
    rows = [
        (
            item["statement"],
            "held" if item["held"] else f"violated {item['violations']:,} times",
            _shown(item["worst"]),
            "" if item["held"] else item["still_holds"],
        )
        for item in result["assumptions"]
    ]
    return {"title": "Assumptions", "about": "", "head": ("assumed", "seen", "most extreme value", "still true"), "rows": rows, "notes": ()}


def _settings(result: dict[str, Any], session: Any) -> dict[str, Any]:
    loss_options: dict[str, Any] = getattr(session.loss, "_asdict", dict)()
    given = {**session.options, **loss_options}
    rows = [
        ("data", str(result["data"])),
        ("format", result["format"]),
        ("learner", result["learner"]),
        ("loss", losses.name(session.loss)),
        *((key, str(value)) for key, value in given.items()),
        ("passes", str(result["passes"])),
        ("rows without a target skipped", f"{result['unlabelled']:,}"),
        ("malformed lines skipped", f"{result['bad_lines']:,}"),
        ("seconds", f"{result['seconds']:.3g}"),
        ("rounds per second", _shown(result["rounds_per_second"])),
        *environment(),
    ]
    return {"title": "Settings and environment", "about": "", "head": ("setting", "value"), "rows": rows, "notes": ()}


def environment() -> list[tuple[str, str]]:
    """What results may depend on."""
    return [
        ("burkholder", __version__),
        ("python", sys.version.split()[0]),
        *((name, metadata.version(name)) for name in ("numpy", "scipy", "numba")),
        ("system", f"{platform.system()} {platform.machine()}"),
    ]


def _shown(value: Any) -> str:
    return "–" if value is None else (number(float(value)) if isinstance(value, (int, float)) else str(value))
