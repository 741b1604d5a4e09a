"""Every way to make a plain Python function and to call it."""

from __future__ import annotations

import functools
import random

import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit, udf
from pyspark.sql.types import LongType

pytestmark = pytest.mark.core


class Scale:
    """A callable object with state."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return None if x is None else self.factor * x


class Methods:
    bias = 7

    def bound(self, x):
        return x + self.bias

    @classmethod
    def of_class(cls, x):
        return x * cls.bias

    @staticmethod
    def static(x):
        return x - 7


def add(x, y):
    return x + y


def defaults(a, b=10, *, c=100):
    return f"{a}/{b}/{c}"


def variadic(*args, **kwargs):
    return f"{args} {sorted(kwargs.items())}"


@pytest.mark.slice
def test_every_kind_of_callable(both_modes, make_udf):
    def program(spark):
        kinds = {
            "function": make_udf(lambda x: x + 1, "long"),
            "object": make_udf(Scale(3), "long"),
            "partial": make_udf(functools.partial(add, 5), "long"),
            "partial_keyword": make_udf(functools.partial(add, y=6), "long"),
            "bound": make_udf(Methods().bound, "long"),
            "of_class": make_udf(Methods.of_class, "long"),
            "static": make_udf(Methods.static, "long"),
            "builtin": make_udf(abs, "long"),
            "method_of_type": make_udf(int.bit_length, "long"),
            "typed": make_udf(lambda x: x * 2, LongType()),
        }
        return spark.range(5).select([f("id").alias(name) for name, f in kinds.items()])

    rows = both_modes(program)
    assert rows[3].asDict() == {
        "function": 4,
        "object": 9,
        "partial": 8,
        "partial_keyword": 9,
        "bound": 10,
        "of_class": 21,
        "static": -4,
        "builtin": 3,
        "method_of_type": 2,
        "typed": 6,
    }


def test_decorators_with_and_without_a_type(both_modes):
    def program(spark):
        @udf
        def as_string(x):
            return f"<{x}>"

        @udf("long")
        def as_long(x):
            return x

        @udf(returnType="long", useArrow=True)
        def arrow(x):
            return x + 1

        @udf(returnType=LongType(), useArrow=False)
        def pickled(x):
            return x + 2

        return [
            spark.range(2).select(as_string("id"), as_long("id")),
            spark.range(2).select(arrow("id")),
            spark.range(2).select(pickled("id")),
        ]

    assert both_modes(program) == [[("<0>", 0), ("<1>", 1)], [(1,), (2,)], [(2,), (3,)]]


@pytest.mark.parametrize(("enabled", "operator"), [("true", "Arrow"), ("false", "Batch")])
def test_session_setting_chooses_the_eval_type(both_modes, spark, enabled, operator):
    conf = {"spark.sql.execution.pythonUDF.arrow.enabled": enabled}
    made = []

    def program(spark):
        made.append(spark.range(3).select(udf(str)("id")))
        return made[-1]

    assert both_modes(program, conf) == [("0",), ("1",), ("2",)]
    assert f"{operator}EvalPython" in made[0]._jdf.queryExecution().executedPlan().toString()


def test_registered_functions_in_sql(both_modes, make_udf):
    def program(spark):
        spark.udf.register("plus_one", make_udf(lambda x: x + 1, "long"))
        spark.udf.register("joined", make_udf(defaults, "string"))
        return spark.sql(
            "select plus_one(id) as n, joined(id, 2) as two, joined(c => 1, a => id) as named "
            "from range(3) where plus_one(id) > 1 order by plus_one(-id)"
        )

    assert both_modes(program) == [(3, "2/2/100", "2/10/1"), (2, "1/2/100", "1/10/1")]


def test_registered_plain_function_in_sql(both_modes):
    def program(spark):
        spark.udf.register("shout", lambda s: s.upper() + "!", "string")
        return spark.sql("select shout(concat('a', id)) as s from range(2)")

    assert both_modes(program) == [("A0!",), ("A1!",)]


@pytest.mark.slice
def test_named_arguments(both_modes, make_udf):
    def program(spark):
        f = make_udf(defaults)
        g = make_udf(variadic)
        return spark.range(2).select(
            f("id"),
            f("id", lit(1)),
            f("id", c=lit(2)),
            f(c=lit(3), a="id"),
            f(a="id", c=lit(4), b=col("id") + 1),
            g("id", lit(None), x=lit("s"), y="id"),
            g(b=col("id"), a=col("id") * 2),
        )

    assert both_modes(program)[1] == (
        "1/10/100",
        "1/1/100",
        "1/10/2",
        "1/10/3",
        "1/2/4",
        "(1, None) [('x', 's'), ('y', 1)]",
        "() [('a', 2), ('b', 1)]",
    )


def test_no_arguments(both_modes, make_udf):
    def program(spark):
        return [
            spark.range(4, numPartitions=1).select(make_udf(lambda: "x")().alias("x")),
            spark.range(4, numPartitions=1).select(
                "id", make_udf(lambda: 7, "long")(), make_udf(lambda x: x, "long")("id")
            ),
            spark.range(3, numPartitions=1).select(
                make_udf(Scale(2), "long")("id"), make_udf(list, "array<int>")()
            ),
        ]

    rows = both_modes(program)
    assert rows[1] == [(n, 7, n) for n in range(4)]
    assert rows[2] == [(2 * n, []) for n in range(3)]


def test_many_arguments(both_modes, make_udf):
    def program(spark):
        columns = [(col("id") + n).alias(f"c{n}") for n in range(300)]
        total = make_udf(lambda *xs: sum(xs), "long")
        return spark.range(3).select(columns).select(total(*[f"c{n}" for n in range(300)]))

    assert both_modes(program) == [(44850 + 300 * n,) for n in range(3)]


def test_several_functions_in_one_operator(both_modes, make_udf):
    def program(spark):
        text = make_udf(lambda x, y: f"{x}-{y}")
        number = make_udf(lambda x: x * 2, "long")
        nothing = make_udf(lambda x: None, "double")
        return spark.range(4).select(
            "id", text("id", col("id") * 2), number("id"), nothing("id"), number(col("id") + 1)
        )

    assert both_modes(program)[3] == (3, "3-6", 6, None, 8)


def test_the_same_function_twice(both_modes, make_udf):
    def program(spark):
        f = make_udf(lambda x: [x], "array<long>")
        return spark.range(3).select(
            f("id").alias("a"), f("id").alias("b"), f(f("id")[0]).alias("c"), f("id")[0] + 1
        )

    assert both_modes(program)[2] == ([2], [2], [2], 3)


@pytest.mark.slice
def test_chained_functions(both_modes, make_udf):
    def program(spark):
        one = make_udf(lambda x: x + 1, "long")
        text = make_udf(lambda x: f"<{x}>")
        size = make_udf(len, "int")
        return spark.range(3).select(
            text(one(one("id"))), size(text(one("id"))), one(one(one(one("id"))))
        )

    assert both_modes(program)[1] == ("<3>", 3, 5)


def test_chained_functions_with_several_children(both_modes, make_udf):
    def program(spark):
        one = make_udf(lambda x: x + 1, "long")
        join = make_udf(lambda *xs: "|".join(map(str, xs)))
        return spark.range(3).select(
            join(one("id"), one(one("id")), "id"),
            join(join("id", one("id")), join(one("id"), lit("x"))),
            join(one("id"), col("id")),
        )

    assert both_modes(program)[1] == ("2|3|1", "1|2|2|x", "2|1")


def test_chained_functions_hand_on_the_raw_value(both_modes, make_udf):
    """A value between two functions is not converted to the inner one's declared type."""

    def program(spark):
        raw = make_udf(lambda x: {x, "not a string"}, "string")
        kind = make_udf(lambda v: f"{type(v).__name__} {len(v)}")
        return spark.range(1).select(kind(raw("id")))

    both_modes(program)


