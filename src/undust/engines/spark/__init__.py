"""Many machines: Apache Spark brings the rows of a site together and runs the same functions on them.

`engine` has the verbs, `files` finds and opens what lies on the file systems that Spark knows, `tasks` is
what runs on the executors, `types` how our columns are stored there, `session` starts Spark, and `failures`
says in one sentence why a job ended. Spark itself is loaded when an engine is made.
"""

from undust.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
