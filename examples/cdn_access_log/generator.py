"""Makes up the access log of a content delivery network, and knows what its sums are.

A line is a function of its number: whatever lines have arrived, their sums can be told without
asking those who compute them.
"""

from __future__ import annotations

import ipaddress
import random
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.topics import Topic
from provinces import UNKNOWN, Provinces, rows

_PATHS = ("/video/intro.mp4", "/img/logo.png", "/app/setup.exe", "/js/main.js", "/doc/manual.pdf")
_NETWORKS = list(rows())
_WEIGHTS = [1 / place for place, _ in enumerate(_NETWORKS, 1)]


@dataclass(frozen=True)
class Access:
    """A line of the log.

    Parameters
    ----------
    number
        Its number.
    client_ip
        Who has asked.
    request_time
        How long the answer took, in milliseconds.
    response_size
        How long the answer was, in bytes.
    uri
        What was asked for.
    """

    number: int
    client_ip: str
    request_time: int
    response_size: int
    uri: str

    @property
    def line(self) -> str:
        """The line as the log has it."""
        uuid = f"{self.number:032x}"
        return f"{uuid},{self.client_ip},{self.request_time},{self.response_size},{self.uri}"


def access(number: int) -> Access:
    """Return the line of a number."""
    draw = random.Random(number)
    if draw.random() < 0.01:
        client = "203.0.113.7"  # of nobody in the table
    else:
        ((network, _),) = draw.choices(_NETWORKS, _WEIGHTS)
        client = str(ipaddress.IPv4Address(int(network.network_address) + draw.getrandbits(12)))
    size = int(draw.lognormvariate(11, 1.5)) + 1
    return Access(number, client, draw.randint(1, 500), size, draw.choice(_PATHS))


#: Of a province: visits, bytes downloaded, and bytes per millisecond.
Statistic = tuple[int, int, float]


def statistics(lines: Iterable[str]) -> dict[str, Statistic]:
    """Return what the statistics of lines must be, by the numbers of the lines alone."""
    provinces = Provinces()
    sums: dict[str, list[int]] = {}
    for line in lines:
        made = access(int(line.partition(",")[0], 16))
        if made.line != line:
            raise ValueError(f"not a line of this generator: {line}")
        of_province = sums.setdefault(provinces.of(made.client_ip), [0, 0, 0])
        of_province[0] += 1
        of_province[1] += made.response_size
        of_province[2] += made.request_time
    return {name: (count, size, size / taken) for name, (count, size, taken) in sums.items()}


class Generator:
    """A thread that sends lines to a topic at a steady rate, from a number on."""

    def __init__(self, topic: Topic, rate: int, first: int) -> None:
        self._topic = topic
        self._rate = rate
        self._next = first
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it; the broker has all lines then."""
        self._stopped.set()
        self._thread.join()
        self._topic.flush()

    def _run(self) -> None:
        begun, first = time.monotonic(), self._next
        while not self._stopped.wait(0.02):
            end = first + int((time.monotonic() - begun) * self._rate)
            for number in range(self._next, end):
                made = access(number)
                self._topic.send([made.line], key=made.client_ip)
            self._next = max(self._next, end)


__all__ = ["UNKNOWN", "Access", "Generator", "Statistic", "access", "statistics"]
