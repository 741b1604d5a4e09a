"""Sources and sinks of files as they are built, and what elements become in files."""

from __future__ import annotations

import codecs
import datetime
import decimal
import pickle
import warnings

import pytest

from pyflow.common import Duration, Encoder, Instant, Row, Types
from pyflow.datastream.connectors.base import Boundedness
from pyflow.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from pyflow.datastream.formats.avro import AvroBulkWriters, AvroInputFormat, AvroSchema
from pyflow.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from pyflow.datastream.formats.orc import OrcBulkWriters
from pyflow.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from pyflow.datastream.formats.row_columns import DictDecoder, RowDecoder, RowEncoder
from pyflow.datastream.formats.text_lines import LineDecoder, LineEncoder, TextDecoder
from pyflow.datastream.runtime.errors import OperatorError
from pyflow.table import DataTypes
from pyflow.types.shapes import shape_of
from pyflow.util.exceptions import TableException

ROW = DataTypes.ROW(
    [DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("s", DataTypes.STRING())]
)
NAMES = ["id", "name", "ok", "list"]
LINES = StreamFormat.text_line_format()
STRINGS = Encoder.simple_string_encoder()
RECORD = """{"type": "record", "name": "r", "fields": [
    {"name": "id", "type": "int"}, {"name": "names", "type": {"type": "array", "items": "string"}},
    {"name": "inner", "type": ["null", {"type": "record", "name": "q", "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}]}]}"""


def columns():
    """Begin a schema with a column of each kind."""
    builder = CsvSchema.builder().add_number_column("id", DataTypes.INT()).add_string_column("name")
    return builder.add_boolean_column("ok").add_array_column("list", "#")


def csv_line(schema, *values):
    (line,) = CsvBulkWriters.for_schema(schema.build()).contents().encoder(None)(Row(*values), None)
    return line.decode()


# Sources


def test_a_source_ends_unless_its_paths_are_monitored():
    builder = FileSource.for_record_stream_format(LINES, "in")

    assert builder.build().boundedness() == Boundedness.BOUNDED
    monitored = builder.monitor_continuously(Duration.of_seconds(2)).build()
    assert monitored.boundedness() == Boundedness.CONTINUOUS_UNBOUNDED
    assert monitored.discovery_interval == 2000
    assert builder.process_static_file_set().build().boundedness() == Boundedness.BOUNDED


def test_all_of_flink_s_own_enumerators_and_assigners_are_taken():
    builder = FileSource.for_record_stream_format(LINES, "in")
    for enumerator in (
        FileEnumeratorProvider.default_splittable_file_enumerator(),
        FileEnumeratorProvider.default_non_splittable_file_enumerator(),
    ):
        assert builder.set_file_enumerator(enumerator) is builder
    assigner = FileSplitAssignerProvider.locality_aware_split_assigner()
    assert builder.set_split_assigner(assigner) is builder


def test_a_source_has_paths_unless_its_format_knows_them():
    with pytest.raises(ValueError, match="paths must not be empty"):
        FileSource.for_record_stream_format(LINES)

    FileSource.for_bulk_file_format(AvroInputFormat("in", AvroSchema.parse_string(RECORD)))


@pytest.mark.parametrize(
    ("file_format", "expected"),
    [
        (LINES, Types.STRING()),
        (
            ParquetColumnarRowInputFormat(ROW),
            Types.ROW_NAMED(["id", "s"], [Types.INT(), Types.STRING()]),
        ),
        (
            CsvReaderFormat.for_schema(columns().build()),
            Types.ROW_NAMED(
                ["id", "name", "ok", "list"],
                [Types.INT(), Types.STRING(), Types.BOOLEAN(), Types.OBJECT_ARRAY(Types.STRING())],
            ),
        ),
    ],
)
def test_the_type_of_elements_is_known_before_they_are_read(file_format, expected):
    source = FileSource.for_bulk_file_format(file_format, "in").build()

    assert repr(source.produced_type()) == repr(expected)


# Lines of text


@pytest.mark.parametrize(
    ("charset", "text", "expected"),
    [
        ("UTF-8", "ü", b"\xc3\xbc"),
        ("ISO-8859-1", "ü日", b"\xfc?"),
        # Java begins each text with a byte order mark.
        ("UTF-16", "a", codecs.BOM_UTF16_BE + b"\0a"),
        ("UTF-16LE", "a", b"a\0"),
    ],
)
def test_lines_are_written_as_java_encodes_them(charset, text, expected):
    assert LineEncoder(charset, Types.STRING())(text, None) == (expected,)


