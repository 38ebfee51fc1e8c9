"""The page itself: sections, style and the few lines of script that read values off the charts."""

from __future__ import annotations

import html
import math
import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numpy as np

from burkholder import __version__, losses
from burkholder.errors import BadInput
from burkholder.report.charts import Line, bars, chart, number
from burkholder.report.style import SCRIPT, STYLE

SHOWN_WEIGHTS = 15


def write_page(recorder: Any, session: Any) -> None:
    """One self-contained file."""
    text = page(recorder, session)
    try:
        with open(recorder.path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput("report", recorder.path, error.strerror or "it cannot be written") from None


def page(recorder: Any, session: Any) -> str:
    """The whole page as text."""
    result = session.result()
    hindsight = recorder.hindsight(session.learner) if recorder.moments else {}
    title = f"{os.path.basename(str(result['data']))}: {result['learner']}, {result['loss']} loss"
    sections = [
        _headline(result, session, hindsight),
        _loss_chart(recorder, hindsight, result),
        _regret_chart(recorder, hindsight, session),
        _potential_chart(recorder),
        _weights(session),
        _guarantees(result),
        _assumptions(result),
        _settings(result, session),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f'<style>{STYLE}</style></head><body><a class="skip" href="#main">Skip to the results</a>'
        f'<header><h1>{html.escape(title)}</h1></header><main id="main">{"".join(sections)}</main>'
        f"<footer>Made by burkholder {__version__}. Losses are progressive: predicted before learned.</footer>"
        f"<script>{SCRIPT}</script></body></html>"
    )


def _headline(result: dict[str, Any], session: Any, hindsight: dict[str, Any]) -> str:
    facts = [("rounds", f"{result['rounds']:,}"), ("mean loss", _shown(result["mean_loss"]))]
    if result["error_rate"] is not None:
        facts.append(("error rate", f"{result['error_rate']:.2%}"))
    facts += [("features", f"{result['features']:,}"), ("assumptions", "all held" if result["valid"] else "violated, see below")]
    if "regret" in hindsight:
        facts.append(("regret had", number(hindsight["regret"][-1])))
    warning = (
        "" if result["complete"] else '<p class="warn" role="status">The run was interrupted: this covers the rounds learned so far.</p>'
    )
    cards = "".join(f'<div class="card"><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>' for name, value in facts)
    return f'<section aria-label="Summary">{warning}<dl class="cards">{cards}</dl></section>'


def _loss_chart(recorder: Any, hindsight: dict[str, Any], result: dict[str, Any]) -> str:
    rounds = [moment["rounds"] for moment in recorder.moments]
    total = dict(zip(rounds, hindsight.get("weights", [])))
    lines = [Line(result["learner"], rounds, [m["loss"] / total[m["rounds"]] for m in recorder.moments if total.get(m["rounds"])], 0)]
    if hindsight:
        at = hindsight["rounds"]
        lines.append(Line("best constant in hindsight", at, [c / total[n] for c, n in zip(hindsight["constant"], at)], 1))
    if "linear" in hindsight:
        at = hindsight["solved"]
        lines.append(Line("best linear in hindsight", at, [c / total[n] for c, n in zip(hindsight["linear"], at)], 2))
    about = (
        "Mean loss so far, each row predicted before it was learned. The baselines know all rows up to that moment: "
        "the best constant, and the best of " + hindsight["against"]
        if "against" in hindsight
        else "Mean loss so far, each row predicted before it was learned. The best linear predictor in hindsight: "
        + hindsight.get("why", "nothing was learned")
    )
    if recorder.skipped:
        about += f". Curves of the learner begin where the run was taken up again, after {recorder.skipped:,} rows"
    return chart("Progressive loss", about + ".", lines, "rounds", f"mean {result['loss']} loss", key="loss")


def _regret_chart(recorder: Any, hindsight: dict[str, Any], session: Any) -> str:
    rounds = [moment["rounds"] for moment in recorder.moments]
    names = list(dict.fromkeys(name for moment in recorder.moments for name in moment["bounds"] if "regret" in name))
    lines = [Line(name, rounds, [m["bounds"].get(name, math.nan) for m in recorder.moments], look) for look, name in enumerate(names[:4])]
    about = "What the certificate guaranteed at every moment. Small is good; the scale is logarithmic."
    if "regret" in hindsight:
        lines.append(Line("regret had, against the best comparator found", hindsight["solved"], hindsight["regret"], 4))
        about += f" The regret really had is against the best of {hindsight['against']} that a solver found."
    elif "why" in hindsight:
        about += f" The regret really had: {hindsight['why']}."
    return chart("Certificate over time", about, lines, "rounds", "regret at most", wide=True, key="certificate")


def _potential_chart(recorder: Any) -> str:
    moments = [moment for moment in recorder.moments if moment["potential"] is not None]
    lines = [Line("potential U(ζ)", [m["rounds"] for m in moments], [m["potential"] for m in moments], 3)]
    about = (
        "U(ζ) of the Burkholder function: it starts at 0 and does not rise while every assumption holds; how far it "
        "is below 0 is how much better than promised the stream went."
    )
    if not moments:
        about = "This learner is an aggregate of several and has no single potential."
    return chart("Potential", about, lines if moments else [], "rounds", "U(ζ)", key="potential")


def _weights(session: Any) -> str:
    """The largest weights, where predictions are linear in the features."""
    try:
        weights = session.learner.weights()
    except (AttributeError, BadInput, TypeError):
        return ""
    if isinstance(weights, dict):
        items = [(str(name), float(value)) for name, value in weights.items() if isinstance(value, (int, float))]
    else:
        vector = np.asarray(weights, float)
        if vector.ndim != 1:
            return ""
        top = np.argsort(-np.abs(vector), kind="stable")[:SHOWN_WEIGHTS]
        items = [(_feature(session, int(place)), float(vector[place])) for place in top]
    items = sorted((item for item in items if item[1] != 0.0), key=lambda item: -abs(item[1]))[:SHOWN_WEIGHTS]
    return bars("Largest weights", "The weights of the last round, by size.", items)


def _feature(session: Any, place: int) -> str:
    """The feature at that place: a column's name where the data were a table."""
    constant = session.constant
    if place == 0 and constant:
        return "(constant)"
    names = session.checkpoints.features
    inside = place - constant
    if names is None:
        return f"feature {inside}"
    if inside < len(names):
        return names[inside]
    return f"{names[inside - len(names)]} missing" if inside < 2 * len(names) else f"category {inside - 2 * len(names)}"


def _guarantees(result: dict[str, Any]) -> str:
    rows = [
        (item["name"], _shown(item["value"]), item["statement"] + ("" if item["holds"] else " (void: an assumption was violated)"))
        for item in result["guarantees"]
    ]
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in result["notes"])
    return _table("Guarantees", ("guarantee", "value", "statement"), rows, f'<ul class="notes">{notes}</ul>' if notes else "")


