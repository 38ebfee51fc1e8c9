"""What is told of a run of `burkholder learn`: a line while it goes on, a summary for people, plain data for machines."""

from __future__ import annotations

from typing import Any

from burkholder import losses
from burkholder.cli.console import counted
from burkholder.errors import BadInput, printable

LOSS_NAMES = {"logistic": "log loss", "squared": "mean squared error", "absolute": "mean absolute error"}


def bound(session: Any, kind: str) -> tuple[float | None, float | None]:
    """(`bound` or `realised` over the ball, its radius: None for the learner's own); no number where the learner states none."""
    state = getattr(session.learner.certificate(), kind)
    for radius in _radii(session):
        try:
            return float(state(radius=radius)), radius
        except BadInput:
            continue  # no ball of its own, or none at all
    return None, None


def _radii(session: Any) -> tuple[float | None, ...]:
    """The radii to try in turn: the one asked for, else the function's own ball (None), else 1."""
    if session.radius is not None:
        return (session.radius,)
    return (None, 1.0) if hasattr(session.learner, "function") else (1.0,)


def live(session: Any, share: float | None, seconds: float) -> str:
    """The line on the terminal."""
    loss, regret = session.mean_loss, bound(session, "realised")[0]
    parts = [] if share is None else [f"{share:.0%}"]
    parts.append(f"{session.learner.rounds:,} rounds")
    parts.append(f"{session.learned / seconds:,.0f}/s")
    parts.append("" if loss is None else f"mean loss {loss:.5g}")
    parts.append("" if regret is None else f"certified regret ≤ {regret:.5g}")
    return " · ".join(part for part in parts if part)


def result(session: Any) -> dict[str, Any]:
    """Everything of the run, as plain data."""
    told = session.learner.certificate().to_dict()
    promised, stated = bound(session, "bound")
    realised, _ = bound(session, "realised")
    own = getattr(getattr(session.learner, "function", None), "default_radius", None)
    return {
        "data": session.name,
        "format": session.format,
        "rounds": int(session.learner.rounds),
        "rounds_today": session.learned,
        "passes": session.passes,
        "features": session.features,
        "loss": losses.name(session.loss),
        "learner": session.learner_name,
        "mean_loss": session.mean_loss,
        "error_rate": session.error_rate,
        "baselines": {} if session.task is None else session.task.baselines(),
        "classes": None if session.task is None or not session.task.classifies else session.task.names,
        "cumulative_loss": session.learner.cumulative_loss,
        "life_mean_loss": told["mean_loss"],
        "bound": promised,
        "realised_regret_bound": realised,
        "comparators": {**told["comparators"], **({} if stated is None else {"radius": stated})},
        "radius": stated if stated is not None or own is None else own(),
        "potential": told["potential"],
        "guarantees": told["guarantees"],
        "assumptions": told["assumptions"],
        "valid": told["valid"],
        "notes": told["notes"],
        "unlabelled": session.unlabelled,
        "remarks": session.remarks,
        "bad_lines": session.bad_lines,
        "complete": session.complete,
        "seconds": session.seconds,
        "rounds_per_second": session.learned / session.seconds if session.seconds > 0.0 else None,
    }


def summary(session: Any, details: bool = False) -> str:
    """The run, for people: what was lost beside who knows nothing, then one line of guarantee; the whole certificate on request."""
    lines = [] if session.complete else ["INTERRUPTED: what follows covers the rounds learned so far, not all."]
    columns = counted(session.features, "column" if session.checkpoints.features else "feature")
    lines.append(f"{printable(session.name)}: {counted(session.learned, 'row')}, {columns}, {session.learner_name}")
    lines += _losses(session)
    lines += _guarantee(session)
    if session.checkpoints.rounds_before:
        certificate = session.learner.certificate()
        lines.append(f"  the model's life     {session.learner.rounds:,} rows, mean loss {certificate.mean_loss:.6g}")
    if session.passes > 1:
        lines.append(f"  {session.passes} passes; losses are those of the first")
    if session.unlabelled:
        lines.append(f"  {counted(session.unlabelled, 'row')} without a target skipped")
    lines += [f"  {printable(remark)}" for remark in session.remarks]
    if session.bad_lines:
        lines.append(f"  {counted(session.bad_lines, 'malformed line')} skipped, such as {printable(session.bad_examples[0])}")
    rate = session.learned / session.seconds if session.seconds else 0.0
    lines.append(f"  {session.seconds:.2f} s, {rate:,.0f} rows/s{'' if details else '; --details shows the certificate'}")
    if session.predictions.left_over and not session.complete:
        lines.append(f"  predictions so far: {session.predictions.left_over}")
    if details:
        lines.append(str(session.learner.certificate()))
    return "\n".join(lines)


def _losses(session: Any) -> list[str]:
    """The loss and the error rate, each beside its baselines."""
    if session.mean_loss is None or session.task is None:
        return []
    base, name = session.task.baselines(), losses.name(session.loss)
    about = "≈ best constant" if session.task.thinned else "best constant"
    beside = [f"{words} {base[key]:.6g}" for key, words in (("best_constant", about), ("last_value", "last value")) if key in base]
    lines = [f"  {LOSS_NAMES.get(name, f'mean {name} loss'):<21}{session.mean_loss:<12.6g}{', '.join(beside)}".rstrip()]
    if session.error_rate is not None:
        errors = (("most_frequent_class_error", "most frequent class"), ("last_value_error", "last value"))
        beside = [f"{words} {base[key]:.2%}" for key, words in errors if key in base]
        lines.append(f"  {'error rate':<21}{session.error_rate:<12.2%}{', '.join(beside)}".rstrip())
    return lines


def _guarantee(session: Any) -> list[str]:
    """One line: the most that this stream proves."""
    realised, radius = bound(session, "realised")
    certificate = session.learner.certificate()
    if not certificate.rounds:
        return []
    against = certificate.comparators
    if realised is None:
        found = next((g for g in certificate.guarantees if g.value is not None and g.holds), None)
        if found is None:
            return ["  guaranteed           nothing: see --details"]
        realised, against = found.value, found.comparators or against
    elif radius is not None:
        against = type(against)(against.space, against.norm, radius)
    each = realised / certificate.rounds
    words = f"at most {each:.4g} a row worse than" if each > 0.0 else f"at least {-each:.4g} a row better than"
    lines = [f"  guaranteed           {words}", f"                       {against}"]
    if not certificate.valid:
        broken = "; ".join(assumption.statement for assumption in certificate.assumptions if not assumption.held)
        lines.append(f"  {'assumed in vain':<21}{broken}: what was promised in advance is void")
    return lines
