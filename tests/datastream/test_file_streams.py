"""Programs that read and write files."""

from __future__ import annotations

import datetime
import decimal
import os
import re
from pathlib import Path

import pytest

from pyflow.common import Duration, Encoder, Instant, Row, Types, WatermarkStrategy
from pyflow.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamFormat,
)
from pyflow.datastream.connectors.number_seq import NumberSequenceSource
from pyflow.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from pyflow.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from pyflow.datastream.formats.orc import OrcBulkWriters
from pyflow.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from pyflow.datastream.testing import TestStream
from pyflow.table import DataTypes
from sessions import wait_until

NOTHING = WatermarkStrategy.no_watermarks()
BASE = BucketAssigner.base_path_bucket_assigner()
STRINGS = Encoder.simple_string_encoder()
ROW = DataTypes.ROW(
    [
        DataTypes.FIELD("i", DataTypes.INT()),
        DataTypes.FIELD("d", DataTypes.DECIMAL(10, 2)),
        DataTypes.FIELD("t", DataTypes.TIMESTAMP(3)),
        DataTypes.FIELD("l", DataTypes.TIMESTAMP_LTZ(3)),
        DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.STRING())),
        DataTypes.FIELD("b", DataTypes.BYTES()),
    ]
)
ROWS = [
    Row(
        i=1,
        d=decimal.Decimal("1.50"),
        t=datetime.datetime(2020, 1, 2, 3, 4, 5),
        l=Instant.of_epoch_milli(1234),
        a=["x", None],
        b=b"ab",
    ),
    Row(i=None, d=None, t=None, l=None, a=None, b=None),
]
RECORD = AvroSchema.parse_string(
    """{"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"},
    {"name": "names", "type": {"type": "array", "items": "string"}},
    {"name": "text", "type": ["null", "string"]}]}"""
)
RECORDS = [{"id": 1, "names": ["a", "b"], "text": "c"}, {"id": 2, "names": [], "text": None}]


@pytest.fixture
def env(make_env):
    return make_env(parallelism=1)


def collected(env, source):
    with env.from_source(source, NOTHING, "files").execute_and_collect() as found:
        return list(found)


def lines_of(*paths, charset="UTF-8"):
    found = StreamFormat.text_line_format(charset)
    return FileSource.for_record_stream_format(found, *map(str, paths)).build()


def contents(directory):
    """The texts of all files below a directory that readers see, by their paths."""
    paths = [path.relative_to(directory) for path in sorted(Path(directory).rglob("*"))]
    seen = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    files = [path for path in seen if (Path(directory) / path).is_file()]
    return {str(path): (Path(directory) / path).read_text() for path in files}


def bulk(directory, factory):
    builder = FileSink.for_bulk_format(str(directory), factory)
    return builder.with_bucket_assigner(BASE).build()


def test_lines_of_all_files_below_a_directory_are_read(env, tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "a.txt").write_bytes("ä\r\nb\rc\n\nd".encode())
    (tmp_path / "below" / "b.txt").write_text("e\n")
    for hidden in ("_hidden", ".hidden", "below/_hidden"):
        (tmp_path / hidden).write_text("hidden\n")

    found = collected(env, lines_of(f"file://{tmp_path}"))

    assert sorted(found) == ["", "b", "c", "d", "e", "ä"]
    assert found.index("ä") + 4 == found.index("d")


@pytest.mark.parametrize("charset", ["UTF-16", "ISO-8859-1"])
def test_lines_are_read_as_they_were_written(env, tmp_path, charset):
    sink = FileSink.for_row_format(f"{tmp_path}/out", Encoder.simple_string_encoder(charset))
    env.from_collection(["ä", "b"], Types.STRING()).sink_to(sink.with_bucket_assigner(BASE).build())
    env.execute()
    if charset == "UTF-16":
        (path,) = (tmp_path / "out").iterdir()
        assert path.read_bytes() == b"\xfe\xff\0\xe4\n\xfe\xff\0b\n"
        path.write_bytes("ä\nb\n".encode("utf-16"))

    assert collected(env, lines_of(tmp_path / "out", charset=charset)) == ["ä", "b"]


def test_several_paths_are_read(env, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name}\n")

    assert sorted(collected(env, lines_of(tmp_path / "a", tmp_path / "b"))) == ["a", "b"]


def test_a_missing_path_fails_the_job(env, tmp_path):
    with pytest.raises(Exception, match="does not exist"):
        collected(env, lines_of(tmp_path / "none"))


