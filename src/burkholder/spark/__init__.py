"""Learning on Apache Spark: a learner a key (batch and streaming), a learner a shard, predictions, backtests.

Spark moves rows and keeps states; what is learned from a row is learned by the same protocol as anywhere else
(`rounds`), so that for the same order within a key the bits are those of a plain loop on one machine.
"""

from burkholder.errors import MissingExtra

try:
    from pyspark.sql.functions import arrow_udf as _arrow_udf  # noqa: F401  (Spark 4.1 and later)

    for _needed in ("google.protobuf", "pandas", "pyarrow"):
        __import__(_needed)
except ImportError:
    raise MissingExtra("pyspark 4.1 or later with pandas, pyarrow and protobuf", "spark") from None

from burkholder.spark.backtests import backtest
from burkholder.spark.keyed import learn_keyed, states
from burkholder.spark.scoring import predict
from burkholder.spark.sharded import learn_sharded

__all__ = ["backtest", "learn_keyed", "learn_sharded", "predict", "states"]
