"""Files that functions need on the executors."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import threading
import uuid
import weakref
import zipfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from pyflow.session.flink_jars import without_flink
from pyflow.session.requirements import (
    PREFIX,
    RequirementsError,
    archive_of,
    installed,
    installed_below,
)
from pyflow.util.addresses import local_path
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# By the application, the archive of what has been added for import.
_added: weakref.WeakKeyDictionary[Any, Path] = weakref.WeakKeyDictionary()
_adding = threading.Lock()

# By the directory of an archive's files, where the archive is.
_UNPACKED: dict[Path, Path] = {}


def add_file(session: SparkSession, path: str) -> None:
    """Let functions import from a Python file, an archive or a directory; the last added is first.

    Spark has one file of a name, and gives workers files in no order. So what is added is in one
    archive, and each further file replaces that by another of a name of its own. Over Spark Connect
    files are added as they are.

    Raises
    ------
    TableException
        If there is no such file.
    """
    given = Path(path)
    if not given.exists():
        raise TableException(f"add_python_file(): there is no file or directory {path!r}")
    archive = Path(_folder()) / f"{given.stem}-{uuid.uuid4().hex}.zip"
    if given.is_dir():
        shutil.make_archive(str(archive.with_suffix("")), "zip", root_dir=given)
    elif zipfile.is_zipfile(given):
        shutil.copyfile(given, archive)
    else:
        with zipfile.ZipFile(archive, "w") as made:
            made.write(given, given.name)
    if not hasattr(session, "_jsparkSession"):
        session.addArtifacts(str(archive), pyfile=True)
        return
    context = session.sparkContext
    with _adding:
        before = _added.get(context)
        if before is not None:
            _add_others(archive, before)
        context.addPyFile(str(archive))
        if before is not None:
            context._python_includes.remove(before.name)  # type: ignore[union-attr]
        _added[context] = archive


@cache
def _folder() -> str:
    """Return where archives are while the program runs: executors fetch them when they start."""
    directory = tempfile.mkdtemp(prefix="pyflow-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def add_cached_file(session: SparkSession, path: str, name: str) -> None:
    """Let functions find a file or directory by ``SparkFiles.get(name)``.

    Spark makes files executable where it copies them to.

    Raises
    ------
    TableException
        If there is none, or its name cannot be chosen.
    """
    if PurePath(name).name != name:
        raise TableException(f"register_cached_file(): {name!r} is no name of a file")
    given = local_path(path)
    if given is None:
        if PurePath(path).name != name:
            raise TableException(
                f"register_cached_file(): a file of another file system keeps its name: register "
                f"{path!r} as {PurePath(path).name!r}"
            )
        session.sparkContext.addFile(path)
        return
    if not given.exists():
        raise TableException(f"register_cached_file(): there is no file {path!r}")
    if given.name != name:
        copied = Path(tempfile.mkdtemp(dir=_folder())) / name
        if given.is_dir():
            shutil.copytree(given, copied)
        else:
            shutil.copy(given, copied)
        given = copied
    session.sparkContext.addFile(str(given.absolute()), recursive=given.is_dir())


def _add_others(archive: Path, before: Path) -> None:
    """Add to an archive the modules and packages of another one that it does not have."""
    with zipfile.ZipFile(archive, "a") as made, zipfile.ZipFile(before) as others:
        names = made.namelist()
        whole, parts = _top_level(names), set(names)
        for entry in others.infolist():
            top = PurePath(PurePath(entry.filename).parts[0]).stem
            if entry.filename not in parts and top not in whole:
                made.writestr(entry, others.read(entry))


def _top_level(names: Iterable[str]) -> set[str]:
    """Return the modules and packages in an archive, without packages that have no ``__init__``."""
    paths = [PurePath(name) for name in names]
    modules = {path.stem for path in paths if len(path.parts) == 1 and path.suffix == ".py"}
    return modules | {
        path.parts[0] for path in paths if len(path.parts) == 2 and path.name == "__init__.py"
    }


def add_archive(session: SparkSession, path: str, target: str | None) -> None:
    """Unpack an archive on the executors, under the name given or its own.

    On a cluster that is in the working directory of each executor. The executor of a local master
    has that of the program, which gets a link while the JVM runs; not over Spark Connect.

    Raises
    ------
    TableException
        If there is no archive, or something else of its name.
    """
    archive, name = Path(path).absolute(), PurePath(target or Path(path).name)
    if not archive.is_file():
        raise TableException(f"add_python_archive(): there is no file {path!r}")
    if name.is_absolute() or ".." in name.parts or "#" in str(name):
        raise TableException(f"add_python_archive(): {str(name)!r} is no name of a directory")
    if not hasattr(session, "_jsparkSession"):
        session.addArtifacts(f"{archive}#{name}", archive=True)
        return
    jvm: Any = session._jvm
    files = Path(jvm.org.apache.spark.SparkFiles.getRootDirectory())
    known = _UNPACKED.get(files / name)
    if known == archive:
        return
    if known is not None:
        raise TableException(
            f"add_python_archive(): the files of {str(known)!r} are in {str(name)!r}; give "
            f"{str(archive)!r} another target_dir"
        )
    if str(session.sparkContext.master).split("[")[0] == "local":
        _link(jvm, files / name.parts[0])
    session.addArtifacts(f"{archive}#{name}", archive=True)
    _UNPACKED[files / name] = archive


def add_jars(session: SparkSession, key: str, paths: Sequence[str]) -> None:
    """Let the driver and its executors find classes in jars.

    Spark looks for data sources and JDBC drivers in the class loader that ``spark-submit`` has made
    for the driver. Its own ways to add a jar while an application runs leave that out.

    Raises
    ------
    TableException
        If there is no such file.
    """
    paths = without_flink(paths)
    local = [path for path in paths if local_path(path) is not None]
    for path in local:
        if not Path(path).is_file():
            raise TableException(f"the setting {key!r}: there is no file {path!r}")
    if not hasattr(session, "_jsparkSession"):
        if paths:
            session.addArtifacts(*paths)
        return
    jvm: Any = session._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    present = {url.toString() for url in loader.getURLs()}
    fetched = {PurePath(url).name for url in present}  # by spark-submit
    for path in set(paths).difference(local):
        if PurePath(path).name not in fetched:
            raise TableException(
                f"the setting {key!r}: the driver's JVM runs already, and {path!r} is no file of "
                "its machine: give it to spark-submit (--jars)"
            )
    for path in local:
        jar = jvm.java.io.File(path).getAbsoluteFile().toURI().toURL()
        if jar.toString() not in present:
            loader.addURL(jar)
            session.sparkContext._jsc.addJar(jar.getPath())


def add_requirements(session: SparkSession, file: str, packages: str | None) -> None:
    """Let functions import packages of a requirements file.

    They are installed here, once, for the Python of functions, and executors unpack them into a
    directory of their own; their machines are of the platform of this one.

    Raises
    ------
    TableException
        If there is no such file, the packages cannot be installed or, over Spark Connect, have
        compiled modules, which sessions there have no directory for.
    """
    for path in filter(None, (file, packages)):
        if not Path(path).exists():
            raise TableException(
                f"set_python_requirements(): there is no file or directory {path!r}"
            )
    is_classic = hasattr(session, "_jsparkSession")
    python = session.sparkContext.pythonExec if is_classic else sys.executable
    try:
        found = installed(
            Path(file), Path(packages) if packages else None, python, installed_below()
        )
    except RequirementsError as error:
        raise TableException(f"set_python_requirements(): {error}") from None
    if not is_classic:
        compiled = next(found.rglob("*.so"), None)
        if compiled is not None:
            raise TableException(
                "set_python_requirements(): over Spark Connect packages are imported from zip "
                f"files, and {compiled.relative_to(found)} is a compiled module"
            )
        add_file(session, str(found))
        return
    context = session.sparkContext
    name = f"{PREFIX}{found.name}"
    includes: list[str] = context._python_includes  # type: ignore[assignment]
    with _adding:
        if name not in includes:
            context.addArchive(archive_of(found, Path(_folder())))
            includes.append(name)


def _link(jvm: Any, directory: Path) -> None:
    """Let a directory be found in the working directory of functions, which is the JVM's."""
    link = Path(jvm.java.lang.System.getProperty("user.dir")) / directory.name
    try:
        if link.is_symlink() and not link.exists():
            # A JVM that was killed has left it.
            link.unlink()
        if link.is_symlink() and Path(os.readlink(link)) == directory:
            return
        link.symlink_to(directory)
    except FileExistsError:
        raise TableException(
            f"add_python_archive(): functions cannot find the archive's files as "
            f"{directory.name!r}, since there is {str(link)!r} already; give add_python_archive() "
            "another target_dir"
        ) from None
    except OSError as error:
        raise TableException(
            f"add_python_archive(): functions of a local master find the archive's files as "
            f"{directory.name!r} by a link in the working directory, which cannot be made: {error}"
        ) from error
    jvm.java.io.File(str(link)).deleteOnExit()
