"""A table program that goes on from its checkpoint when it is killed: `table_job.py DIRECTORY`.

It reads the JSON files that come into DIRECTORY/source and writes two tables of files: each row as
a Python function changes it, and sums per minute.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyflow.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflow.table.udf import udf

HERE = Path(sys.argv[1])


@udf(result_type=DataTypes.BIGINT())
def doubled(n):
    return 2 * n


t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("execution.checkpointing.dir", str(HERE / "checkpoints"))
t_env.get_config().set("parallelism.default", "2")
t_env.create_temporary_function("doubled", doubled)
t_env.execute_sql(f"""
    CREATE TABLE numbers (n BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
    WITH ('connector' = 'filesystem', 'path' = '{HERE / "source"}', 'format' = 'json',
          'source.monitor-interval' = '1 s')""")
for name, columns in (("doubles", "n BIGINT"), ("sums", "since TIMESTAMP(3), n BIGINT")):
    t_env.execute_sql(f"""
        CREATE TABLE {name} ({columns})
        WITH ('connector' = 'filesystem', 'path' = '{HERE / name}', 'format' = 'json')""")
statements = t_env.create_statement_set()
statements.add_insert_sql("INSERT INTO doubles SELECT doubled(n) FROM numbers")
statements.add_insert_sql("""
    INSERT INTO sums SELECT window_start, SUM(n)
    FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(at), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end""")
result = statements.execute()
print("STARTED", flush=True)
result.wait()
