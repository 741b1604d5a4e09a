"""The options of Flink's connector for files, and tables whose files are not there yet."""

from __future__ import annotations

import datetime
import json
import zoneinfo
from pathlib import Path

import pytest
from pyspark.errors import SparkRuntimeException

from pyflow.util.exceptions import TableException

#: Those that change nothing here: files end with their batch, and no partition is marked.
ACCEPTED = {
    "source.report-statistics": "ALL",
    "partition.default-name": "nothing",
    "partition.time-extractor.kind": "default",
    "partition.time-extractor.class": "a.b.C",
    "partition.time-extractor.timestamp-pattern": "$part 00:00:00",
    "partition.time-extractor.timestamp-formatter": "yyyy-MM-dd HH:mm:ss",
    "sink.parallelism": "1",
    "sink.shuffle-by-partition.enable": "true",
    "sink.rolling-policy.file-size": "1MB",
    "sink.rolling-policy.rollover-interval": "1 min",
    "sink.rolling-policy.inactivity-interval": "30 s",
    "sink.rolling-policy.check-interval": "1 s",
    "sink.partition-commit.trigger": "partition-time",
    "sink.partition-commit.delay": "1 h",
    "sink.partition-commit.watermark-time-zone": "UTC",
    "sink.partition-commit.success-file.name": "_DONE",
    "auto-compaction": "false",
    "compaction.file-size": "64 mb",
}
#: What Spark does not do, and what the error says of it.
REFUSED = {
    ("sink.partition-commit.policy.kind", "success-file"): "marks no partition as complete",
    ("sink.partition-commit.policy.class", "a.b.C"): "no policies in Java",
    ("sink.partition-commit.policy.class.parameters", "x;y"): "no policies in Java",
    ("auto-compaction", "true"): "Set 'sink.parallelism'",
    ("sink.partition-commit.trigger", "later"): "process-time or partition-time",
    ("sink.rolling-policy.file-size", "big"): "a size such as 128 MB",
    ("sink.rolling-policy.check-interval", "soon"): "a duration",
    ("compaction.parallelism", "2"): "unsupported options",
}


def create(t_env, path, options, name="files", partitioned="PARTITIONED BY (part)"):
    written = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE {name} (a INT, part STRING) {partitioned} WITH "
        f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{path}'{written})"
    )


@pytest.mark.parametrize("format", ["json", "parquet"])
def test_partitions_without_a_value_have_the_name_of_flink(batch, tmp_path, format):
    batch.execute_sql(
        "CREATE TABLE files (a INT, part INT, day DATE) PARTITIONED BY (part, day) WITH "
        f"('connector' = 'filesystem', 'format' = '{format}', 'path' = '{tmp_path}')"
    )
    rows = [(1, None, None), (2, 7, None), (3, 7, datetime.date(2020, 1, 2))]
    values = "(1, CAST(NULL AS INT), CAST(NULL AS DATE)), (2, 7, NULL), (3, 7, DATE '2020-01-02')"
    batch.execute_sql(f"INSERT INTO files VALUES {values}").wait()

    default = "__DEFAULT_PARTITION__"
    found = {str(each.relative_to(tmp_path)) for each in tmp_path.glob("part=*/day=*")}
    assert found == {
        f"part={default}/day={default}",
        f"part=7/day={default}",
        "part=7/day=2020-01-02",
    }
    with batch.execute_sql("SELECT * FROM files").collect() as read:
        assert sorted(map(tuple, read)) == rows
    with batch.execute_sql("SELECT a FROM files WHERE part = 7 AND day IS NULL").collect() as read:
        assert [tuple(row) for row in read] == [(2,)]


@pytest.mark.parametrize("format", ["json", "parquet", "avro"])
def test_partitions_are_strings(batch, tmp_path, format):
    batch.execute_sql(
        "CREATE TABLE files (a INT, part STRING, other STRING) PARTITIONED BY (part, other) WITH "
        f"('connector' = 'filesystem', 'format' = '{format}', 'path' = '{tmp_path}')"
    )
    batch.execute_sql("INSERT INTO files VALUES (1, '03', '1.10'), (2, '04', '2020-1-1')").wait()
    with batch.execute_sql("SELECT * FROM files").collect() as read:
        assert sorted(map(tuple, read)) == [(1, "03", "1.10"), (2, "04", "2020-1-1")]


