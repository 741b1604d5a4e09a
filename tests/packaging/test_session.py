"""Settings that put PyFlow into an application, by builder and by spark-defaults.conf."""

from __future__ import annotations

import os
import shlex
import sys

import pytest
from pyspark.sql import SparkSession

import pyflow
from pyflow import cli
from pyflow.session import builder as session

DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
EXECUTOR_OPTIONS = "spark.executor.extraJavaOptions"


@pytest.fixture(autouse=True)
def class_archive(monkeypatch, tmp_path):
    """The file of the archive of Spark's classes, which is not there."""
    archive = tmp_path / "archive of classes.jsa"
    monkeypatch.setattr(session, "class_archive", lambda: archive)
    return archive


@pytest.fixture(autouse=True)
def no_application(monkeypatch, tmp_path):
    """As in a fresh Python with an empty spark-defaults.conf."""
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    for variable in ("SPARK_REMOTE", "SPARK_API_MODE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "pyspark-shell")


def write_defaults(tmp_path, text):
    (tmp_path / "spark-defaults.conf").write_text(text)


def options_of(builder):
    return dict(pyflow.configure(builder)._options)


def test_configure_sets_jar_plugin_and_stack_size():
    assert options_of(SparkSession.builder) == {
        "spark.jars": pyflow.jar_path(),
        "spark.plugins": "io.pyflow.PyFlowPlugin",
        DRIVER_OPTIONS: "-Xss8m",
        EXECUTOR_OPTIONS: "-Xss8m",
    }


def test_configure_starts_drivers_with_the_archive_of_classes(class_archive):
    class_archive.touch()

    builder = pyflow.configure(pyflow.configure(SparkSession.builder))

    options = shlex.split(builder._options[DRIVER_OPTIONS])
    assert options == [
        "-Xss8m",
        f"-XX:SharedArchiveFile={class_archive}",
        "-Xlog:cds*=off",
        "-XX:Tier4InvocationThreshold=15000",
        "-XX:Tier4MinInvocationThreshold=1800",
        "-XX:Tier4CompileThreshold=45000",
    ]
    assert builder._options[EXECUTOR_OPTIONS] == "-Xss8m"


@pytest.mark.parametrize("option", ["-XX:SharedArchiveFile=/a.jsa", "-Xshare:off"])
def test_configure_keeps_another_archive_of_classes(class_archive, option):
    class_archive.touch()

    assert options_of(SparkSession.builder.config(DRIVER_OPTIONS, option)) == {
        **options_of(SparkSession.builder),
        DRIVER_OPTIONS: f"{option} -Xss8m",
    }


@pytest.mark.parametrize("option", ["-XX:TieredStopAtLevel=1", "-XX:CompileThreshold=9", "-Xint"])
def test_configure_leaves_the_compiler_to_options_of_the_program(class_archive, option):
    class_archive.touch()

    options = options_of(SparkSession.builder.config(DRIVER_OPTIONS, option))[DRIVER_OPTIONS]
    archive = f"-XX:SharedArchiveFile={class_archive}"
    assert shlex.split(options) == [option, "-Xss8m", archive, "-Xlog:cds*=off"]


def test_configure_returns_the_builder():
    builder = SparkSession.builder

    assert pyflow.configure(builder) is builder


@pytest.fixture
def options_at_start(monkeypatch):
    """The options that a builder has when it starts its session, which is not started."""

    def start(builder):
        return dict(builder._options)

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", start)
    monkeypatch.setattr(SparkSession.Builder, "create", start)
    monkeypatch.setenv("PYSPARK_PYTHON", "")  # so that it is restored
    monkeypatch.delenv("PYSPARK_PYTHON")


@pytest.mark.parametrize("start", ["getOrCreate", "create"])
def test_configure_keeps_what_the_builder_is_given_afterwards(options_at_start, start):
    builder = pyflow.configure(SparkSession.builder).config("spark.jars", "/a.jar")
    builder = builder.config("spark.plugins", "org.example.Plugin")
    builder = builder.config(map={DRIVER_OPTIONS: "-Da=b", EXECUTOR_OPTIONS: "-Xss16m"})

    options = getattr(pyflow.configure(builder), start)()

    assert options == {
        "spark.jars": f"/a.jar,{pyflow.jar_path()}",
        "spark.plugins": "org.example.Plugin,io.pyflow.PyFlowPlugin",
        DRIVER_OPTIONS: "-Da=b -Xss8m",
        EXECUTOR_OPTIONS: "-Xss16m",
    }


def test_configure_adds_to_a_server_that_the_builder_is_told_of_afterwards(options_at_start):
    options = pyflow.configure(SparkSession.builder).remote("local[2]").getOrCreate()

    assert options["spark.plugins.defaultList"] == "io.pyflow.PyFlowPlugin"
    assert options["spark.pyflow.thread-mode.allowed"] == "true"


@pytest.mark.parametrize(
    ("variable", "setting", "taken"),
    [
        (None, None, sys.executable),
        (None, "/of/setting", "/of/setting"),
        ("/of/variable", "/of/setting", "/of/variable"),
    ],
)
def test_functions_run_in_the_python_of_the_program(
    options_at_start, monkeypatch, variable, setting, taken
):
    if variable is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", variable)
    builder = pyflow.configure(SparkSession.builder)
    if setting is not None:
        builder = builder.config("spark.pyspark.python", setting)

    builder.getOrCreate()

    assert os.environ["PYSPARK_PYTHON"] == taken


def test_configure_leaves_the_mode_to_the_user():
    builder = SparkSession.builder.config("spark.pyflow.execution-mode", "process")

    assert options_of(builder)["spark.pyflow.execution-mode"] == "process"


def test_configure_adds_to_what_the_builder_has():
    builder = SparkSession.builder.config("spark.jars", "/a.jar, /b.jar")
    builder = builder.config("spark.plugins", "org.example.Plugin")
    builder = builder.config(DRIVER_OPTIONS, "-Dkey=value")

    options = options_of(builder)

    assert options["spark.jars"] == f"/a.jar,/b.jar,{pyflow.jar_path()}"
    assert options["spark.plugins"] == "org.example.Plugin,io.pyflow.PyFlowPlugin"
    assert options[DRIVER_OPTIONS] == "-Dkey=value -Xss8m"


@pytest.mark.parametrize("chosen", ["-Xss16m", "-Da=b -Xss512k", "-XX:ThreadStackSize=4096"])
def test_configure_keeps_a_stack_size(chosen):
    builder = SparkSession.builder.config(DRIVER_OPTIONS, chosen)

    assert options_of(builder)[DRIVER_OPTIONS] == chosen


def test_configure_twice_is_configure_once():
    once = options_of(SparkSession.builder)

    assert options_of(pyflow.configure(SparkSession.builder)) == once


def test_configure_adds_to_pyspark_submit_args(monkeypatch):
    """Its options replace, in the driver's JVM, what a builder has set."""
    given = "--jars /a.jar -c spark.jars=/no.jar --conf=spark.plugins=org.example.Plugin"
    options = f"{DRIVER_OPTIONS}='-Da=b -Dc=d'"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{given} --conf {options} pyspark-shell")

    for _ in range(2):
        configured = options_of(SparkSession.builder)

        assert configured["spark.jars"] == f"/a.jar,{pyflow.jar_path()}"
        assert configured["spark.plugins"] == "org.example.Plugin,io.pyflow.PyFlowPlugin"
        assert configured[DRIVER_OPTIONS] == "-Da=b -Dc=d -Xss8m"
        words = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
        assert words[-5:-1] == [
            *("--jars", f"/a.jar,{pyflow.jar_path()}"),
            *("--driver-java-options", "-Da=b -Dc=d -Xss8m"),
        ]


def test_configure_adds_jars_of_the_builder_to_pyspark_submit_args(monkeypatch):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars /a.jar pyspark-shell")
    options_of(SparkSession.builder.config("spark.jars", "/b.jar"))

    words = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
    assert words[-2] == f"/a.jar,/b.jar,{pyflow.jar_path()}"


def test_configure_reads_the_properties_file_of_pyspark_submit_args(monkeypatch, tmp_path):
    write_defaults(tmp_path, "spark.plugins org.example.Unread")
    file = tmp_path / "other.conf"
    file.write_text("spark.plugins org.example.Plugin")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {file} pyspark-shell")

    plugins = options_of(SparkSession.builder)["spark.plugins"]

    assert plugins == "org.example.Plugin,io.pyflow.PyFlowPlugin"


def test_configure_adds_to_spark_defaults(tmp_path):
    write_defaults(
        tmp_path,
        "# settings of this cluster\n"
        "spark.plugins   org.example.Plugin\n"
        f"{EXECUTOR_OPTIONS}=-Dfrom=defaults -Dmore=too\n",
    )

    options = options_of(SparkSession.builder)

    assert options["spark.plugins"] == "org.example.Plugin,io.pyflow.PyFlowPlugin"
    assert options[EXECUTOR_OPTIONS] == "-Dfrom=defaults -Dmore=too -Xss8m"


@pytest.mark.parametrize(
    ("key", "value"), [("spark.remote", "local[2]"), ("spark.api.mode", "connect")]
)
def test_configure_sets_the_plugin_where_pyspark_replaces_the_others(key, value):
    builder = SparkSession.builder.config(key, value)
    builder = builder.config("spark.plugins.defaultList", "org.example.Plugin")

    listed = options_of(builder)["spark.plugins.defaultList"]
    assert listed == "org.example.Plugin,io.pyflow.PyFlowPlugin"


@pytest.mark.parametrize("chosen", [None, "false"])
def test_configure_allows_thread_mode_on_a_server_of_ones_own(chosen):
    builder = SparkSession.builder.config("spark.remote", "local[2]")
    if chosen is not None:
        builder = builder.config("spark.pyflow.thread-mode.allowed", chosen)

    assert options_of(builder)["spark.pyflow.thread-mode.allowed"] == (chosen or "true")


def test_configure_of_a_connect_client_says_that_the_server_needs_the_settings():
    builder = SparkSession.builder.config("spark.remote", "sc://localhost")

    with pytest.warns(UserWarning, match=r"spark-defaults\.conf of the server"):
        pyflow.configure(builder)

    assert builder._options == {"spark.remote": "sc://localhost"}


def test_configure_warns_when_spark_is_running(monkeypatch):
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_active_spark_context", object())

    with pytest.warns(UserWarning, match="already running"):
        pyflow.configure(SparkSession.builder)


def test_jar_path_says_what_to_do_without_a_jar(monkeypatch, tmp_path):
    monkeypatch.setattr(pyflow, "__path__", [str(tmp_path)])

    with pytest.raises(session.JarNotFoundError, match="make build"):
        pyflow.jar_path()


@pytest.mark.parametrize(
    ("spark", "minor"),
    [("4.2.1", "4.2"), ("4.3.0-SNAPSHOT", "4.3"), ("4.10.0", "4.10"), ("3.5.8", "4.10")],
)
def test_jar_path_is_that_for_the_spark_of_this_environment(monkeypatch, tmp_path, spark, minor):
    """Where there is none, that for the newest says so when an application starts."""
    (tmp_path / "jars").mkdir()
    for each in ("4.2", "4.3", "4.10"):
        (tmp_path / "jars" / f"pyflow-spark-{each}_2.13-{pyflow.__version__}.jar").touch()
    (tmp_path / "jars" / f"spark-core_2.13-{spark}.jar").touch()
    monkeypatch.setattr(pyflow, "__path__", [str(tmp_path)])
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))

    jar = f"pyflow-spark-{minor}_2.13-{pyflow.__version__}.jar"
    assert pyflow.jar_path() == str(tmp_path / "jars" / jar)


def test_conf_prints_what_configure_sets(capsys):
    assert cli.main(["conf"]) == 0

    printed = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert printed == options_of(SparkSession.builder)


def test_conf_can_be_appended_to_spark_defaults(capsys, tmp_path):
    write_defaults(tmp_path, "spark.jars /a.jar\n")

    cli.main(["conf"])
    write_defaults(tmp_path, "spark.jars /a.jar\n" + capsys.readouterr().out)

    assert session.spark_defaults()["spark.jars"] == f"/a.jar,{pyflow.jar_path()}"


def test_conf_without_a_jar_is_an_error_not_a_traceback(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(pyflow, "__path__", [str(tmp_path)])

    assert cli.main(["conf"]) == 1
    assert capsys.readouterr().err.startswith("pyflow: no plugin jar at")


def test_no_archive_with_a_configuration_directory(class_archive, tmp_path, capsys):
    """Java would not map it, and say so after half a minute."""
    write_defaults(tmp_path, "spark.app.name x")

    assert cli.main(["archive"]) == 1
    assert f"there are files in {tmp_path}" in capsys.readouterr().err
    assert not class_archive.exists()
