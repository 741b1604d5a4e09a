"""A catalog over Spark's, over Spark Connect: `spark_catalog.py DIRECTORY` prints rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sessions
from pyflow.table import EnvironmentSettings, TableEnvironment
from pyflow.util.exceptions import CatalogException, TableException


def refused(call, *arguments):
    try:
        call(*arguments)
    except (CatalogException, TableException) as error:
        return str(error)
    raise AssertionError("no error")


def main():
    directory = sys.argv[1]
    spark = sessions.start("local[1]", connect=True)
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.execute_sql("CREATE CATALOG lake WITH ('type' = 'spark')")
    t_env.execute_sql(f"CREATE DATABASE lake.shop WITH ('location' = '{directory}/shop')")
    t_env.execute_sql("USE lake.shop")
    t_env.execute_sql(
        "CREATE TABLE t (a INT, p STRING) COMMENT 'tee' PARTITIONED BY (p) "
        "WITH ('format' = 'parquet')"
    )
    t_env.execute_sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')").wait()
    t_env.execute_sql("INSERT OVERWRITE t VALUES (3, 'y')").wait()
    t_env.execute_sql("ALTER TABLE t ADD b BIGINT")
    spark.sql("CREATE VIEW shop.v AS SELECT a FROM spark_catalog.shop.t")
    statements = [
        "SELECT a, p FROM t",
        "SHOW TABLES",
        "SHOW VIEWS",
        "DESCRIBE t",
        "SELECT * FROM v",
    ]
    answers = {}
    for statement in [*statements, "SHOW CREATE TABLE t", "SHOW PARTITIONS t", "SHOW DATABASES"]:
        with t_env.execute_sql(statement).collect() as rows:
            answers[statement] = sorted([list(row) for row in rows], key=str)
    answers["missing"] = refused(t_env.from_path, "nothing")
    answers["format"] = refused(t_env.execute_sql, "CREATE TABLE u (a INT) WITH ('format' = 'no')")
    t_env.execute_sql("USE CATALOG default_catalog")
    t_env.execute_sql("DROP DATABASE lake.shop CASCADE")
    answers["databases"] = t_env.get_catalog("lake").list_databases()
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
