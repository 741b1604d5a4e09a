"""What records go through in ``benchmarks.latency``: Python functions and built-in equivalents."""

from __future__ import annotations

import json
import math
import random
import string
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Column
from pyspark.sql import functions as sf

from benchmarks.functions import lower_json, upper

# The functions travel inside the pickle: a worker need not find this package.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

_VARIANTS = 500
_FEATURES = 8


@dataclass(frozen=True)
class StreamFunction:
    """A function of strings, and the records that it gets.

    Attributes
    ----------
    title : str
        What a reader of the tables sees.
    values : list of str
        Records, which come again and again.
    python : callable
        The function.
    builtin : callable
        The equivalent expression of a column.
    """

    title: str
    values: list[str]
    python: Callable[[str], str]
    builtin: Callable[[Column], Column]


def document(size: int) -> StreamFunction:
    """Return the function of JSON documents of about this many bytes."""
    letters = random.Random(size).choices(string.ascii_letters, k=max(1, size - 30))
    text = "".join(letters)
    return StreamFunction(
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
    return StreamFunction(
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


#: Made when they are measured, as scikit-learn is imported by the last.
FUNCTIONS: dict[str, Callable[[], StreamFunction]] = {
    "upper": lambda: StreamFunction(
        "`str.upper`, 14 characters",
        [f"record {n:07}" for n in range(_VARIANTS)],
        upper,
        sf.upper,
    ),
    "json": lambda: document(1_000),
    "model": _model,
}
