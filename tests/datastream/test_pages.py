"""The Python programs of the pages about data streams run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyflow.common import JobClient
from sessions import wait_until

PAGES = Path(__file__).resolve().parents[2] / "docs" / "datastream-api"


def programs_of(page):
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.S | re.M))


@pytest.fixture
def ran(spark, tmp_path):
    """Runs the programs of a page, one after the other; its jobs are cancelled at the end."""
    names = {"__name__": "__main__"}

    def run(page, **replaced):
        text = programs_of(PAGES / page)
        for before, after in replaced.values():
            assert before in text
            text = text.replace(before, after)
        exec(compile(text, page, "exec"), names)
        return names

    yield run
    for job in [each for each in names.values() if isinstance(each, JobClient)]:
        job.cancel().result()


@pytest.mark.parametrize("page", [each.name for each in sorted(PAGES.glob("*.md"))])
def test_programs_of_pages_are_python(page):
    compile(programs_of(PAGES / page), page, "exec")


def test_the_programs_of_the_first_page_run(ran, capsys):
    names = ran("README.md")
    assert "('a', 4)" in capsys.readouterr().out
    assert list(names["stream"].execute_and_collect()) == [("a", 1)]


@pytest.mark.filterwarnings("ignore:FlinkKafka")
def test_programs_that_were_brought_from_pyflink_run(ran, kafka, tmp_path, capsys):
    pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")
    from benchmarks.topics import Topic

    clicks, counts, copies = (
        Topic(kafka.address, name, partitions=1) for name in ("clicks", "counts", "copies")
    )
    sent = [f'{{"page": "/{at // 1000 % 2}", "at": {at}}}' for at in (1_000, 2_000, 3_000, 200_000)]
    clicks.send(sent)
    clicks.flush()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "words.txt").write_text("to be or not to be\n")

    ran("migration.md", kafka=("127.0.0.1:9092", kafka.address), files=("/data", str(tmp_path)))

    wait_until(lambda: counts.count() == 2 and copies.count() == 4, "the topics have records")
    assert sorted(each.value for each in counts.records()) == ['["/0", 1]', '["/1", 2]']
    assert [each.value for each in copies.records()] == sent
    assert "('a', 50000), ('b', 30000)]" in capsys.readouterr().out
    written = [each.read_text() for each in (tmp_path / "out").rglob("*part*")]
    assert sorted("".join(written).split("\n"))[1:] == [
        "('be', 1)",
        "('be', 2)",
        "('not', 1)",
        "('or', 1)",
        "('to', 1)",
        "('to', 2)",
    ]
