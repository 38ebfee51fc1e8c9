"""Which columns of a Spark frame are what: checked on the driver, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import functions as F
from pyspark.sql import types as T

from burkholder.errors import BadInput
from burkholder.learning.protocol import OnlineLearner
from burkholder.storage import pack
from burkholder.suggestions import did_you_mean

_PLAIN = (T.NumericType, T.StringType, T.BooleanType, T.DateType, T.TimestampNTZType)


class Columns(NamedTuple):
    """The names that play a part. Whatever has none is a feature."""

    keys: tuple[str, ...]
    target: str
    order: str | None
    id: str | None
    weight: str | None
    features: tuple[str, ...]

    @property
    def told(self) -> tuple[str, ...]:
        """What stands beside every prediction."""
        return tuple(dict.fromkeys(name for name in (*self.keys, self.order, self.id, self.target) if name is not None))


def known(df: Any, argument: str, name: Any) -> str:
    """The name if it is a column; else an error with the nearest."""
    if isinstance(name, str) and name in df.columns:
        return name
    raise BadInput(argument, name, f"no such column. {did_you_mean(name, df.columns)}Columns: {', '.join(df.columns)}")


def names(argument: str, value: Any) -> tuple[str, ...]:
    """One name or several, as several."""
    several = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, (list, tuple)) else ()
    if not several or len(set(several)) < len(several):
        raise BadInput(argument, value, "give the name of a column, or a list of different ones")
    return several


def settle(
    df: Any, key: Any, target: str, order: str | None, id: str | None, weight: str | None, features: Sequence[str] | None, other: Any = ()
) -> Columns:
    """Every name looked up, and the features that are left."""
    if not hasattr(df, "isStreaming"):
        raise BadInput("df", type(df).__name__, "give a DataFrame of Spark")
    if len(set(df.columns)) < len(df.columns):
        raise BadInput("df", df.columns, "give every column a name of its own")
    keys = tuple(known(df, "key", name) for name in (names("key", key) if key is not None else ()))
    parts = {"target": target, "order": order, "id": id, "weight": weight}
    for argument, name in parts.items():
        if name is not None or argument == "target":
            known(df, argument, name)
    taken = {*keys, *(name for argument, name in parts.items() if name is not None and argument != "order"), *other}
    if target in keys:
        raise BadInput("target", target, "the key is known before the prediction; give another column")
    if features is None:
        chosen = tuple(name for name in df.columns if name not in taken and name != order)
    else:
        chosen = tuple(known(df, "features", name) for name in names("features", list(features)))
        if target in chosen:
            raise BadInput("features", target, "this is the target; leave it out")
    if not chosen:
        raise BadInput("features", list(chosen), "no column is left to learn from")
    return Columns(keys, target, order, id, weight, chosen)


def prepared(df: Any, columns: Columns, keep: Sequence[str] = ()) -> Any:
    """The columns that are needed, features as every worker reads them alike: no decimals, no zones of time."""
    wanted = dict.fromkeys(
        name for name in (*columns.keys, columns.target, columns.order, columns.id, columns.weight, *columns.features, *keep) if name
    )
    return df.select(*(_read(df, name, name in columns.features and name not in keep) for name in wanted))


def _read(df: Any, name: str, feature: bool) -> Any:
    column, kind = F.col(_quoted(name)), df.schema[name].dataType
    if not feature:
        return column
    if isinstance(kind, T.DecimalType):
        return column.cast("double").alias(name)
    if isinstance(kind, T.TimestampType):
        return column.cast("timestamp_ntz").alias(name)
    if not isinstance(kind, _PLAIN):
        raise BadInput(
            "features", name, f"it holds {kind.simpleString()}: give numbers, words or moments, or name the features to learn from"
        )
    return column


def _quoted(name: str) -> str:
    """A name with dots in it is still one column."""
    return "`" + name.replace("`", "``") + "`"


def struct(df: Any, features: Sequence[str]) -> Any:
    """The features of a row as one column."""
    return F.struct(*(_read(df, name, True) for name in features))


def refuse_taken(names_told: Sequence[str], own: Sequence[str]) -> None:
    """Columns of ours must not stand beside others of the same name."""
    for name in own:
        if name in names_told:
            raise BadInput("df", name, "the result has a column of this name; rename yours")


def packed(learner: Any) -> bytes:
    """The learner every key or shard begins with, as a model file."""
    if not isinstance(learner, OnlineLearner):
        raise BadInput("learner", learner, 'give a learner, such as bk.Auto(loss="absolute")')
    return pack(learner)


def prediction_type(learner: Any, target: Any) -> Any:
    """The type of Spark's for what this learner predicts from a row of features."""
    try:
        answer = learner.predict({})
    except BadInput as error:
        raise BadInput("learner", type(learner).__name__, f"it takes no rows of named features ({error})") from None
    if answer is None:  # several classes: labels, and none before the first
        return target
    return T.DoubleType() if isinstance(answer, float) else T.ArrayType(T.DoubleType())
