"""Names of built-in functions, calls by these names, and expressions whose texts are compared.

``function_names.json`` has what PyFlink answers; ``record_function_names.py`` writes it. In the
texts columns are variables of their names.
"""

from __future__ import annotations

#: The columns of the table that functions are called over.
COLUMNS = {
    "b": "BOOLEAN",
    "i": "INT",
    "d": "DOUBLE",
    "m": "DECIMAL(10, 2)",
    "s": "STRING",
    "x": "BYTES",
    "y": "DATE",
    "q": "TIME(0)",
    "ts": "TIMESTAMP(3)",
    "lt": "TIMESTAMP_LTZ(3)",
    "a": "ARRAY<INT>",
    "sa": "ARRAY<STRING>",
    "mp": "MAP<STRING, INT>",
    "r": "ROW<id INT, name STRING>",
}

# What functions take: those that are called alike, by their arguments.
_ARGUMENTS = {
    "": "uuid pi e rand currentDatabase currentDate currentTime localTime currentTimestamp now "
    "currentRowTimestamp localTimestamp SOURCE_WATERMARK unixTimestamp streamRecordTimestamp",
    "b": "not isTrue isFalse isNotTrue isNotFalse",
    "b, b": "and or",
    "b, i, 1": "ifThenElse",
    "i": "TYPEOF isNull isNotNull hex bin abs sign minusPrefix chr avg count max min first_value "
    "last_value sum sum0 stddevPop stddevSamp varPop varSamp collect distinct ARRAY_AGG "
    "BITMAP_BUILD_AGG "
    "BITMAP_BUILD_CARDINALITY_AGG fromUnixtime INET_NTOA asc desc start end proctime rowtime "
    "flatten "
    "$HASHCODE$1 $WELFORD_M2$1 DEFAULT randInteger truncate",
    "i, 1": "equals notEquals greaterThan greaterThanOrEqual lessThan lessThanOrEqual IFNULL "
    "COALESCE "
    "GREATEST LEAST plus minus times divide mod lead lag power AGG_DECIMAL_PLUS AGG_DECIMAL_MINUS "
    "HIVE_AGG_DECIMAL_PLUS in log atan2 rangeTo reinterpretCast",
    "i, 0.5": "PERCENTILE",
    "i, 1, 2": "between notBetween",
    "i, 'name'": "as ASSIGNMENT",
    "i, 'INT'": "cast TRY_CAST",
    "i, i": "over withColumns withoutColumns",
    "d": "exp log10 log2 ln sqrt sin cos sinh tan tanh cot asin acos atan cosh degrees radians "
    "floor ceil",
    "d, 1": "round",
    "s": "charLength initCap lower lowerCase trim upper upperCase JSON_QUOTE JSON_UNQUOTE "
    "fromBase64 "
    "ascii ltrim rtrim BTRIM reverse UNHEX md5 sha1 sha224 sha256 sha384 sha512 IS_JSON JSON "
    "JSON_STRING PARSE_JSON TRY_PARSE_JSON toDate toTimestamp URL_DECODE URL_ENCODE INET_ATON "
    "strToMap "
    "listAgg JSON_ARRAYAGG_NULL_ON_NULL JSON_ARRAYAGG_ABSENT_ON_NULL ",
    "x": "toBase64 BITMAP_FROM_BYTES",
    "s, 'a'": "LIKE similar STARTSWITH ENDSWITH position concat REGEXP_COUNT regexpExtract "
    "REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_SUBSTR instr locate regexp SPLIT JSON_EXISTS "
    "JSON_VALUE "
    "JSON_QUERY",
    "s, 1": "substring substr left right repeat OBJECT_OF JSON_OBJECTAGG_NULL_ON_NULL "
    "JSON_OBJECTAGG_ABSENT_ON_NULL",
    "s, 'a', 'b'": "replace TRANSLATE3 regexpReplace concat_ws",
    "s, 'b', 1": "overlay",
    "s, 256": "sha2",
    "s, 5, 'x'": "lpad rpad",
    "s, 'UTF-8'": "encode",
    "x, 'UTF-8'": "decode",
    "s, 'HOST'": "parseUrl",
    "'%d', i": "PRINTF",
    "s, ',', 1": "splitIndex",
    "1, s, 'b'": "ELT",
    "'NULL', 'k', i": "JSON_OBJECT JSON_ARRAY",
    "True, True, ' ', s": "trim",
    "'DAY', ts": "extract",
    "'DAY', ts, ts": "timestampDiff",
    "ts, ts, ts, ts": "temporalOverlaps",
    "ts, 'yyyy'": "dateFormat",
    "s, 'UTC', 'UTC'": "convertTz",
    "i, 3": "TO_TIMESTAMP_LTZ",
    "lt": "CURRENT_WATERMARK",
    "a, 1": "at ARRAY_APPEND ARRAY_CONTAINS ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE ARRAY_SLICE",
    "a": "cardinality element ARRAY_SORT ARRAY_DISTINCT ARRAY_REVERSE ARRAY_MAX ARRAY_MIN "
    "BITMAP_BUILD",
    "a, a": "ARRAY_UNION ARRAY_CONCAT ARRAY_EXCEPT ARRAY_INTERSECT MAP_FROM_ARRAYS",
    "sa, ','": "ARRAY_JOIN",
    "1, 2": "array row map",
    "mp": "MAP_KEYS MAP_VALUES MAP_ENTRIES",
    "mp, mp": "MAP_UNION",
    "r, 'name'": "get",
    "r, 'name', 'x'": "OBJECT_UPDATE",
    "BM": "BITMAP_CARDINALITY BITMAP_TO_ARRAY BITMAP_TO_BYTES BITMAP_TO_STRING BITMAP_AND_AGG "
    "BITMAP_AND_CARDINALITY_AGG BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_XOR_AGG "
    "BITMAP_XOR_CARDINALITY_AGG",
    "BM, BM": "BITMAP_AND BITMAP_ANDNOT BITMAP_OR BITMAP_XOR",
    "i, s": "ML_PREDICT TO_CHANGELOG FROM_CHANGELOG $REPLICATE_ROWS$1 $UNNEST_ROWS$1 "
    "$UNNEST_ROWS_WITH_ORDINALITY$1",
}
_BITMAP = "array(1, 2).bitmap_build()"