def test_files_are_named_and_placed_as_in_flink(env, tmp_path):
    config = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()
    sink = FileSink.for_row_format(str(tmp_path), STRINGS).with_output_file_config(config).build()
    row_type = Types.ROW([Types.INT(), Types.STRING()])

    env.from_collection([Row(1, "a"), Row(2, None)], row_type).sink_to(sink)
    env.execute()

    ((path, text),) = contents(tmp_path).items()
    assert [each.name for each in (tmp_path / path).parent.iterdir()] == [Path(path).name]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d--\d\d/pre-[0-9a-f-]{36}-0\.txt", path)
    assert text == "+I[1, a]\n+I[2, null]\n"


def test_a_program_adds_files_to_those_that_are_there(env, tmp_path):
    for text in ("a", "b"):
        sink = FileSink.for_row_format(str(tmp_path), STRINGS).with_bucket_assigner(BASE).build()
        env.from_collection([text], Types.STRING()).sink_to(sink)
        env.execute()

    assert sorted(contents(tmp_path).values()) == ["a\n", "b\n"]


def test_no_elements_are_no_files(env, tmp_path):
    out = tmp_path / "out"
    stream = env.from_collection(["a"], Types.STRING()).filter(lambda text: text == "b")
    stream.sink_to(FileSink.for_row_format(str(out), STRINGS).build())
    stream.map(lambda text: Row(1, text)).sink_to(bulk(out, _pairs()))
    env.execute()

    assert contents(out) == {}


def _pairs():
    fields = [DataTypes.FIELD("i", DataTypes.INT()), DataTypes.FIELD("s", DataTypes.STRING())]
    return ParquetBulkWriters.for_row_type(DataTypes.ROW(fields))


def test_a_program_whose_elements_cannot_be_written_leaves_no_files(env, tmp_path):
    env.from_collection([1], Types.INT()).sink_to(bulk(tmp_path / "out", _pairs()))

    with pytest.raises(Exception, match="no row with the fields"):
        env.execute()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_each_subtask_has_a_file_unless_they_are_compacted(make_env, tmp_path):
    env = make_env(parallelism=2)
    strategy = FileCompactStrategy.builder().set_size_threshold(1024).build()
    stream = env.from_source(NumberSequenceSource(1, 10), NOTHING, "numbers")
    for name in ("each", "one"):
        builder = FileSink.for_row_format(f"{tmp_path}/{name}", STRINGS).with_bucket_assigner(BASE)
        if name == "one":
            builder.enable_compact(strategy, FileCompactor.concat_file_compactor())
        stream.sink_to(builder.build())
    env.execute()

    for name, count in (("each", 2), ("one", 1)):
        texts = contents(tmp_path / name).values()
        assert len(texts) == count
        assert sorted("".join(texts).split(), key=int) == [str(n) for n in range(1, 11)]


def test_rows_are_written_into_parquet_and_read(env, tmp_path):
    env.from_collection(ROWS).sink_to(bulk(tmp_path, ParquetBulkWriters.for_row_type(ROW)))
    env.execute()
    whole = ParquetColumnarRowInputFormat(ROW)
    some = DataTypes.ROW(
        [DataTypes.FIELD("I", DataTypes.BIGINT()), DataTypes.FIELD("none", DataTypes.STRING())]
    )
    others = ParquetColumnarRowInputFormat(some, is_case_sensitive=False)

    read = [
        collected(env, FileSource.for_bulk_file_format(each, str(tmp_path)).build())
        for each in (whole, others)
    ]

    # What is collected has bytes as numbers, as in PyFlink.
    first = Row(**{**ROWS[0].as_dict(), "b": [97, 98]})
    assert read == [[first, ROWS[1]], [Row(I=1, none=None), Row(I=None, none=None)]]
    assert read[0][0]._fields == ["i", "d", "t", "l", "a", "b"]


@pytest.mark.parametrize("mode", ["thread", "process"])
def test_rows_behind_keyed_state_are_written_into_parquet(make_env, tmp_path, mode):
    """Spark's workers emit them pickled, many at once."""
    env = make_env(parallelism=1, mode=mode)
    stream = env.from_source(TestStream().add_elements([0, 1]), NOTHING, "test")
    keyed = stream.key_by(lambda number: number, Types.INT())
    sink = bulk(tmp_path, ParquetBulkWriters.for_row_type(ROW))
    keyed.map(lambda number: ROWS[number]).sink_to(sink)
    env.execute()

    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(ROW), str(tmp_path))
    first = Row(**{**ROWS[0].as_dict(), "b": [97, 98]})
    assert sorted(collected(env, source.build()), key=str) == sorted([ROWS[1], first], key=str)


