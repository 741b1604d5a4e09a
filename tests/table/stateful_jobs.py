"""Jobs with every operator that keeps state, whose checkpoints are recorded.

The insertions of a job are one query. Its sources are folders of Parquet files, a file per batch.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pyflow.common import Row
from pyflow.table import DataTypes, ListView, MapView, TableEnvironment
from pyflow.table.expressions import call, col, row_interval
from pyflow.table.udf import AggregateFunction, TableAggregateFunction, udaf, udtaf
from pyflow.table.window import Slide, Tumble

#: A query of SQL, or what makes a table.
Query = str | Callable[[TableEnvironment], Any]

ROW = DataTypes.ROW(
    [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]
)


class Seen(AggregateFunction):
    """The values so far, in an accumulator of rows, times and views that is one pickled value."""

    def create_accumulator(self):
        return [Row(n=0, last=None), ListView(), MapView(), datetime.datetime(2024, 1, 1), None]

    def accumulate(self, accumulator, value, row, day):
        accumulator[0] = Row(n=accumulator[0].n + 1, last=row)
        accumulator[1].add(value)
        accumulator[2].put(str(value), day)
        accumulator[3] += datetime.timedelta(days=1)
        accumulator[4] = day

    def retract(self, accumulator, value, row, day):
        accumulator[0] = Row(n=accumulator[0].n - 1, last=row)
        accumulator[1].add(-value)
        accumulator[2].remove(str(value))

    def get_value(self, accumulator):
        counted, values, days, time, day = accumulator
        found = sorted((key, str(value)) for key, value in days.items())
        return f"{counted.n} {counted.last} {list(values)} {found} {time} {day}"

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.STRING())

    def get_result_type(self):
        return DataTypes.STRING()


class Viewed(AggregateFunction):
    """The values so far, in views that have state of their own."""

    def create_accumulator(self):
        return Row(ListView(), MapView(), 0)

    def accumulate(self, accumulator, value):
        accumulator[0].add(value)
        counts, key = accumulator[1], str(value)
        counts.put(key, counts.get(key) + 1 if key in counts else 1)
        accumulator[2] += 1

    def retract(self, accumulator, value):
        accumulator[1].remove(str(value))
        accumulator[2] -= 1

    def get_value(self, accumulator):
        values, counts, number = accumulator
        return f"{list(values)} {sorted(counts.items())} {number}"

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("values", DataTypes.LIST_VIEW(DataTypes.BIGINT())),
                DataTypes.FIELD("counts", DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.INT())),
                DataTypes.FIELD("number", DataTypes.INT()),
            ]
        )

    def get_result_type(self):
        return DataTypes.STRING()


class Greatest(TableAggregateFunction):
    """The two greatest values."""

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, value):
        accumulator.append(value or 0)
        accumulator.sort(reverse=True)
        del accumulator[2:]

    def emit_value(self, accumulator):
        for place, value in enumerate(accumulator):
            yield Row(place, value)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("place", DataTypes.INT()),
                DataTypes.FIELD("value", DataTypes.BIGINT()),
            ]
        )


class Total(AggregateFunction):
    """A sum that rows can leave."""

    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] += value or 0

    def retract(self, accumulator, value):
        accumulator[0] -= value or 0

    def get_value(self, accumulator):
        return accumulator[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.BIGINT()


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values):
    return values.mean()


FUNCTIONS = {
    "seen": lambda: udaf(Seen()),
    "viewed": lambda: udaf(Viewed()),
    "total": lambda: udaf(Total()),
    "greatest": lambda: udtaf(Greatest()),
    "mean": lambda: mean,
}

#: The columns of each source. Rows of them travel and are kept whole in some of the queries.
COLUMNS = (
    "k STRING, v BIGINT, price DECIMAL(10, 2), part DOUBLE, fine BOOLEAN, `day` DATE, r ROW<a INT, "
    "b STRING>, tags ARRAY<STRING>, codes MAP<STRING, INT>, at TIMESTAMP(3)"
)
FIELDS = pa.schema(
    [
        ("k", pa.string()),
        ("v", pa.int64()),
        ("price", pa.decimal128(10, 2)),
        ("part", pa.float64()),
        ("fine", pa.bool_()),
        ("day", pa.date32()),
        ("r", pa.struct([("a", pa.int32()), ("b", pa.string())])),
        ("tags", pa.list_(pa.string())),
        ("codes", pa.map_(pa.string(), pa.int32())),
        ("at", pa.timestamp("us")),
    ]
)


def row(k: str | None, v: int | None, second: int) -> dict[str, Any]:
    """A row of a source, all of it made of a key, a value and a time."""
    value = v or 0
    return {
        "k": k,
        "v": v,
        "price": decimal.Decimal(f"{value}.25"),
        "part": value / 4,
        "fine": bool(value % 2),
        "day": datetime.date(2024, 1, 1) + datetime.timedelta(days=value),
        "r": {"a": v, "b": k},
        "tags": [str(k), str(v)],
        "codes": {str(k): v},
        "at": datetime.datetime(2024, 5, 1) + datetime.timedelta(seconds=second),
    }


Batch = Mapping[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Job:
    """Insertions, and the rows that their sources get.

    Parameters
    ----------
    queries
        What is inserted, by names.
    recorded
        The rows of each source that have come when the checkpoint is recorded.
    later
        Those that come after it, batch by batch.
    watermark
        By how many seconds the watermark of ``at`` is behind; without it ``p`` is the processing
        time.
    by_clock
        Whether timers of a clock end windows.
    settings
        Of Flink.
    lifetime
        After how many seconds state has expired before the checkpoint is used.
    """

    queries: Mapping[str, Query]
    recorded: Batch
    later: Sequence[Batch]
    watermark: int | None = None
    by_clock: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    lifetime: int = 0

    def tables(self, folder: str) -> list[str]:
        """The statements that make its sources."""
        time = "p AS PROCTIME()"
        if self.watermark is not None:
            time = f"WATERMARK FOR at AS at - INTERVAL '{self.watermark}' SECOND"
        return [
            f"CREATE TABLE {name} ({COLUMNS}, {time}) WITH ('connector' = 'filesystem', 'format' = "
            f"'parquet', 'source.monitor-interval' = '1 s', 'path' = '{folder}/{name}')"
            for name in self.recorded
        ]


def batch(t: list[Any], u: list[Any]) -> Batch:
    return {"t": [row(*each) for each in t], "u": [row(*each) for each in u]}


RECORDED = batch(
    [("a", 3, 0), ("b", 5, 1), ("a", 7, 2), (None, 1, 3), ("a", 3, 4), ("b", None, 5), ("c", 9, 6)],
    [("a", 3, 0), ("c", 4, 1), ("b", 5, 4), ("a", 7, 5), ("a", 3, 6)],
)
LATER = batch(
    [("a", 8, 7), ("b", 2, 8), ("d", 4, 9), (None, 6, 9), ("a", 1, 10), ("c", 9, 11)],
    [("d", 4, 7), ("c", 9, 8), ("b", 2, 10), ("a", 8, 11), (None, 1, 12)],
)
#: With it all windows have ended.
LAST = batch([("z", 0, 99)], [("z", 0, 99)])

_ALL_KINDS = """
    COUNT(*) AS c0, COUNT(v) AS c1, SUM(v) AS c2, SUM(price) AS c3, SUM(part) AS c4, AVG(v) AS c5,
    AVG(price) AS c6, MIN(v) AS c7, MAX(price) AS c8, STDDEV_POP(v) AS c9, STDDEV_SAMP(part) AS c10,
    VAR_POP(v) AS c11, VAR_SAMP(v) AS c12, FIRST_VALUE(v) AS c13, LAST_VALUE(part) AS c14,
    LISTAGG(s) AS c15, LISTAGG(s, '/') AS c16, COLLECT(v) AS c17, ARRAY_AGG(v) AS c18,
    JSON_ARRAYAGG(v) AS c19, JSON_OBJECTAGG(KEY id VALUE v) AS c20, COUNT(DISTINCT v) AS c21,
    SUM(DISTINCT v) AS c22, COUNT(DISTINCT (v, s)) AS c23, LISTAGG(DISTINCT s) AS c24,
    SUM(v) FILTER (WHERE v > 3) AS c25,
    BITMAP_CARDINALITY(BITMAP_BUILD_AGG(CAST(v AS INT))) AS c26, MAX(`day`) AS c27, MIN(s) AS c28"""
_CHANGING = """
    (SELECT k, COUNT(*) AS n, SUM(v) AS v, MAX(price) AS price, MAX(part) AS part,
        MAX(`day`) AS `day`, MAX(CAST(v AS STRING)) AS s, COALESCE(k, 'none') AS id
    FROM t WHERE v IS NOT NULL GROUP BY k)"""
_TEXTS = "(SELECT *, CAST(v AS STRING) AS s, CAST(at AS STRING) AS id FROM t WHERE v IS NOT NULL)"
_TOP = """
    SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {}) AS n FROM {})
    WHERE n {}"""


def flattened(t_env: TableEnvironment) -> Any:
    called = call("greatest", col("v"))
    return (
        t_env.from_path("t")
        .group_by(col("k"))
        .flat_aggregate(called)
        .select(col("k"), col("place"), col("value"))
    )


GROUPS: dict[str, Query] = {
    "built_in": f"SELECT k, {_ALL_KINDS} FROM {_TEXTS} GROUP BY k",
    "built_in_of_changes": f"SELECT n, {_ALL_KINDS} FROM {_CHANGING} GROUP BY n",
    "without_a_key": "SELECT COUNT(*), SUM(v) FROM t",
    "having": "SELECT k, SUM(v) FROM t GROUP BY k HAVING SUM(v) > 10",
    "keys_of_types": "SELECT price, `day`, at, fine, COUNT(*) FROM t GROUP BY price, "
    "`day`, at, fine",
    "distinct": "SELECT DISTINCT k, v FROM t",
    "seen": "SELECT k, seen(v, r, `day`) FROM t WHERE v IS NOT NULL GROUP BY k",
    "viewed": "SELECT k, viewed(v), COUNT(*) FROM t WHERE v IS NOT NULL GROUP BY k",
    "viewed_of_changes": f"SELECT n, viewed(v) FROM {_CHANGING} GROUP BY n",
    "viewed_distinct": "SELECT k, viewed(DISTINCT v) FROM t WHERE v IS NOT NULL GROUP BY k",
    "flattened": flattened,
}

RANKS: dict[str, Query] = {
    "top": _TOP.format("*", "v DESC", "t", "<= 2"),
    "top_without_number": _TOP.format("k, v, price, r", "v DESC, part", "t", "<= 2"),
    "top_of_changes": "SELECT * FROM (SELECT n, v, s, ROW_NUMBER() OVER (PARTITION BY n ORDER BY v "
    f"DESC) AS place FROM {_CHANGING}) WHERE place <= 2",
    "second": _TOP.format("k, v", "v", "t", "= 2"),
    "first": _TOP.format("k, v, tags, codes", "p", "t", "= 1"),
    "last": _TOP.format("k, v, `day`, at", "p DESC", "t", "= 1"),
    "fetched": "SELECT k, v FROM t ORDER BY v DESC, k FETCH NEXT 2 ROWS ONLY",
    "fetched_behind": "SELECT k, v FROM t ORDER BY v, k OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
    "limited_changes": f"SELECT k, n FROM {_CHANGING} LIMIT 2",
    "limited": "SELECT k, v FROM t LIMIT 9",
    "sorted_by_clock": "SELECT k, v FROM t ORDER BY p, v DESC",
}

JOINS: dict[str, Query] = {
    "inner": "SELECT * FROM t JOIN u ON t.k = u.k AND t.v <= u.v",
    "left": "SELECT t.k, t.v, u.v, u.r, u.tags FROM t LEFT JOIN u ON t.k = u.k AND t.v = u.v",
    "right": "SELECT t.k, t.v, u.v FROM t RIGHT JOIN u ON t.k = u.k AND t.v < u.v",
    "full": "SELECT t.k, t.v, u.k, u.v FROM t FULL JOIN u ON t.v = u.v",
    "full_of_changes": f"SELECT a.k, a.n, b.v FROM {_CHANGING} a FULL JOIN u b ON a.v = b.v",
    "semi": "SELECT k, v FROM t WHERE v IN (SELECT v FROM u)",
    "anti": "SELECT k, v FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.k = t.k AND u.v = t.v)",
    "without_a_key": "SELECT t.k, u.k FROM t JOIN u ON t.v < u.v AND t.part > 1",
    "union": "SELECT k, v FROM t UNION SELECT k, v FROM u",
    "intersect": "SELECT k, v FROM t INTERSECT SELECT k, v FROM u",
    "intersect_all": "SELECT k, v FROM t INTERSECT ALL SELECT k, v FROM u",
    "except": "SELECT k, v FROM t EXCEPT SELECT k, v FROM u",
    "except_all": "SELECT k, v FROM t EXCEPT ALL SELECT k, v FROM u",
}


def _in_windows(name: str, more: str = "", table: str = "t", size: int = 10) -> str:
    return f"TABLE({name}(TABLE {table}, DESCRIPTOR({{time}}), {more} INTERVAL '{size}' SECOND))"


_TUMBLED = _in_windows("TUMBLE")
_TUMBLED_U = _in_windows("TUMBLE", table="u")
_SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR({time}), INTERVAL '4' SECOND))"
_BOTH = "l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end"
_EXISTS = f"SELECT * FROM {_TUMBLED_U} r WHERE {_BOTH} AND l.v = r.v"


def _over(call: str, frame: str) -> str:
    return f"SELECT k, v, {call} OVER (PARTITION BY k ORDER BY {{time}} {frame}) AS o FROM t"


WINDOWS = {
    "tumbling": "SELECT k, SUM(v), COUNT(*), MAX(price), AVG(part), COLLECT(v) "
    f"FROM {_TUMBLED} GROUP BY k, window_start, window_end",
    "hopping": f"SELECT k, SUM(v) FROM {_in_windows('HOP', 'INTERVAL {q}5{q} SECOND,')} "
    "GROUP BY k, window_start, window_end",
    "cumulating": f"SELECT k, SUM(v) FROM {_in_windows('CUMULATE', 'INTERVAL {q}5{q} SECOND,')} "
    "GROUP BY k, window_start, window_end",
    "sessions": f"SELECT k, SUM(v), MIN(v) FROM {_SESSION} GROUP BY k, window_start, window_end",
    "rows_of_sessions": f"SELECT k, v, r, tags FROM {_SESSION}",
    "tumbling_groups": "SELECT k, SUM(v), AVG(v) FROM t GROUP BY k, TUMBLE({time}, INTERVAL '10' "
    "SECOND)",
    "hopping_groups": "SELECT k, SUM(v) FROM t GROUP BY k, HOP({time}, INTERVAL '5' SECOND, "
    "INTERVAL '10' SECOND)",
    "session_groups": "SELECT k, SUM(v) FROM t GROUP BY k, SESSION({time}, INTERVAL '4' SECOND)",
    "functions": f"SELECT k, total(v), mean(v) FROM {_TUMBLED} "
    "GROUP BY k, window_start, window_end",
    "top": "SELECT k, v, r, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, "
    f"window_end, k ORDER BY v DESC) AS n FROM {_TUMBLED}) WHERE n <= 2",
    "first": "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end,"
    f" k ORDER BY {{time}}) AS n FROM {_TUMBLED}) WHERE n = 1",
    "inner": f"SELECT l.k, l.v, r.v, r.price FROM {_TUMBLED} l JOIN {_TUMBLED_U} r ON {_BOTH}",
    "full": f"SELECT l.k, l.v, r.k, r.v FROM {_TUMBLED} l FULL JOIN {_TUMBLED_U} r ON {_BOTH} AND "
    "l.v = r.v",
    "semi": f"SELECT l.k, l.v FROM {_TUMBLED} l WHERE EXISTS ({_EXISTS})",
    "anti": f"SELECT l.k, l.v FROM {_TUMBLED} l WHERE NOT EXISTS ({_EXISTS})",
    "rows_before": _over("SUM(v)", "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"),
    "interval_before": _over(
        "MAX(v)", "RANGE BETWEEN INTERVAL '{interval}' SECOND PRECEDING AND CURRENT ROW"
    ),
    "all_before": _over("SUM(v)", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "same_and_before": _over("COUNT(*)", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "function_before": _over("total(v)", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    "seen_before": _over("seen(v, r, `day`)", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "mean_before": _over("mean(v)", "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"),
    "value_before": "SELECT k, v, LAG(v) OVER (PARTITION BY k ORDER BY {time}) AS o FROM t",
    "number": "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {time}) AS o FROM t",
}


def _written(names: Iterable[str], time: str, interval: int) -> dict[str, Query]:
    return {name: WINDOWS[name].format(time=time, q="'", interval=interval) for name in names}


_OVER = [name for name, query in WINDOWS.items() if " AS o FROM" in query]
_OTHERS = [name for name in WINDOWS if name not in _OVER]

EVENT_TIME: dict[str, Query] = {
    **_written(_OTHERS, "at", 3),
    "first_row": _TOP.format("k, v", "at", "t", "= 1"),
    "last_row": _TOP.format("k, v", "at DESC", "t", "= 1"),
}
OVER_EVENT_TIME: dict[str, Query] = {
    **_written(_OVER, "at", 3),
    "sorted": "SELECT k, v FROM t ORDER BY at, v DESC",
    "interval_join": "SELECT t.k, t.v, u.v FROM t JOIN u ON t.k = u.k AND u.at BETWEEN t.at - "
    "INTERVAL '2' SECOND AND t.at + INTERVAL '2' SECOND",
    "outer_interval_join": "SELECT t.k, t.v, u.v FROM t LEFT JOIN u ON t.k = u.k AND u.at BETWEEN "
    "t.at - INTERVAL '2' SECOND AND t.at + INTERVAL '2' SECOND",
}


def _counted(window: Any) -> Callable[[TableEnvironment], Any]:
    def made(t_env: TableEnvironment) -> Any:
        grouped = t_env.from_path("t").window(window.on(col("p")).alias("w"))
        return grouped.group_by(col("k"), col("w")).select(
            col("k"), col("v").sum, call("total", col("v"))
        )

    return made


BY_CLOCK: dict[str, Query] = _written(_OTHERS, "p", 3)
OVER_PROCESSING_TIME: dict[str, Query] = {
    **_written(_OVER, "p", 1_000_000_000),
    "tumbling_rows": _counted(Tumble.over(row_interval(3))),
    "sliding_rows": _counted(Slide.over(row_interval(3)).every(row_interval(2))),
}

_TTL = "table.exec.state.ttl"
_EXPIRING: dict[str, Query] = {
    **{name: GROUPS[name] for name in ("built_in_of_changes", "distinct", "viewed", "flattened")},
    **{name: RANKS[name] for name in ("top", "last", "first")},
    **{name: JOINS[name] for name in ("inner", "full", "anti", "intersect")},
    **{name: OVER_PROCESSING_TIME[name] for name in ("rows_before", "interval_before")},
}
_SECONDS = 5
_LIVING = {_TTL: f"{_SECONDS} s"}

JOBS = {
    "slice": Job(
        {
            "seen": GROUPS["seen"],
            "viewed_of_changes": GROUPS["viewed_of_changes"],
            "top": RANKS["top"],
            "full": JOINS["full"],
            "rows_before": OVER_PROCESSING_TIME["rows_before"],
        },
        RECORDED,
        [LATER],
    ),
    "groups": Job(GROUPS, RECORDED, [LATER]),
    "ranks": Job(RANKS, RECORDED, [LATER]),
    "joins": Job(JOINS, RECORDED, [LATER]),
    "over": Job(OVER_PROCESSING_TIME, RECORDED, [LATER]),
    "over_event_time": Job(OVER_EVENT_TIME, RECORDED, [LATER, LAST], watermark=2),
    "event_time": Job(EVENT_TIME, RECORDED, [LATER, LAST], watermark=2),
    "by_clock": Job(BY_CLOCK, RECORDED, [LATER], by_clock=True),
    "expiring": Job(_EXPIRING, RECORDED, [LATER], settings=_LIVING, lifetime=_SECONDS),
}
