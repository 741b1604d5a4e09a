"""Runs of the generated pipelines, over a source whose elements come in bursts."""

from __future__ import annotations

import pipelines
from pyspark import cloudpickle
from window_cases import api

from pyflow.common import WatermarkStrategy

# What runs the functions cannot import it.
cloudpickle.register_pickle_by_value(pipelines)

NUMBERS = range(pipelines.COUNT)
NOTHING = WatermarkStrategy.no_watermarks()
#: How many run as one job.
TOGETHER = 16
PARTS = [NUMBERS[first : first + TOGETHER] for first in range(0, pipelines.COUNT, TOGETHER)]


def add_bursts(source):
    """Add all elements with their watermarks, and yield after each batch."""
    for burst, watermark in zip(pipelines.bursts(), pipelines.watermarks()):
        yield source.add_elements(burst, [each[2] for each in burst])
        yield source.advance_watermark_to(watermark)
    yield source.advance_watermark_to_infinity()


def emitted(stream, numbers):
    """Return what pipelines behind a stream emit, by number."""
    f = api("pyflow")
    parts = [
        pipelines.build(f, stream, number).map(lambda value, number=number: (number, *value))
        for number in numbers
    ]
    with parts[0].union(*parts[1:]).execute_and_collect() as elements:
        return list(elements)


def emitted_over(env, source, numbers):
    """Return what pipelines emit over a source of bursts."""
    return emitted(env.from_source(source, NOTHING, "bursts"), numbers)
