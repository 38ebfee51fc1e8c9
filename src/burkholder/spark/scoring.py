"""Predictions of one model for a whole frame, as an Arrow function of Spark's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.functions import arrow_udf

from burkholder.errors import BadInput
from burkholder.spark import columns as parts
from burkholder.storage import unpack


def predict(df: Any, model: Any, *, features: Sequence[str] | None = None, column: str = "prediction") -> Any:
    """The frame with the model's predictions in a column of their own; nothing is learned.

    features: columns the model takes; otherwise all of them. What a model never saw, it gives no weight.
    """
    if not hasattr(df, "isStreaming"):
        raise BadInput("df", type(df).__name__, "give a DataFrame of Spark")
    parts.refuse_taken(df.columns, (column,))
    data = parts.packed(model)
    kind = parts.prediction_type(model, None)
    if not isinstance(kind, T.DoubleType):
        raise BadInput("model", type(model).__name__, "its predictions are not single numbers")
    chosen = tuple(df.columns) if features is None else tuple(parts.known(df, "features", one) for one in parts.names("features", features))
    return df.withColumn(column, arrow_udf(_scorer(data), kind)(parts.struct(df, chosen)))


def _scorer(data: bytes) -> Any:
    def score(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        model = unpack(data)
        for rows in batches:
            table = pa.Table.from_arrays(rows.flatten(), names=[field.name for field in rows.type])
            yield pa.array(np.asarray(model.predict_many(table), float) if table.num_rows else [], pa.float64())

    return score
