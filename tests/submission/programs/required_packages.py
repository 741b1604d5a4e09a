"""A table whose function needs a package that the program requires, on all executors."""

import os

from pyflow.table import EnvironmentSettings, TableEnvironment
from pyflow.table.udf import udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.set_python_requirements("requirements.txt", "wheels")


@udf(result_type="STRING")
def required(_):
    import required as package

    return f"{package.VALUE} {os.path.dirname(os.path.abspath(package.__file__))}"


t_env.create_temporary_system_function("required", required)
table = t_env.from_elements([(n,) for n in range(40)], ["n"])
t_env.create_temporary_view("numbers_of_program", table)
found = {
    tuple(row[0].split())
    for row in t_env.execute_sql("SELECT required(n) FROM numbers_of_program").collect()
}
print("FOUND", sorted((int(value), path) for value, path in found))
