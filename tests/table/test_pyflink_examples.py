"""PyFlink's own example programs run after their imports have been replaced."""

from __future__ import annotations

import re
import threading

import pytest
import recordings
from example_programs import EXAMPLES, settled, tables_in

from pyflow.util.exceptions import TableException
from sessions import wait_until

RECORDED = recordings.load("example_programs")


@pytest.fixture
def replaced(pyflink_examples):
    """What a program of a file defines, with ``pyflow`` in place of ``pyflink``."""

    def program_of(file):
        text = (pyflink_examples / "table" / file).read_text(encoding="utf-8")
        text = re.sub(r"\bpyflink\b", "pyflow", text)
        program = {"__name__": "replaced_program"}
        exec(compile(text, file, "exec"), program)
        return program

    return program_of


@pytest.mark.parametrize("name", RECORDED)
def test_example_prints_the_same_tables(environment, replaced, capsys, name):
    file, function, arguments = EXAMPLES[name]
    program = replaced(file)
    environment()
    program[function](*arguments)
    alone, tables = tables_in(capsys.readouterr().out)
    recorded = RECORDED[name]
    assert settled(alone) == settled(recorded["rows"])
    assert len(tables) == len(recorded["tables"])
    for table, expected in zip(tables, recorded["tables"]):
        assert table[0] == expected[0], "the heads of the columns"
        assert settled(table[1:]) == settled(expected[1:])


def test_rows_of_pandas_come_back(environment, replaced, capsys):
    program = replaced("pandas/conversion_from_dataframe.py")
    environment()
    program["conversion_from_dataframe"]()
    assert "[1000 rows x 2 columns]" in capsys.readouterr().out


def test_rows_of_asynchronous_functions(environment, replaced, capsys):
    """The rows are random; each has what the functions make of it."""
    program = replaced("async/async_scalar_function.py")
    environment()
    program["async_scalar_function_example"]()
    _, (looked_up, called) = tables_in(capsys.readouterr().out)
    for table, names, form in (
        (looked_up, ["user_id", "user_info"], r"\| \+I \| +(.) \| +db_value_for_\1 \|"),
        (called, ["product_id", "product_info"], r"\| \+I \| +(.) \| +Product \1: \$\d{2,4} \|"),
    ):
        assert re.findall(r"\w+", table[0]) == ["op", *names]
        assert len(table) == 11
        assert all(re.fullmatch(form, row) for row in table[1:])


def test_words_of_a_stream_without_end_are_counted(environment, replaced, spark, capsys):
    program = replaced("streaming_word_count.py")
    environment()
    errors, printed = [], []

    def run():
        try:
            program["streaming_word_count"](None)
        except TableException as error:
            errors.append(str(error))

    def rows():
        printed.extend(tables_in(capsys.readouterr().out)[0])
        return any(row.startswith("+U") for row in printed)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        wait_until(rows, "the second row of a word")
    finally:
        for query in spark.streams.active:
            query.stop()
        thread.join(60)
    assert "was cancelled" in errors[0]
    assert all(re.fullmatch(r"(\+I|-U|\+U)\[\w+, \d+\]", row) for row in printed)
    counts = [row[3:-1].rpartition(", ") for row in printed if not row.startswith("-U")]
    for word in {word for word, _, _ in counts}:
        own = [int(count) for each, _, count in counts if each == word]
        assert own == list(range(1, len(own) + 1))
        assert word in program["words"]