#: Calls by name, as ``(name, call)``.
CALLS = [
    (name, f"call({name!r}, {arguments.replace('BM', _BITMAP)})".replace(", )", ")"))
    for arguments, names in _ARGUMENTS.items()
    for name in names.split()
]

_OTHER_NAMES = (
    "CHAR_LENGTH CHARACTER_LENGTH DATE_FORMAT CONVERT_TZ FROM_UNIXTIME TO_DATE TO_TIMESTAMP "
    "TRANSLATE STDDEV STDDEV_POP VARIANCE VAR_SAMP RAND_INTEGER REGEXP_REPLACE CURRENT_DATE "
    "CEILING ITEM IF NULLIF ROW_NUMBER RANK IS_ALPHA APPROX_COUNT_DISTINCT JSON_ARRAYAGG "
    "STR_TO_MAP SPLIT_INDEX + = IS_DIGIT trimLeading nothing"
)
#: Names that SQL knows and the Table API does not, and names of neither.
OTHER_NAMES = _OTHER_NAMES.split()

_UNARY = (
    "exp log10 log2 ln cosh sinh sin cos tan cot asin acos atan tanh degrees radians sqrt abs "
    "sign is_null is_not_null is_true is_false is_not_true is_not_false distinct sum sum0 min "
    "max count avg first_value last_value stddev_pop stddev_samp var_pop var_samp collect "
    "array_agg asc desc start end bin hex unhex char_length upper_case lower_case init_cap "
    "from_base64 to_base64 ascii chr reverse to_date to_time to_timestamp flatten cardinality "
    "element map_keys map_values map_entries rowtime proctime year years quarter quarters "
    "month months week weeks day days hour hours minute minutes second seconds milli millis "
    "md5 sha1 sha224 sha256 sha384 sha512"
)
_CALLED = [
    "log() log(2) round(1) truncate() truncate(2) floor() floor(TimeIntervalUnit.DAY) ceil()",
    "ceil(TimeIntervalUnit.YEAR) extract(TimeIntervalUnit.MONTH) between(1,i) not_between(i,2)",
    "then(1,'b') if_null(0) list_agg() list_agg(',') alias('n') alias('n','o') as_argument('n')",
    "in_(1,2) in_(i) percentile(0.5) percentile(array(0.1,0.5),i) starts_with('a') ends_with(s)",
    "substring(1) substring(1,i) substr(2) substr(2,3) trim_leading() trim_leading('x')",
    "trim_trailing() trim_trailing(s) trim() trim('x') replace('a','b') translate('a','b')",
    "like('%a') like('a!_','!') similar('a+') position(s) lpad(5,'x') rpad(i,s) overlay('x',1)",
    "overlay('x',1,2) regexp('a') regexp_count('a') regexp_replace('a','b') regexp_extract('a')",
    "regexp_extract('a',1) regexp_extract_all('a') regexp_extract_all('a',1) regexp_instr('a')",
    "regexp_substr('a') decode('UTF-8') encode('UTF-8') left(1) right(i) instr('a') locate('a')",
    "locate('a',2) url_decode() url_encode() inet_aton() inet_ntoa() parse_url('HOST')",
    "parse_url('QUERY','k') printf(1,'a') ltrim() ltrim('x') rtrim() rtrim('x') btrim() btrim('x')",
    "repeat(2) over('w') split_index(',',1) str_to_map() str_to_map(';','=') elt('a') elt('a','b')",
    "get('f') get(0) at(1) array_append(1) array_contains(1) array_distinct() array_position(1)",
    "array_prepend(1) array_remove(1) array_reverse() array_slice(1) array_slice(1,2) array_sort()",
    "array_sort(True) array_sort(False,True) array_union(a) array_concat(a) array_concat(a,a)",
    "array_max() array_join(',') array_join(',','-') array_min() array_except(a) "
    "array_intersect(a)",
    "split(',') map_union(mp) map_union(mp,mp) sha2(256) is_json() is_json(JsonType.SCALAR)",
    "json_exists('$.a') json_exists('$.a',JsonExistsOnError.TRUE) json_value('$.a') concat('x')",
    "json_value('$.a',DataTypes.INT(),JsonValueOnEmptyOrError.DEFAULT,1)",
    "json_value('$.a',DataTypes.DOUBLE(),JsonValueOnEmptyOrError.ERROR,None,"
    "JsonValueOnEmptyOrError.DEFAULT,0.5)",
    "json_query('$.a') json_query('$.a',JsonQueryWrapper.CONDITIONAL_ARRAY)",
    "json_query('$.a',JsonQueryWrapper.UNCONDITIONAL_ARRAY,JsonQueryOnEmptyOrError.EMPTY_ARRAY,"
    "JsonQueryOnEmptyOrError.ERROR)",
    "json_quote() json_unquote() bitmap_build() bitmap_from_bytes() bitmap_to_bytes()",
    "bitmap_to_array() bitmap_to_string() bitmap_cardinality() bitmap_and(x) bitmap_or(x)",
    "bitmap_xor(x) bitmap_andnot(x) bitmap_build_agg() bitmap_build_cardinality_agg()",
    "bitmap_or_agg() bitmap_or_cardinality_agg() bitmap_and_agg() bitmap_and_cardinality_agg()",
    "bitmap_xor_agg() bitmap_xor_cardinality_agg()",
]
_TYPES = [
    "BOOLEAN()",
    "TINYINT()",
    "INT()",
    "INT().not_null()",
    "INT(False)",
    "BIGINT()",
    "FLOAT()",
    "DOUBLE().not_null()",
    "DECIMAL(10, 2)",
    "CHAR(3)",
    "VARCHAR(4)",
    "STRING()",
    "STRING().not_null()",
    "BINARY(2)",
    "VARBINARY(3)",
    "BYTES()",
    "DATE()",
    "TIME()",
    "TIME(3)",
    "TIMESTAMP()",
    "TIMESTAMP(3)",
    "TIMESTAMP_LTZ(3)",
    "ARRAY(DataTypes.INT())",
    "ARRAY(DataTypes.INT().not_null()).not_null()",
    "MAP(DataTypes.STRING(), DataTypes.INT())",
    "MULTISET(DataTypes.INT())",
    "ROW([DataTypes.FIELD('a', DataTypes.INT()), DataTypes.FIELD('b c', DataTypes.STRING())])",
    "INTERVAL(DataTypes.SECOND(3))",
    "INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))",
    "INTERVAL(DataTypes.MONTH())",
    "INTERVAL(DataTypes.YEAR(), DataTypes.MONTH())",
]
_LITERALS = [
    "True",
    "False",
    "0",
    "-5",
    "1 << 40",
    "1.5",
    "-0.25",
    "1e20",
    "1e-7",
    "1e7",
    "123456789.0",
    "100.0",
    "float('nan')",
    "float('inf')",
    "decimal.Decimal('1.50')",
    "decimal.Decimal('1E+3')",
    "decimal.Decimal('0.0000001')",
    "'a'",
    "'it''s'",
    "'it\\'s \"x\"'",
    "''",
    "'line\\nend'",
    "b'ab'",
    "bytearray(b'\\x00\\xff')",
    "b''",
    "datetime.date(2020, 2, 29)",
    "datetime.date(1, 1, 1)",
    "datetime.time(1, 2, 3)",
    "datetime.time(1, 2)",
    "datetime.time(0, 0)",
    "datetime.time(1, 2, 3, 456000)",
    "datetime.time(1, 2, 3, 456789)",
    "datetime.datetime(2020, 2, 29, 1, 2, 3)",
    "datetime.datetime(2020, 2, 29, 1, 2)",
    "datetime.datetime(2020, 2, 29)",
    "datetime.datetime(2020, 2, 29, 1, 2, 3, 456000)",
    "datetime.datetime(2020, 2, 29, 1, 2, 3, 456789)",
    "datetime.timedelta(days=1, seconds=2)",
    "datetime.timedelta(milliseconds=-3)",
    "[1, 2]",
    "['a', 'b']",
    "[]",
    "{'k': 1}",
]
_TYPED_LITERALS = [
    "1, DataTypes.INT()",
    "1, DataTypes.BIGINT()",
    "1, DataTypes.BIGINT().not_null()",
    "1, DataTypes.TINYINT()",
    "1.5, DataTypes.FLOAT()",
    "1.5, DataTypes.DOUBLE()",
    "decimal.Decimal('1.5'), DataTypes.DECIMAL(10, 2)",
    "'ab', DataTypes.VARCHAR(5)",
    "'ab', DataTypes.STRING()",
    "None, DataTypes.INT()",
    "datetime.date(2020, 1, 1), DataTypes.DATE()",
    "datetime.time(1, 2, 3), DataTypes.TIME()",
    "datetime.datetime(2020, 1, 1), DataTypes.TIMESTAMP(3)",
    "True, DataTypes.BOOLEAN()",
]
_OTHERS = [
    "i + 1",
    "1 + i",
    "i - 1",
    "1 - i",
    "i * 2",
    "2 * i",
    "i / 2",
    "2 / i",
    "i % 2",
    "2 % i",
    "i ** 2",
    "2 ** i",
    "-i",
    "abs(i)",
    "~b",
    "b & b",
    "b | b",
    "True & b",
    "True | b",
    "i == 1",
    "1 == i",
    "i != 1",
    "i < 1",
    "i <= 1",
    "i > 1",
    "i >= 1",
    "1 < i",
    "a[1]",
    "mp['k']",
    "r.name",
    "r.get('name').upper_case",
    "r.id.name",
    "(i > 1).then(i, r.id)",
    "col('*')",
    "col('two words')",
    "col('a.b')",
    "and_(b, b)",
    "and_(b, b, b, b)",
    "or_(b, b, b)",
    "not_(b)",
    "if_then_else(b, 1, 2)",
    "if_then_else(i == 1, 'a', s)",
    "coalesce(i, 1, 2)",
    "current_database()",
    "current_date()",
    "current_time()",
    "current_timestamp()",
    "current_watermark(lt)",
    "local_time()",
    "local_timestamp()",
    "source_watermark()",
    "to_date(s)",
    "to_date(s, 'yyyy')",
    "to_timestamp(s)",
    "to_timestamp(s, 'yyyy')",
    "to_timestamp_ltz(i, 3)",
    "to_timestamp_ltz(s, 'yyyy', 'UTC')",
    "temporal_overlaps(ts, lit(1).hour, ts, lit(2).days)",
    "date_format(ts, 'yyyy')",
    "timestamp_diff(TimePointUnit.DAY, y, y)",
    "timestamp_diff(TimePointUnit.MILLISECOND, ts, ts)",
    "convert_tz(s, 'UTC', 'Asia/Tokyo')",
    "from_unixtime(1)",
    "from_unixtime(i, 'yyyy')",
    "unix_timestamp()",
    "unix_timestamp(s)",
    "unix_timestamp(s, 'yyyy')",
    "array(1, 2, 3)",
    "array(i)",
    "row(1, 'a', i)",
    "row('a')",
    "map_('k', 1, 'l', i)",
    "map_from_arrays(sa, a)",
    "descriptor('a', 'b')",
    "row_interval(3)",
    "pi()",
    "e()",
    "rand()",
    "rand(1)",
    "rand_integer(10)",
    "rand_integer(10, 1)",
    "atan2(1, d)",
    "negative(i)",
    "concat(s, 'a', s)",
    "concat_ws(',', s, 'a')",
    "uuid()",
    "null_of(DataTypes.INT())",
    "null_of(DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT())]))",
    "log(d)",
    "log(d, 2)",
    "json(s)",
    "json_string(i)",
    "json_object()",
    "json_object(JsonOnNull.NULL, 'k', i)",
    "json_object(JsonOnNull.ABSENT, 'k', 1, 'l', json_array(JsonOnNull.NULL, 1))",
    "json_array()",
    "json_array(JsonOnNull.ABSENT, 1, s)",
    "json_object_agg(JsonOnNull.NULL, s, i)",
    "json_object_agg(JsonOnNull.ABSENT, s, i)",
    "json_array_agg(JsonOnNull.NULL, i)",
    "json_array_agg(JsonOnNull.ABSENT, i)",
    "lag(i)",
    "lag(i, 2)",
    "lag(i, 2, 0)",
    "lead(i)",
    "lead(i, 2, 0)",
    "range_('a', 'c')",
    "range_(1, 3)",
    "with_all_columns()",
    "with_columns(range_('a', 'c'), i)",
    "with_columns(1, 2)",
    "with_columns('a')",
    "without_columns(i, s)",
    "UNBOUNDED_ROW",
    "UNBOUNDED_RANGE",
    "CURRENT_ROW",
    "CURRENT_RANGE",
    "call('f', i, 1)",
    "call('upper', s)",
    "call('UPPER', s)",
    "call('cat.db.f', i)",
    "call('f')",
    "call('plus', i, call('f', 'a'))",
    "call(function, i, 'a')",
    "call(function)",
    "function(i)",
    "call_sql('i + 1')",
    "call_sql('UPPER(s)') + 'a'",
    "i.sum.distinct",
    "i.sum.over(col('w'))",
    "i.sum.over('w').alias('total')",
    "col('w').start.alias('from')",
    "ts.floor(TimeIntervalUnit.HOUR) == ts",
    "ts + lit(1).day",
    "ts - lit(2).months",
    "ts + lit(1.5).hours",
    "ts + i.days",
    "ts + i.seconds",
    "ts + i.quarter",
    "lit(3).days + lit(2).hours",
    "lit(5).milli",
    "lit(1).week",
    "lit(1).quarter",
    "lit(2).years",
    "lit(0).seconds",
    "lit(-1).minute",
    "s.to_date",
    "lit('2020-01-01').to_date",
    "lit('1:2:3').to_time",
    "s.in_('a', s, 'it\\'s')",
    "(i + 1).alias('j') * 2",
    "i.desc",
    "(i * 2).asc",
]

#: Expressions whose texts are compared.
TEXTS = list(
    dict.fromkeys(
        [
            *(f"s.{name}" for name in _UNARY.split()),
            *(
                f"s.{call.replace(',', ', ')}"
                for line in _CALLED
                for call in line.split(" ")
                if call
            ),
            *(f"s.cast(DataTypes.{each})" for each in _TYPES),
            *(f"s.try_cast(DataTypes.{each})" for each in _TYPES),
            *(f"null_of(DataTypes.{each})" for each in _TYPES),
            *(f"lit({each})" for each in _LITERALS),
            *(f"i == lit({each})" for each in _LITERALS),
            *(f"lit({each})" for each in _TYPED_LITERALS),
            *_OTHERS,
        ]
    )
)
