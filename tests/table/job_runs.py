"""Runs of the jobs of `stateful_jobs.py`, which begin anew or go on from a checkpoint."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import re

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import cloudpickle
from pyspark.sql import functions as F

import stateful_jobs
from pyflow.table import TableDescriptor
from sessions import wait_until

cloudpickle.register_pickle_by_value(stateful_jobs)

#: Where a job's checkpoint is, in its folder.
CHECKPOINT = "checkpoints/job/tables"
#: The processing time, in a line that was printed.
_NOW = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_PICKLED = "struct<value:binary>"


def run(t_env, job, folder, batches, first=0, until=None):
    """Run a job over more batches, and return what its insertions have printed, sorted.

    Parameters
    ----------
    t_env : TableEnvironment
        One that has no tables yet.
    job : Job
    folder : Path
        Where its sources and its checkpoint are.
    batches : sequence of Batch
    first : int
        The number of the first of them.
    until : callable
        Whether lines are all that are to come, where a clock says when they do.
    """
    _add(folder, batches[0], first)
    _prepare(t_env, job, folder)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        client = _insertions(job, t_env).execute().get_job_client()
        try:
            for number, batch in enumerate(batches, first):
                if number > first:
                    _add(folder, batch, number)
                if until is None:
                    for query in t_env._context.session.streams.active:
                        query.processAllAvailable()
            if until is not None:
                wait_until(lambda: until(printed.getvalue().splitlines()), "the rows come", 170)
        finally:
            client.cancel().result()
    return sorted(_NOW.sub("now", line) for line in printed.getvalue().splitlines())


def _prepare(t_env, job, folder):
    """Give an environment the settings, functions and tables of a job."""
    settings = {
        "parallelism.default": "1",
        "table.local-time-zone": "UTC",
        "execution.checkpointing.dir": f"{folder}/checkpoints",
        "pipeline.name": "job",
        **job.settings,
    }
    for key, value in settings.items():
        t_env.get_config().set(key, value)
    for name, make in stateful_jobs.FUNCTIONS.items():
        t_env.create_temporary_system_function(name, make())
    for statement in job.tables(folder):
        t_env.execute_sql(statement)


def _insertions(job, t_env):
    statements = t_env.create_statement_set()
    for name, query in job.queries.items():
        table = t_env.sql_query(query) if isinstance(query, str) else query(t_env)
        sink = TableDescriptor.for_connector("print").option("print-identifier", name).build()
        statements.add_insert(sink, table)
    return statements


def _add(folder, batch, number):
    """Give each source its rows, in a file that is there at once."""
    for name, rows in batch.items():
        (folder / name).mkdir(exist_ok=True)
        file = folder / f"{number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, stateful_jobs.FIELDS), file)
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
        file.rename(folder / name / file.name)


def is_committed(folder):
    """Whether a job has a checkpoint behind its first rows."""
    return (folder / CHECKPOINT / "commits" / "0").exists()


def states(spark, folder):
    """What the operators of a job keep, a line for each state variable of its checkpoint.

    A line has the number and the name of the operator, the variable, the columns by which Spark
    reads it, and the classes that pickled values refer to.
    """
    checkpoint = str(folder / CHECKPOINT)
    operators = spark.read.format("state-metadata").load(checkpoint).collect()
    found, values = {}, None
    for operator in operators:
        for variable, options in _variables(operator):
            reader = spark.read.format("statestore").option("operatorId", operator.operatorId)
            rows = reader.options(**options).load(checkpoint).drop("partition_id")
            number = len(found)
            name = f"{operator.operatorId} {operator.operatorName} {variable}"
            found[number] = (name, rows.schema.simpleString().removeprefix("struct"))
            pickled = [each for each in rows.schema if each.dataType.simpleString() == _PICKLED]
            for each in pickled:
                value = rows.select(F.lit(number), F.col(each.name).getField("value"))
                values = value if values is None else values.union(value)
    classes = {number: set() for number in found}
    for number, value in [] if values is None else values.collect():
        if value is not None:
            _Classes(io.BytesIO(value), classes[number]).load()
    return sorted(
        f"{name} {columns} {' '.join(sorted(classes[number]))}".rstrip()
        for number, (name, columns) in found.items()
    )


def _variables(operator):
    """The state variables of an operator, and with which options Spark reads each."""
    if operator.operatorName == "symmetricHashJoin":
        return [(side, {"joinSide": side}) for side in ("left", "right")]
    properties = json.loads(operator.operatorProperties or "{}")
    if "stateVariables" not in properties:
        return [("state", {})]
    found = [
        (f"{each['stateName']} {each['stateVariableType']}", {"stateVarName": each["stateName"]})
        for each in properties["stateVariables"]
        if not each["stateName"].startswith("$")
    ]
    time = properties["timeMode"]
    timers = [] if time == "NoTime" else [(f"timers {time}", {"readRegisteredTimers": "true"})]
    return [*found, *timers]


class _Classes(pickle.Unpickler):
    """Notes to which classes and functions a pickled value refers."""

    def __init__(self, file, found):
        super().__init__(file)
        self._found = found

    def find_class(self, module, name):
        self._found.add(f"{module}.{name}")
        return super().find_class(module, name)
