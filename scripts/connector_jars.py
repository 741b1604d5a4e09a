"""Where the jars are that `gradle fetchConnectors` has fetched."""

from __future__ import annotations

from pathlib import Path

JARS = Path(__file__).resolve().parent.parent / "build" / "connectors"


def table_jars() -> list[str]:
    """Return the JDBC drivers and Spark's Avro module; none before they were fetched."""
    return [str(jar) for jar in sorted(JARS.glob("*.jar"))]
