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


START, END = -(1 << 63), (1 << 63) - 1

#: By page what its variables are in the end.
RESULTS = {
    "state.md": {
        "states": [
            ("a", None, [3], {"tea": 3}),
            ("a", 3, [3, 5], {"tea": 3, "bread": 5}),
            ("b", None, [4], {"tea": 4}),
        ],
        "priced": [(1, 3), (2, None)],
        "before": ["a"],
        "after": ["b", "a"],
    },
    "time.md": {
        "fired": [
            ("element", 500, START),
            ("timer", 1500, 2000),
            ("element", 2100, 2000),
            ("element", 700, 2000),
            ("timer", 1700, 2000),
            ("timer", 3100, END),
        ],
        "ended": [
            ("element", 500, START),
            ("element", 2100, START),
            ("timer", 1500, END),
            ("timer", 3100, END),
        ],
        "told": [10, 20, "late 15", 25],
    },
    "windows.md": {
        "clicks": [("/a", "late"), ("/a", 0, 2), ("/a", 0, 3), ("/a", 60000, 1), ("/b", 0, 1)],
        "visits": [("u", 0, 50000, ["/", "/cart"]), ("u", 90000, 120000, ["/"])],
        "pairs": [("milk", "card", 60000), ("tea", "cash", 5000), ("window", "tea", "cash")],
    },
    "connectors.md": {"lines": ["0", "1", "10", "2"], "written": [("tea", 3)]},
    "functions.md": {
        "found": ["1: 3.0", "order 2"],
        "answered": [(3, "customer 3"), (1, "customer 1"), (2, "customer 2")],
    },
    "testing.md": {"passed": True},
}


#: Pages whose programs are started several times.
_LONG = {"state.md", "testing.md"}


@pytest.mark.complete("time", "connectors")
@pytest.mark.parametrize(
    "page",
    [pytest.param(each, marks=[pytest.mark.complete] if each in _LONG else []) for each in RESULTS],
)
def test_the_programs_of_a_page_have_these_results(ran, page):
    names = ran(page)

    assert {name: names[name] for name in RESULTS[page]} == RESULTS[page]


def test_the_programs_of_the_first_page_run(ran, capsys):
    names = ran("README.md")
    assert "('a', 4)" in capsys.readouterr().out
    assert list(names["stream"].execute_and_collect()) == [("a", 1)]


@pytest.mark.complete
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
