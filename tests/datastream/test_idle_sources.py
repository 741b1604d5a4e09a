"""Sources that fall silent, and the watermark of the others."""

from __future__ import annotations

import threading

import pytest

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream.connectors.file_system import FileSource, StreamFormat
from pyflow.datastream.functions import WindowFunction
from pyflow.datastream.window import TumblingEventTimeWindows
from sessions import wait_until


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


class Number(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return int(value)


class Numbers(WindowFunction):
    def apply(self, key, window, inputs):
        yield sorted(inputs)


class Lines:
    """A directory of files that a program reads as they come."""

    def __init__(self, env, directory, strategy):
        directory.mkdir()
        self._directory = directory
        lines = StreamFormat.text_line_format()
        source = FileSource.for_record_stream_format(lines, str(directory))
        source = source.monitor_continuously(Duration.of_millis(100)).build()
        strategy = strategy.with_timestamp_assigner(Number())
        self.stream = env.from_source(source, strategy, directory.name)

    def add(self, *lines):
        hidden = self._directory / f".{lines[0]}"
        hidden.write_text("".join(f"{line}\n" for line in lines))
        hidden.rename(self._directory / str(lines[0]))


def test_an_idle_source_holds_no_watermark_back(env, tmp_path):
    ordered = WatermarkStrategy.for_monotonous_timestamps
    busy = Lines(env, tmp_path / "busy", ordered())
    quiet = Lines(env, tmp_path / "quiet", ordered().with_idleness(Duration.of_seconds(1)))
    windows = (
        busy.stream.union(quiet.stream)
        .map(int, Types.LONG())
        .key_by(lambda n: 0)
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .apply(Numbers())
    )
    busy.add(100, 5000)
    found = []
    with windows.execute_and_collect() as results:
        threading.Thread(target=lambda: found.extend(results), daemon=True).start()
        # It has had no element ever.
        wait_until(lambda: found == [[100]], "the first window", 120)
        quiet.add(5500)
        busy.add(9000)
        # It has had none for a while. Meanwhile it was active, so that its element was not late.
        wait_until(lambda: len(found) > 1, "the second window", 120)
    assert found == [[100], [5000, 5500]]
