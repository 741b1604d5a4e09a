"""The options of Flink's connector for files, and tables whose files are not there yet."""

from __future__ import annotations

import pytest
from pyspark.errors import SparkRuntimeException

from pyflow.util.exceptions import TableException

#: Those that change nothing here: files end with their batch, and no partition is marked.
ACCEPTED = {
    "source.report-statistics": "ALL",
    "partition.default-name": "__HIVE_DEFAULT_PARTITION__",
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
    ("partition.default-name", "nothing"): "Spark has no other name",
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


def test_options_of_flink_are_accepted(batch, tmp_path):
    create(batch, tmp_path / "out", ACCEPTED)
    values = "(1, 'x'), (2, 'y'), (3, 'x'), (4, CAST(NULL AS STRING))"
    batch.execute_sql(f"INSERT INTO files VALUES {values}").wait()
    assert len([*(tmp_path / "out").glob("part=x/[!.]*")]) == 1
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