def test_mixed_eval_types_in_one_query(both_modes):
    def program(spark):
        arrow = udf(lambda x: x + 1, "long", useArrow=True)
        pickled = udf(lambda x: x * 10, "long", useArrow=False)
        return spark.range(3).select(
            arrow("id"), pickled("id"), arrow(pickled("id")), pickled(arrow("id"))
        )

    assert both_modes(program)[2] == (3, 20, 21, 30)


def test_arguments_are_any_expressions(both_modes, make_udf):
    def program(spark):
        show = make_udf(lambda *xs: repr(xs))
        frame = spark.range(3).select(
            "id",
            F.struct(col("id").alias("a"), F.array(col("id"), lit(5)).alias("b")).alias("s"),
            F.create_map(lit("k"), col("id")).alias("m"),
        )
        return frame.select(
            show(col("id") * 2 + 1),
            show(lit(1), lit("s"), lit(None), lit(1.5), lit(True)),
            show("s.a", "s.b", col("s.b")[1], col("m")["k"], col("m")["missing"]),
            show(F.when(col("id") > 1, "big").otherwise(None)),
            show(F.upper(F.concat(lit("x"), col("id")))),
            show(F.transform("s.b", lambda v: v + 1)).alias("higher_order"),
            show(F.expr("id in (1, 2)")),
        )

    assert both_modes(program)[2][2] == "(2, [2, 5], 5, 2, None)"


