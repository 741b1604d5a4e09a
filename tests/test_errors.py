"""What a user sees when a function fails, and that the session lives on."""

from __future__ import annotations

import pytest
from pyspark.sql.functions import col, udf

from comparison import FUNCTION_ERROR, Failure

SIMPLIFIED = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"
HIDDEN = "spark.sql.execution.pyspark.udf.hideTraceback.enabled"
WITH_LOCALS = "spark.sql.execution.pyspark.udf.tracebackWithLocals.enabled"


def raise_value_error(n):
    raise ValueError(f"bad value {n}")


def raise_several_lines(n):
    raise ValueError("first line\nsecond line\n  third line")


def raise_unicode(n):
    raise KeyError("schlüssel \U0001f600 \0")


def raise_surrogate(n):
    raise ValueError("lone \udc80 surrogate")


def divide(n):
    return n // 0


def missing_name(n):
    return undefined_name  # noqa: F821


def missing_attribute(n):
    return n.lowercase()


def missing_argument():
    return 1


def import_missing(n):
    import no_such_module_anywhere

    return no_such_module_anywhere


def chained(n):
    try:
        divide(n)
    except ZeroDivisionError as error:
        raise ValueError("with a cause") from error


def in_context(n):
    try:
        divide(n)
    except ZeroDivisionError:
        raise ValueError("with a context")  # noqa: B904


def suppressed(n):
    try:
        divide(n)
    except ZeroDivisionError:
        raise ValueError("without context") from None


def custom(n):
    from custom_errors import deep

    return deep(3)


def silent(n):
    from custom_errors import SilentError

    raise SilentError


def unprintable(n):
    from custom_errors import UnprintableError

    raise UnprintableError


def noted(n):
    error = ValueError("with notes")
    error.__notes__ = ["note one", "note two"]
    raise error


def system_exit(n):
    import sys

    sys.exit(3)


def system_exit_text(n):
    raise SystemExit("leaving")


def keyboard_interrupt(n):
    raise KeyboardInterrupt


def base_exception(n):
    raise BaseException("the base")


def generator_exit(n):
    raise GeneratorExit


def stop_iteration(n):
    return next(iter([]))


def stop_iteration_value(n):
    raise StopIteration("value")


def stop_async_iteration(n):
    raise StopAsyncIteration("async")


def failed_assertion(n):
    assert n == "never", f"n is {n}"


def recursion(n):
    return recursion(n)


def syntax_error(n):
    return eval("1 +* 2")


def out_of_memory(n):
    raise MemoryError("as if")


def os_error(n):
    return open("/no/such/file/anywhere")


def unicode_error(n):
    return b"\xff".decode("utf-8")


def in_generator(n):
    def numbers():
        yield 1
        raise LookupError("inside a generator")

    return sum(numbers())


def in_comprehension(n):
    return [1 // (x - 2) for x in range(5)]


def in_lambda(n):
    return (lambda x: x["key"])({})


def wrong_hash(n):
    return {[]: 1}


def raise_class_with_arguments(n):
    raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "made up")


def raise_not_an_exception(n):
    raise "text"  # noqa: B016


RAISING = [
    raise_value_error,
    raise_several_lines,
    raise_unicode,
    divide,
    missing_name,
    missing_attribute,
    missing_argument,
    import_missing,
    chained,
    in_context,
    suppressed,
    custom,
    silent,
    unprintable,
    system_exit,
    system_exit_text,
    keyboard_interrupt,
    base_exception,
    generator_exit,
    stop_iteration,
    stop_iteration_value,
    stop_async_iteration,
    failed_assertion,
    syntax_error,
    out_of_memory,
    os_error,
    unicode_error,
    in_generator,
    in_comprehension,
    in_lambda,
    wrong_hash,
    raise_class_with_arguments,
    raise_not_an_exception,
    noted,
]


def raising(make_udf, functions):
    def program(spark):
        f = make_udf(lambda n: functions[n](n), "long")
        count = len(functions)
        return spark.range(count, numPartitions=count).select(f("id").alias("r"))

    return program


@pytest.mark.complete("pickled")
@pytest.mark.core
@pytest.mark.compared
def test_exceptions_of_every_class(both_modes, make_udf, request):
    """In short every second one by each eval type."""
    first = make_udf.eval_type == "arrow"
    chosen = RAISING if request.config.getoption("--complete") else RAISING[first::2]
    outcomes = both_modes.cells(raising(make_udf, chosen))
    assert all(isinstance(outcome, Failure) for outcome in outcomes)
    assert {outcome.condition for outcome in outcomes} == {FUNCTION_ERROR}
    if stop_iteration in chosen:
        assert "STOP_ITERATION_OCCURRED" in outcomes[chosen.index(stop_iteration)]


@pytest.mark.complete("pickled")
@pytest.mark.parametrize(
    "conf",
    [{SIMPLIFIED: "false"}, {HIDDEN: "true"}, {WITH_LOCALS: "true"}],
    ids=["full", "hidden", "locals"],
)
def test_exceptions_under_each_traceback_setting(both_modes, make_udf, conf):
    functions = [raise_value_error, chained, suppressed, custom, system_exit, failed_assertion]
    both_modes.cells(raising(make_udf, functions), conf)


@pytest.mark.core
def test_a_hidden_traceback_is_one_line(both_modes, make_udf):
    def program(spark):
        return spark.range(1).select(make_udf(chained)("id"))

    failure = both_modes.fail(program, {HIDDEN: "true"})
    assert failure.detail == "ValueError: with a cause"


