#!/usr/bin/env python3
"""Sets up the environments that the Makefile works in.

Installs what the machine lacks (see machine.py), then makes .venvs/3.X with the requirements of
the given purposes, for the newest Python or for others, too. .venv is the newest one's. With
--spark it makes .venvs/spark-4.X, for the newest Python and another version of Spark. Writes
the Pythons found into build/pythons (see find_pythons.py for its lines), and the minor versions
that `make test` runs a slice of the tests on into build/pythons-of-slice. All of it only where its
inputs have changed since the last time.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import find_pythons
import machine

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
PIP = "pip==25.3"


def key_of(purpose, python, pyspark):
    """Return what the contents of an environment depend on, in short."""
    names = [pyspark, "run", requirements_of(purpose, python)]
    inputs = [REQUIREMENTS / f"{name}.txt" for name in names]
    inputs += [ROOT / "pyproject.toml", ROOT / "scripts" / "wheel_hook.py"]
    digest = hashlib.sha256(f"{python['executable']} {python['version']} {PIP}".encode())
    for path in inputs:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def requirements_of(purpose, python):
    """Return the name of the file with the requirements of a purpose.

    Not every package is distributed for free-threaded Pythons in the same version.
    """
    return "free-threaded" if python["minor"].endswith("t") else purpose


def make_environment(python, purposes, spark=None):
    """Make the environment of a Python, or of a version of Spark, ready for the purposes."""
    name, pyspark = python["minor"], "pyspark"
    if spark is not None:
        name, pyspark = f"spark-{spark}", f"pyspark-{spark}"
    environment = ROOT / ".venvs" / name
    stamps = {purpose: environment / f"ready-to-{purpose}" for purpose in purposes}
    missing = [
        purpose
        for purpose, stamp in stamps.items()
        if not stamp.exists() or stamp.read_text() != key_of(purpose, python, pyspark)
    ]
    if not missing:
        return
    print(
        f"PyFlow: setting up .venvs/{name} to {' and '.join(missing)} "
        "(downloads PySpark, half a gigabyte, if this machine has not done so before)",
        flush=True,
    )
    base = environment / "base-python"
    if not base.exists() or base.read_text() != python["executable"]:
        shutil.rmtree(environment, ignore_errors=True)
        run(python["executable"], "-m", "venv", environment)
        base.write_text(python["executable"])
    pip_install = [environment / "bin" / "python", "-m", "pip", "install", "--quiet"]
    run(*pip_install, PIP)
    required = REQUIREMENTS / f"{pyspark}.txt"
    run(*pip_install, "--no-deps", "--ignore-requires-python", "--requirement", required)
    for name in dict.fromkeys(requirements_of(purpose, python) for purpose in missing):
        run(*pip_install, "--requirement", REQUIREMENTS / f"{name}.txt")
    run(*pip_install, "--no-deps", "--no-build-isolation", "--editable", ROOT)
    for purpose in missing:
        stamps[purpose].write_text(key_of(purpose, python, pyspark))


def run(*command):
    if subprocess.run(command, stdin=subprocess.DEVNULL).returncode:
        sys.exit("PyFlow: set-up failed at: " + " ".join(map(str, command)))


def of_slice(pythons):
    """Return those beside the newest for a slice of the tests: oldest, newest free-threaded."""
    others = pythons[1:]
    oldest = [python for python in others if not python["minor"].endswith("t")][-1:]
    return oldest + [python for python in others if python["minor"].endswith("t")][:1]


def write_pythons(pythons):
    """Record the Pythons; the files' age tells Make whether they have changed."""
    minors = "".join(f"{python['minor']}\n" for python in of_slice(pythons))
    for name, text in {
        "pythons": find_pythons.table(pythons),
        "pythons-of-slice": minors,
    }.items():
        path = ROOT / "build" / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


def link_newest(python):
    link = ROOT / ".venv"
    target = Path(".venvs") / python["minor"]
    if link.is_symlink() and link.readlink() == target:
        return
    if link.exists() and not link.is_symlink():
        sys.exit(f"PyFlow: {link} is not made by this set-up; remove it")
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pythons",
        choices=["newest", "slice", "all"],
        default="newest",
        help="make environments for these (bench, lint, dist and site are for the newest)",
    )
    older = sorted(file.stem.partition("-")[2] for file in REQUIREMENTS.glob("pyspark-*.txt"))
    parser.add_argument("--spark", choices=older, help="make the environment of this Spark, too")
    parser.add_argument(
        "purposes", nargs="+", choices=["run", "test", "bench", "lint", "dist", "site"]
    )
    arguments = parser.parse_args()
    pythons = machine.prepare(arguments.purposes)
    print("PyFlow: using Python {version} ({executable})".format(**pythons[0]), flush=True)
    write_pythons(pythons)
    if "test" in arguments.purposes:
        machine.unpack_rabbitmq(str(ROOT / "build" / "rabbitmq"))
    make_environment(pythons[0], arguments.purposes)
    others = {"newest": [], "slice": of_slice(pythons), "all": pythons[1:]}[arguments.pythons]
    for python in others:
        make_environment(python, [name for name in arguments.purposes if name in ("run", "test")])
    link_newest(pythons[0])
    if arguments.spark:
        make_environment(pythons[0], arguments.purposes, arguments.spark)


if __name__ == "__main__":
    main()
