"""Many machines: Apache Spark brings the rows of a site together and runs the same functions on them.

`engine` has the verbs, `tasks` is what runs on the executors and how our columns are stored there, and
`session` starts Spark, finds files on the file systems that it knows, and says in one sentence why a job
ended. Spark itself is loaded when an engine is made.
"""

from undust.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
