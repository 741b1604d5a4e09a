"""Prints where functions of a Table API program run, and settings of the session it starts."""

from pathlib import Path

from pyflow.table import EnvironmentSettings, TableEnvironment
from pyflow.table.udf import udf


@udf(result_type="STRING")
def place(number):
    return Path("/proc/self/comm").read_text().strip()


t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.create_temporary_function("place", place)
with t_env.execute_sql("SELECT place(1)").collect() as rows:
    print("functions run in:", *(row[0] for row in rows))
for name in ("jars", "plugins", "pyflow.execution-mode", "executor.extraJavaOptions"):
    print(f"{name}:", t_env._context.session.conf.get(f"spark.{name}", None))