def test_rows_are_written_as_they_are_printed():
    row_type = Types.ROW([Types.INT(), Types.STRING(), Types.FLOAT()])

    assert LineEncoder("UTF-8", row_type)(Row(1, "a", None), None) == (b"+I[1, a, null]",)


def test_encoders_are_pickled_without_what_they_have_made():
    encoder = LineEncoder("UTF-8", Types.INT())
    encoder(1, None)

    assert pickle.loads(pickle.dumps(encoder))(2, None) == (b"2",)


def test_wrong_bytes_are_replaced():
    assert list(LineDecoder("UTF-8")(b"a\xff")) == [("a\ufffd", None)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_lines_of_two_bytes_a_character_are_found_in_whole_files(encoding):
    content = "ä\r\nb\rc\n\nd".encode(encoding)

    found = [line for line, _ in TextDecoder("UTF-16")(content)]

    assert found == ["ä", "b", "c", "", "d"]


@pytest.mark.parametrize("make", [StreamFormat.text_line_format, Encoder.simple_string_encoder])
def test_an_unknown_charset_is_refused(make):
    with pytest.raises(LookupError, match="unknown encoding"):
        make("none")


# Columns of rows


def test_rows_become_columns_by_name_or_by_position():
    encode = RowEncoder(shape_of(ROW, "UTC"))

    assert encode(Row(s="a", id=1), None) == (1, "a")
    assert encode(Row(1, "a"), None) == (1, "a")
    assert encode((1, "a"), None) == (1, "a")
    assert encode({"s": "a", "id": 1}, None) == (1, "a")


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (Row("1", "a"), TypeError, "field id"),
        (Row(1 << 40, "a"), OverflowError, "does not fit into INT"),
        (Row(1), ValueError, "2 fields expected but was 1"),
        (7, ValueError, "no row with the fields"),
    ],
)
def test_what_is_no_row_of_the_type_is_refused(value, error, match):
    with pytest.raises(error, match=match):
        RowEncoder(shape_of(ROW, "UTC"))(value, None)


def test_points_in_time_are_instants_inside_of_rows_too():
    inner = DataTypes.ROW([DataTypes.FIELD("t", DataTypes.TIMESTAMP_LTZ(3))])
    row_type = DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.TIMESTAMP_LTZ(3))),
            DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), inner)),
        ]
    )
    shape = shape_of(row_type, "Europe/Berlin")
    moment = datetime.datetime(1970, 1, 1, 0, 0, 1, 234000, tzinfo=datetime.timezone.utc)
    row = Row(a=[Instant.of_epoch_milli(1234), None], m={"k": Row(t=Instant.of_epoch_milli(1234))})

    encoded = RowEncoder(shape)(row, None)
    ((decoded, _),) = RowDecoder(shape)(*encoded)

    assert encoded == ([moment, None], {"k": (moment,)})
    assert decoded == row
    assert decoded.m["k"]._fields == ["t"]


def test_records_of_avro_are_dicts():
    contents = FileSink.for_bulk_format(
        "out", AvroBulkWriters.for_generic_record(AvroSchema.parse_string(RECORD))
    )._contents
    record = {"id": 1, "names": ["a"], "inner": {"at": Instant.of_epoch_milli(5)}}

    encoded = contents.encoder(None)(record, None)
    ((decoded, _),) = DictDecoder(shape_of(contents._row_type, "UTC"))(*encoded)

    assert contents.kind.format == "avro"
    assert decoded == record


def test_a_schema_that_columns_do_not_have_is_refused():
    union = RECORD.replace('"type": "int"', '"type": ["int", "string"]')

    with pytest.raises(TableException, match="union of int, string"):
        AvroBulkWriters.for_generic_record(AvroSchema.parse_string(union))


def test_files_of_rows_are_described_by_a_type_of_rows():
    with pytest.raises(TypeError, match="row_type must be an instance of RowType"):
        OrcBulkWriters.for_row_type(DataTypes.INT())