def test_columns_that_some_files_of_parquet_have_are_read(env, spark, tmp_path):
    spark.sql("SELECT 1 AS a").write.parquet(f"{tmp_path}/in/0")
    spark.sql("SELECT 2 AS a, 'x' AS b").write.parquet(f"{tmp_path}/in/1")
    row_type = DataTypes.ROW(
        [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]
    )
    source = FileSource.for_bulk_file_format(
        ParquetColumnarRowInputFormat(row_type), f"{tmp_path}/in"
    )

    found = collected(env, source.build())

    assert sorted(found, key=lambda row: row.a) == [Row(a=1, b=None), Row(a=2, b="x")]


def test_files_of_parquet_may_differ_in_columns_that_are_not_read(env, spark, tmp_path):
    spark.sql("SELECT 1 AS a, 1 AS x").write.parquet(f"{tmp_path}/in/0")
    spark.sql("SELECT 2 AS a, 'x' AS x").write.parquet(f"{tmp_path}/in/1")
    row_type = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])
    source = FileSource.for_bulk_file_format(
        ParquetColumnarRowInputFormat(row_type), f"{tmp_path}/in"
    )

    assert sorted(row.a for row in collected(env, source.build())) == [1, 2]


@pytest.mark.parametrize(("is_utc", "hour"), [(True, 3), (False, 12)])
def test_points_in_time_of_parquet_become_local_times(env, spark, tmp_path, is_utc, hour):
    before = spark.conf.getAll
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        spark.sql("SELECT timestamp '2020-01-02 03:00:00Z' AS t").write.parquet(f"{tmp_path}/in")
        row_type = DataTypes.ROW([DataTypes.FIELD("t", DataTypes.TIMESTAMP(3))])
        reader = ParquetColumnarRowInputFormat(row_type, is_utc_timestamp=is_utc)
        source = FileSource.for_bulk_file_format(reader, f"{tmp_path}/in").build()

        assert collected(env, source) == [Row(t=datetime.datetime(2020, 1, 2, hour))]
    finally:
        if "spark.sql.session.timeZone" in before:
            spark.conf.set("spark.sql.session.timeZone", before["spark.sql.session.timeZone"])
        else:
            spark.conf.unset("spark.sql.session.timeZone")


def test_rows_are_written_into_orc(env, spark, tmp_path):
    env.from_collection(ROWS).sink_to(bulk(tmp_path, OrcBulkWriters.for_row_type(ROW)))
    env.execute()

    found = spark.read.orc(str(tmp_path)).select("i", "d", "t", "a").collect()
    assert [tuple(each) for each in found] == [
        (1, decimal.Decimal("1.50"), datetime.datetime(2020, 1, 2, 3, 4, 5), ["x", None]),
        (None, None, None, None),
    ]


def test_records_of_avro_are_written_and_read(env, tmp_path):
    stream = env.from_collection(RECORDS, Types.PICKLED_BYTE_ARRAY())
    stream = stream.map(lambda record: record, GenericRecordAvroTypeInfo(RECORD))
    stream.sink_to(bulk(tmp_path / "avro", AvroBulkWriters.for_generic_record(RECORD)))
    stream.sink_to(bulk(tmp_path / "parquet", AvroParquetWriters.for_generic_record(RECORD)))
    env.execute()

    with env.create_input(
        AvroInputFormat(f"{tmp_path}/avro", RECORD)
    ).execute_and_collect() as found:
        assert list(found) == RECORDS
    reader = AvroParquetReaders.for_generic_record(RECORD)
    source = FileSource.for_record_stream_format(reader, f"{tmp_path}/parquet").build()
    assert collected(env, source) == RECORDS


def _columns():
    builder = CsvSchema.builder().add_number_column("id", DataTypes.INT()).add_string_column("name")
    return builder.add_array_column("list", "#", DataTypes.STRING())


def _csv(path, schema):
    reader = CsvReaderFormat.for_schema(schema.build())
    return FileSource.for_record_stream_format(reader, str(path)).build()