def _assumptions(result: dict[str, Any]) -> str:
    rows = [
        (
            item["statement"],
            "held" if item["held"] else f"violated {item['violations']:,} times",
            _shown(item["worst"]),
            "" if item["held"] else item["still_holds"],
        )
        for item in result["assumptions"]
    ]
    return _table("Assumptions", ("assumed", "seen", "most extreme value", "still true"), rows)


def _settings(result: dict[str, Any], session: Any) -> str:
    loss_options: dict[str, Any] = getattr(session.loss, "_asdict", dict)()
    given = {**session.options, **loss_options}
    rows = [
        ("data", str(result["data"])),
        ("format", result["format"]),
        ("learner", result["learner"]),
        ("loss", losses.name(session.loss)),
        *((key, str(value)) for key, value in given.items()),
        ("passes", str(result["passes"])),
        ("malformed lines skipped", f"{result['bad_lines']:,}"),
        ("seconds", f"{result['seconds']:.3g}"),
        ("rounds per second", _shown(result["rounds_per_second"])),
        ("burkholder", __version__),
        ("python", sys.version.split()[0]),
        *((name, metadata.version(name)) for name in ("numpy", "scipy", "numba")),  # what results may depend on
        ("system", f"{platform.system()} {platform.machine()}"),
    ]
    return _table("Settings and environment", ("setting", "value"), rows)


def _shown(value: Any) -> str:
    return "–" if value is None else (number(float(value)) if isinstance(value, (int, float)) else str(value))


def _table(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], after: str = "") -> str:
    if not rows:
        return f"<section><h2>{title}</h2><p>None.</p>{after}</section>"
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<section><h2>{title}</h2><div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{after}</section>"
    )
