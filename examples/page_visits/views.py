"""Makes up page views of visitors who come and go, some of them without a network for a while."""

from __future__ import annotations

import heapq
import itertools
import json
import random
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from benchmarks.topics import Topic

#: Who views a page each second at the end, so that time goes on and visits end.
MONITOR = "monitor"
_PAGES = ("/", "/search", "/news", "/product/tea", "/product/cup", "/basket", "/help")
_WEIGHTS = (8, 6, 4, 4, 3, 2, 1)
_USERS = 5_000
_OFFLINE = 0.04


@dataclass(frozen=True)
class View:
    """A page view.

    Parameters
    ----------
    id
        Which no other view has.
    user
        Who has viewed it.
    page
        The page's path.
    at
        When, in milliseconds.
    """

    id: str
    user: str
    page: str
    at: int


def visit(draw: random.Random, start: int) -> list[tuple[int, View]]:
    """Return the views of a visit, each after the time at which it reaches the site.

    Parameters
    ----------
    draw
        Decides about everything.
    start
        When the visit begins, in milliseconds.
    """
    user, at, found = f"user {draw.randrange(_USERS):04d}", start, []
    for _ in range(draw.randint(1, 8)):
        (page,) = draw.choices(_PAGES, _WEIGHTS)
        view = View(f"{draw.getrandbits(64):016x}", user, page, at)
        is_offline = draw.random() < _OFFLINE
        delay = draw.randint(8_000, 20_000) if is_offline else draw.randint(0, 1_000)
        found.append((at + delay, view))
        at += draw.randint(200, 3_500)
    return found


class Visitors:
    """A thread that sends page views to a topic, so many a second.

    Parameters
    ----------
    topic
        Where they go.
    rate
        How many views there are in a second, about.
    """

    def __init__(self, topic: Topic, rate: float) -> None:
        self._topic = topic
        self._visits_per_second = rate / 4.5
        self._waiting: list[tuple[int, int, View]] = []
        self._numbers = itertools.count()
        self._stopped = threading.Event()
        self.sent = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it; the broker has all views until now then, those that were held back, too."""
        self._stopped.set()
        self._thread.join()
        now = _now()
        self._send(view for _, _, view in sorted(self._waiting) if view.at <= now)
        self._topic.flush()

    def go_on(self) -> None:
        """Send the view of the monitor."""
        self._send([View(f"{MONITOR} {_now()}", MONITOR, "/", _now())])
        self._topic.flush()

    def _run(self) -> None:
        draw, next_visit = random.Random(), time.monotonic()
        while not self._stopped.wait(0.02):
            while next_visit <= time.monotonic():
                next_visit += draw.expovariate(self._visits_per_second)
                for sent_at, view in visit(draw, _now()):
                    heapq.heappush(self._waiting, (sent_at, next(self._numbers), view))
            while self._waiting and self._waiting[0][0] <= _now():
                self._send([heapq.heappop(self._waiting)[2]])

    def _send(self, views: Iterable[View]) -> None:
        for view in views:
            self._topic.send([json.dumps(asdict(view))], key=view.user)
            self.sent += 1


def _now() -> int:
    return time.time_ns() // 1_000_000