def test_rows_are_written_into_csv_and_read(env, tmp_path):
    schema = _columns().set_column_separator("|").set_use_header().set_strict_headers()
    rows = [Row(id=1, name='a "b"\n|c', list=["x", "y"]), Row(id=2, name="", list=[])]
    row_type = Types.ROW_NAMED(
        ["id", "name", "list"], [Types.INT(), Types.STRING(), Types.LIST(Types.STRING())]
    )
    factory = CsvBulkWriters.for_schema(schema.build())
    env.from_collection(rows, row_type).sink_to(bulk(tmp_path, factory))
    env.execute()

    (text,) = contents(tmp_path).values()
    assert text.split("\n", 1)[1] == '1|"a ""b""\n|c"|"x#y"\n2||\n'
    assert collected(env, _csv(tmp_path, schema)) == rows


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("1,a,x\r\n", lambda schema: schema),
        ("name,id,list\n1,a,x\n", lambda schema: schema.set_use_header()),
        ("anything\n1,a,x\n", lambda schema: schema.set_skip_first_data_row()),
        ("#c\n1,a,x\n", lambda schema: schema.set_allow_comments()),
        ("1,'a',x\n", lambda schema: schema.set_quote_char("'")),
        ("1,a,x,y,z\n", lambda schema: schema.set_any_property_name("rest")),
    ],
)
def test_lines_are_read_as_the_schema_says(env, tmp_path, text, change):
    (tmp_path / "in.csv").write_text(text)

    assert collected(env, _csv(tmp_path, change(_columns()))) == [Row(id=1, name="a", list=["x"])]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1,a\n", r"Row length mismatch\. 3 fields expected but was 2 in '1,a'"),
        ('1,"a"b,x\n', "(Unexpected|Unescaped quote) character"),
        ("1,a,x,y\n", "Row length mismatch"),
        ("z,a,x\n", r"Fail to deserialize at field: id\. 'z' is no integer"),
    ],
)
def test_lines_that_are_none_of_the_schema_fail_the_job(env, tmp_path, text, match):
    (tmp_path / "in.csv").write_text(text)

    with pytest.raises(Exception, match=match):
        collected(env, _csv(tmp_path, _columns()))


def _escaped(builder):
    return builder.set_escape_char("\\")


# As Flink 2.3 reads them.
PAIRS = {
    "1,2,\n3,4\n": (lambda builder: builder, [("1", "2"), ("3", "4")]),
    '"a" ,2\n "a",3\n': (lambda builder: builder, [("a", "2"), (' "a"', "3")]),
    'a"b"c,2\n': (lambda builder: builder, [('a"b"c', "2")]),
    '#x\n1,2\n  #y\n"#z",5\n': (
        lambda builder: builder.set_allow_comments(),
        [("1", "2"), ("#z", "5")],
    ),
    '"a\\"b",2\r\n"a""b",4\r\n': (_escaped, [('a"b', "2"), ('a"b', "4")]),
    'a\\,b,2\n"a\\\\b",4\n': (_escaped, [("a,b", "2"), ("a\\b", "4")]),
    '"a\\nb",2\n"a\\xb",4': (_escaped, [("a\nb", "2"), ("axb", "4")]),
    '\ufeffa,b\n1,"2\n3"\n': (
        lambda builder: _escaped(builder).set_use_header().set_strict_headers(),
        [("1", "2\n3")],
    ),
}


@pytest.mark.parametrize("text", PAIRS)
def test_lines_are_read_as_flink_reads_them(make_env, tmp_path, text):
    change, expected = PAIRS[text]
    (tmp_path / "in.csv").write_bytes(text.encode())
    schema = change(CsvSchema.builder().add_string_column("a").add_string_column("b"))

    found = collected(make_env(parallelism=1), _csv(tmp_path, schema))
    assert [tuple(row) for row in found] == expected


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("b,a\n1,2\n", r"Mismatched header: expected \['a', 'b'\], actual \['b', 'a'\]"),
        ("a,b\n1\n", r"Row length mismatch\. 2 fields expected but was 1 in '1'"),
        ('a,b\n"1,2\n', "Missing closing quote for value"),
    ],
)
def test_escaped_lines_that_are_none_of_the_schema_fail_the_job(make_env, tmp_path, text, match):
    (tmp_path / "in.csv").write_text(text)
    schema = _escaped(CsvSchema.builder().add_string_column("a").add_string_column("b"))

    with pytest.raises(Exception, match=match):
        collected(make_env(), _csv(tmp_path, schema.set_use_header().set_strict_headers()))


def test_another_header_fails_the_job_where_it_is_checked(env, tmp_path):
    (tmp_path / "in.csv").write_text("name,id,list\n1,a,x\n")

    with pytest.raises(Exception, match="header does not conform"):
        collected(env, _csv(tmp_path, _columns().set_use_header().set_strict_headers()))


