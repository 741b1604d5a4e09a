"""Functions of both APIs in the program's own Python."""

import os

from pyflow.common import Configuration
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflow.table.expressions import col
from pyflow.table.udf import udf

os.environ["PROGRAM"] = str(os.getpid())
settings = EnvironmentSettings.new_instance().in_batch_mode().build()
settings.get_configuration().set_string("python.debug.loopback", "true")
t_env = TableEnvironment.create(settings)


@udf(result_type=DataTypes.BOOLEAN())
def is_here(n):
    return os.environ.get("PROGRAM") == str(os.getpid())


table = t_env.from_elements([(1,), (2,)], ["n"])
with table.select(is_here(col("n"))).execute().collect() as rows:
    print("table", all(row[0] for row in rows), flush=True)

configuration = Configuration()
configuration.set_string("python.debug.loopback", "true")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
stream = env.from_collection([1, 2, 3]).map(lambda n: os.getpid()).key_by(lambda n: n)
pids = list(stream.reduce(lambda one, other: one if one == other else 0).execute_and_collect())
print("stream", {*pids} == {os.getpid()}, flush=True)
