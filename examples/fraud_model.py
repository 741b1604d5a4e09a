"""Made-up payments, what a card's history says about one, and a model that judges it.

The payments have a few frauds among them: somebody pays with a copy of a card in another city, or
tries out in quick succession what a stolen card is good for. The model is a logistic regression,
small enough to be fitted when the example starts. Everything is plain Python, so it runs in
interpreters of their own, one for each task slot.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

KM_PER_DEGREE = 111.2
CITIES = [
    (40.71, -74.01),
    (34.05, -118.24),
    (41.88, -87.63),
    (29.76, -95.37),
    (51.51, -0.13),
    (48.86, 2.35),
    (52.52, 13.40),
    (40.42, -3.70),
    (41.90, 12.50),
    (35.68, 139.69),
    (1.35, 103.82),
    (-23.55, -46.63),
]
CARDS = 2_000
ONE_FRAUD_IN = 400
TRIES = 6

# What counts as "lately", in minutes; and how much a payment moves what is usual for a card.
LATELY = 10.0
USUAL_WEIGHT = 0.1

TRAINING_PAYMENTS = 20_000
ROUNDS = 3


class Payment(NamedTuple):
    """A payment; the minute is of the cards' own clock, and the label is for judging the model."""

    card: int
    minute: float
    amount: float
    latitude: float
    longitude: float
    fraud: bool


class History(NamedTuple):
    """What is kept of a card."""

    minute: float
    latitude: float
    longitude: float
    usual: float
    recent: list[float]


class Features(NamedTuple):
    """What the model sees: how many payments lately, how fast the card travels, how much it pays.

    Attributes
    ----------
    velocity : int
        Payments in the last minutes, this one included.
    speed : float
        From the place of the last payment to this one's, in km/h.
    ratio : float
        Amount as a multiple of what the card usually pays.
    """

    velocity: int
    speed: float
    ratio: float


def features(history: History | None, payment: Payment) -> tuple[Features, History]:
    """Return what the model sees of a payment, and the history with it."""
    here = (payment.latitude, payment.longitude)
    if history is None:
        history = History(-math.inf, *here, payment.amount, [])
    recent = [minute for minute in history.recent if minute > payment.minute - LATELY]
    recent.append(payment.minute)
    km = km_between((history.latitude, history.longitude), here)
    hours = max(payment.minute - history.minute, 1.0) / 60
    found = Features(len(recent), km / hours, payment.amount / history.usual)
    usual = history.usual + USUAL_WEIGHT * (payment.amount - history.usual)
    return found, History(payment.minute, *here, usual, recent)


def km_between(place: tuple[float, float], other: tuple[float, float]) -> float:
    """Return about how far two places are apart, near enough to tell a walk from a flight."""
    north = other[0] - place[0]
    east = (other[1] - place[1]) * math.cos(math.radians((place[0] + other[0]) / 2))
    return KM_PER_DEGREE * math.hypot(north, east)


class Payments:
    """Payments without end, by cards that stay in their city.

    Parameters
    ----------
    seed : int
        Of the cards and of what they do; the cards of all seeds live in the same cities.
    """

    def __init__(self, seed: int) -> None:
        self._choice = random.Random(seed)
        self._usual = [random.Random(card).lognormvariate(3, 0.7) for card in range(CARDS)]

    def stream(self) -> Iterator[tuple[int, float, float, float, bool]]:
        """Yield payments without their time: card, amount, latitude, longitude, fraud."""
        choice = self._choice
        while True:
            card = choice.randrange(CARDS)
            home = card % len(CITIES)
            if choice.randrange(ONE_FRAUD_IN):
                yield self._payment(card, home, 1.0, False)
            elif choice.random() < 0.5:
                away = (home + choice.randrange(1, len(CITIES))) % len(CITIES)
                yield self._payment(card, away, 3.0, True)
            else:
                for number in range(TRIES):
                    yield self._payment(card, home, 0.5 * 2**number, True)

    def _payment(
        self, card: int, city: int, times: float, fraud: bool
    ) -> tuple[int, float, float, float, bool]:
        choice = self._choice
        latitude, longitude = CITIES[city]
        return (
            card,
            round(self._usual[card] * times * choice.lognormvariate(0, 0.3), 2),
            round(choice.gauss(latitude, 0.02), 4),
            round(choice.gauss(longitude, 0.02), 4),
            fraud,
        )


def train(path: Path) -> None:
    """Fit the model to payments of the past, and write it to a file."""
    samples = list(_samples(seed=1))
    weights = [0.0, 0.0, 0.0, 0.0]
    choice = random.Random(2)
    for round_number in range(ROUNDS):
        rate = 0.2 / (1 + round_number)
        choice.shuffle(samples)
        for values, fraud in samples:
            # Frauds are rare: each counts as if there were twenty.
            step = rate * (fraud - _probability(weights, values)) * (20 if fraud else 1) / 20
            weights = [weight + step * value for weight, value in zip(weights, values)]
    path.write_text(json.dumps({"weights": weights}))


def _samples(seed: int) -> Iterator[tuple[list[float], bool]]:
    histories: dict[int, History] = {}
    payments = Payments(seed).stream()
    for number in range(TRAINING_PAYMENTS):
        card, amount, latitude, longitude, fraud = next(payments)
        payment = Payment(card, number / 500, amount, latitude, longitude, fraud)
        found, histories[card] = features(histories.get(card), payment)
        yield _values(*found), fraud


def _values(velocity: int, speed: float, ratio: float) -> list[float]:
    return [1.0, math.log(velocity), math.log1p(speed / 1_000), math.log(ratio)]


def _probability(weights: list[float], values: list[float]) -> float:
    total = sum(weight * value for weight, value in zip(weights, values))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def load(path: str) -> list[float]:
    """Return the weights of a model; read once, since modules live as long as their interpreter."""
    weights: list[float] = json.loads(Path(path).read_text())["weights"]
    return weights


def score(path: str, velocity: int, speed: float, ratio: float) -> float:
    """Return how likely it is that a payment is a fraud, between 0 and 1."""
    return _probability(load(path), _values(velocity, speed, ratio))