@pytest.mark.core
def test_a_simplified_traceback_has_only_frames_of_the_user(both_modes, make_udf):
    spark = both_modes.spark
    for simplified, frames in (("true", False), ("false", True)):

        def program(spark):
            return spark.range(1).select(make_udf(raise_value_error)("id"))

        failure = both_modes.fail(program, {SIMPLIFIED: simplified})
        assert "in raise_value_error" in failure
        assert frames or "worker.py" not in failure
    assert spark.range(2).count() == 2


@pytest.mark.core
def test_the_first_failing_row_ends_the_query(both_modes, make_udf):
    def program(spark):
        f = make_udf(lambda n: n if n < 700 else 1 // 0, "long")
        return spark.range(2000, numPartitions=1).select(f("id"))

    assert "ZeroDivisionError" in both_modes.fail(program)


@pytest.mark.core
def test_rows_before_a_failing_one_are_usable_under_a_limit(both_modes, make_udf):
    """A failing row that a LIMIT never asks for fails neither mode, or both."""

    def program(spark):
        f = make_udf(lambda n: n if n < 150_000 else 1 // 0, "long")
        return spark.range(200_000, numPartitions=1).select(f("id")).limit(3)

    assert both_modes(program) == [(0,), (1,), (2,)]


@pytest.mark.core
def test_two_failing_functions_in_one_operator(both_modes, make_udf):
    """Of two failures for the same row, the first function's is seen."""

    def program(spark):
        first = make_udf(lambda n: 1 // (n - 3), "long")
        second = make_udf(lambda n: [][n] if n == 3 else n, "long")
        return spark.range(20, numPartitions=1).select(first("id"), second("id"))

    both_modes.fail(program)


@pytest.mark.slice
@pytest.mark.core
def test_a_failing_inner_function_of_a_chain(both_modes, make_udf):
    def program(spark):
        inner = make_udf(divide, "long")
        outer = make_udf(lambda x: x, "long")
        return spark.range(1).select(outer(outer(inner("id"))))

    assert "in divide" in both_modes.fail(program)


@pytest.mark.core
def test_wrong_arguments(both_modes, make_udf):
    def program(spark):
        f = make_udf(lambda n: n, "long")
        return spark.range(2, numPartitions=1).select(f("id", "id"))

    def unknown_keyword(spark):
        return spark.range(2, numPartitions=1).select(
            make_udf(lambda n: n, "long")(n="id", other=col("id"))
        )

    assert "positional argument" in both_modes.fail(program)
    assert "unexpected keyword" in both_modes.fail(unknown_keyword)


class FailsToLoad:
    """Pickles, and cannot be unpickled."""

    def __reduce__(self):
        return (refuse, ("at load",))


def refuse(text):
    raise ImportError(f"refused {text}")


@pytest.mark.core
def test_functions_that_cannot_be_loaded(both_modes, make_udf):
    def program(spark):
        closure = FailsToLoad()
        return spark.range(1).select(make_udf(lambda n: closure and n, "long")("id"))

    def missing_module(spark):
        import types

        from pyspark import cloudpickle

        module = types.ModuleType("module_of_the_driver_only")
        exec("def f(n):\n    return n", module.__dict__)
        import sys

        sys.modules[module.__name__] = module
        try:
            assert cloudpickle.dumps(module.f)
            return spark.range(1).select(make_udf(module.f, "long")("id"))
        finally:
            del sys.modules[module.__name__]

    assert "refused at load" in both_modes.fail(program)
    assert "module_of_the_driver_only" in both_modes.fail(missing_module)


@pytest.mark.core
def test_functions_that_cannot_be_pickled(both_modes, make_udf):
    """A mistake on the driver; no operator ever runs."""
    import threading

    lock = threading.Lock()
    with pytest.raises(Exception, match="pickle"):
        make_udf(lambda n: lock and n, "long")("id")


@pytest.mark.core
def test_an_exception_shown_by_the_driver_points_into_the_function(spark):
    """PySpark rebuilds the Python traceback from the message."""
    import traceback

    spark.conf.set("spark.pyflow.execution-mode", "thread")
    try:
        with pytest.raises(Exception, match="bad value") as caught:
            spark.range(1).select(udf(raise_value_error, "long")("id")).collect()
    finally:
        spark.conf.unset("spark.pyflow.execution-mode")
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "raise_value_error" in names


@pytest.mark.core
def test_a_surrogate_in_an_error(both_modes, make_udf):
    """Process mode cannot send the text; the query still fails, and says that Python failed."""
    spark = both_modes.spark
    spark.conf.set("spark.pyflow.execution-mode", "thread")
    try:
        with pytest.raises(Exception, match="surrogate"):
            spark.range(1).select(make_udf(raise_surrogate, "long")("id")).collect()
    finally:
        spark.conf.unset("spark.pyflow.execution-mode")


@pytest.mark.core
def test_endless_recursion_is_a_recursion_error(both_modes, make_udf):
    """The text depends on the depth that was left: only class and condition are compared."""
    spark = both_modes.spark
    for mode in ("process", "thread"):
        spark.conf.set("spark.pyflow.execution-mode", mode)
        try:
            with pytest.raises(Exception, match="RecursionError") as caught:
                spark.range(1).select(make_udf(recursion, "long")("id")).collect()
            assert caught.value.getCondition() == FUNCTION_ERROR
        finally:
            spark.conf.unset("spark.pyflow.execution-mode")


@pytest.mark.core
def test_the_session_works_after_failures(both_modes, make_udf):
    def failing(spark):
        return spark.range(4).select(make_udf(divide, "long")("id"))

    def working(spark):
        return spark.range(4).select(make_udf(lambda n: n + 1, "long")("id"))

    for _ in range(2):
        both_modes.fail(failing)
        assert both_modes(working) == [(1,), (2,), (3,), (4,)]
