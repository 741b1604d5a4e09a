"""Payments that a model takes for frauds. The model is loaded once for each subtask."""

import json
import math
from pathlib import Path

from pyflow.common import Row, Types
from pyflow.datastream import MapFunction

SCORED = Types.ROW_NAMED(["id", "score", "model"], [Types.LONG(), Types.DOUBLE(), Types.STRING()])
FEATURES = ("amount", "hour", "foreign")


class Model:
    """A logistic regression, as it has been trained and written elsewhere."""

    def __init__(self, path):
        loaded = json.loads(Path(path).read_text())
        self.name = loaded["name"]
        self.intercept = loaded["intercept"]
        self.weights = [loaded["weights"][name] for name in FEATURES]
        with Path(path).with_suffix(".loads").open("a") as loads:
            loads.write("loaded\n")

    def predict(self, features):
        terms = (weight * feature for weight, feature in zip(self.weights, features))
        return 1 / (1 + math.exp(-(self.intercept + sum(terms))))


class Score(MapFunction):
    def __init__(self, path):
        self.path = path

    def open(self, runtime_context):
        self.model = Model(self.path)

    def map(self, value):
        score = self.model.predict([float(value[name]) for name in FEATURES])
        return Row(id=value["id"], score=score, model=self.model.name)


def build(payments, model, threshold):
    return (
        payments.key_by(lambda payment: payment["card"])
        .map(Score(model), output_type=SCORED)
        .filter(lambda scored: scored.score > threshold)
    )
