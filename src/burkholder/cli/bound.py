"""`burkholder bound`: the regret a learner promises before the first round."""

from __future__ import annotations

from typing import Annotated

import typer


def bound(
    rounds: Annotated[int, typer.Option(help="How many rounds, n.", min=1)],
    learner: Annotated[str, typer.Option(help="Which learner; see `burkholder list`.")] = "square-function",
    norm: Annotated[
        float, typer.Option(help="Size of the features: their norm, or of each one where the learner works per coordinate.")
    ] = 1.0,
    radius: Annotated[float, typer.Option(help="Size of the comparators, in the dual norm or per coordinate.")] = 1.0,
    features: Annotated[int, typer.Option(help="How many features a row has.", min=1)] = 1,
    loss: Annotated[str, typer.Option(help="Which loss.")] = "absolute",
    option: Annotated[
        list[str] | None, typer.Option(help="key=value for the learner or the loss, such as bound=1. May be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """What regret is promised over n rounds, against every comparator of this radius."""
    from burkholder.cli.console import emit, tell
    from burkholder.cli.options import parsed
    from burkholder.cli.promise import promised

    result = promised(learner, loss, rounds, norm, radius, features, parsed(option or []))
    if json:
        emit(result)
        return
    tell(f"regret ≤ {result['bound']:.6g} after {rounds:,} rounds ({result['per_round']:.6g} a round)")
    tell(
        f"  {learner}, {loss} loss with |δ| ≤ {result['lipschitz']:g}, features of size {norm:g}"
        + (f" ({features} of them)" if features > 1 else "")
        + f", comparators of size {radius:g}"
    )
