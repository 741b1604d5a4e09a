"""How PySpark's worker is told of functions and tasks since Spark 4.3: by its own messages."""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from pyspark import TaskContext
from pyspark.sql.types import DataType
from pyspark.util import PythonEvalType
from pyspark.worker_message import TaskContextInfo, UDFInfo, UDTFInfo


def batch_function(
    serializer: Any,
    functions: list[dict[str, Any]],
    eval_type: int,
    runner_conf: dict[str, str],
    eval_conf: dict[str, str],
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """See :func:`~pyflow.thread_mode.pyspark_worker.batch_function`."""
    from pyspark import worker

    confs = worker.RunnerConf(runner_conf), worker.EvalConf(eval_conf)
    run: Callable[[int, Iterator[Any]], Iterator[Any]]
    if functions[0]["table_function"]:
        run, *_ = worker.read_udtf(serializer, _udtf_info(functions[0]), eval_type, *confs)
    else:
        infos = [_udf_info(function) for function in functions]
        run, *_ = worker.read_udfs(serializer, infos, eval_type, *confs)
    return run


def row_table_function(
    serializer: Any, function: dict[str, Any], runner_conf: dict[str, str]
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """See :func:`~pyflow.thread_mode.pyspark_worker.row_table_function`."""
    from pyspark import worker

    run: Callable[[int, Iterator[Any]], Iterator[Any]]
    run, *_ = worker.read_udtf(
        serializer,
        _udtf_info(function),
        PythonEvalType.SQL_TABLE_UDF,
        worker.RunnerConf(runner_conf),
        worker.EvalConf({}),
    )
    return run


def values_of_state(value: Any) -> Any:
    """What PySpark's client makes of the fields of a value of state before it pickles them."""
    from pyspark.sql.streaming import stateful_processor_api_client as client

    if "numpy" in sys.modules and client.has_numpy is None:
        client._load_numpy()
    return tuple(map(client._normalize_state_value, value)) if client.has_numpy else value


def arrow_type(data_type: DataType, large_var_types: bool) -> Any:
    """See :func:`~pyflow.thread_mode.pyspark_worker.arrow_type`."""
    from pyspark.sql.pandas.types import to_arrow_type

    return to_arrow_type(data_type, timezone="UTC", prefers_large_types=large_var_types)


def converts_results_at_once() -> bool:
    """See :func:`~pyflow.thread_mode.pyspark_worker.converts_results_at_once`."""
    return True


def task_context(task: dict[str, Any]) -> TaskContext:
    """See :func:`~pyflow.thread_mode.pyspark_worker.task_context`."""
    context: TaskContext = TaskContextInfo(
        is_barrier=task["isBarrier"],
        conn_info=task["connInfo"],
        secret=task["secret"],
        stage_id=task["stageId"],
        partition_id=task["partitionId"],
        attempt_number=task["attemptNumber"],
        task_attempt_id=task["taskAttemptId"],
        cpus=task["cpus"],
        cpu_amount=Decimal(task["cpuAmount"]),
        resources={
            name: TaskContextInfo.ResourceInfo(name=each["name"], addresses=each["addresses"])
            for name, each in task["resources"].items()
        },
        local_properties=task["localProperties"],
    ).to_task_context()
    return context


def _udf_info(function: dict[str, Any]) -> UDFInfo:
    return UDFInfo(
        udfs=[memoryview(b64decode(command)) for command in function["commands"]],
        args=function["args"],
        kwargs=function["kwargs"],
        result_id=function["result_id"],
    )


def _udtf_info(function: dict[str, Any]) -> UDTFInfo:
    table_function = function["table_function"]
    analyze_result = table_function["analyze_result"]
    return UDTFInfo(
        args=function["args"],
        kwargs=function["kwargs"],
        partition_child_indexes=table_function["partition_child_indexes"],
        pickled_analyze_result=memoryview(b64decode(analyze_result)) if analyze_result else None,
        handler=memoryview(b64decode(function["commands"][0])),
        return_type=table_function["return_type"],
        name=function["name"],
    )
