"""The page of a run of `experts`: losses and weights over time, the best mixture beside them, and the certificates."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from burkholder.losses.batch import values
from burkholder.report.charts import Line, bars, chart, number
from burkholder.report.page import environment
from burkholder.report.rendering import rendered, written

POINTS = 120
SHOWN = 5  # curves of experts, and of their weights


def write_advice(
    path: str,
    file: str,
    result: dict[str, Any],
    learners: dict[str, Any],
    used: dict[str, np.ndarray],
    paid: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    label: np.ndarray,
    loss: Any,
) -> None:
    """One self-contained file."""
    title = f"{os.path.basename(file)}: expert advice, {result.get('loss', '')} loss"
    facts = [("rows", f"{result['rows']:,}"), ("learned", f"{result['rounds']:,}")]
    parts: list[dict[str, Any]] = []
    if result["rounds"]:
        facts = [
            ("mean loss", number(result["mean_loss"])),
            ("best expert", number(result["best_expert_loss"])),
            ("average of experts", number(result["average_loss"])),
            ("best mixture, in hindsight", number(result["best_convex_loss"])),
            *facts,
        ]
        parts.append(_losses(result, paid, x, y, loss))
        for group, weights in used.items():
            parts.append(_weights(group, learners[group], weights))
            parts.append(_now(group, learners[group]))
        parts.append(_guarantees(learners))
    rows = [
        ("data", file),
        ("method", str(result.get("method"))),
        ("columns left out", ", ".join(result.get("left_out", []))),
        *environment(),
    ]
    parts.append({"title": "Settings and environment", "about": "", "head": ("setting", "value"), "rows": rows, "notes": ()})
    written(path, rendered(title, facts, parts))


def _at(rows: int) -> np.ndarray:
    return np.unique(np.linspace(0, rows - 1, min(rows, POINTS)).astype(int))


def _losses(result: dict[str, Any], paid: np.ndarray, x: np.ndarray, y: np.ndarray, loss: Any) -> dict[str, Any]:
    at = _at(len(paid))
    rounds = (at + 1).tolist()
    lines = [Line(result["method"], rounds, (np.cumsum(paid)[at] / (at + 1)).tolist(), 0)]
    best = sorted(range(x.shape[1]), key=lambda j: result["expert_losses"][result["experts"][j]])[:3]
    for look, j in enumerate(best, 1):
        lost = np.cumsum(values(loss, np.ascontiguousarray(x[:, j]), y))[at] / (at + 1)
        lines.append(Line(result["experts"][j], rounds, lost.tolist(), look))
    about = "Mean loss so far, each row predicted before its label came, beside the three best experts."
    return chart("Progressive loss", about, lines, "rounds", f"mean {result['loss']} loss", key="loss")


def _weights(group: str, learner: Any, used: np.ndarray) -> dict[str, Any]:
    if not len(used):
        return {}
    at = _at(len(used))
    largest = np.argsort(-used.mean(axis=0), kind="stable")[:SHOWN]
    lines = [Line(learner.columns[j], (at + 1).tolist(), used[at, j].tolist(), look) for look, j in enumerate(largest.tolist())]
    about = "The weights of the experts that had most, round by round."
    return chart(f"Weights {group}".strip(), about, lines, "rounds", "weight", key=f"weights-{group or 'all'}")


def _now(group: str, learner: Any) -> dict[str, Any]:
    items = sorted(learner.weights().items(), key=lambda pair: -pair[1])[:15]
    return bars(f"Weights now {group}".strip(), "With every expert awake.", [(name, weight) for name, weight in items if weight > 0.0])


def _guarantees(learners: dict[str, Any]) -> dict[str, Any]:
    """A line for each guarantee, behind its group where there are some."""
    first = 0 if any(learners) else 1
    rows = [
        (group, item.name, "–" if item.value is None else number(item.value), item.statement)[first:]
        for group, learner in learners.items()
        for item in learner.certificate().guarantees
    ]
    head = ("group", "guarantee", "value", "statement")[first:]
    return {"title": "Guarantees", "about": "", "head": head, "rows": rows, "notes": ()}