class _Copies:
    """A program that copies the lines of files that come into a directory, twice."""

    def __init__(self, make_env, directory):
        self.make_env = make_env
        self.directory = directory
        (directory / "in").mkdir()

    def start(self, checkpoint="checkpoint", **settings):
        settings["execution_checkpointing_dir"] = self.directory / checkpoint
        env = self.make_env(parallelism=1, **settings)
        source = FileSource.for_record_stream_format(
            StreamFormat.text_line_format(), f"{self.directory}/in"
        ).monitor_continuously(Duration.of_millis(100))
        stream = env.from_source(source.build(), NOTHING, "files")
        for each in (stream, stream.map(str.upper)):
            each.sink_to(FileSink.for_row_format(f"{self.directory}/out", STRINGS).build())
        return env.execute_async()

    def add(self, name, text, *, modified=None):
        written = self.directory / f".{name}"
        written.write_text(text)
        if modified is not None:
            os.utime(written, (modified, modified))
        os.rename(written, self.directory / "in" / name)

    def written(self):
        return contents(self.directory / "out") if (self.directory / "out").exists() else {}

    def commits(self):
        found = (self.directory / "checkpoint").rglob("commits/[0-9]*")
        return sorted(found, key=lambda path: int(path.name))

    def wait(self, texts, batches):
        wait_until(
            lambda: texts <= {*self.written().values()} and len(self.commits()) >= batches,
            f"{texts} is written",
        )


def test_files_that_come_are_read_and_a_repeated_batch_is_written_once(make_env, tmp_path):
    program = _Copies(make_env, tmp_path)
    program.add("a", "one\ntwo\n")
    job = program.start()
    program.wait({"one\ntwo\n", "ONE\nTWO\n"}, 1)
    program.add("b", "three\n")
    program.wait({"three\n", "THREE\n"}, 2)
    job.cancel().result()
    wait_until(lambda: job.get_job_status().result().name == "CANCELED", "the job is canceled")
    before = program.written()
    assert sorted(before.values()) == ["ONE\nTWO\n", "THREE\n", "one\ntwo\n", "three\n"]

    # As if the program had failed in the second batch, an hour ago.
    last = program.commits()[-1]
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
    for path in [path for path, text in before.items() if text in ("three\n", "THREE\n")]:
        other = tmp_path / "out" / "2020-01-01--00"
        other.mkdir(exist_ok=True)
        (tmp_path / "out" / path).rename(other / Path(path).name)
    job = program.start()
    wait_until(last.exists, "the batch is written again")
    job.cancel().result()
    wait_until(lambda: job.get_job_status().result().name == "CANCELED", "the job is canceled")

    after = program.written()
    assert sorted(after.values()) == sorted(before.values())
    assert not any(path.startswith("2020") for path in after)


def test_files_that_come_late_are_read_whatever_their_age(make_env, tmp_path):
    program = _Copies(make_env, tmp_path)
    program.add("a", "new\n")
    job = program.start()
    program.wait({"new\n"}, 1)
    program.add("b", "old\n", modified=datetime.datetime(2020, 1, 1).timestamp())
    program.wait({"old\n"}, 2)
    job.cancel().result()
    job = program.start()
    program.add("c", "newer\n")
    program.wait({"newer\n"}, 3)
    job.cancel().result()

    found = "".join(sorted(program.written().values())).split()
    assert found == ["NEW", "NEWER", "OLD", "new", "newer", "old"]


def test_results_of_an_older_state_are_not_written_beside_later_ones(make_env, tmp_path):
    program = _Copies(make_env, tmp_path)
    program.add("a", "one\n")
    job = program.start()
    program.wait({"one\n", "ONE\n"}, 1)
    older = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    job = program.start()
    for batches, text in enumerate(("two\n", "three\n"), 2):
        program.add(text.strip(), text)
        program.wait({text, text.upper()}, batches)
    job.cancel().result()
    before = program.written()

    job = program.start("other", execution_savepoint_path=older)

    with pytest.raises(Exception, match="started from an older state"):
        job.get_job_execution_result().result()
    assert program.written() == before


@pytest.mark.parametrize(("is_keyed", "waited"), [(False, 5000), (True, 1000)])
def test_directories_are_looked_through_as_often_as_the_program_says(
    make_env, spark, tmp_path, is_keyed, waited
):
    """Timers of the processing time do not wait for so long."""
    (tmp_path / "in").mkdir()
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), f"{tmp_path}/in"
    ).monitor_continuously(Duration.of_seconds(5))
    stream = make_env(parallelism=1).from_source(source.build(), NOTHING, "files")
    stream = stream.key_by(len) if is_keyed else stream
    (tmp_path / "in" / "a").write_text("one\n")
    with stream.map(str.upper).execute_and_collect() as lines:
        assert next(lines) == "ONE"
        (query,) = spark.streams.active
        trigger = query._jsq.streamingQuery().trigger().toString()
    assert trigger == f"ProcessingTimeTrigger({waited})"
