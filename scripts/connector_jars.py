"""Where the jars are that `gradle fetchConnectors fetchKafka` has fetched for this PySpark."""

from __future__ import annotations

from pathlib import Path

import pyspark

BUILD = Path(__file__).resolve().parent.parent / "build"


def table_jars() -> list[str]:
    """Return the JDBC drivers and Spark's Avro module; none before they were fetched."""
    return _jars(BUILD / "connectors")


def kafka_jars() -> list[str]:
    """Return the jars that Spark needs to reach a Kafka broker; none before they were fetched."""
    return _jars(BUILD / "kafka" / "connector")


def _jars(folder: Path) -> list[str]:
    minor = ".".join(pyspark.__version__.split(".")[:2])
    return [str(jar) for jar in sorted((folder / minor).glob("*.jar"))]
