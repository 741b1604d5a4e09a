"""The table program: visits, downloads and speed per province, from Kafka into MariaDB.

It is a program for PyFlink but for its imports. Each access is counted once, whatever happens to
the program: Spark keeps offsets and sums in a checkpoint, and rows of the statistic are replaced by
their key. Started again, it goes on where it was.
"""

from __future__ import annotations

import sys
from typing import Any

from provinces import Provinces
from pyflow.common import Configuration
from pyflow.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflow.table.udf import FunctionContext, ScalarFunction, udf


class IpToProvince(ScalarFunction):
    """The province of an address."""

    def open(self, function_context: FunctionContext) -> None:
        """Load the table of prefixes, once per task."""
        self._provinces = Provinces()

    def eval(self, address: str) -> str:
        """Return the province."""
        return self._provinces.of(address)


def run(
    kafka: str, database: str, user: str, password: str, checkpoints: str, jars: str = ""
) -> Any:
    """Start to compute the statistics.

    Parameters
    ----------
    kafka
        Addresses of brokers, as ``127.0.0.1:9092``.
    database
        Address of the database, as ``jdbc:mysql://127.0.0.1:3306/pyflow``.
    user, password
        Of the database.
    checkpoints
        The directory for checkpoints.
    jars
        URLs of the connector and the driver, with ``;`` between them.
    """
    configuration = Configuration()
    if jars:
        configuration.set_string("pipeline.jars", jars)
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    t_env = TableEnvironment.create(settings.with_configuration(configuration).build())
    t_env.get_config().set("execution.checkpointing.dir", checkpoints)
    t_env.get_config().set("pipeline.name", "cdn-access-log")
    t_env.get_config().set("parallelism.default", "2")
    t_env.create_temporary_function(
        "ip_to_province", udf(IpToProvince(), result_type=DataTypes.STRING())
    )
    t_env.execute_sql(f"""
        CREATE TABLE cdn_access_log (
            uuid STRING,
            client_ip STRING,
            request_time BIGINT,
            response_size BIGINT,
            uri STRING
        ) WITH (
            'connector' = 'kafka',
            'topic' = 'cdn_access_log',
            'properties.bootstrap.servers' = '{kafka}',
            'scan.startup.mode' = 'earliest-offset',
            'format' = 'csv'
        )
    """)
    t_env.execute_sql(f"""
        CREATE TABLE cdn_access_statistic (
            province STRING,
            access_count BIGINT,
            total_download BIGINT,
            download_speed DOUBLE,
            PRIMARY KEY (province) NOT ENFORCED
        ) WITH (
            'connector' = 'jdbc',
            'url' = '{database}',
            'table-name' = 'cdn_access_statistic',
            'username' = '{user}',
            'password' = '{password}'
        )
    """)
    return t_env.execute_sql("""
        INSERT INTO cdn_access_statistic
        SELECT
            province,
            COUNT(uuid) AS access_count,
            SUM(response_size) AS total_download,
            CAST(SUM(response_size) AS DOUBLE) / SUM(request_time) AS download_speed
        FROM (
            SELECT uuid, ip_to_province(client_ip) AS province, response_size, request_time
            FROM cdn_access_log
        )
        GROUP BY province
    """)


if __name__ == "__main__":
    run(*sys.argv[1:]).wait()
