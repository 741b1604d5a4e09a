"""Prints which Python functions run in, of a program that names one itself."""

import os
import sys

from pyflow.common import Configuration
from pyflow.table import TableEnvironment
from pyflow.table.udf import udf


@udf(result_type="STRING")
def chosen(number):
    return os.environ.get("CHOSEN", "another")


configuration = Configuration.from_dict({"execution.runtime-mode": "BATCH"})
if len(sys.argv) > 1:
    configuration.set_string("python.executable", sys.argv[1])
t_env = TableEnvironment.create(configuration)
t_env.create_temporary_function("chosen", chosen)
with t_env.execute_sql("SELECT chosen(1)").collect() as rows:
    print("functions run in", *(row[0] for row in rows), flush=True)
