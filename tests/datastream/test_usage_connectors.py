"""Programs of the kinds that users write most, between topics, files and tables of databases.

What is expected comes from plain models in Python.
"""

from __future__ import annotations

import json
import random
import sqlite3

import pyarrow.parquet
import pytest
import usage_models as models
from pyspark import cloudpickle
from usage import balances, page_views, sales_files

from pyflow.common import WatermarkStrategy
from pyflow.datastream.testing import TestStream
from sessions import wait_until

for program in (balances, page_views, sales_files):
    cloudpickle.register_pickle_by_value(program)


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


@pytest.fixture(params=["bounded", "unbounded"])
def is_bounded(request):
    return request.param == "bounded"


@pytest.fixture
def settings_of_tables(spark):
    """A table environment changes settings of the session, which come back."""
    before = spark.conf.getAll
    yield
    for key in {*spark.conf.getAll} - {*before}:
        spark.conf.unset(key)
    for key, value in before.items():
        if spark.conf.get(key) != value:
            spark.conf.set(key, value)


@pytest.mark.complete("-bounded")
def test_page_views_are_counted_from_kafka_to_kafka(env, is_bounded, kafka, tmp_path):
    pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")
    from benchmarks.topics import Topic

    draw = random.Random(1)
    views = [
        {"page": draw.choice(["/", "/a", "/b"]), "user": draw.choice("xyz"), "at": at}
        for at in sorted(draw.randrange(60_000) for _ in range(200))
    ]
    end = max(view["at"] for view in views) - 2000
    source, target = (
        Topic(kafka.address, f"{tmp_path.name}-{name}", partitions=2) for name in ("in", "out")
    )

    def send(*views):
        for view in views:
            source.send([json.dumps(view)], key=view["user"])
        source.flush()

    def counts():
        return sorted((record.value for record in target.records()), key=str)

    def expected(is_over):
        found = models.counts_of_pages(views, 10_000, is_over)
        return sorted(json.dumps(each, separators=(",", ":")) for each in found)

    send(*views)
    page_views.build(env, kafka.address, source.name, target.name, is_bounded)
    if is_bounded:
        env.execute("page views")
        assert counts() == expected(lambda end_of_window: True)
        return
    job = env.execute_async("page views")
    try:
        some = expected(lambda end_of_window: end_of_window <= end)
        wait_until(lambda: target.count() >= len(some), "the first windows are there")
        first = counts()
        send({"page": "/", "user": "x", "at": 1_000_000})
        every = expected(lambda end_of_window: True)
        wait_until(lambda: target.count() >= len(every), "all windows are there")
    finally:
        job.cancel().result()
    assert first == some
    assert counts() == every


def test_sales_in_csv_become_parquet(make_env, mode, is_bounded, tmp_path):
    draw = random.Random(2)
    incoming, written = tmp_path / "incoming", tmp_path / "written"
    incoming.mkdir()
    sales = [
        (number, draw.choice(["north ", "south"]), draw.randrange(3), draw.choice([0.5, 2.25]))
        for number in range(60)
    ]

    def add(name, sales):
        lines = ["id,shop,count,price", *(",".join(map(str, each)) for each in sales)]
        (incoming / f".{name}").write_text("\n".join(lines) + "\n")
        (incoming / f".{name}").rename(incoming / name)

    def rows():
        files = sorted(written.glob("sales-*.parquet"))
        return [row for file in files for row in pyarrow.parquet.read_table(file).to_pylist()]

    expected = [
        {"id": number, "shop": shop.strip().title(), "total": count * price}
        for number, shop, count, price in sales
        if count > 0
    ]
    env = make_env(mode=mode, execution_checkpointing_dir=(tmp_path / "checkpoints").as_uri())
    env.enable_checkpointing(1000)
    sales_files.build(env, str(incoming), str(written), is_bounded)
    add("one.csv", sales[:20])
    add("two.csv", sales[20:40])
    if is_bounded:
        add("three.csv", sales[40:])
        env.execute("sales")
    else:
        job = env.execute_async("sales")
        try:
            first = [each for each in expected if each["id"] < 40]
            wait_until(lambda: len(rows()) >= len(first), "the first rows are there")
            add("three.csv", sales[40:])
            wait_until(lambda: len(rows()) >= len(expected), "all rows are there")
        finally:
            job.cancel().result()

    assert sorted(rows(), key=lambda row: row["id"]) == expected


@pytest.mark.complete("-bounded")
@pytest.mark.usefixtures("settings_of_tables")
def test_changes_of_balances_become_a_table_of_a_database(make_env, mode, is_bounded, tmp_path):
    draw = random.Random(3)
    transfers = []
    for _ in range(60):
        one, other = draw.sample(["DE1", "DE2", "FR1", "FR2", "IT1"], 2)
        amount = draw.choice([10, 20, 30])
        transfers += [(one, -amount), (other, amount)]
    file = tmp_path / "banks.db"
    with sqlite3.connect(file) as database:
        database.execute(
            "CREATE TABLE banks (bank TEXT PRIMARY KEY, accounts BIGINT, total BIGINT)"
        )

    def banks():
        with sqlite3.connect(file) as database:
            return database.execute("SELECT * FROM banks ORDER BY bank").fetchall()

    env = make_env(mode=mode)
    if is_bounded:
        stream = env.from_collection(transfers)
    else:
        source = TestStream()
        for start in range(0, len(transfers), 40):
            source.add_elements(transfers[start : start + 40])
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "transfers")
    result = balances.build(env, stream, f"jdbc:sqlite:{file}")
    expected = models.banks(transfers)
    if is_bounded:
        result.wait()
    else:
        try:
            wait_until(lambda: banks() == expected, "all changes are there")
        finally:
            result.get_job_client().cancel().result()

    assert banks() == expected
