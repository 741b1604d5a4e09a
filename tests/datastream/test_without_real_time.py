"""Programs that ask for a real-time mode which PySpark does not have."""

from __future__ import annotations

import pytest

from pyflow.common import Configuration, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.datastream.connectors.kafka import KafkaSource
from pyflow.util.exceptions import TableException
from sessions import SPARK

pytestmark = pytest.mark.skipif(SPARK >= (4, 2), reason="PySpark has a real-time mode")


def test_they_are_refused(spark):
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    configuration.set_string("pyflow.datastream.real-time", "true")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    source = KafkaSource.builder().set_bootstrap_servers("127.0.0.1:9").set_topics("topic")
    source = source.set_value_only_deserializer(SimpleStringSchema()).build()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "topic").print()

    with pytest.raises(TableException, match=r"PySpark 4\.1.* has no real-time mode"):
        env.execute_async("refused")