def test_a_table_is_overwritten_with_rows_of_its_own(batch, tmp_path):
    create(batch, tmp_path / "out", {}, partitioned="")
    batch.execute_sql("INSERT INTO files VALUES (1, 'x'), (2, 'y')").wait()
    batch.execute_sql("INSERT OVERWRITE files SELECT a * 10, part FROM files WHERE a > 1").wait()
    with batch.execute_sql("SELECT * FROM files").collect() as read:
        assert [*map(tuple, read)] == [(20, "y")]


def test_a_table_stays_where_overwriting_it_fails(batch, tmp_path):
    create(batch, tmp_path / "out", {}, partitioned="")
    batch.execute_sql("INSERT INTO files VALUES (1, 'x')").wait()
    failing = "INSERT OVERWRITE files SELECT a / (a - a), part FROM files"
    with pytest.raises(Exception, match="by zero"):
        batch.execute_sql(failing).wait()
    with batch.execute_sql("SELECT * FROM files").collect() as read:
        assert [*map(tuple, read)] == [(1, "x")]


def test_unbounded_rows_overwrite_nothing(streaming, tmp_path):
    create(streaming, tmp_path / "out", {}, partitioned="")
    streaming.execute_sql("CREATE TABLE numbers (a INT) WITH ('connector' = 'datagen')")
    insertion = "INSERT OVERWRITE files SELECT a, 'x' FROM numbers"
    with pytest.raises(TableException, match=r"INSERT OVERWRITE of .*files.* over unbounded"):
        streaming.execute_sql(insertion)


METADATA = """
    `file.path` STRING NOT NULL METADATA VIRTUAL, called STRING METADATA FROM 'file.name' VIRTUAL,
    size INT METADATA FROM 'file.size' VIRTUAL,
    changed TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time' VIRTUAL"""


@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (part)"])
@pytest.mark.parametrize("format", ["csv", "parquet", "avro"])
def test_rows_know_their_files(batch, tmp_path, format, partitioned):
    """As in Flink, a path is without its scheme, and its characters are not escaped."""
    directory = tmp_path / "a b+c%20ü"
    batch.execute_sql(
        f"CREATE TABLE files (a INT, part STRING, {METADATA}) {partitioned} WITH ("
        f"'connector' = 'filesystem', 'format' = '{format}', 'path' = '{directory}')"
    )
    batch.execute_sql("INSERT INTO files VALUES (1, 'x'), (2, 'x')").wait()
    selected = "SELECT `file.path`, called, size, CAST(changed AS STRING), a, part FROM files"
    with batch.execute_sql(selected).collect() as found:
        rows = sorted(map(tuple, found), key=lambda row: row[4])
    assert [row[4:] for row in rows] == [(1, "x"), (2, "x")]
    for path, name, size, changed, *_ in rows:
        file = Path(path)
        assert file.is_relative_to(directory)
        assert (name, size) == (file.name, file.stat().st_size)
        modified = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.timezone.utc)
        zone = zoneinfo.ZoneInfo(batch.get_config().get_local_timezone())
        shown = modified.astimezone(zone).isoformat(" ", "milliseconds")
        assert changed == shown.rpartition("+")[0]


def test_metadata_of_files_that_come_is_read(streaming, tmp_path):
    (tmp_path / "one.csv").write_text("1,x\n")
    streaming.execute_sql(
        f"CREATE TABLE files (a INT, part STRING, {METADATA}) WITH ('connector' = 'filesystem', "
        f"'format' = 'csv', 'path' = '{tmp_path}', 'source.monitor-interval' = '1 s')"
    )
    with streaming.execute_sql("SELECT a, `file.path`, size FROM files").collect() as found:
        assert tuple(next(found)) == (1, str(tmp_path / "one.csv"), 4)