# CSV: the expected values are what PyFlink 2.3 writes and reads


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, "a", True, ["x", "y"]), '1,a,true,"x#y"'),
        ((2, "a b", False, []), '2,"a b",false,'),
        ((3, 'a,b"c\nd', None, None), '3,"a,b""c\nd",,'),
        ((5, "", True, [""]), "5,,true,"),
        ((6, "x" * 30, True, ["c"]), f'6,"{"x" * 30}",true,c'),
        ((7, "+a", True, [None, "z"]), '7,"+a",true,"#z"'),
        ((9, "-1.5", True, ["q,q"]), '9,-1.5,true,"q,q"'),
    ],
)
def test_values_are_in_quotes_where_jackson_has_them(values, expected):
    assert csv_line(columns(), *values) == expected


def test_separators_quotes_and_null_are_those_of_the_schema():
    piped = columns().set_column_separator("|").set_escape_char("\\").set_null_value("NULL")
    assert csv_line(piped, 1, 'a\\b|c"d', None, ["z|"]) == '1|"a\\\\b|c""d"|NULL|"z|"'
    assert csv_line(columns().set_quote_char("'"), 2, "a b", None, None) == "2,'a b',,"
    assert csv_line(columns().disable_quote_char(), 2, "a b", None, None) == "2,a b,,"


@pytest.mark.parametrize(
    ("data_type", "value", "expected"),
    [
        (DataTypes.TINYINT(), 1, "1"),
        (DataTypes.FLOAT(), 1.5, "1.5"),
        (DataTypes.DOUBLE(), 1e20, "1.0E20"),
        (DataTypes.DECIMAL(10, 2), decimal.Decimal("1.50"), "1.5"),
        (DataTypes.DECIMAL(10, 2), decimal.Decimal("100.00"), "1E+2"),
        (DataTypes.DECIMAL(10, 2), decimal.Decimal("0.00"), "0"),
    ],
)
def test_numbers_are_written_as_java_writes_them(data_type, value, expected):
    assert csv_line(CsvSchema.builder().add_number_column("n", data_type), value) == expected


def csv_row(schema, *texts, line=None):
    from pyflow.datastream.formats.csv_values import CsvDecoder

    row_type, layout = schema.build().row_type(), schema.build()._layout
    shapes = [shape_of(each, "UTC") for each in row_type.field_types()]
    decode = CsvDecoder(
        row_type.field_names(),
        shapes,
        layout.separators(),
        layout.null_value,
        layout.any_property is not None,
        layout.lines,
    )
    ((row, _),) = decode(*texts, line)
    return row


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("1", "a", "true", "x#y"), (1, "a", True, ["x", "y"])),
        (("1", None, None, None), (1, "", False, [])),
        ((" 1 ", " a ", " true ", " x # y "), (1, " a ", True, [" x ", " y "])),
        (("1", "a", "yes", "x"), (1, "a", False, ["x"])),
    ],
)
def test_texts_become_values_as_in_flink(texts, expected):
    assert csv_row(columns(), *texts) == Row(**dict(zip(NAMES, expected)))


def test_the_text_of_null_is_null_in_arrays_too():
    found = csv_row(columns().set_null_value("NULL"), "NULL", "NULL", "NULL", "NULL")

    assert list(found) == [None, None, None, [None]]


@pytest.mark.parametrize("text", [None, "z", "99999999999"])
def test_what_is_no_number_names_its_column(text):
    with pytest.raises(OperatorError, match="Fail to deserialize at field: id"):
        csv_row(columns(), text, "a", "true", "x")


def test_lines_with_other_numbers_of_values_are_refused():
    with pytest.raises(OperatorError, match="4 fields expected but was 2 in '1,a'"):
        csv_row(columns(), "1", "a", None, None, line="1,a")
    with pytest.raises(OperatorError, match="Row length mismatch"):
        csv_row(columns(), "1", "a", "true", "x", line="1,a,true,x,y")
    surplus = columns().set_any_property_name("rest")
    found = csv_row(surplus, "1", "a", "true", "x", line="1,a,true,x,y")
    assert list(found) == [1, "a", True, ["x"]]


def test_a_schema_is_shown_as_jackson_shows_it():
    schema = columns().set_use_header().set_skip_first_data_row().set_allow_comments()

    assert str(columns().build()) == (
        '[CsvSchema: columns=["id"/NUMBER,"name"/STRING,"ok"/BOOLEAN,"list"/ARRAY], '
        "header? false, skipFirst? false, comments? false, any-properties? N/A]"
    )
    assert str(schema.set_any_property_name("x").build()).endswith(
        "header? true, skipFirst? true, comments? true, any-properties? as 'x']"
    )


