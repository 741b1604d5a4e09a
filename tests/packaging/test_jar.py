"""What the plugin jar contains: all that an executor needs that has Python and PySpark."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile

import pytest

import pyflow

NATIVE = f"native/linux-{os.uname().machine}"


@pytest.fixture(scope="module")
def jar():
    with zipfile.ZipFile(pyflow.jar_path()) as archive:
        yield archive


@pytest.fixture
def pythons(root):
    """Minor versions of the Pythons that the build has found."""
    lines = (root / "build" / "pythons").read_text().splitlines()
    return [line.split("\t")[0] for line in lines]


def test_bridge_for_every_python_found(jar, pythons):
    libraries = {name for name in jar.namelist() if name.endswith(".so")}

    assert libraries == {
        f"{NATIVE}/libpyflow-loader.so",
        *(f"{NATIVE}/libpyflow-cp{minor.replace('.', '')}.so" for minor in pythons),
    }


def test_properties_say_what_the_jar_is_for(jar, pythons):
    lines = jar.read("META-INF/pyflow.properties").decode().splitlines()

    assert dict(line.split("=") for line in lines) == {
        "version": pyflow.__version__,
        "spark.version": "4.3.0",
        "python.versions": ",".join(sorted(pythons)),
        **{
            f"sha256.{os.path.basename(name)}": hashlib.sha256(jar.read(name)).hexdigest()
            for name in jar.namelist()
            if name.endswith(".so")
        },
    }


def test_the_python_code_that_runs_on_executors(jar, root):
    packed = {name for name in jar.namelist() if name.startswith("python/") and name[-1] != "/"}

    package = root / "pyflow"
    command = {package / "__main__.py", *(package / "cli").rglob("*.py")}
    modules = {*package.rglob("*.py")} - command
    assert packed == {f"python/{path.relative_to(root)}" for path in modules}


def test_licence(jar):
    assert {"META-INF/LICENSE", "META-INF/NOTICE"} <= set(jar.namelist())


def test_libraries_need_neither_python_nor_a_jvm_at_a_fixed_place(jar, tmp_path):
    for name in jar.namelist():
        if name.endswith(".so"):
            jar.extract(name, tmp_path)
            library = tmp_path / name
            needed = subprocess.run(
                ["readelf", "--dynamic", library], capture_output=True, text=True, check=True
            ).stdout
            assert "libpython" not in needed
            assert "libjvm" not in needed
            assert "libstdc++" not in needed


def test_package_imports_nothing_before_it_is_asked(run):
    program = "import os, sys, typing; before = set(sys.modules); import pyflow; "
    program += "print(set(sys.modules) - before)"

    assert run(sys.executable, "-c", program).stdout == "{'pyflow'}\n"
