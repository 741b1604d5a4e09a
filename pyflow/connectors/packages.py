"""Modules of Spark that connectors need and that Spark does not bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["AVRO", "KAFKA", "Package"]


@dataclass(frozen=True)
class Package:
    """A module of Spark.

    Parameters
    ----------
    name : str
        Its coordinates, without a version: it should be that of Spark.
    class_name : str
        A class that it has.
    """

    name: str
    class_name: str

    def is_missing(self, session: SparkSession) -> bool:
        """Return whether it is not among the jars of a classic session."""
        from py4j.java_gateway import JavaClass  # type: ignore[import-untyped]

        if not hasattr(session, "_jsparkSession"):
            return False
        return not isinstance(getattr(session._jvm, self.class_name), cast("type", JavaClass))

    def hint(self) -> str:
        """Return what to do where it is missing."""
        return (
            f"add {self.name} of Spark's version to the session's jars, by spark.jars.packages or "
            "`spark-submit --packages`"
        )


KAFKA = Package(
    "org.apache.spark:spark-sql-kafka-0-10_2.13",
    "org.apache.spark.sql.kafka010.KafkaSourceProvider",
)
AVRO = Package("org.apache.spark:spark-avro_2.13", "org.apache.spark.sql.avro.AvroFileFormat")
