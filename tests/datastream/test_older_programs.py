"""Names that programs for older versions of PyFlink import."""

from __future__ import annotations

import importlib

import pytest

from pyflow.connectors.packages import AVRO, KAFKA, Package

SCHEMAS = [
    f"{name}Row{kind}Schema"
    for name in ("Avro", "Csv", "Json")
    for kind in ("Serialization", "Deserialization")
]
OF_KAFKA = ["FlinkKafkaConsumer", "KafkaOffsetsInitializer", "KafkaSink", "KafkaTopicPartition"]


@pytest.mark.parametrize("module", ["pyflow.common", "pyflow.common.serialization"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_of_rows_are_where_they_were(module, name):
    now = importlib.import_module(f"pyflow.datastream.formats.{name[:4].removesuffix('R').lower()}")
    assert getattr(importlib.import_module(module), name) is getattr(now, name)


@pytest.mark.parametrize("name", OF_KAFKA)
def test_names_of_kafka_are_where_they_were(name):
    from pyflow.datastream import connectors
    from pyflow.datastream.connectors import kafka

    assert getattr(connectors, name) is getattr(kafka, name)


@pytest.mark.parametrize("name", ["MemoryStateBackend", "FsStateBackend", "RocksDBStateBackend"])
def test_state_backends_that_are_gone_say_what_is_used_instead(name):
    with pytest.raises(ImportError, match=r"use \w+StateBackend, and set execution"):
        exec(f"from pyflow.datastream import {name}")


def test_other_names_are_not_there():
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from pyflow.common.serialization import nothing")


@pytest.mark.parametrize(
    ("name", "is_replaced"),
    [
        ("flink-sql-connector-kafka-4.0.1-2.0.jar", True),
        ("flink-connector-jdbc-3.2.0-1.19.jar", True),
        ("flink-json-1.17.0.jar", True),
        ("flink-sql-parquet-2.3.0.jar", True),
        ("flink-connector-elasticsearch7-3.1.0.jar", False),
        ("my-flink-json.jar", False),
    ],
)
def test_jars_of_flink_are_left_out(make_env, name, is_replaced):
    env = make_env()
    env.add_jars(f"file:///lib/{name}")
    kept = env._configuration.get_string("pipeline.jars", None)
    assert kept == (None if is_replaced else f"file:///lib/{name}")


def test_modules_of_spark_that_are_missing_are_known(spark):
    assert not KAFKA.is_missing(spark)
    assert not AVRO.is_missing(spark)
    assert Package("org.example:none", "org.example.None").is_missing(spark)
