"""PyFlink's own example programs print the same after their imports have been replaced."""

from __future__ import annotations

import json
import logging
import re
import sys
import threading

import pytest
import recordings
from stream_examples import EXAMPLES, lines_of

from comparison import settings
from sessions import wait_until

RECORDED = recordings.load("datastream/examples")
HELLOS = ["+I[1,hi]", "+I[2,hello]", "+I[3,hi]", "+I[4,hello]", "+I[5,hi]"] + 2 * ["+I[6,hello]"]

#: By the name of a program that writes records into a topic and prints them: the topic, and lines.
OF_KAFKA = {
    "kafka_avro_format": ("test_avro_topic", HELLOS),
    "kafka_bytearray_format": (
        "test_bytearray_topic",
        [
            '{"id": 1, "country": "USA"}',
            '{"id": 2, "country": "Canada"}',
            '{"id": 3, "country": "Germany"}',
        ],
    ),
    "kafka_csv_format": ("test_csv_topic", HELLOS),
    "kafka_json_format": ("test_json_topic", HELLOS),
}
#: Of the shared session while they run; environments of tables change some.
SETTINGS = {
    "spark.pyflow.execution-mode": "thread",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timeType.enabled": "false",
}
#: Of each line that they print.
WORDS = re.compile(r"\([a-z_]+,[1-9]\d*\)")


def program_of(file, **replaced):
    """Return what runs a program, with other imports and other texts."""
    text = re.sub(r"\bpyflink\b", "pyflow", file.read_text(encoding="utf-8"))
    for before, after in replaced.values():
        assert before in text
        text = text.replace(before, after)
    code = compile(text, str(file), "exec")
    return lambda: exec(code, {"__name__": "__main__"})


@pytest.fixture
def printed(spark, capsys, monkeypatch):
    """Runs an unbounded program until it has printed so many lines; returns them."""
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)

    def run(file, count, is_line=bool, **replaced):
        monkeypatch.setattr(sys, "argv", [str(file)])
        lines, errors = [], []

        def work():
            try:
                program_of(file, **replaced)()
            except BaseException as error:
                errors.append(error)

        def has_lines():
            lines.extend(filter(is_line, lines_of(capsys.readouterr().out)))
            return len(lines) >= count or not thread.is_alive()

        with settings(spark, SETTINGS):
            thread = threading.Thread(target=work)
            thread.start()
            try:
                wait_until(has_lines, f"{count} lines of {file.name}")
            finally:
                while thread.is_alive():
                    for query in spark.streams.active:
                        query.stop()
                    thread.join(1)
        # It was the only job, which was cancelled.
        (error,) = errors
        assert "was cancelled" in str(error)
        return lines

    return run


@pytest.mark.parametrize(
    "execution_mode", ["thread", pytest.param("process", marks=pytest.mark.complete)]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_prints_the_same_lines(
    spark, pyflink_examples, capsys, monkeypatch, name, execution_mode
):
    file = pyflink_examples / "datastream" / EXAMPLES[name]
    monkeypatch.setattr(sys, "argv", [str(file)])
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)

    with settings(spark, {"spark.pyflow.execution-mode": execution_mode}):
        program_of(file)()

    assert lines_of(capsys.readouterr().out) == RECORDED[name]


@pytest.mark.complete("avro", "bytearray", "csv")
@pytest.mark.parametrize("name", OF_KAFKA)
def test_example_writes_and_reads_records_of_kafka(pyflink_examples, kafka, printed, name):
    topics = pytest.importorskip("benchmarks.topics")
    topic, expected = OF_KAFKA[name]
    topics.Topic(kafka.address, f"{topic}_here", partitions=1)
    file = pyflink_examples / "datastream" / "connectors" / f"{name}.py"

    lines = printed(
        file,
        len(expected),
        lambda line: line[:1] in "+{",
        address=("localhost:9092", kafka.address),
        topic=(topic, f"{topic}_here"),
    )

    assert sorted(lines) == expected


def test_example_writes_fields_of_rows_as_keys_and_values(
    spark, pyflink_examples, kafka, monkeypatch
):
    topics = pytest.importorskip("benchmarks.topics")
    topic = topics.Topic(kafka.address, "row-extractor-here", partitions=1)
    file = pyflink_examples / "datastream/connectors/kafka_row_field_extractor_example.py"

    with settings(spark, {"spark.pyflow.execution-mode": "thread"}):
        program_of(
            file,
            address=("localhost:9092", kafka.address),
            topic=("row-extractor-example", "row-extractor-here"),
        )()

    records = [(each.key, json.loads(each.value)["type"]) for each in topic.records()]
    assert sorted(records) == [
        ("user-001", "add_to_cart"),
        ("user-001", "purchase"),
        ("user-002", "view"),
        ("user-003", "purchase"),
    ]


def test_example_counts_words_that_are_drawn(pyflink_examples, printed):
    file = pyflink_examples / "datastream" / "streaming_word_count.py"

    lines = printed(file, 12, lambda line: line.startswith("("))

    assert all(map(WORDS.fullmatch, lines))


@pytest.mark.complete
def test_example_calls_a_model_asynchronously(pyflink_examples, printed):
    file = pyflink_examples / "datastream" / "asyncio" / "remote_model_inference.py"

    lines = printed(file, 40, lambda line: line.startswith("{"))

    found = list(map(json.loads, lines))
    assert all(sorted(each) == ["analysis_result", "comments", "user_id"] for each in found)
    assert {each["analysis_result"] for each in found} <= {"positive", None}
    assert all(isinstance(each["user_id"], int) for each in found)
