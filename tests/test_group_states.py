"""`applyInPandasWithState`: groups and their states are the same as in process mode."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest
from pyspark.sql.streaming.state import GroupStateTimeout

from comparison import exact, failure, in_process, settings
from sessions import FALLBACK, MODE
from stateful_streams import (
    BERLIN,
    INPUT,
    MODES,
    STORE,
    check_stream,
    last_lines,
    rows,
    run_stream,
)

IN_PARTS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "2"}

# PySpark's worker cannot read the schema of a state with arrays or maps: it lowers the case of it.
STATE = (
    "n long, at timestamp, day date, price decimal(10,2), bytes binary,"
    " pair struct<a: int, b: timestamp>, flag boolean, none string"
)


def told_of(state):
    """What a state says of itself."""
    told = [state.exists, state.getOption, str(state), state.oldTimeoutTimestamp]
    told += ["hasTimedOut"] * state.hasTimedOut
    told.append(state.getCurrentProcessingTimeMs() > 0)
    for ask in (state.getCurrentWatermarkMs, lambda: state.get):
        try:
            told.append(ask())
        except Exception as error:
            told.append(repr(error))
    return told


def everything(key, frames, state):
    """Shows what it is given, and keeps a value of each type."""
    told = [key, told_of(state)]
    count = state.get[0] if state.exists else 0
    for frame in frames:
        told.append([(name, str(kind)) for name, kind in frame.dtypes.items()])
        told.append(repr(frame.to_dict("list")))
        count += len(frame)
        last = frame.iloc[-1]
        yield pd.DataFrame({"told": [None], "k": [key[0]], "n": [np.int64(count)]})
        yield pd.DataFrame()
    if count > 4:
        state.remove()
    elif key != ("k2",) or not state.exists:
        state.update(
            (
                np.int64(count),
                last["at"],
                datetime.date(2024, 1, 2),
                decimal.Decimal("1.50"),
                b"bytes",
                (1, datetime.datetime(2024, 1, 2, 3, 4)),
                count > 3 if key != ("k1",) else "no boolean",
                None,
            )
        )
    told.append(told_of(state))
    yield pd.DataFrame({"n": [1, 2], "k": [key[0]] * 2, "told": [repr(told), "x"]})


def of_everything(source):
    return source.groupBy("k").applyInPandasWithState(
        everything, "told string, k string, n int", STATE, "append", GroupStateTimeout.NoTimeout
    )


def test_groups_and_their_states(spark, tmp_path):
    """Of groups that share batches, and of groups that are larger than a batch."""
    sequences = (("process", "process"), ("thread", "process"))
    check_stream(spark, tmp_path, of_everything, sequences, batches=2, conf={**BERLIN, **IN_PARTS})


@pytest.mark.complete
@pytest.mark.parametrize(
    "conf",
    [
        {},
        {"spark.sql.execution.arrow.maxBytesPerBatch": "300"},
        {"spark.sql.execution.arrow.maxRecordsPerBatch": "0"},
        {"spark.sql.execution.pyspark.binaryAsBytes": "false"},
        {"spark.sql.execution.arrow.useLargeVarTypes": "true"},
        {
            "spark.sql.streaming.stateStore.providerClass": (
                "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
            ),
            "spark.sql.shuffle.partitions": "3",
        },
        {"spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": "1"},
    ],
)
def test_settings(spark, tmp_path, conf):
    check_stream(spark, tmp_path, of_everything, MODES, conf=conf)


def timed(key, frames, state):
    """Times out some time after the last row; some groups keep a state after that."""
    seen = [(list(frame.columns), len(frame)) for frame in frames]
    told = [*key, told_of(state), seen]
    (n,) = state.getOption or (0,)
    if state.hasTimedOut:
        if n % 2:
            state.remove()
        elif n < 10:
            state.setTimeoutTimestamp(state.getCurrentWatermarkMs() + 20_000)
            state.update((n + 10,))
    elif n == 2:
        state.remove()
        state.setTimeoutTimestamp(state.getCurrentWatermarkMs() + 10_000)
    else:
        state.update((n + 1,))
        at = state.getCurrentWatermarkMs() / 1000 + 30
        state.setTimeoutTimestamp(datetime.datetime.fromtimestamp(at, datetime.timezone.utc))
    told.append(told_of(state))
    yield pd.DataFrame({"told": [repr(told)], "key": [key[1]]})


@pytest.mark.parametrize(
    "output_mode", ["update", pytest.param("append", marks=pytest.mark.complete)]
)
def test_time_outs_of_event_time(spark, tmp_path, output_mode):
    """Of groups by columns that lie between the others."""

    def make(source):
        return (
            source.withWatermark("at", "1 second")
            .selectExpr("n", "at", "k", "n % 4 AS m", "list")
            .groupBy("m", "k")
            .applyInPandasWithState(
                timed,
                "key string, told string",
                "n long",
                output_mode,
                GroupStateTimeout.EventTimeTimeout,
            )
        )

    in_short = {"sequences": (("process",) * 2, ("process", "thread")), "batches": 2}
    options = in_short if output_mode == "update" else {"sequences": MODES}
    conf = {**IN_PARTS, "spark.sql.session.timeZone": "UTC"}
    seen = check_stream(spark, tmp_path, make, conf=conf, output_mode=output_mode, **options)
    assert "hasTimedOut" in repr(seen)


def timed_by_clock(key, frames, state):
    count = sum(len(frame) for frame in frames)
    (n,) = state.getOption or (0,)
    if state.hasTimedOut:
        state.remove()
    else:
        state.update((n + count,))
        state.setTimeoutDuration(1)
    yield pd.DataFrame({"k": [key[0]], "told": [f"{state.hasTimedOut} {n} {state.getOption}"]})


@pytest.mark.complete
def test_time_outs_of_processing_time(spark, tmp_path):
    def make(source):
        return source.groupBy("k").applyInPandasWithState(
            timed_by_clock,
            "k string, told string",
            "n long",
            "append",
            GroupStateTimeout.ProcessingTimeTimeout,
        )

    def finished(rows, batches):
        timed_out = sum(row.told.startswith("True") for row in rows)
        return timed_out == len(rows) - timed_out == 3 * batches

    seen = [
        run_stream(spark, tmp_path / "-".join(modes), make, modes, finished=finished)
        for modes in MODES
    ]
    assert seen[0] == seen[1] == seen[2]


@pytest.fixture
def once(spark, tmp_path):
    """Runs a function over one batch; what comes of it, and what Spark tells of the state."""
    spark.sql(rows(0, 9)).coalesce(1).write.parquet(str(tmp_path / "in"))

    def run(function, conf, output="k string, n int", state="n int", timeout="NoTimeout"):
        with settings(spark, {**STORE, **conf}):
            source = spark.readStream.schema(INPUT).parquet(str(tmp_path / "in"))
            frame = source.groupBy("k").applyInPandasWithState(
                function, output, state, "update", timeout
            )
            writer = frame.writeStream.format("memory").queryName("of_groups")
            query = writer.outputMode("update").trigger(availableNow=True).start()
            query.awaitTermination()
            progress = query.lastProgress["stateOperators"][0]
            plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()
            counts = ("numRowsTotal", "numRowsUpdated", "numRowsRemoved")
            told = {name: progress[name] for name in (*counts, "operatorName")}
            return sorted(map(exact, spark.table("of_groups").collect())), told, plan

    return run


def counted(key, frames, state):
    next(frames)  # what is left of a group is nobody's
    if key[0] == "k0":
        state.remove()
    if key[0] != "k1":
        state.update((1,))
    return [pd.DataFrame({"k": [key[0]] * 3, "n": [1, 2, 3]})]


def test_functions_that_cannot_run_in_thread_mode(once):
    """They run in workers, the plan says why, and Spark tells the same of their state."""
    profiled = {FALLBACK: "true", "spark.sql.pyspark.udf.profiler": "memory"}
    process, thread, left = (
        once(counted, {**IN_PARTS, **conf})
        for conf in ({MODE: "process"}, {MODE: "thread"}, {MODE: "thread", **profiled})
    )
    assert process[:2] == thread[:2] == left[:2]
    assert [in_process(plan) for *_, plan in (process, thread, left)] == [True, False, True]
    assert "the memory profiler is on" in left[2]


def raises(key, frames, state):
    raise ValueError(f"in {key}")


def raises_late(key, frames, state):
    yield next(frames)[["k", "n"]]
    raise ValueError(f"in {key}")


def without_state(key, frames, state):
    return [state.get]


def without_timeout(key, frames, state):
    state.setTimeoutDuration(5)
    return []


def of_no_value(key, frames, state):
    state.update(None)
    return []


def of_values_too_many(key, frames, state):
    state.update((1, 2))
    return []


def stops(key, frames, state):
    next(iter([]))


FAILING = {
    raises: False,
    raises_late: True,
    without_state: False,
    without_timeout: False,
    of_no_value: False,
    of_values_too_many: False,
    stops: False,
    (lambda key, frames, state: pd.DataFrame()): False,
    (lambda key, frames, state: 5): False,
    (lambda key, frames, state: [5]): False,
    (lambda key, frames, state: [pd.DataFrame({"k": ["x"]})]): False,
    (lambda key, frames, state: [pd.DataFrame({"k": ["x"], "m": [1]})]): False,
    (lambda key, frames, state: [pd.DataFrame({"k": ["x"], "n": ["no number"]})]): False,
    (lambda key, frames, state: [pd.DataFrame({"k": ["x"], "n": [2**40]})]): False,
}


def outcome(once, function, mode, **options):
    """The rows, or what the error says."""
    try:
        return once(function, {MODE: mode}, **options)[:2]
    except Exception as error:
        failed = failure(error)
        return failed.exception, failed.condition, last_lines(failed)


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(function, marks=() if quick else pytest.mark.complete)
        for function, quick in FAILING.items()
    ],
)
def test_exceptions_of_group_states_are_equal_in_both_modes(once, function):
    """Some functions make no error in process mode, either."""
    assert outcome(once, function, "thread") == outcome(once, function, "process")


@pytest.mark.complete
def test_states_that_pyspark_cannot_read(once):
    seen = [outcome(once, counted, mode, state="n array<int>") for mode in ("thread", "process")]
    assert seen[0] == seen[1]
    assert "KeyError: 'elementType'" in seen[0][-1]
