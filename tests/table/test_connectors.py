"""Tables that connectors read and write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyflow.table import DataTypes, FormatDescriptor, Schema, TableDescriptor
from pyflow.table.expressions import col
from pyflow.util.exceptions import TableException


def schema(**columns):
    builder = Schema.new_builder()
    for name, data_type in columns.items():
        builder.column(name, data_type)
    return builder.build()


def described(connector, columns, format=None, **options):
    builder = TableDescriptor.for_connector(connector).schema(schema(**columns))
    for key, value in options.items():
        builder.option(key.replace("__", ".").replace("_", "-"), value)
    if format is not None:
        builder.format(format)
    return builder.build()


ID_DATA = {"id": DataTypes.BIGINT(), "data": DataTypes.STRING()}


def hello(t_env):
    return t_env.from_elements([(1, "Hello"), (2, None)], ["id", "data"])


def test_print_writes_rows_with_their_kinds(t_env, capsys):
    t_env.create_temporary_table("sink", described("print", ID_DATA))
    hello(t_env).execute_insert("sink").wait()
    assert capsys.readouterr().out == "+I[1, Hello]\n+I[2, null]\n"


def test_print_writes_changes_in_their_order(streaming, capsys):
    table = streaming.from_elements([("a",), ("b",), ("a",)], ["word"])
    counted = table.group_by(col("word")).select(col("word"), col("word").count)
    sink = described("print", {"word": DataTypes.STRING(), "n": DataTypes.BIGINT()})
    counted.execute_insert(sink).wait()
    assert capsys.readouterr().out == "+I[a, 1]\n+I[b, 1]\n-U[a, 1]\n+U[a, 2]\n"


def test_print_has_an_identifier_and_the_number_of_the_task(batch, capsys):
    options = {"print_identifier": "out", "sink__parallelism": "2"}
    hello(batch).execute_insert(described("print", ID_DATA, **options)).wait()
    lines = capsys.readouterr().out.splitlines()
    assert {line.split("> ")[1] for line in lines} == {"+I[1, Hello]", "+I[2, null]"}
    assert {line.split("> ")[0] for line in lines} <= {"out:1", "out:2"}


def test_print_to_standard_error(batch, capsys):
    hello(batch).execute_insert(described("print", ID_DATA, standard_error="true")).wait()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "+I[1, Hello]" in captured.err


def test_blackhole_takes_everything(streaming):
    table = hello(streaming).group_by(col("data")).select(col("data"), col("id").sum)
    sink = described("blackhole", {"data": DataTypes.STRING(), "n": DataTypes.BIGINT()})
    table.execute_insert(sink).wait()


# The others with more types: test_formats.py.
@pytest.mark.parametrize(
    "format",
    [
        "orc",
        *(pytest.param(each, marks=pytest.mark.complete) for each in ("csv", "json", "parquet")),
    ],
)
def test_files_are_read_as_they_were_written(batch, tmp_path, format):
    columns = {
        "id": DataTypes.BIGINT(),
        "price": DataTypes.DECIMAL(10, 2),
        "day": DataTypes.DATE(),
        "at": DataTypes.TIMESTAMP(3),
        "text": DataTypes.STRING(),
    }
    import datetime
    from decimal import Decimal

    row = (
        1,
        Decimal("2.50"),
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678000),
        'a "quoted", text',
    )
    fields = [DataTypes.FIELD(name, data_type) for name, data_type in columns.items()]
    table = batch.from_elements([row], DataTypes.ROW(fields))
    batch.create_temporary_table(
        "files", described("filesystem", columns, format, path=str(tmp_path / "out"))
    )
    table.execute_insert("files").wait()
    with batch.from_path("files").execute().collect() as rows:
        assert [tuple(found) for found in rows] == [row]


def test_insertions_append_and_overwriting_replaces(batch, tmp_path):
    files = described("filesystem", ID_DATA, "json", path=str(tmp_path / "out"))
    hello(batch).execute_insert(files).wait()
    hello(batch).execute_insert(files).wait()
    assert batch.from_descriptor(files).to_spark().count() == 4
    hello(batch).execute_insert(files, overwrite=True).wait()
    assert batch.from_descriptor(files).to_spark().count() == 2


def test_partitioned_files(batch, tmp_path):
    where = tmp_path / "out"
    files = (
        TableDescriptor.for_connector("filesystem")
        .schema(schema(**ID_DATA))
        .option("path", str(where))
        .format("json")
        .partitioned_by("data")
        .build()
    )
    hello(batch).execute_insert(files).wait()
    assert (where / "data=Hello").is_dir()
    rows = batch.from_descriptor(files).to_spark().collect()
    assert sorted(rows, key=str) == sorted([(1, "Hello"), (2, None)], key=str)


def test_csv_with_options(batch, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("# a comment\n1;'x;y'\n2;n/a\n")
    csv = (
        FormatDescriptor.for_format("csv")
        .option("field-delimiter", ";")
        .option("quote-character", "'")
        .option("allow-comments", "true")
        .option("null-literal", "n/a")
        .build()
    )
    table = batch.from_descriptor(described("filesystem", ID_DATA, csv, path=str(path)))
    assert table.to_spark().collect() == [(1, "x;y"), (2, None)]


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        (
            "canal-json",
            [
                {"data": [{"word": "a", "n": 1}], "type": "INSERT"},
                {"data": [{"word": "a", "n": 1}], "type": "DELETE"},
                {"data": [{"word": "a", "n": 2}], "type": "INSERT"},
            ],
        ),
        (
            "debezium-json",
            [
                {"before": None, "after": {"word": "a", "n": 1}, "op": "c"},
                {"before": {"word": "a", "n": 1}, "after": None, "op": "d"},
                {"before": None, "after": {"word": "a", "n": 2}, "op": "c"},
            ],
        ),
    ],
)
def test_changes_are_written_in_formats_of_changes(streaming, tmp_path, format, expected):
    columns = {"word": DataTypes.STRING(), "n": DataTypes.BIGINT()}
    sink = described("filesystem", columns, format, path=str(tmp_path / "out"))
    table = streaming.from_elements([("a",), ("a",)], ["word"])
    table.group_by(col("word")).select(col("word"), col("word").count).execute_insert(sink).wait()
    files = sorted(Path(tmp_path / "out").glob("part-*"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert lines == expected


def test_append_only_files_refuse_changes(streaming, tmp_path):
    columns = {"word": DataTypes.STRING(), "n": DataTypes.BIGINT()}
    sink = described("filesystem", columns, "csv", path=str(tmp_path / "out"))
    table = streaming.from_elements([("a",)], ["word"])
    counted = table.group_by(col("word")).select(col("word"), col("word").count)
    with pytest.raises(TableException, match="doesn't support consuming update and delete"):
        counted.execute_insert(sink)


def test_generated_rows(batch):
    d = DataTypes
    columns = {
        "number": d.INT(),
        "place": d.BIGINT(),
        "natural": d.BIGINT(),
        "wide": d.BIGINT(),
        "text": d.STRING(),
        "ratio": d.DOUBLE(),
        "price": d.DECIMAL(10, 2),
        "flag": d.BOOLEAN(),
        "day": d.DATE(),
        "at": d.TIMESTAMP(3),
        "list": d.ARRAY(d.INT()),
        "map": d.MAP(d.STRING(), d.INT()),
        "row": d.ROW([d.FIELD("x", d.INT())]),
        "bytes": d.BYTES(),
    }
    options = {
        "number_of_rows": "50",
        "fields__number__min": "3",
        "fields__number__max": "5",
        "fields__place__kind": "sequence",
        "fields__place__start": "10",
        "fields__place__end": "29",
        "fields__natural__min": "0",
        "fields__wide__min": str(-5 * 10**18),
        "fields__wide__max": str(5 * 10**18),
        "fields__text__length": "7",
        "fields__ratio__null_rate": "1",
        "fields__list__length": "2",
        "fields__row__x__max": "0",
        "fields__bytes__length": "4",
    }
    rows = batch.from_descriptor(described("datagen", columns, **options)).to_spark().collect()
    assert len(rows) == 20, "as many as the sequence has"
    assert {row.number for row in rows} <= {3, 4, 5}
    assert sorted(row.place for row in rows) == list(range(10, 30))
    assert all(row.natural >= 0 and abs(row.wide) <= 5 * 10**18 for row in rows)
    assert len({row.natural for row in rows}) == len({row.wide for row in rows}) == 20
    assert max(row.natural for row in rows) > 1 << 60
    assert min(row.wide for row in rows) < 0
    assert all(len(row.text) == 7 for row in rows)
    assert len({row.text for row in rows}) > 1
    assert all(row.ratio is None for row in rows)
    assert all(len(row.list) == 2 and row.row.x <= 0 and len(row.bytes) == 4 for row in rows)


@pytest.mark.parametrize(
    ("connector", "options", "message"),
    [
        ("nothing", {}, "there is no connector 'nothing'.*blackhole, datagen, filesystem, jdbc"),
        ("filesystem", {"format": "csv"}, "required options.*path"),
        ("filesystem", {"path": "/x"}, "required options.*format"),
        ("filesystem", {"path": "/x", "format": "avro2"}, "option 'format' is 'avro2'"),
        ("filesystem", {"path": "/x", "format": "csv", "json.x": "1"}, "unsupported.*json.x"),
        ("datagen", {"number-of-rows": "many"}, "'number-of-rows' is 'many', expected an integer"),
        ("datagen", {"number-of-rows": "1", "fields.no.min": "1"}, "a column 'no'"),
        ("datagen", {"number-of-rows": "1", "fields.id.min": "x"}, "'fields.id.min' is 'x'"),
        (
            "datagen",
            {"number-of-rows": "1", "fields.id.max": str(1 << 63)},
            "'fields.id.max' is '9223372036854775808', expected from -9223372036854775808 to",
        ),
        ("datagen", {}, "in batch mode is not allowed"),
        ("print", {"standard-error": "maybe"}, "'standard-error' is 'maybe', expected true or"),
    ],
)
def test_wrong_options_name_table_option_and_value(batch, connector, options, message):
    builder = TableDescriptor.for_connector(connector).schema(schema(**ID_DATA))
    for key, value in options.items():
        builder.option(key, value)
    batch.create_temporary_table("wrong", builder.build())
    with pytest.raises(TableException, match=f"(?s)wrong.*{message}"):
        batch.from_path("wrong")


@pytest.mark.parametrize("connector", ["print", "blackhole"])
def test_sinks_cannot_be_read(batch, connector):
    with pytest.raises(TableException, match="cannot be read"):
        batch.from_descriptor(described(connector, ID_DATA))


def test_sources_cannot_be_written(batch):
    with pytest.raises(TableException, match="cannot be written"):
        hello(batch).execute_insert(described("datagen", ID_DATA, number_of_rows="1"))


def test_sinks_have_the_columns_of_the_query(batch):
    with pytest.raises(TableException, match="Different number of columns"):
        hello(batch).execute_insert(described("blackhole", {"id": DataTypes.BIGINT()}))
    columns = {"id": DataTypes.INT(), "data": DataTypes.STRING()}
    with pytest.raises(TableException, match="Incompatible types for sink column 'id'"):
        hello(batch).execute_insert(described("blackhole", columns))


def test_a_null_is_not_written_into_a_column_without_nulls(batch):
    columns = {"id": DataTypes.BIGINT(), "data": DataTypes.STRING().not_null()}
    result = hello(batch).execute_insert(described("blackhole", columns))
    with pytest.raises(Exception, match="Column 'data' is NOT NULL"):
        result.wait()


def test_a_data_source_in_python_is_read_and_written(batch, tmp_path):
    columns = {"number": DataTypes.BIGINT(), "square": DataTypes.BIGINT()}
    options = {"class": "numbers_source.Numbers", "source__end": "3"}
    source = batch.from_descriptor(described("python", columns, **options))
    assert source.to_spark().collect() == [(0, 0), (1, 1), (2, 4)]
    options = {"class": "numbers_source.Numbers", "source__path": str(tmp_path / "out")}
    source.execute_insert(described("python", columns, **options)).wait()
    lines = (tmp_path / "out").read_text().splitlines()
    assert sorted(lines) == ["(0, 0)", "(1, 1)", "(2, 4)"]


@pytest.mark.parametrize("name", ["nowhere.Numbers", "numbers_source.Path", "numbers_source"])
def test_a_data_source_that_is_none(batch, name):
    with pytest.raises(TableException, match=f"'class' is '{name}', expected the name of"):
        batch.from_descriptor(described("python", ID_DATA, **{"class": name}))


def test_legacy_options_are_refused_with_those_to_write(batch):
    batch.execute_sql(
        "CREATE TABLE legacy (a INT) WITH ('connector.type' = 'filesystem', "
        "'connector.path' = '/tmp/x', 'format.type' = 'csv')"
    )
    with pytest.raises(TableException, match=r"legacy options .* Write 'connector' = 'files"):
        batch.sql_query("SELECT * FROM legacy")
