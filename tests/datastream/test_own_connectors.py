"""Sources and sinks that a program defines, on Spark's data sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyflow.common import Types, WatermarkStrategy
from pyflow.datastream.connectors.base import Boundedness, Sink, Source, SourceRows
from pyflow.datastream.testing import TestStream

NOTHING = WatermarkStrategy.no_watermarks()


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


class Documents(Source):
    """The JSON documents of a directory; they have their own timestamps."""

    def __init__(self, directory, is_bounded=True):
        self._directory = str(directory)
        self._is_bounded = is_bounded
        self.ends = True

    def produced_type(self):
        return Types.ROW_NAMED(["name", "size"], [Types.STRING(), Types.LONG()])

    def boundedness(self):
        return Boundedness.BOUNDED if self._is_bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def read(self, context, is_streaming):
        reader = context.session.readStream if is_streaming else context.session.read
        frame = reader.schema("value STRING").text(self._directory)
        return SourceRows(frame, decoded, self.produced_type())


def decoded(value):
    document = json.loads(value)
    return [((document["name"], document["size"]), document["at"])]


class Archive(Sink):
    """Rows in a directory of JSON for each batch."""

    def __init__(self, directory):
        self._directory = str(directory)

    def encoder(self, type_info):
        return encoded

    def schema(self, type_info):
        return "name STRING, size LONG, at LONG"

    def write(self, frame, context, batch_id):
        place = "all" if batch_id is None else f"batch-{batch_id}"
        frame.coalesce(1).write.mode("overwrite").json(f"{self._directory}/{place}")


def encoded(value, timestamp):
    name, size = value
    return None if size < 0 else (name, size, timestamp)


def archived(directory):
    lines = "".join(each.read_text() for each in Path(directory).glob("*/*.json"))
    return sorted(tuple(json.loads(line).values()) for line in lines.splitlines())


def documents(directory):
    directory.mkdir()
    for number, size in enumerate([5, -1, 7]):
        text = json.dumps({"name": f"d{number}", "size": size, "at": 100 + number})
        (directory / f"{number}.txt").write_text(text)


@pytest.mark.parametrize("is_bounded", [True, False])
def test_elements_go_from_a_source_to_a_sink_of_the_program(env, tmp_path, is_bounded):
    documents(tmp_path / "in")
    source = Documents(tmp_path / "in", is_bounded)

    env.from_source(source, NOTHING, "documents").sink_to(Archive(tmp_path / "out"))
    env.execute()

    assert archived(tmp_path / "out") == [("d0", 5, 100), ("d2", 7, 102)]


def test_rows_of_an_own_source_are_keyed_and_counted(env, tmp_path):
    documents(tmp_path / "in")
    ds = env.from_source(Documents(tmp_path / "in"), NOTHING, "documents")

    sizes = ds.map(lambda row: ("all", row.size)).key_by(lambda pair: pair[0]).sum(1)
    with sizes.execute_and_collect() as elements:
        assert list(elements)[-1] == ("all", 11)


def test_a_sink_of_the_program_gets_each_batch(env, tmp_path):
    source = TestStream().add_elements([("a", 1)], [1]).add_elements([("b", 2), ("c", -3)], [2, 3])

    env.from_source(source, NOTHING, "test").sink_to(Archive(tmp_path / "out"))
    env.execute()

    assert archived(tmp_path / "out") == [("a", 1, 1), ("b", 2, 2)]
    assert len(list((tmp_path / "out").glob("batch-*"))) == 2


def test_unbounded_parts_of_a_program_are_queries_of_their_own(env, tmp_path):
    """A source that has no more watermarks does not hold back the windows of another part."""
    for name in ("one", "other"):
        source = TestStream().add_elements([(name, 1)], [1]).add_elements([(name, 2)], [2])
        if name == "one":
            source.advance_watermark_to_infinity()
        keyed = env.from_source(source, NOTHING, name).key_by(lambda value: value[0])
        keyed.sum(1).sink_to(Archive(tmp_path / name))

    env.execute()

    assert archived(tmp_path / "one") == [("one", 1, 1), ("one", 3, 2)]
    assert archived(tmp_path / "other") == [("other", 1, 1), ("other", 3, 2)]


def test_jobs_of_one_name_run_at_once(make_env):
    jobs = []
    for _ in range(2):
        env, source = make_env(), TestStream().add_elements([1])
        source.ends = False
        env.from_source(source, NOTHING, "test").print()
        jobs.append(env.execute_async("one name"))
    try:
        assert [job.get_job_status().result().name for job in jobs] == ["RUNNING", "RUNNING"]
    finally:
        for job in jobs:
            job.cancel().result()