def test_metadata_of_files_is_not_written(batch, tmp_path):
    batch.execute_sql(
        "CREATE TABLE files (a INT, size BIGINT METADATA FROM 'file.size') WITH ("
        f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}')"
    )
    with pytest.raises(TableException, match=r"'file.size' in column 'size'.*as VIRTUAL"):
        batch.execute_sql("INSERT INTO files VALUES (1, 2)")


def test_directories_below_are_read(batch, tmp_path):
    for name in ("a", "2024/01/b", "_hidden/c", "2024/.hidden/d"):
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"a": len(name), "part": name}) + "\n")
    create(batch, tmp_path, {}, partitioned="")
    with batch.execute_sql("SELECT part FROM files").collect() as read:
        assert sorted(row[0] for row in read) == ["2024/01/b", "a"]


def test_options_of_flink_are_accepted(batch, tmp_path):
    create(batch, tmp_path / "out", ACCEPTED)
    values = "(1, 'x'), (2, 'y'), (3, 'x'), (4, CAST(NULL AS STRING))"
    batch.execute_sql(f"INSERT INTO files VALUES {values}").wait()
    assert len([*(tmp_path / "out").glob("part=x/[!.]*")]) == 1
    assert len([*(tmp_path / "out").glob("part=nothing/[!.]*")]) == 1
    with batch.execute_sql("SELECT a, part FROM files").collect() as rows:
        assert sorted(map(tuple, rows)) == [(1, "x"), (2, "y"), (3, "x"), (4, None)]


def test_insertions_at_once_lose_nothing(batch, tmp_path):
    create(batch, tmp_path / "out", {}, partitioned="")
    create(batch, f"file://{tmp_path}/out/", {}, "same_files", partitioned="")
    tables = ("files", "same_files")
    jobs = [batch.execute_sql(f"INSERT INTO {tables[n % 2]} VALUES ({n}, 'x')") for n in range(8)]
    for job in jobs:
        job.wait()
    with batch.execute_sql("SELECT a FROM files").collect() as rows:
        assert sorted(row[0] for row in rows) == list(range(8))


def test_options_that_spark_has_nothing_for_are_refused(batch, tmp_path):
    for place, ((option, value), message) in enumerate(REFUSED.items()):
        create(batch, tmp_path / "out", {option: value}, f"t{place}")
        with pytest.raises(TableException, match=message) as caught:
            batch.execute_sql(f"INSERT INTO t{place} VALUES (1, 'x')")
        assert option in str(caught.value)


def test_policies_without_partitions_are_nothing(batch, tmp_path):
    option = {"sink.partition-commit.policy.kind": "success-file"}
    create(batch, tmp_path / "out", option, partitioned="")
    batch.execute_sql("INSERT INTO files VALUES (1, 'x')").wait()


def test_patterns_are_refused_with_what_to_write(batch, tmp_path):
    create(batch, tmp_path, {"source.path.regex-pattern": ".*csv"})
    with pytest.raises(TableException, match=r"source\.path\.regex-pattern.*glob"):
        batch.from_path("files")


def test_missing_files_fail_when_they_are_read(t_env, tmp_path):
    create(t_env, tmp_path / "nowhere", {})
    table = t_env.from_path("files")
    assert table.get_schema().get_field_names() == ["a", "part"]
    assert "Plan" in table.explain()
    assert "Plan" in t_env.explain_sql("SELECT part, COUNT(*) FROM files GROUP BY part")
    for query in ("SELECT * FROM files", "SELECT COUNT(*) FROM files"):
        with (
            pytest.raises(SparkRuntimeException, match="nowhere does not exist"),
            t_env.execute_sql(query).collect() as rows,
        ):
            list(rows)
    t_env.execute_sql("INSERT INTO files VALUES (1, 'x')").wait()
    with t_env.execute_sql("SELECT a FROM files").collect() as rows:
        assert [row[0] for row in rows] == [1]