def test_closures_over_globals_modules_and_recursion(both_modes, make_udf):
    def program(spark):
        table = {n: chr(ord("a") + n) for n in range(5)}

        def even(n):
            return True if n == 0 else odd(n - 1)

        def odd(n):
            return False if n == 0 else even(n - 1)

        def imports(x):
            import json

            return json.dumps({"x": x, "c": table.get(x)})

        def generates(n):
            def numbers():
                yield from range(n)

            return list(numbers())

        return spark.range(4).select(
            make_udf(lambda x: table[x])("id"),
            make_udf(even, "boolean")("id"),
            make_udf(imports)("id"),
            make_udf(lambda x: add(x, Scale(2)(x)), "long")("id"),
            make_udf(generates, "array<int>")("id"),
        )

    assert both_modes(program)[3] == ("d", False, '{"x": 3, "c": "d"}', 9, [0, 1, 2])


def test_state_of_a_function_lives_as_long_as_the_task(both_modes, make_udf):
    def program(spark):
        class Counter:
            def __init__(self):
                self.calls = 0

            def __call__(self, _):
                self.calls += 1
                return self.calls

        return spark.range(5000, numPartitions=1).select(make_udf(Counter(), "long")("id"))

    rows = both_modes(program)
    assert [row[0] for row in rows] == list(range(1, 5001))


def test_nondeterministic_functions(both_modes, make_udf):
    def program(spark):
        class Draw:
            def __init__(self):
                self.random = random.Random(5)

            def __call__(self):
                return self.random.random()

        draw = make_udf(Draw(), "double").asNondeterministic()
        frame = spark.range(50, numPartitions=1).select("id", draw().alias("r"))
        return frame.select("id", "r", (col("r") * 2).alias("s")).where("id % 2 = 0")

    rows = both_modes(program)
    assert all(row.s == 2 * row.r for row in rows)
    assert len({row.r for row in rows}) == len(rows)


def test_annotations_and_docstrings_do_not_matter(both_modes, make_udf):
    def program(spark):
        def documented(x: int, y: str = "y") -> str:
            """Text."""
            return f"{x}{y}"

        return spark.range(2).select(make_udf(documented)("id"))

    assert both_modes(program) == [("0y",), ("1y",)]


def test_rows_in_the_order_and_number_of_the_input(both_modes, make_udf):
    """More rows than any bundle holds, with results of changing size."""

    def program(spark):
        text = make_udf(lambda x: "x" * (x % 300))
        return spark.range(10_000, numPartitions=3).select("id", text("id"))

    rows = both_modes(program)
    assert [(row[0], len(row[1])) for row in rows] == [(n, n % 300) for n in range(10_000)]


def test_empty_partitions_and_empty_input(both_modes, make_udf):
    def program(spark):
        f = make_udf(lambda x: x, "long")
        return [
            spark.range(2, numPartitions=5).select(f("id")),
            spark.range(0, numPartitions=2).select(f("id")),
            spark.range(10).where("id > 100").select(f("id")),
        ]

    assert both_modes(program) == [[(0,), (1,)], [], []]


def emptied(value):
    """Empties the lists and dicts that other functions have been given, too."""
    if isinstance(value, (list, dict)):
        value.clear()
    elif isinstance(value, tuple):
        for each in value:
            emptied(each)
    return value


@pytest.mark.parametrize(
    "returns",
    [
        "array<int>",
        "array<date>",
        "array<array<date>>",
        "map<int, int>",
        "map<int, timestamp>",
        "struct<a: array<int>>",
        "struct<a: array<date>, b: map<int, date>>",
    ],
)
def test_functions_that_change_what_they_share(both_modes, make_udf, returns):
    made = {
        "array<int>": "array(1)",
        "array<date>": "array(date'2024-01-01')",
        "array<array<date>>": "array(array(date'2024-01-01'))",
        "map<int, int>": "map(1, 2)",
        "map<int, timestamp>": "map(1, timestamp'2024-01-01 00:00:00')",
        "struct<a: array<int>>": "named_struct('a', array(1))",
        "struct<a: array<date>, b: map<int, date>>": (
            "named_struct('a', array(date'2024-01-01'), 'b', map(1, date'2024-01-01'))"
        ),
    }[returns]

    def program(spark):
        same = make_udf(lambda value: value, returns)
        changed = make_udf(emptied, returns)
        frame = spark.range(3).selectExpr(f"{made} value")
        return frame.select(same("value"), changed("value"), same(col("value")))

    both_modes(program)
