"""Files that programs add for their functions, in both modes."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pyflow.table import DataTypes
from pyflow.table.expressions import col
from pyflow.table.udf import udf
from pyflow.util.exceptions import TableException

PROGRAM = Path(__file__).parents[1] / "programs" / "archive_of_functions.py"


@pytest.fixture(params=["thread", "process"])
def t_env(environment, request):
    return environment("batch", **{"python.execution-mode": request.param})


def value(t_env, function):
    table = t_env.from_elements([(1,)], ["n"])
    call = udf(function, result_type=DataTypes.STRING())
    with table.select(call(col("n"))).execute().collect() as found:
        return next(found)[0]


def module(folder, kind, name, text):
    """Return what gives a module: a file, a zip file or a directory of one name."""
    folder.mkdir(parents=True)
    source = folder / f"{name}.py"
    source.write_text(f"NAME = {text!r}\n")
    if kind == "file":
        return source
    if kind == "directory":
        return folder
    archive = folder / "pack.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.write(source, source.name)
    return archive


@pytest.mark.parametrize("kinds", ["file file", "zip zip", "directory directory", "zip file"])
def test_the_module_that_was_added_last_is_imported(t_env, request, tmp_path, kinds):
    mode = request.node.callspec.params["t_env"]
    name = f"module_{mode}_{kinds.replace(' ', '_')}"
    for place, kind in enumerate(kinds.split()):
        path = module(tmp_path / str(place) / "same", kind, name, f"{place} {kind}")
        t_env.add_python_file(str(path))

    def imported(_):
        import importlib

        return importlib.import_module(name).NAME

    assert value(t_env, imported) == f"1 {kinds.split()[1]}"


def test_packages_of_several_files_are_imported(t_env, request, tmp_path):
    mode = request.node.callspec.params["t_env"]
    whole, parts, once = f"whole_{mode}", f"parts_{mode}", f"once_{mode}"
    files = {
        "one": [f"{whole}/__init__.py", f"{whole}/old.py", f"{parts}/first.py", f"{once}.py"],
        "other": [f"{whole}.py", f"{parts}/second.py"],
    }
    for folder, names in files.items():
        for name in names:
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"NAME = {folder!r}\n")
        t_env.add_python_file(str(tmp_path / folder))

    def imported(_):
        import importlib

        names = (whole, f"{parts}.first", f"{parts}.second", once)
        return " ".join(importlib.import_module(name).NAME for name in names)

    assert value(t_env, imported) == "other one other one"


def test_the_first_of_a_list_of_files_is_imported(t_env, request, tmp_path):
    name = f"module_of_list_{request.node.callspec.params['t_env']}"
    paths = [module(tmp_path / each, "file", name, each) for each in ("one", "other")]
    t_env.get_config().set("python.files", ",".join(map(str, paths)))

    def imported(_):
        import importlib

        return importlib.import_module(name).NAME

    assert value(t_env, imported) == "one"


def archive_of(folder, **files):
    archive = folder / "made.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name, text in files.items():
            made.writestr(f"{name}.csv", text)
    return str(archive)


def test_functions_find_the_files_of_an_archive_by_a_relative_path(t_env, request, tmp_path):
    target = f"data_{request.node.callspec.params['t_env']}"
    archive = archive_of(tmp_path, rows="a,b\n1,2\n")
    t_env.add_python_archive(archive, target)
    t_env.add_python_archive(archive, target)

    def read(_):
        import os

        import pandas

        path = f"{target}/rows.csv"
        with open(path) as file:
            text = file.read()
        return f"{text!r} {os.listdir(target)} {pandas.read_csv(path)['b'].sum()}"

    assert value(t_env, read) == "'a,b\\n1,2\\n' ['rows.csv'] 2"
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(TableException, match=f"the files of '{archive}' are in '{target}'; give"):
        t_env.add_python_archive(archive_of(other, rows="a"), target)


def test_a_file_in_the_working_directory_is_not_hidden(t_env, tmp_path):
    archive = archive_of(tmp_path, rows="a")
    Path("taken").mkdir(exist_ok=True)
    with pytest.raises(TableException, match=r"there is '.*/taken' already; give"):
        t_env.add_python_archive(archive, "taken")
    for name in ("/data", "../data", "a#b"):
        with pytest.raises(TableException, match="is no name of a directory"):
            t_env.add_python_archive(archive, name)


@pytest.mark.parametrize(
    "master", ["local[1]", pytest.param("local-cluster[1,1,1024]", marks=pytest.mark.complete)]
)
def test_nothing_of_an_archive_is_left_behind(tmp_path, master):
    archive = archive_of(tmp_path, rows="a,b\n1,2\n")
    # What a JVM has left that was killed.
    (tmp_path / "data").symlink_to(tmp_path / "gone")
    command = [sys.executable, str(PROGRAM), master, archive, "data"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["thread:a,b", "process:a,b"], done.stderr
    assert not (tmp_path / "data").is_symlink() or master.startswith("local-cluster")
