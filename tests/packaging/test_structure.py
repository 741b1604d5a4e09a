"""What the sources of the jar may import from each other, and how test files are named."""

from __future__ import annotations

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter

import pytest

OURS = re.compile(
    r"\b((?:io\.pyflow|org\.apache\.spark\.sql\.pyflow|org\.apache\.spark\.sql\.execution\.python)"
    r"(?:\.[a-z]\w*)*)\.(?:\{([^}]*)\}|([A-Z_]\w*))"
)
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"')

# Interfaces of Spark that change with its minor versions.
OF_ONE_SPARK = re.compile(
    r"\borg\.apache\.spark\.sql\.(?:execution\.(?:python|datasources|streaming|window)"
    r"|catalyst\.(?:planning|plans\.logical)|classic|connect)\b[^\n]*"
)


@pytest.fixture(scope="module")
def code(root):
    """The sources of the jar without their comments and strings, by path."""
    folders = [root / "jvm" / "src" / "main", *(root / "jvm" / "src").glob("spark-*")]
    files = [file for folder in folders for file in folder.rglob("*.*")]
    return {
        file.relative_to(root / "jvm" / "src").as_posix(): STRINGS.sub(
            '""', COMMENTS.sub("", file.read_text())
        )
        for file in files
        if file.suffix in (".java", ".scala")
    }


def package_of(path):
    """The package of a source file: its folder below `java` or `scala`."""
    return ".".join(path.split("/")[2:-1])


def imports_of_packages(code):
    """For each of our packages, those of the others that it names."""
    classes = {(package_of(path), path.split("/")[-1].split(".")[0]) for path in code}
    packages = {package for package, _ in classes}
    imports = {package: set() for package in packages}
    for path, text in code.items():
        package = package_of(path)
        for named, several, one in OURS.findall(text):
            names = re.findall(r"\w+", several) or [one]
            # Spark has classes of its own in the packages where it keeps private interfaces.
            ours = named.startswith("io.pyflow") or any((named, name) in classes for name in names)
            if ours and named in packages and named != package:
                imports[package].add(named)
    return imports


def cycle(imports):
    """A cycle of packages, or None."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_packages_import_each_other_in_one_direction(code):
    imports = imports_of_packages(code)

    assert "io.pyflow.planning" in imports["io.pyflow.plugin"]
    assert cycle(imports) is None


def test_a_cycle_is_found(code):
    path = "main/scala/io/pyflow/config/Late.scala"
    added = {**code, path: "import io.pyflow.planning.{ThreadModeStrategy}"}

    assert {"io.pyflow.config", "io.pyflow.planning"} <= set(cycle(imports_of_packages(added)))


def test_what_is_bound_to_spark_4_is_not_in_main(code):
    bound = {
        f"{path}: {used}"
        for path, text in code.items()
        for used in OF_ONE_SPARK.findall(text)
        if path.startswith("main/")
    }

    assert bound == set()


def test_classes_in_spark_s_packages_are_bound_to_its_version(code):
    in_main = [path for path in code if path.startswith("main/") and "org/apache/spark" in path]

    assert in_main == []


def names_of_bound_classes(code, path):
    """The classes of the source sets that are bound to Spark, which a file of main names."""
    bound = {
        (package_of(other), other.split("/")[-1].split(".")[0])
        for other in code
        if not other.startswith("main/")
    }
    return {
        f"{package}.{name}"
        for package, name in bound
        if re.search(rf"\b{re.escape(package)}\.(?:{name}|\{{[^}}]*\b{name})\b", code[path])
        or (package == package_of(path) and re.search(rf"\b{name}\b", code[path]))
    }


def test_main_refers_to_nothing_that_is_bound_to_spark_4(code):
    """`gradle test` compiles it by itself, too."""
    found = {path: names_of_bound_classes(code, path) for path in code if path.startswith("main/")}

    assert {path: names for path, names in found.items() if names} == {}


def test_a_reference_to_what_is_bound_is_found(code):
    path = "main/scala/io/pyflow/spec/Late.scala"
    added = {**code, path: "import org.apache.spark.sql.pyflow.{Executors, RunningTask}"}

    assert names_of_bound_classes(added, path) == {
        "org.apache.spark.sql.pyflow.Executors",
        "org.apache.spark.sql.pyflow.RunningTask",
    }


def test_each_spark_version_has_the_same_classes(code):
    """Its own, and those of `spark-4.2-plus` from Spark 4.2 on."""
    of_folders = {}
    for path in code:
        folder, _, name = path.partition("/")
        if match := re.fullmatch(r"spark-4\.(\d+)(-plus)?", folder):
            of_folders.setdefault((int(match[1]), match[2]), []).append(name)
    versions = [minor for minor, plus in of_folders if not plus]
    of_versions = {
        version: sorted(
            name
            for (minor, plus), names in of_folders.items()
            if minor == version or (plus and minor < version)
            for name in names
        )
        for version in versions
    }

    assert len(of_versions) > 1
    assert len(set(map(tuple, of_versions.values()))) == 1


def test_test_files_have_names_of_their_own(root):
    """Of two with one name, pytest imports the first and cannot collect the second."""
    names = Counter(file.name for file in (root / "tests").rglob("test_*.py"))
    assert [name for name, files in names.items() if files > 1] == []
