"""``FILTER`` on aggregate functions of a program."""

from __future__ import annotations

import pytest

from pyflow.table import DataTypes, ListView
from pyflow.table.udf import AggregateFunction, udaf, udf
from pyflow.util.exceptions import TableException

pytest.importorskip("pandas")

MODES = pytest.mark.parametrize(
    "execution_mode", ["thread", pytest.param("process", marks=pytest.mark.complete)]
)

ROWS = [(1, 1), (1, 2), (1, None), (2, 3), (2, 3), (3, 1)]


class Counted(AggregateFunction):
    """How many values, and their sum."""

    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, value):
        accumulator[0] += 1
        accumulator[1] += value or 0

    def retract(self, accumulator, value):
        accumulator[0] -= 1
        accumulator[1] -= value or 0

    def get_value(self, accumulator):
        return "{} {}".format(*accumulator)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.STRING()


class Listed(Counted):
    """The values, in a view."""

    def create_accumulator(self):
        return ListView()

    def accumulate(self, accumulator, value):
        accumulator.add(value)

    def get_value(self, accumulator):
        return str(list(accumulator))

    def get_accumulator_type(self):
        return DataTypes.LIST_VIEW(DataTypes.BIGINT())


class OfAll(AggregateFunction):
    """How many rows."""

    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator):
        accumulator[0] += 1

    def get_value(self, accumulator):
        return str(accumulator[0])

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.STRING()


def seen(series):
    return f"{len(series)} {int(series.sum())} {list(series.index)}"


class Seen(Counted):
    """As `seen`, with what is opened."""

    def open(self, function_context):
        self.show = seen

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, series):
        accumulator.append(self.show(series))

    def get_value(self, accumulator):
        return accumulator[0]


def with_functions(t_env):
    pandas = {"result_type": "STRING", "func_type": "pandas"}
    for name, function in {
        "counted": udaf(Counted(), input_types="BIGINT"),
        "of_all": udaf(OfAll()),
        "listed": udaf(Listed()),
        "seen": udaf(seen, **pandas),
        "seen_by_class": udaf(Seen(), **pandas),
        "one": udf(lambda x: x, result_type="BIGINT"),
    }.items():
        t_env.create_temporary_function(name, function)
    schema = DataTypes.ROW(
        [DataTypes.FIELD("k", DataTypes.INT()), DataTypes.FIELD("v", DataTypes.BIGINT())]
    )
    t_env.create_temporary_view("t", t_env.from_elements(ROWS, schema))
    return t_env


def rows_of(t_env, query):
    with t_env.execute_sql(query).collect() as rows:
        return sorted(tuple(row) for row in rows)


@MODES
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_rows_of_groups(environment, mode, execution_mode):
    t_env = with_functions(environment(mode, **{"python_execution-mode": execution_mode}))

    found = rows_of(
        t_env,
        """SELECT k, counted(v) FILTER (WHERE v > 1), counted(v),
        of_all() FILTER (WHERE v IS NOT NULL), listed(v) FILTER (WHERE v < 3),
        COUNT(*) FILTER (WHERE v > 1) FROM t GROUP BY k""",
    )

    assert found == [
        (1, "1 2", "3 3", "2", "[1, 2]", 1),
        (2, "2 6", "2 6", "2", "[]", 2),
        (3, "0 0", "1 1", "1", "[1]", 0),
    ]


@MODES
@pytest.mark.parametrize("function", ["seen", "seen_by_class"])
def test_series_of_groups(environment, execution_mode, function):
    """PyFlink gives such a function all rows."""
    t_env = with_functions(environment("batch", **{"python_execution-mode": execution_mode}))

    found = rows_of(
        t_env,
        f"""SELECT k, {function}(v) FILTER (WHERE v > 1), {function}(v) FROM t WHERE v > 0
        GROUP BY k""",
    )

    assert found == [
        (1, "1 2 [0]", "2 3 [0, 1]"),
        (2, "2 6 [0, 1]", "2 6 [0, 1]"),
        (3, "0 0 []", "1 1 [0]"),
    ]


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_distinct_rows(environment, mode):
    t_env = with_functions(environment(mode))

    query = "SELECT counted(DISTINCT v) FILTER (WHERE k = 2) FROM t"
    assert rows_of(t_env, query) == [("1 3",)]


def test_having(batch):
    query = """SELECT k FROM t GROUP BY k HAVING counted(v) FILTER (WHERE v > 1) = '2 6'"""

    assert rows_of(with_functions(batch), query) == [(2,)]


def test_rows_that_change(streaming):
    """The rows of groups are retracted from the groups of groups."""
    query = """SELECT counted(s) FILTER (WHERE s > 2) FROM
        (SELECT k, SUM(v) AS s FROM t GROUP BY k)"""
    with with_functions(streaming).execute_sql(query).collect() as rows:
        last = [row[0] for row in rows][-1]

    assert last == "2 9"


UNBOUNDED = """CREATE TABLE s (id BIGINT, at_ms AS TO_TIMESTAMP_LTZ(id * 1000, 3),
    WATERMARK FOR at_ms AS at_ms) WITH ('connector' = 'datagen', 'rows-per-second' = '20',
    'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '19')"""


@pytest.mark.parametrize("execution_mode", ["thread", "process"])
def test_unbounded_rows(environment, execution_mode):
    t_env = with_functions(environment("streaming", **{"python_execution-mode": execution_mode}))
    t_env.execute_sql(UNBOUNDED)

    with t_env.execute_sql(
        "SELECT counted(id) FILTER (WHERE id > 9), listed(id) FILTER (WHERE MOD(id, 7) = 0) FROM s"
    ).collect() as rows:
        found = [tuple(row) for row in rows]

    assert found[-1] == ("10 145", "[0, 7, 14]")


def test_windows_of_unbounded_rows(streaming):
    t_env = with_functions(streaming)
    t_env.execute_sql(UNBOUNDED)

    found = rows_of(
        t_env,
        """SELECT window_start, counted(id) FILTER (WHERE id > 8), seen(id) FILTER (WHERE id > 8)
        FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(at_ms), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end""",
    )

    assert [row[1:] for row in found] == [
        ("1 9", "1 9 [0]"),
        ("10 145", f"10 145 {list(range(10))}"),
    ]


def test_functions_that_are_no_aggregates_have_no_filter(batch):
    with pytest.raises(TableException, match="FILTER is not supported for this function"):
        with_functions(batch).execute_sql("SELECT one(v) FILTER (WHERE v > 1) FROM t")
