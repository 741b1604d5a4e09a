"""The command line of spark-submit that ``pyflow run`` composes, and what it refuses."""

from __future__ import annotations

import shlex
import sys
import zipfile

import pytest

import pyflow
from pyflow import cli
from pyflow.session import builder as session

LOCAL = ("-t", "local[2]")


@pytest.fixture(autouse=True)
def user(monkeypatch, tmp_path):
    """A user without settings, in a directory of a program, a package and an archive."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYFLOW_CLIENT_EXECUTABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PYFLINK_CLIENT_EXECUTABLE", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(session, "class_archive", lambda: tmp_path / "none.jsa")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").touch()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "helper.py").touch()
    for name in ("a.jar", "env.tar.gz", "more.py"):
        (tmp_path / name).touch()


@pytest.fixture
def dry_run(capsys):
    """The words of the command that is printed, in place of its two first."""

    def run(*arguments):
        program = () if "-pym" in arguments else ("-py", "app.py")
        assert cli.main(["run", "--dry-run", *arguments, *program]) == 0
        home, submit, *words = shlex.split(capsys.readouterr().out)
        assert home == f"SPARK_HOME={session.spark_home()}"
        assert submit == f"{session.spark_home()}/bin/spark-submit"
        return words

    return run


@pytest.fixture
def refused(capsys):
    """What is printed where a program is not started."""

    def run(*arguments):
        try:
            code = cli.main(["run", *arguments])
        except SystemExit as ended:
            code = ended.code
        assert code == 2
        return capsys.readouterr().err

    return run


def settings(words):
    """Settings of ``--conf``, and the values of the other options by their names."""
    pairs = list(zip(words[:-1:2], words[1::2]))
    conf = dict(value.split("=", 1) for option, value in pairs if option == "--conf")
    return {**conf, **{option: value for option, value in pairs if option != "--conf"}}


def test_a_program_gets_jar_plugin_and_pythons(dry_run, tmp_path):
    words = dry_run(*LOCAL)

    assert words.pop() == str(tmp_path / "app.py")
    assert settings(words) == {
        "--master": "local[2]",
        "--jars": pyflow.jar_path(),
        "spark.plugins": "io.pyflow.PyFlowPlugin",
        "spark.pyflow.execution-mode": "thread",
        "spark.driver.extraJavaOptions": "-Xss8m",
        "spark.executor.extraJavaOptions": "-Xss8m",
        "spark.pyspark.driver.python": sys.executable,
        "spark.pyspark.python": sys.executable,
    }


def test_the_driver_starts_with_the_archive_of_classes(dry_run, tmp_path):
    (tmp_path / "none.jsa").touch()

    found = settings(dry_run(*LOCAL)[:-1])

    options = shlex.split(found["spark.driver.extraJavaOptions"])
    assert f"-XX:SharedArchiveFile={tmp_path}/none.jsa" in options
    assert "SharedArchiveFile" not in found["spark.executor.extraJavaOptions"]


def test_what_follows_the_program_is_its_own_until_two_dashes(capsys, tmp_path):
    line = "--dry-run -D a -t x -p 3 -- --driver-memory 4g --conf spark.a=b"
    words = ["run", "--dry-run", *LOCAL, "-py", "app.py", "--input", "x y", *shlex.split(line)]

    assert cli.main(words) == 0

    printed = shlex.split(capsys.readouterr().out)
    program = printed.index(str(tmp_path / "app.py"))
    assert printed[program + 1 :] == ["--input", "x y", *shlex.split(line.partition(" -- ")[0])]
    assert printed[program - 2 : program] == ["--driver-memory", "4g"]
    assert "spark.a=b" in printed[:program]


def test_flags_are_settings_by_flink_s_names(dry_run):
    found = settings(
        dry_run(*LOCAL, "-p", "3", "-s", "/s", "-n", "-D", "execution.runtime-mode=BATCH")
    )

    assert found["spark.sql.shuffle.partitions"] == "3"
    assert {k: v for k, v in found.items() if k.startswith("spark.pyflow.conf.")} == {
        "spark.pyflow.conf.parallelism.default": "3",
        "spark.pyflow.conf.execution.savepoint.path": "/s",
        "spark.pyflow.conf.execution.savepoint.ignore-unclaimed-state": "true",
        "spark.pyflow.conf.execution.runtime-mode": "BATCH",
    }


def test_settings_of_spark_and_of_functions_are_spark_s(dry_run):
    found = settings(
        dry_run(
            *LOCAL,
            *("-D", "spark.task.maxFailures=7", "-Dpython.execution-mode=process"),
            *("-pypath", "/a:/b", "-pyexec", "python3"),
        )
    )

    assert found["spark.task.maxFailures"] == "7"
    assert found["spark.pyflow.execution-mode"] == "process"
    assert found["spark.executorEnv.PYTHONPATH"] == "/a:/b"
    assert found["spark.pyspark.python"] == "python3"
    assert found["spark.pyspark.driver.python"] == sys.executable


def test_files_archives_and_jars(dry_run, tmp_path):
    words = dry_run(
        *("-t", "spark://host:7077", "-pyfs", "lib,more.py", "-j", "a.jar"),
        *("-C", "file:///classes", "-C", "https://host/b.jar", "-pyarch", "env.tar.gz#env"),
        *("-pyexec", "env/bin/python"),
    )

    found = settings(words)
    packed, module = found["--py-files"].split(",")
    assert zipfile.ZipFile(packed).namelist() == ["helper.py"]
    assert module == str(tmp_path / "more.py")
    assert found["--archives"] == f"{tmp_path}/env.tar.gz#env"
    assert found["--jars"] == f"{tmp_path}/a.jar,https://host/b.jar,{pyflow.jar_path()}"
    assert found["spark.driver.extraClassPath"] == "/classes"
    assert found["spark.executor.extraClassPath"] == "/classes"
    assert found["spark.pyspark.python"] == "env/bin/python"


def test_executors_of_a_cluster_get_packages_as_an_archive(dry_run, tmp_path):
    (tmp_path / "requirements.txt").write_text("# none\n")

    found = settings(
        dry_run("-t", "yarn", "-pyreq", "requirements.txt", "-pypath", "/a", "-py", "app.py")
    )

    archive, _, name = found["--archives"].partition("#")
    assert zipfile.ZipFile(archive).namelist() == ["pyflow-requirements.lock"]
    assert found["spark.executorEnv.PYTHONPATH"] == f"{name}:/a"


def test_a_directory_is_packed_again_where_it_has_changed(dry_run, tmp_path):
    first = settings(dry_run(*LOCAL, "-pyfs", "lib"))["--py-files"]
    assert settings(dry_run(*LOCAL, "-pyfs", "lib"))["--py-files"] == first
    (tmp_path / "lib" / "helper.py").write_text("changed = True")
    assert settings(dry_run(*LOCAL, "-pyfs", "lib"))["--py-files"] != first


def test_a_module_is_run_as_a_program(dry_run, tmp_path):
    words = dry_run(*LOCAL, "-pym", "helper", "-pyfs", "lib", "argument")

    assert words[-3].endswith("/module_program.py")
    assert words[-2:] == ["helper", "argument"]
    assert settings(words[:-3])["--name"] == "helper"


def test_archives_of_a_local_master_are_the_environment_s(dry_run, tmp_path):
    found = settings(dry_run(*LOCAL, "-pyarch", "env.tar.gz#env"))

    assert "--archives" not in found
    assert found["spark.pyflow.conf.python.archives"] == f"{tmp_path}/env.tar.gz#env"


def test_flags_come_before_the_file_and_that_before_the_environment(dry_run, tmp_path, monkeypatch):
    monkeypatch.setenv("PYFLINK_CLIENT_EXECUTABLE", "python3")
    assert settings(dry_run(*LOCAL))["spark.pyspark.driver.python"] == "python3"
    monkeypatch.setenv("PYFLOW_CLIENT_EXECUTABLE", "sh")
    assert settings(dry_run(*LOCAL))["spark.pyspark.driver.python"] == "sh"

    (tmp_path / "spark-defaults.conf").write_text(
        "spark.pyflow.conf.python.client.executable cat\n"
        "spark.pyflow.conf.python.files more.py\n"
        "spark.pyflow.conf.parallelism.default 5\n"
        "spark.jars /default.jar\n"
        "spark.master local[3]\n"
    )
    found = settings(dry_run())
    assert found["spark.pyspark.driver.python"] == "cat"
    assert found["--master"] == "local[3]"
    assert found["--py-files"] == str(tmp_path / "more.py")
    assert found["spark.pyflow.conf.python.files"] == ""
    assert found["spark.sql.shuffle.partitions"] == "5"
    assert found["--jars"] == f"/default.jar,{pyflow.jar_path()}"

    found = settings(dry_run("-pyclientexec", "ls", "-p", "6", "-pyfs", "lib", *LOCAL))
    assert found["spark.pyspark.driver.python"] == "ls"
    assert found["spark.sql.shuffle.partitions"] == "6"
    assert "more.py" not in found["--py-files"]


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("k8s://https://host", "spark.kubernetes.container.image"),
        ("yarn", "spark.executorEnv.YARN_CONTAINER_RUNTIME_DOCKER_IMAGE"),
        ("yarn", "spark.yarn.appMasterEnv.YARN_CONTAINER_RUNTIME_DOCKER_IMAGE"),
    ],
)
def test_executors_run_in_an_image(dry_run, target, key):
    found = settings(dry_run("-t", target, "-pyenv", "docker", "-pydocker", "image:1"))

    assert found[key] == "image:1"


def test_a_program_on_yarn_is_the_cluster_s(dry_run):
    found = settings(dry_run("-t", "yarn-application"))

    assert (found["--master"], found["--deploy-mode"]) == ("yarn", "cluster")
    assert not {"spark.pyspark.python", "spark.pyspark.driver.python"} & found.keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "there is no program"),
        ("-py none.py", "-py: there is no file 'none.py'"),
        ("-py a.jar", "-py: 'a.jar' is no Python file"),
        ("-py app.py -pym helper", "exclude each other"),
        ("-pym helper", "-pym needs -pyfs"),
        ("-D key -py app.py", "-D takes KEY=VALUE, not 'key'"),
        ("-D python.exection-mode=thread -py app.py", "Similar names: python.execution-mode"),
        ("-D parallelism.default=many -py app.py", "it must be a whole number"),
        ("-D table.catalog-store.kind=file -py app.py", "is not supported: catalogs are Spark's"),
        ("-t mars -py app.py", "there is no such target, only local[N]"),
        ("-t remote -py app.py", "use spark://HOST:PORT"),
        ("-m host:8081 -py app.py", "-m of Flink is not supported: use -t spark://HOST:PORT"),
        ("-pyreq r.txt -t local -py app.py", "-pyreq: there is no file 'r.txt'"),
        ("-pyfs none.py -py app.py", "-pyfs: there is no file 'none.py'"),
        ("-pyfs env.tar.gz -py app.py", "archives go to -pyarch"),
        ("-pyarch none.zip#env -py app.py", "-pyarch: there is no file 'none.zip'"),
        ("-j none.jar -py app.py", "-j: there is no file 'none.jar'"),
        ("-C /folder -py app.py", "is no address, such as file:///path/of.jar"),
        ("-t local -pyexec env/bin/python -py app.py", "there is no executable 'env/bin/python'"),
        ("-pyenv docker -py app.py", "-pyenv docker and -pydocker IMAGE go together"),
        ("-t local -pyenv docker -pydocker i -py app.py", "elsewhere pack the environment"),
        ("-py app.py -- driver-memory", "'driver-memory' is no option of spark-submit"),
        ("-py app.py -- --driver-memory", "--driver-memory has no value"),
    ],
)
def test_what_is_refused_is_said_before_anything_runs(refused, arguments, message):
    assert message in refused(*arguments.split())


@pytest.mark.parametrize(
    ("key", "flags", "name", "value"),
    [
        (
            "python.execution-mode",
            ("-D", "spark.pyflow.execution-mode=process"),
            "spark.pyflow.execution-mode",
            "process",
        ),
        (
            "table.exec.resource.default-parallelism",
            ("-p", "2"),
            "spark.sql.shuffle.partitions",
            "2",
        ),
    ],
)
def test_what_a_file_sets_gives_way_to_the_command_whichever_name_it_has(
    dry_run, tmp_path, monkeypatch, key, flags, name, value
):
    others = {"python.execution-mode": "auto", "table.exec.resource.default-parallelism": "8"}
    lines = [f"spark.pyflow.conf.{each} {of_file}" for each, of_file in others.items()]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))

    found = settings(dry_run(*LOCAL, *flags))

    assert found[name] == value
    assert found.pop(f"spark.pyflow.conf.{key}") == ""
    del others[key]
    [(other, of_file)] = others.items()
    assert found[f"spark.pyflow.conf.{other}"] == of_file


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ("-pyexec", "python3", "-D", "spark.pyspark.python=python"),
            "python.executable=python3 sets spark.pyspark.python=python3, and the "
            "command spark.pyspark.python=python: leave one of them out",
        ),
        (
            ("-D", "spark.master=local[1]"),
            "-t local[2] and spark.master=local[1] exclude each other",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(refused, flags, said):
    assert said in refused(*LOCAL, *flags, "-py", "app.py")
