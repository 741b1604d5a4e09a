"""Cases of types, rows, settings and builders, as expressions.

They are evaluated with the names of PyFlink, by ``reference/record_settings.py``, and with ours, by
the tests. The names are those of `names`.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import importlib
import pickle
from array import array
from typing import Any

#: Local times depend on it.
ZONE = "America/New_York"

TYPES = [
    "DataTypes.NULL()",
    "DataTypes.CHAR(3)",
    "DataTypes.VARCHAR(10)",
    "DataTypes.VARCHAR(2147483647, False)",
    "DataTypes.STRING()",
    "DataTypes.STRING(False)",
    "DataTypes.BOOLEAN()",
    "DataTypes.BINARY(4)",
    "DataTypes.VARBINARY(4)",
    "DataTypes.BYTES()",
    "DataTypes.DECIMAL(38, 18)",
    "DataTypes.DECIMAL(10, 0, False)",
    "DataTypes.TINYINT()",
    "DataTypes.SMALLINT()",
    "DataTypes.INT()",
    "DataTypes.INT(False)",
    "DataTypes.BIGINT()",
    "DataTypes.FLOAT()",
    "DataTypes.DOUBLE()",
    "DataTypes.DATE()",
    "DataTypes.TIME()",
    "DataTypes.TIME(3)",
    "DataTypes.TIMESTAMP()",
    "DataTypes.TIMESTAMP(3)",
    "DataTypes.TIMESTAMP(9, False)",
    "DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE()",
    "DataTypes.TIMESTAMP_LTZ(3)",
    "DataTypes.ARRAY(DataTypes.INT())",
    "DataTypes.ARRAY(DataTypes.STRING(False), False)",
    "DataTypes.MAP(DataTypes.STRING(False), DataTypes.ARRAY(DataTypes.DOUBLE()))",
    "DataTypes.MULTISET(DataTypes.STRING())",
    "DataTypes.ROW()",
    "DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b c', "
    "DataTypes.ROW([DataTypes.FIELD('d`', DataTypes.STRING(False))]))])",
    "DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT())]).not_null()",
    "DataTypes.INTERVAL(DataTypes.YEAR())",
    "DataTypes.INTERVAL(DataTypes.YEAR(4))",
    "DataTypes.INTERVAL(DataTypes.MONTH())",
    "DataTypes.INTERVAL(DataTypes.YEAR(), DataTypes.MONTH())",
    "DataTypes.INTERVAL(DataTypes.DAY())",
    "DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.HOUR())",
    "DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.MINUTE())",
    "DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))",
    "DataTypes.INTERVAL(DataTypes.HOUR())",
    "DataTypes.INTERVAL(DataTypes.HOUR(), DataTypes.MINUTE())",
    "DataTypes.INTERVAL(DataTypes.HOUR(), DataTypes.SECOND(9))",
    "DataTypes.INTERVAL(DataTypes.MINUTE())",
    "DataTypes.INTERVAL(DataTypes.MINUTE(), DataTypes.SECOND())",
    "DataTypes.INTERVAL(DataTypes.SECOND(3))",
]

TYPE_TEXTS = [
    "char",
    "VARCHAR",
    "String",
    "BINARY",
    "VARBINARY(3)",
    "BYTES",
    "DECIMAL",
    "DEC(5)",
    "NUMERIC(5, 2) NOT NULL",
    "INTEGER",
    "INT NULL",
    "DOUBLE PRECISION",
    "TIME",
    "TIME(3) WITHOUT TIME ZONE",
    "TIMESTAMP",
    "TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL",
    "TIMESTAMP WITH LOCAL TIME ZONE",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "TIMESTAMP(3) WITH TIME ZONE",
    "TIMESTAMP_LTZ",
    "TIMESTAMP_LTZ(3)",
    "INTERVAL YEAR",
    "INTERVAL YEAR(4) TO MONTH",
    "INTERVAL MONTH",
    "INTERVAL DAY(3) TO SECOND(2)",
    "INTERVAL HOUR TO MINUTE",
    "INTERVAL SECOND(3)",
    "ARRAY<INT NOT NULL> NOT NULL",
    "INT ARRAY",
    "INT NOT NULL ARRAY NOT NULL",
    "STRING MULTISET",
    "MULTISET<ROW<a INT>>",
    "MAP<STRING, ARRAY<MAP<INT, DATE>>>",
    "ROW<a INT, b STRING NOT NULL>",
    "ROW(a INT, `b ``c` BOOLEAN)",
    "ROW<>",
    "ROW()",
    "ROW<`date` DATE, `timestamp` TIMESTAMP(3)>",
    "NULL",
    "",
    "INT INT",
    "CHAR(0)",
    "CHAR(3",
    "DECIMAL(39)",
    "DECIMAL(3, 4)",
    "TIMESTAMP(10)",
    "INTERVAL DAY TO MONTH",
    "ARRAY<INT",
    "ROW<a>",
    "MAP<INT>",
    "ROW<a INT,>",
]

LITERALS = [
    "True",
    "0",
    "-1",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "1.5",
    "'a'",
    "'äß'",
    "''",
    "decimal.Decimal('1.50')",
    "decimal.Decimal('0.001')",
    "decimal.Decimal('0.5')",
    "decimal.Decimal('0.10')",
    "decimal.Decimal('-12.0')",
    "decimal.Decimal('1.2E-3')",
    "decimal.Decimal('123')",
    "decimal.Decimal('1E+3')",
    "decimal.Decimal('0')",
    "bytearray(b'abc')",
    "b'abc'",
    "b''",
]

ROWS = [
    "[(1, 'a')]",
    "[(1, 'a')], ['id', 'name']",
    "[(1, 'a', 2.0)], ['id']",
    "[Row(a=1, b=True), Row(a=None, b=False)]",
    "[Row(1, decimal.Decimal('1.5'))]",
    "[{'b': 1, 'a': 'x'}]",
    "[(None, 1), ('a', None)]",
    "[([1, 2], {'k': 1.5})]",
    "[(datetime.date(2020, 1, 1), datetime.time(1), datetime.datetime(2020, 1, 1))]",
    "[(bytearray(b'x'), array('h', [1]), array('B', [1]), array('d', [1.0]))]",
    "[(Row(x=1, y=Row(z='a')),)]",
    "[((1, 'a'),)]",
    "[([(1, 'a')],)]",
    "[(1,), ('a',)]",
    "[([1],), (['a'],)]",
    "[(None,)]",
    "[([],)]",
    "[]",
    "[(object(),)]",
    "[1]",
    "[(1,), (2, 3)]",
    "[{'a': 1}, {'b': 'x'}]",
]

VERIFIED = [
    f"verifier({data_type})({value})"
    for data_type, values in {
        "DataTypes.TINYINT()": ["127", "128", "-129", "'a'", "None", "True", "1.0"],
        "DataTypes.SMALLINT(False)": ["32767", "32768", "None"],
        "DataTypes.INT()": ["-2147483648", "2147483648"],
        "DataTypes.BIGINT()": ["1", "1.5"],
        "DataTypes.DOUBLE()": ["1.0", "1"],
        "DataTypes.BOOLEAN()": ["True", "1"],
        "DataTypes.CHAR(2)": ["'ab'", "'a'", "'abc'"],
        "DataTypes.VARCHAR(2)": ["'ab'", "'abc'", "1"],
        "DataTypes.BINARY(2)": ["bytearray(b'ab')", "bytearray(b'a')"],
        "DataTypes.BYTES()": ["bytearray(b'ab')", "'ab'"],
        "DataTypes.DECIMAL(5, 2)": ["decimal.Decimal('1.5')", "1.5"],
        "DataTypes.DATE()": ["datetime.date(2020, 1, 1)", "datetime.datetime(2020, 1, 1)", "'x'"],
        "DataTypes.TIME()": ["datetime.time(1)", "1"],
        "DataTypes.TIMESTAMP()": ["datetime.datetime(2020, 1, 1)", "datetime.date(2020, 1, 1)"],
        "DataTypes.ARRAY(DataTypes.TINYINT(False))": ["[1]", "(1,)", "[200]", "[None]", "{1}"],
        "DataTypes.MAP(DataTypes.STRING(False), DataTypes.INT())": [
            "{'a': 1}",
            "{None: 1}",
            "{'a': 'b'}",
            "[1]",
        ],
        "DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT()), "
        "DataTypes.FIELD('b', DataTypes.STRING(False))])": [
            "(1, 'x')",
            "[1, 'x']",
            "{'a': 1, 'b': 'x'}",
            "{'a': 1}",
            "Row(1, 'x')",
            "Row(b='x', a=1)",
            "(1,)",
            "(1, None)",
            "('x', 1)",
            "1",
        ],
    }.items()
    for value in values
]

_MOMENT = "datetime.datetime(2024, 7, 1, 12, 30, 15, 123456)"
_IN_ZONE = (
    "datetime.datetime(2024, 1, 1, 12, 30, 15, 123456, "
    "datetime.timezone(datetime.timedelta(hours=2)))"
)
_ROW_TYPE = (
    "DataTypes.ROW([DataTypes.FIELD('d', DataTypes.DATE()), DataTypes.FIELD('n', DataTypes.INT())])"
)
_ROW_INFO = "Types.ROW_NAMED(['d', 'n'], [Types.SQL_DATE(), Types.INT()])"
_DAY = "datetime.date(2024, 2, 29)"

VALUES = [
    # Rows and kinds.
    "Row(name='Alice', age=11)",
    "Row('Alice', 11)",
    "Row('name', 'age')('Alice', 11)",
    "Row('name', 'age')('Alice')",
    "Row('name')('Alice', 11)",
    "Row(1, a=2)",
    "Row()",
    "len(Row(1, 2))",
    "list(Row(a=1, b=2))",
    "tuple(Row(1, 2))",
    "Row(a=1, b=2)['b']",
    "Row(a=1, b=2).b",
    "Row(a=1, b=2)[1]",
    "Row(a=1, b=2, c=3)[1:]",
    "Row(a=1)['b']",
    "Row(a=1).b",
    "Row(1)['b']",
    "Row(1).b",
    "Row(1)[1]",
    "'a' in Row(a=1)",
    "1 in Row(a=1)",
    "1 in Row(1)",
    "Row(a=1, b=2).as_dict()",
    "Row(a=1, b=[Row(c=2)], d={'e': Row(f=3)}).as_dict(True)",
    "Row(a=1, b=Row(c=2)).as_dict()",
    "Row(1).as_dict()",
    "Row(a=1, b=2) == Row(b=2, a=1)",
    "Row(a=1) == Row(1)",
    "Row(1) == Row(1)",
    "Row(1) == (1,)",
    "Row(a=1) == Row(b=1)",
    "Row.of_kind(RowKind.DELETE, 1) == Row(1)",
    "Row.of_kind(RowKind.DELETE, 1) == Row.of_kind(RowKind.DELETE, 1)",
    "Row.of_kind(RowKind.UPDATE_AFTER, a=1).get_row_kind()",
    "hash(Row(1, 2)) == hash(Row(1, 2))",
    "Row(a=1, b=2).get_fields_by_names(['b', 'a'])",
    "Row(1, 2).get_fields_by_names(['b', 'a'])",
    "Row(a=1, b=2).get_fields_by_names(['a', 'b'])",
    "[str(kind) for kind in RowKind]",
    "[kind.value for kind in RowKind]",
    "pickle.loads(pickle.dumps(Row(a=1, b=[2]))) == Row(a=1, b=[2])",
    "pickle.loads(pickle.dumps(Row.of_kind(RowKind.DELETE, 1, 2)))",
    "pickle.loads(pickle.dumps(Row.of_kind(RowKind.DELETE, 1, 2))).get_row_kind()",
    "copy.copy(Row(a=1))",
    "copy.deepcopy(Row([1]))",
    "changed(Row(a=1, b=2), 'a', 5)",
    "changed(Row(1, 2), 0, 5)",
    "changed(Row(1, 2), 'a', 5)",
    "changed(Row(a=1), 'b', 5)",
    "setattr(Row(a=1), 'a', 2)",
    "named(Row(1, 2), ['x', 'y'])",
    # The internal form of values.
    f"DataTypes.DATE().to_sql_type({_DAY})",
    "DataTypes.DATE().from_sql_type(-1)",
    "DataTypes.TIME().to_sql_type(datetime.time(1, 2, 3, 4))",
    "DataTypes.TIME().from_sql_type(DataTypes.TIME().to_sql_type(datetime.time(1, 2, 3, 4)))",
    f"DataTypes.TIMESTAMP().to_sql_type({_MOMENT})",
    f"DataTypes.TIMESTAMP().to_sql_type({_IN_ZONE})",
    "DataTypes.TIMESTAMP().from_sql_type(1719851415123456)",
    f"DataTypes.TIMESTAMP_LTZ().to_sql_type({_MOMENT})",
    f"DataTypes.TIMESTAMP_LTZ().from_sql_type(DataTypes.TIMESTAMP_LTZ().to_sql_type({_MOMENT}))",
    f"ZonedTimestampType().to_sql_type({_IN_ZONE})",
    f"ZonedTimestampType().from_sql_type(ZonedTimestampType().to_sql_type({_IN_ZONE})) == "
    f"{_IN_ZONE}",
    "DataTypes.INTERVAL(DataTypes.SECOND()).to_sql_type(datetime.timedelta(-1, 5, 7))",
    "DataTypes.INTERVAL(DataTypes.SECOND()).from_sql_type(-86394999993)",
    f"DataTypes.ARRAY(DataTypes.DATE()).to_sql_type([{_DAY}, None])",
    "DataTypes.ARRAY(DataTypes.INT()).to_sql_type([1])",
    f"DataTypes.MAP(DataTypes.DATE(), DataTypes.INT()).to_sql_type({{{_DAY}: 1}})",
    "DataTypes.MAP(DataTypes.DATE(), DataTypes.INT()).from_sql_type({1: 1})",
    f"{_ROW_TYPE}.to_sql_type(({_DAY}, 1))",
    f"{_ROW_TYPE}.to_sql_type({{'n': 1, 'd': {_DAY}}})",
    f"{_ROW_TYPE}.to_sql_type(Row(n=1, d={_DAY}))",
    f"{_ROW_TYPE}.to_sql_type(Row.of_kind(RowKind.DELETE, {_DAY}, 1))",
    f"{_ROW_TYPE}.to_sql_type(5)",
    f"{_ROW_TYPE}.to_sql_type(None)",
    f"{_ROW_TYPE}.from_sql_type((1, 2))",
    "DataTypes.INT().to_sql_type(1)",
    "DataTypes.INT().need_conversion(), DataTypes.DATE().need_conversion()",
    "Types.INSTANT().to_internal_type(Instant.of_epoch_milli(1999))",
    "Types.INSTANT().from_internal_type(1500)",
    f"Types.SQL_DATE().to_internal_type({_DAY})",
    "Types.SQL_TIME().to_internal_type(datetime.time(1, 2, 3, 4))",
    f"Types.SQL_TIMESTAMP().to_internal_type({_MOMENT})",
    "Types.SQL_TIMESTAMP().from_internal_type(1719851415123456)",
    f"{_ROW_INFO}.to_internal_type(Row(n=1, d={_DAY}))",
    f"{_ROW_INFO}.to_internal_type(({_DAY}, 1))",
    f"{_ROW_INFO}.to_internal_type(5)",
    f"{_ROW_INFO}.get_field_names(), {_ROW_INFO}.get_field_index('n')",
    f"Types.TUPLE([Types.SQL_DATE(), Types.INT()]).to_internal_type([{_DAY}, 1])",
    "Types.TUPLE([Types.INT()]).to_internal_type({1})",
    "Types.ROW([Types.INT()]).get_field_index('f0')",
    # Types as values.
    "DataTypes.INT() == DataTypes.INT(), DataTypes.INT() == DataTypes.INT(False)",
    "DataTypes.INT().not_null() == DataTypes.INT(False)",
    "DataTypes.INT(False).nullable() == DataTypes.INT()",
    "DataTypes.VARCHAR(3) == DataTypes.VARCHAR(4)",
    "len({DataTypes.INT(), DataTypes.INT()})",
    "DataTypes.FIELD('a', DataTypes.INT()) == DataTypes.FIELD('a', DataTypes.INT())",
    "DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('a', DataTypes.INT(), 'b')",
    "str(DataTypes.FIELD('a', DataTypes.INT()))",
    "RowType().add('a', DataTypes.INT()).add(DataTypes.FIELD('b', DataTypes.DATE()))",
    "RowType().add('a')",
    "RowType().add('a', DataTypes.INT())['a']",
    "RowType().add('a', DataTypes.INT())['b']",
    "RowType().add('a', DataTypes.INT())[0:1]",
    "RowType().add('a', DataTypes.INT())[1]",
    "RowType().add('a', DataTypes.INT())[1.5]",
    "len(RowType().add('a', DataTypes.INT()))",
    "RowType().add('a', DataTypes.INT()).field_names()",
    "RowType().add('a', DataTypes.INT()).field_types()",
    "DataTypes.LIST_VIEW(DataTypes.INT()), DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.INT())",
    "DataTypes.INT().type_name(), DataTypes.TIMESTAMP_LTZ().type_name()",
    "Types.STRING(), Types.BIG_DEC(), Types.INSTANT(), Types.SQL_TIMESTAMP()",
    "Types.ROW([Types.INT(), Types.STRING()]), Types.ROW_NAMED(['a'], [Types.INT()])",
    "Types.TUPLE([Types.INT()]), Types.MAP(Types.INT(), Types.STRING()), Types.LIST(Types.INT())",
    "Types.PRIMITIVE_ARRAY(Types.INT()), Types.BASIC_ARRAY(Types.INT())",
    "Types.OBJECT_ARRAY(Types.INT()), Types.PICKLED_BYTE_ARRAY()",
    "Types.INT() == Types.INT(), Types.INT() == Types.LONG()",
    "Types.ROW_NAMED(['a'], [Types.INT()]) == Types.ROW_NAMED(['b'], [Types.INT()])",
    "Types.LIST(Types.INT()) == Types.LIST(Types.INT())",
    # Lengths of time.
    "Duration.of_days(1) == Duration.of_hours(24), Duration.of_millis(1) == Duration.of_nanos(1)",
    "Duration.of_minutes(1) == Duration.of_seconds(60)",
    "Instant.of_epoch_milli(1500), Instant.of_epoch_milli(-1)",
    "Instant(1, 2_000_000).to_epoch_milli()",
    "str(Time.days(1)), Time.hours(1) == Time.minutes(60), Time.seconds(2).to_milliseconds()",
    # Settings.
    "Configuration().set_string('a', 'b').get_string('a', 'c')",
    "Configuration().get_string('a', 'c')",
    "Configuration().set_integer('a', 5).get_string('a', None)",
    "Configuration().set_boolean('a', True).to_dict()",
    "Configuration().set_float('a', 5).to_dict()",
    "Configuration().set_string('a', '5').get_integer('a', 1)",
    "Configuration().set_string('a', 'TRUE').get_boolean('a', False)",
    "Configuration().set_string('a', '1.5').get_float('a', 0)",
    "Configuration().get_bytearray('a', bytearray(b'x'))",
    "Configuration().set_bytearray('a', bytearray(b'x')).get_bytearray('a', None)",
    "failed(lambda: Configuration().set_string('a', 'x').get_integer('a', 1))",
    "failed(lambda: Configuration().set_string('a', 'x').get_boolean('a', True))",
    "failed(lambda: Configuration().set_string('a', 'x').get_float('a', 1.0))",
    "Configuration().set_string('a', 'b').contains_key('a')",
    "Configuration().set_string('a', 'b').remove_config('a')",
    "Configuration().remove_config('a')",
    "Configuration().set_string('a', 'b').key_set()",
    "Configuration().add_all(Configuration().set_string('a', 'b'), 'p.').to_dict()",
    "Configuration(Configuration().set_string('a', 'b')).to_dict()",
    "Configuration.from_dict({'a': 'b'}).to_dict()",
    "Configuration().set_string('a', 'b') == Configuration().set_string('a', 'b')",
    "Configuration().set_string('a', '1') == Configuration().set_integer('a', 1)",
    "str(Configuration().set_string('a', 'b'))",
    "Configuration.parse_list_value('a;b')",
    "Configuration.parse_list_value('[a, \"b;c\"]')",
    "Configuration.parse_list_value('')",
    "EnvironmentSettings.in_batch_mode().is_streaming_mode()",
    "EnvironmentSettings.in_streaming_mode().is_streaming_mode()",
    "EnvironmentSettings.new_instance().build().is_streaming_mode()",
    "EnvironmentSettings.new_instance().build().get_built_in_catalog_name()",
    "EnvironmentSettings.new_instance().with_built_in_database_name('d').build()"
    ".get_built_in_database_name()",
    "EnvironmentSettings.new_instance().with_configuration(Configuration().set_string("
    "'execution.runtime-mode', 'batch')).build().is_streaming_mode()",
    "retained(TableConfig.get_default(), datetime.timedelta(hours=3))",
    "TableConfig.get_default().get_idle_state_retention()",
    "TableConfig.get_default().get_max_generated_code_length()",
    "TableConfig.get_default().get_python_executable()",
    "TableConfig.get_default().set('parallelism.default', '3').get('parallelism.default', '1')",
    "TableConfig.get_default().get('a.b', 'c')",
    "TableConfig.get_default().get_sql_dialect() == SqlDialect.DEFAULT",
    "zone(TableConfig.get_default(), 'Asia/Tokyo')",
    "zone(TableConfig.get_default(), 'GMT-08:00')",
    "failed(lambda: zone(TableConfig.get_default(), 'Asia/Tokio'))",
    "failed(lambda: TableConfig.get_default().set_local_timezone(1))",
    # Schemas and descriptions.
    "str(Schema.new_builder().build())",
    "str(EVERYTHING)",
    "str(Schema.new_builder().from_schema(EVERYTHING).build()) == str(EVERYTHING)",
    "EVERYTHING == Schema.new_builder().from_schema(EVERYTHING).build()",
    "str(Schema.new_builder().primary_key('a', 'b').build())",
    "failed(lambda: Schema.new_builder().primary_key())",
    "failed(lambda: Schema.new_builder().primary_key('a').primary_key('b'))",
    "str(Schema.new_builder().from_row_data_type(DataTypes.ROW([DataTypes.FIELD('a', "
    "DataTypes.INT(), 'b')])).build())",
    "failed(lambda: Schema.new_builder().from_row_data_type(DataTypes.INT()))",
    "failed(lambda: Schema.new_builder().from_fields(['a', 'b'], [DataTypes.INT()]))",
    "str(Schema.new_builder().from_fields(['a'], [DataTypes.INT()]).build())",
    "str(TableDescriptor.for_connector('x').build())",
    "str(TableDescriptor.for_connector('x').comment('a b').partitioned_by('p', 'q').build())",
    "str(TableDescriptor.for_connector('x').schema(Schema.new_builder().column('a', "
    "DataTypes.INT()).build()).build())",
    "sorted(FORMATTED.get_options().items())",
    "sorted(TableDescriptor.for_connector('x').format(FormatDescriptor.for_format('csv').option('a'"
    ", 'b').build(), ConfigOptions.key('key.format').string_type().no_default_value()).build()"
    ".get_options().items())",
    "failed(lambda: TableDescriptor.for_connector('x').format(FormatDescriptor.for_format('csv')"
    ".build(), ConfigOptions.key('key.fmt').string_type().no_default_value()))",
    "TableDescriptor.for_connector('x').build().get_schema()",
    "TableDescriptor.for_connector('x').build().get_comment()",
    "list(TableDescriptor.for_connector('x').partitioned_by('a').build().get_partition_keys())",
    "TableDescriptor.for_connector('x').build() == TableDescriptor.for_connector('x').build()",
    "str(FormatDescriptor.for_format('json').option('a', 'b').build())",
    "FormatDescriptor.for_format('json').build().get_format()",
    "str(ModelDescriptor.for_provider('x').comment('c').input_schema(EVERYTHING).build())",
    "sorted(ModelDescriptor.for_provider('x').option('task', 'y').build().get_options().items())",
    "TableSchema(['a', 'b'], [DataTypes.INT(), DataTypes.STRING()])",
    "TableSchema(['a'], [DataTypes.INT()]).get_field_data_type('a')",
    "TableSchema(['a'], [DataTypes.INT()]).get_field_data_type('b')",
    "TableSchema(['a'], [DataTypes.INT()]).get_field_data_type(0)",
    "TableSchema(['a'], [DataTypes.INT()]).get_field_data_type(1.5)",
    "TableSchema(['a'], [DataTypes.INT()]).get_field_name(1)",
    "TableSchema(['a'], [DataTypes.INT()]).to_row_data_type()",
    "failed(lambda: TableSchema(['a'], []))",
    "failed(lambda: TableSchema(['a', 'a'], [DataTypes.INT(), DataTypes.INT()]))",
    "TableSchema.builder().field('a', DataTypes.INT()).build() == TableSchema(['a'], "
    "[DataTypes.INT()])",
    "ModuleEntry('a', True), ModuleEntry('a', True) == ModuleEntry('a', False)",
    "PlanReference.from_json_string('{}').get_content()",
    "str(PlanReference.from_file('/tmp/plan').get_file())",
    # Columns.
    "RESOLVED.get_column_names(), RESOLVED.get_column_count()",
    "str(RESOLVED)",
    "str(RESOLVED.get_primary_key().as_summary_string())",
    "RESOLVED.get_primary_key().get_columns(), RESOLVED.get_primary_key().get_type_string()",
    "RESOLVED.get_primary_key().get_type().name, RESOLVED.get_primary_key().is_enforced()",
    "list(RESOLVED.get_primary_key_indexes())",
    "RESOLVED.get_column_data_types()",
    "RESOLVED.to_source_row_data_type()",
    "RESOLVED.to_physical_row_data_type()",
    "RESOLVED.to_sink_row_data_type()",
    "[column.as_summary_string() for column in RESOLVED.get_columns()]",
    "[column.explain_extras() for column in RESOLVED.get_columns()]",
    "[column.is_persisted() for column in RESOLVED.get_columns()]",
    "[column.is_physical() for column in RESOLVED.get_columns()]",
    "str(RESOLVED.get_column('a')), RESOLVED.get_column('z'), str(RESOLVED.get_column(1))",
    "str(ResolvedSchema.physical(['a'], [DataTypes.INT()]))",
    "str(Schema.new_builder().from_resolved_schema(RESOLVED).build())",
    "ResolvedSchema.of([]) == ResolvedSchema.of([])",
    "str(ObjectPath('d', 't')), ObjectPath('d', 't') < ObjectPath('d', 'u')",
    "ObjectPath.from_string('d.t').get_full_name()",
    "ObjectPath('a', 'b').compare_to(ObjectPath('a', 'b'))",
    "failed(lambda: ObjectPath.from_string('d'))",
    "str(ObjectIdentifier.of('c', 'd', 't`')), list(ObjectIdentifier.of('c', 'd', 't').to_list())",
    "ObjectIdentifier.of('c', 'd', 't').as_summary_string()",
    "str(ObjectIdentifier.of('c', 'd', 't').to_object_path())",
    "CatalogFunction.create_instance('m.f').get_class_name()",
    "str(CatalogFunction.create_instance('m.f', 'java').get_function_language())",
    "CatalogFunction.create_instance('m.f', 'C')",
    "CatalogFunction.create_instance('m.f').get_description()",
    "CatalogDatabase.create_instance({'a': 'b'}, 'c').get_properties()",
    "CatalogDatabase.create_instance({}, 'c').copy().get_comment()",
    "CatalogDatabase.create_instance({}, 'c').get_description()",
    "CatalogPartition.create_instance({'a': 'b'}, 'c').get_properties()",
    "str(CatalogPartitionSpec({'a': 'b'})), CatalogPartitionSpec({'a': 'b'}).get_partition_spec()",
    "CatalogTableStatistics(1, 2, 3, 4).copy().get_raw_data_size()",
    "CatalogTableStatistics(1, 2, 3, 4, {'a': 'b'}).get_properties()",
    "CatalogBaseTable.create_table(TableSchema(['a'], [DataTypes.INT()]), ['a'], {'k': 'v'}, 'c')"
    ".get_options()",
    "str(CatalogBaseTable.create_table(TableSchema(['a'], [DataTypes.INT()])).copy()"
    ".get_unresolved_schema())",
    "CatalogBaseTable.create_view('q', 'e', TableSchema(['a'], [DataTypes.INT()]), {}, 'c')"
    ".get_comment()",
    "CatalogModel.create_model(EVERYTHING, EVERYTHING, {'a': 'b'}, 'c').copy().get_options()",
    # Descriptions of Flink's first connectors.
    "sorted(LegacySchema(fields={'a': DataTypes.INT(), 'b': 'STRING'}).to_properties().items())",
    "sorted(LegacySchema().field('a', DataTypes.BIGINT()).from_origin_field('A').to_properties()"
    ".items())",
    "sorted(LegacySchema().field('p', DataTypes.TIMESTAMP(3)).proctime().to_properties().items())",
    "sorted(LegacySchema().field('r', DataTypes.TIMESTAMP(3)).rowtime(Rowtime()"
    ".timestamps_from_field('ts').watermarks_periodic_bounded(5000)).to_properties().items())",
    "sorted(Rowtime().timestamps_from_source().watermarks_from_source().to_properties().items())",
    "sorted(Rowtime().watermarks_periodic_ascending().to_properties().items())",
    "sorted(LegacySchema(TableSchema(['a'], [DataTypes.INT()])).to_properties().items())",
    "failed(lambda: LegacySchema().proctime())",
    "LegacySchema(fields=[1])",
    # Smaller questions.
    "CatalogDatabase.create_instance({}, 'c').get_detailed_description()",
    "CatalogBaseTable.create_table(TableSchema(['a'], [DataTypes.INT()]), comment='c')"
    ".get_description()",
    "CatalogBaseTable.create_table(TableSchema(['a'], [DataTypes.INT()]), comment='c')"
    ".get_detailed_description()",
    "CatalogPartition.create_instance({}, 'c').copy().get_comment()",
    "CatalogPartition.create_instance({}, 'c').get_description()",
    "CatalogPartition.create_instance({}, 'c').get_detailed_description()",
    "CatalogFunction.create_instance('m.f').copy().get_detailed_description()",
    "CatalogFunction.create_instance('m.f').get_options()",
    "CatalogModel.create_model(EVERYTHING, EVERYTHING, {}, 'c').get_comment()",
    "CatalogPartitionSpec({'a': 'b'}) == CatalogPartitionSpec({'a': 'b'})",
    "len({CatalogPartitionSpec({'a': 'b'}), CatalogPartitionSpec({'a': 'b'})})",
    "CatalogTableStatistics(1, 2, 3, 4).get_row_count(), CatalogTableStatistics(1, 2, 3, 4)"
    ".get_field_count(), CatalogTableStatistics(1, 2, 3, 4).get_total_size()",
    "ObjectPath('d', 't').get_database_name(), ObjectPath('d', 't').get_object_name()",
    "ObjectIdentifier.of('c', 'd', 't').get_catalog_name()",
    "ObjectIdentifier.of('c', 'd', 't').get_database_name()",
    "ObjectIdentifier.of('c', 'd', 't').get_object_name()",
    "failed(lambda: ObjectIdentifier.of(None, 'd', 't'))",
    "ModuleEntry('a', True).name(), ModuleEntry('a', True).used()",
    "len({ModuleEntry('a', True), ModuleEntry('a', True)})",
    "FormatDescriptor.for_format('json').option('a', 'b').build().get_options()",
    "len({FormatDescriptor.for_format('a').build(), FormatDescriptor.for_format('a').build()})",
    "len({TableDescriptor.for_connector('x').build(), TableDescriptor.for_connector('x').build()})",
    "len({EVERYTHING, Schema.new_builder().from_schema(EVERYTHING).build()})",
    "TableSchema(['a'], [DataTypes.INT()]).copy().get_field_count()",
    "len({TableSchema(['a'], [DataTypes.INT()]), TableSchema(['a'], [DataTypes.INT()])})",
    "RESOLVED.get_watermark_specs()",
    "RESOLVED.get_column('m').is_virtual(), RESOLVED.get_column('m').get_metadata_key()",
    "RESOLVED.get_column('w').is_virtual(), RESOLVED.get_column('w').get_metadata_key()",
    "RESOLVED.get_column('a') == Column.physical('a', DataTypes.INT(False))",
    "len({Column.physical('a', DataTypes.INT()), Column.physical('a', DataTypes.INT())})",
    "len({ResolvedSchema.of([]), ResolvedSchema.of([])})",
    "Instant(1, 2) == Instant(1, 2), Time(5) == Time.milliseconds(5)",
    "DataTypes.DATE().need_conversion(), DataTypes.INTERVAL(DataTypes.DAY()).need_conversion()",
    "DataTypes.ROW().need_conversion(), DataTypes.TIMESTAMP().need_conversion()",
    "DataTypes.FIELD('a', DataTypes.DATE()).need_conversion()",
    f"DataTypes.FIELD('a', DataTypes.DATE()).to_sql_type({_DAY})",
    "DataTypes.INTERVAL(DataTypes.YEAR(4)).precision, DataTypes.INTERVAL(DataTypes.YEAR())"
    ".resolution",
    "DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(2)).day_precision",
    "DataTypes.INTERVAL(DataTypes.DAY(3), DataTypes.SECOND(2)).fractional_precision",
    "str(DataTypes.YEAR(3)), DataTypes.SECOND().precision, DataTypes.MINUTE().precision",
    "failed(lambda: DataTypes.LIST_VIEW(DataTypes.INT()).to_sql_type([]))",
    "failed(lambda: DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.INT()).from_sql_type({}))",
    "failed(lambda: UserDefinedType.sql_type())",
    "failed(lambda: UserDefinedType.module())",
    "failed(lambda: UserDefinedType().serialize(1))",
    "failed(lambda: UserDefinedType().deserialize(1))",
    "UserDefinedType().need_conversion()",
    "Types.INT().need_conversion(), Types.INT().from_internal_type(1)",
    "Types.INSTANT().need_conversion(), Types.SQL_DATE().need_conversion()",
    "Types.SQL_TIME().need_conversion(), Types.SQL_TIMESTAMP().need_conversion()",
    "Types.SQL_DATE().from_internal_type(1)",
    "Types.SQL_TIME().from_internal_type(Types.SQL_TIME().to_internal_type(datetime.time(1, 2)))",
    "Types.TUPLE([Types.INT()]).get_field_types(), Types.TUPLE([Types.INT()]).need_conversion()",
    "Types.TUPLE([Types.SQL_DATE()]).from_internal_type((1,))",
    "Types.TUPLE([Types.SQL_DATE()]).from_internal_type(Row(1))",
    "Types.CHAR(), Types.LIST(Types.INT()).elem_type",
    # States of jobs.
    "JobStatus.FINISHED.is_globally_terminal_state(), JobStatus.SUSPENDED.is_terminal_state()",
    "[state.name for state in JobStatus if state.is_globally_terminal_state()]",
    "[state.name for state in JobStatus if state.is_terminal_state()]",
]

_OBJECTS = {
    "EVERYTHING": "Schema.new_builder().column('id', 'INT NOT NULL')"
    ".column('n', DataTypes.BIGINT()).column('r', 'ROW<name STRING, age INT>')"
    ".column_by_metadata('topic', DataTypes.STRING(), None, True)"
    ".column_by_metadata('orig_ts', DataTypes.TIMESTAMP(3), 'timestamp')"
    ".column_by_expression('ts', \"orig_ts - INTERVAL '60' MINUTE\")"
    ".watermark('ts', \"ts - INTERVAL '5' SECOND\").primary_key_named('the_key', 'id').build()",
    "FORMATTED": "TableDescriptor.for_connector('x').option('a.b', 'c').option(ConfigOptions.key("
    "'n').int_type().default_value(1), 5).format(FormatDescriptor.for_format('json')"
    ".option('ignore-parse-errors', 'true').build()).build()",
    "RESOLVED": "resolved_schema([Column.physical('a', DataTypes.INT(False)), Column.physical('b', "
    "DataTypes.STRING()), Column.metadata('m', DataTypes.BIGINT(), 'k', True), Column.metadata('w',"
    " DataTypes.BIGINT(), None, False)], primary_key('pk', ['a']))",
}

_NAMES = {
    "common": "Row RowKind Types Configuration ConfigOptions Duration Instant Time JobStatus",
    "table": "DataTypes Schema TableDescriptor FormatDescriptor EnvironmentSettings TableConfig "
    "TableSchema SqlDialect ModuleEntry PlanReference",
    "table.types": "RowType UserDefinedType ZonedTimestampType",
    "table.model_descriptor": "ModelDescriptor",
    "table.descriptors": "Rowtime",
    "table.catalog": "ObjectPath ObjectIdentifier ResolvedSchema Column UniqueConstraint "
    "CatalogFunction CatalogDatabase CatalogPartition CatalogPartitionSpec CatalogModel "
    "CatalogTableStatistics CatalogBaseTable",
}


def names(package: str) -> dict[str, Any]:
    """The names that the expressions use, of ``pyflink`` or ``pyflow``."""
    found: dict[str, Any] = {
        "array": array,
        "changed": _changed,
        "copy": copy,
        "datetime": datetime,
        "decimal": decimal,
        "failed": _failed,
        "named": _named,
        "pickle": pickle,
        "retained": _retained,
        "zone": _zone,
    }
    for module, listed in _NAMES.items():
        of_module = importlib.import_module(f"{package}.{module}")
        found.update({name: getattr(of_module, name) for name in listed.split()})
    descriptors = importlib.import_module(f"{package}.table.descriptors")
    found["LegacySchema"] = descriptors.Schema
    found["primary_key"] = found["UniqueConstraint"].primary_key
    found["resolved_schema"] = lambda columns, key: found["ResolvedSchema"](columns, [], key)
    return found


def objects(known: dict[str, Any]) -> dict[str, Any]:
    """The objects that several expressions use."""
    return {name: eval(expression, known) for name, expression in _OBJECTS.items()}


def outcome(expression: str, known: dict[str, Any]) -> str:
    """The value's text, or the kind of error."""
    try:
        return repr(eval(expression, known))
    except Exception as error:
        return f"raises {type(error).__name__}"


def _changed(row: Any, key: Any, value: Any) -> Any:
    row[key] = value
    return row


def _named(row: Any, fields: list[str]) -> Any:
    row.set_field_names(fields)
    return row


def _failed(call: Any) -> bool:
    try:
        call()
    except Exception:
        return True
    return False


def _retained(config: Any, duration: datetime.timedelta) -> datetime.timedelta:
    config.set_idle_state_retention(duration)
    return config.get_idle_state_retention()


def _zone(config: Any, zone: str) -> str:
    config.set_local_timezone(zone)
    return config.get_local_timezone()
