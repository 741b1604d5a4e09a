"""Files of checkpoints on a local disk, which PyFlow writes without processes of Hadoop's."""

from __future__ import annotations

import stat
import uuid

import pytest
from py4j.protocol import Py4JJavaError

from comparison import settings

pytestmark = pytest.mark.core

MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
PACKAGE = "org.apache.spark.sql.execution.streaming.checkpointing"
OF_SPARK = f"{PACKAGE}.FileContextBasedCheckpointFileManager"
OF_PYFLOW = "org.apache.spark.sql.pyflow.CheckpointFiles"
PROVIDERS = "org.apache.spark.sql.execution.streaming.state"


@pytest.fixture
def counts(spark, tmp_path):
    """Runs a query over one more file of rows, and returns how many of each value there are."""
    source = tmp_path / "source"
    source.mkdir()

    def run(*values):
        hidden = source / f".{uuid.uuid4()}"
        hidden.write_text("".join(f"{value}\n" for value in values))
        hidden.rename(source / hidden.name[1:])
        frame = spark.readStream.schema("value STRING").text(str(source))
        name = f"counts_{uuid.uuid4().hex}"
        writer = frame.groupBy("value").count().writeStream.format("memory").queryName(name)
        writer = writer.outputMode("complete").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        query.awaitTermination()
        return dict(tuple(row) for row in spark.table(name).collect())

    return run


@pytest.mark.parametrize(
    ("provider", "changelog"),
    [
        ("RocksDBStateStoreProvider", "true"),
        ("RocksDBStateStoreProvider", "false"),
        ("HDFSBackedStateStoreProvider", "false"),
    ],
)
def test_queries_go_on_from_what_the_other_manager_has_written(
    spark, counts, tmp_path, provider, changelog
):
    store = {
        "spark.sql.streaming.stateStore.providerClass": f"{PROVIDERS}.{provider}",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": changelog,
        "spark.sql.shuffle.partitions": "1",
    }
    for number in range(1, 5):
        manager = OF_PYFLOW if number % 2 else OF_SPARK
        with settings(spark, {**store, MANAGER: manager}):
            assert counts("a", "b", str(number)) == {
                "a": number,
                "b": number,
                **{str(each): 1 for each in range(1, number + 1)},
            }
        files = [each for each in (tmp_path / "checkpoint").rglob("*") if each.is_file()]
        # Of Hadoop; Spark copies the files of RocksDB past its manager.
        checksums = [each for each in files if each.match(".*.crc") and ".sst" not in each.name]
        assert bool(checksums) == (number > 1)
        modes = {stat.S_IMODE(each.stat().st_mode) for each in files}
        assert modes == {0o644}


@pytest.fixture
def files(spark, tmp_path):
    """The manager of a directory's files, and what makes paths there."""
    jvm = spark._jvm
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    assert conf.get(MANAGER) == OF_PYFLOW
    path = jvm.org.apache.hadoop.fs.Path
    manager = getattr(jvm, OF_PYFLOW)(path(str(tmp_path)), conf)
    return manager, lambda name: path(f"{tmp_path}/{name}")


def write(manager, path, text, overwrite):
    out = manager.createAtomic(path, overwrite)
    out.write(bytearray(text.encode()))
    return out


@pytest.mark.parametrize("name", ["größe", "a b", "a%20b", "a#b", "a?b"])
def test_names_are_as_they_are(files, tmp_path, name):
    manager, path = files
    manager.mkdirs(path(name))
    write(manager, path(f"{name}/{name}"), "one", False).close()

    assert (tmp_path / name / name).read_text() == "one"
    assert manager.open(path(f"{name}/{name}")).readAllBytes() == b"one"


def test_a_directory_that_cannot_be_made_is_an_error(files, tmp_path):
    manager, path = files
    (tmp_path / "a").write_text("a file")

    with pytest.raises(Py4JJavaError, match=r"IOException|NotDirectoryException"):
        manager.mkdirs(path("a/b"))


def test_a_file_is_there_as_a_whole_or_not_at_all(files, tmp_path):
    manager, path = files
    out = write(manager, path("a"), "one", False)
    assert not (tmp_path / "a").exists()
    out.close()
    assert (tmp_path / "a").read_text() == "one"
    write(manager, path("b"), "two", False).cancel()
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_a_file_is_replaced_only_if_that_is_wanted(files, tmp_path):
    manager, path = files
    write(manager, path("a"), "one", False).close()
    out = write(manager, path("a"), "two", False)
    with pytest.raises(Py4JJavaError, match=r"FileAlreadyExists.*is there already"):
        out.close()
    assert (tmp_path / "a").read_text() == "one"
    write(manager, path("a"), "three", True).close()
    assert (tmp_path / "a").read_text() == "three"


def test_the_checksum_of_a_file_goes_with_it(spark, files, tmp_path):
    manager, path = files
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    of_spark = getattr(spark._jvm, OF_SPARK)(path(""), conf)
    write(of_spark, path("a"), "one", False).close()
    assert (tmp_path / ".a.crc").exists()

    write(manager, path("a"), "three", True).close()

    assert not (tmp_path / ".a.crc").exists()
    assert of_spark.open(path("a")).readAllBytes() == b"three"


def test_other_file_systems_keep_spark_s_manager(spark, tmp_path):
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    conf.set("fs.AbstractFileSystem.file.impl", "org.apache.hadoop.fs.local.RawLocalFs")
    path = spark._jvm.org.apache.hadoop.fs.Path
    manager = getattr(spark._jvm, OF_PYFLOW)(path(str(tmp_path)), conf)

    write(manager, path(f"{tmp_path}/a"), "one", False).close()

    with pytest.raises(Py4JJavaError, match=r"Rename destination .*a already exists"):
        write(manager, path(f"{tmp_path}/a"), "two", False).close()
