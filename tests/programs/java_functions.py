"""A table program with functions of a JVM class: `java_functions.py JAR`; prints what they give."""

from __future__ import annotations

import json
import sys

from pyflow.common import Configuration
from pyflow.table import EnvironmentSettings, TableEnvironment
from pyflow.util.exceptions import TableException


def refused(call, *arguments):
    try:
        call(*arguments)
    except TableException as error:
        return str(error)
    raise AssertionError("no error")


def main():
    configuration = Configuration()
    configuration.set_string("pipeline.jars", f"file://{sys.argv[1]}")
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    t_env = TableEnvironment.create(settings.with_configuration(configuration).build())
    t_env.create_java_function("repeated", "com.example.Repeated")
    t_env.create_java_function("repeated", "com.example.Repeated", ignore_if_exists=True)
    t_env.create_java_temporary_system_function("everywhere", "com.example.Repeated")
    t_env.execute_sql("CREATE FUNCTION in_sql AS 'com.example.Repeated' LANGUAGE JAVA")
    table = t_env.sql_query(
        "SELECT repeated(n, v), everywhere(n, 'x') AS x, in_sql(1, v) AS v "
        "FROM (VALUES (2, 'a'), (3, CAST(NULL AS STRING))) AS t (n, v)"
    )
    with table.execute().collect() as rows:
        found = [list(row) for row in rows]
    types = [str(each) for each in table.get_schema().get_field_data_types()]
    create = t_env.create_java_temporary_function
    answers = {
        "rows": found,
        "types": types,
        "arguments": refused(t_env.sql_query, "SELECT repeated(2)"),
        "no class": refused(create, "f", "no.Such"),
        "no function": refused(create, "f", "java.lang.String"),
        "in SQL": refused(t_env.execute_sql, "CREATE FUNCTION f AS 'no.Such' LANGUAGE SCALA"),
        "twice": refused(t_env.create_java_function, "repeated", "com.example.Repeated"),
    }
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