def test_columns_are_added_and_removed():
    builder = CsvSchema.builder().add_columns_from(columns().build()).add_string_column("more")

    assert len(builder) == builder.size() == len(builder.build()) == 5
    assert len(builder.clear_columns().build()) == 0


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("set_column_separator", "Column separator"),
        ("set_escape_char", "Escape char"),
        ("set_quote_char", "Quote char"),
    ],
)
def test_a_single_character_is_asked_for(name, what):
    with pytest.raises(ValueError, match=f"{what} must be a single char, got ab"):
        getattr(CsvSchema.builder(), name)("ab")


def test_arrays_that_are_written_have_a_separator():
    schema = columns().remove_array_element_separator(3)
    assert csv_line(schema, 1, "a", True, ["x", "y"]) == "1,a,true,x;y"

    with pytest.raises(ValueError, match="no element separator"):
        CsvBulkWriters.for_schema(schema.disable_array_element_separator().build())


def test_a_header_and_a_row_to_skip_are_refused_together():
    with pytest.raises(TableException, match="cannot be combined"):
        CsvReaderFormat.for_schema(columns().set_use_header().set_skip_first_data_row().build())


# Sinks


def test_files_are_in_a_directory_of_their_hour_by_default():
    files = FileSink.for_row_format("out", STRINGS).build()._files

    assert (files.directory, files.prefix, files.suffix) == ("out", "part", "")
    assert files.bucket_pattern == "yyyy-MM-dd--HH"


def test_names_and_directories_are_those_that_were_set():
    builder = FileSink.for_row_format("out", STRINGS)
    config = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()
    builder.with_output_file_config(config).with_bucket_check_interval(1000)
    builder.with_rolling_policy(RollingPolicy.default_rolling_policy())
    builder.with_bucket_assigner(BucketAssigner.date_time_bucket_assigner("yyyy", "Europe/Berlin"))
    files = builder.build()._files

    assert (config.get_part_prefix(), config.get_part_suffix()) == ("pre", ".txt")
    assert (files.prefix, files.suffix) == ("pre", ".txt")
    assert (files.bucket_pattern, files.bucket_zone) == ("yyyy", "Europe/Berlin")
    builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    assert builder.build()._files.bucket_pattern is None


def test_files_are_compacted_until_that_is_disabled():
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
    builder = FileSink.for_row_format("out", STRINGS)

    builder.enable_compact(strategy, FileCompactor.concat_file_compactor(b"\n"))
    assert builder.build()._files.is_compacted
    builder.enable_compact(strategy, FileCompactor.identical_file_compactor())
    assert not builder.disable_compact().build()._files.is_compacted


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: FileCompactStrategy.builder().build(), "At least one trigger condition"),
        (
            lambda: FileCompactStrategy.builder().enable_compaction_on_checkpoint(0),
            "should be more than 0",
        ),
        (lambda: FileCompactStrategy.builder().set_num_compact_threads(0), "Compact threads"),
        (lambda: RollingPolicy.default_rolling_policy(part_size=0), "part_size must be positive"),
    ],
)
def test_wrong_numbers_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_files_of_bulk_formats_end_with_checkpoints():
    builder = FileSink.for_bulk_format("out", ParquetBulkWriters.for_row_type(ROW))

    with pytest.raises(ValueError, match="must be OnCheckpointRollingPolicy for bulk format"):
        builder.with_rolling_policy(RollingPolicy.default_rolling_policy())
    policy = RollingPolicy.on_checkpoint_rolling_policy()
    assert builder.with_rolling_policy(policy).build().get_transformer() is None


@pytest.mark.parametrize(
    "begin",
    [
        lambda: StreamingFileSink.for_row_format("out", STRINGS),
        lambda: StreamingFileSink.for_bulk_format("out", ParquetBulkWriters.for_row_type(ROW)),
    ],
)
def test_the_sink_of_older_programs_is_deprecated(begin):
    builder = begin().with_bucket_check_interval(5)

    with pytest.warns(DeprecationWarning, match="Use FileSink instead"):
        builder.build()


def test_a_sink_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FileSink.for_row_format("out", STRINGS).build()
