"""Modules that need what is not installed are not collected: Spark has an environment of its own (`make test-spark`)."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyspark") else ["src/burkholder/spark/*"]
