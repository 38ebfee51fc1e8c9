"""The work behind `burkholder audit`: split a table into features, predictions and targets, and sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput, BadLine
from burkholder.learning import ledger
from burkholder.learning.audit import Audit
from burkholder.streams.readers import open_reader
from burkholder.streams.readers.columns import NUMERIC


def audited(
    file: str, yhat: str, target: str | None, loss: str, options: dict[str, Any], radius: float, geometry: str, reading: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """The certificate of the predictions in a table: as plain data, and as text."""
    audit = Audit(loss=loss, geometry=geometry, **options)
    if not radius > 0.0:
        raise BadInput("radius", radius, "give a positive number")
    classes = losses.is_classification(audit.loss)
    format = reading.pop("format")
    with open_reader(file, format, target=target, classes=classes, **reading) as reader:
        if not hasattr(reader, "plan"):
            raise BadInput("path", file, f"an audit needs a table with a column of predictions, not {reader.format}")
        plan = reader.plan
        column = plan.find("yhat", yhat)
        if plan.kind[column] != NUMERIC:
            raise BadInput("yhat", yhat, "this column holds no predictions: it is the target, dropped, or text")
        if plan.count < 2 and not plan.offset:
            raise BadInput("path", file, "it has no feature beside predictions and target; allow an intercept")
        place = int(plan.slot[column]) + plan.offset
        for batch in reader:
            told = batch.indices == place
            before = np.concatenate([[0], np.cumsum(told)])[batch.indptr]  # predictions in front of each row: one a row, or it is missing
            lost = np.diff(before) == 0
            if lost.any():
                raise BadLine(file, int(batch.line[np.argmax(lost)]), f"the prediction {yhat!r} is missing")
            audit.run_batch(batch.indptr - before, batch.indices[~told], batch.values[~told], batch.values[told], batch.y, batch.weight)
        skipped = reader.bad_lines
    certificate = audit.certificate()
    realised = certificate.realised(radius=radius)
    told = certificate.to_dict()
    result = {
        "data": file,
        **told,
        "radius": radius,
        "geometry": geometry,
        "realised_regret_bound": realised,
        "per_round": realised / certificate.rounds,
        "bad_lines": skipped,
    }
    if classes:
        result["error_rate"] = float(audit.ledger[ledger.ERRORS]) / certificate.rounds
    text = (
        f"{certificate}\n  regret ≤ {realised:.6g} ({realised / certificate.rounds:.6g} a round) against every "
        f"linear comparator of size {radius:g} ({geometry})"
    )
    return result, text + (f"\n  {skipped:,} malformed lines skipped" if skipped else "")
