"""What records go through in ``benchmarks.latency``: Python functions and built-in equivalents."""

from __future__ import annotations

import json
import math
import random
import string
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from benchmarks.functions import lower_json, upper

# The functions travel inside the pickle: a worker need not find this package.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

_VARIANTS = 500
_FEATURES = 8
_KEYS = 1_000


@dataclass(frozen=True)
class StreamFunction:
    """What is done to records, and the records.

    Both ways take and return ``offset`` and ``millis``, which say what record it is and when it was
    made, and ``value``, a string.

    Attributes
    ----------
    title : str
        What a reader of the tables sees.
    values : list of str
        Records, which come again and again.
    python : callable
        Does it in Python.
    builtin : callable
        Does the same without.
    """

    title: str
    values: list[str]
    python: Callable[[DataFrame], DataFrame]
    builtin: Callable[[DataFrame], DataFrame]


def _of_value(
    title: str,
    values: list[str],
    python: Callable[[str], str],
    builtin: Callable[[Column], Column],
) -> StreamFunction:
    """Return a function of the value alone, and the equivalent expression."""
    return StreamFunction(
        title,
        values,
        lambda frame: frame.withColumn("value", sf.udf(python, "string", useArrow=True)("value")),
        lambda frame: frame.withColumn("value", builtin(sf.col("value"))),
    )


def document(size: int) -> StreamFunction:
    """Return the function of JSON documents of about this many bytes."""
    letters = random.Random(size).choices(string.ascii_letters, k=max(1, size - 30))
    text = "".join(letters)
    return _of_value(
        f"JSON load, lower, dump, {size:,} bytes",
        [
            json.dumps({"n": n, "a": text})
            for n in range(max(5, min(_VARIANTS, 10_000_000 // size)))
        ],
        lower_json,
        lambda value: sf.to_json(
            sf.from_json(value, "n int, a string").withField(
                "a", sf.lower(sf.from_json(value, "n int, a string")["a"])
            )
        ),
    )


def _model() -> StreamFunction:
    """Return a fitted classifier's function of comma-separated features."""
    from sklearn.linear_model import LogisticRegression

    numbers = random.Random(0)
    rows = [[round(numbers.gauss(0, 1), 3) for _ in range(_FEATURES)] for _ in range(_VARIANTS)]
    classifier = LogisticRegression()
    classifier.fit(rows, [math.sin(sum(row)) > 0 for row in rows])
    return _of_value(
        f"scikit-learn classifier, {_FEATURES} features",
        [",".join(map(str, row)) for row in rows],
        lambda value: _score(classifier, value),
        lambda value: _score_builtin(classifier, sf.split(value, ",").cast("array<double>")),
    )


def _score(classifier: Any, value: str) -> str:
    return str(classifier.predict_proba([[float(x) for x in value.split(",")]])[0][1])


def _score_builtin(classifier: Any, features: Column) -> Column:
    weighted = [features[n] * float(weight) for n, weight in enumerate(classifier.coef_[0])]
    total = sum(weighted, sf.lit(float(classifier.intercept_[0])))
    return (1 / (1 + sf.exp(-total))).cast("string")


class Counter(StatefulProcessor):
    """Counts the records with the same value, and tells of each which it is."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state."""
        self._count = handle.getValueState("count", "n long")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Count them."""
        state = self._count.get()
        count = state[0] if state is not None else 0
        for row in rows:
            count += 1
            yield Row(offset=row.offset, millis=row.millis, value=str(count))
        self._count.update((count,))


def _counter() -> StreamFunction:
    """Return a counter for each of the values, and the aggregate that does the same."""
    return StreamFunction(
        f"keyed counter with state, {_KEYS:,} keys",
        [f"key {n:07}" for n in range(_KEYS)],
        lambda frame: frame.groupBy("value").transformWithState(
            Counter(), "offset long, millis long, value string", "update", "none"
        ),
        lambda frame: (
            frame.groupBy("value")
            .agg(sf.max("offset").alias("offset"), sf.max("millis").alias("millis"), sf.count("*"))
            .select("offset", "millis", sf.col("count(1)").cast("string").alias("value"))
        ),
    )


#: Has state, so that a goal of its own holds.
COUNTER = "counter"

#: Made when they are measured, as scikit-learn is imported by the last.
FUNCTIONS: dict[str, Callable[[], StreamFunction]] = {
    "upper": lambda: _of_value(
        "`str.upper`, 14 characters",
        [f"record {n:07}" for n in range(_VARIANTS)],
        upper,
        sf.upper,
    ),
    "json": lambda: document(1_000),
    "model": _model,
    COUNTER: _counter,
}
