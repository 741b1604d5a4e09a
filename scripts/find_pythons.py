#!/usr/bin/env python3
"""Finds the CPythons that PyFlow can be built for: one executable per minor version.

Prints a line per Python, newest first: minor version, executable, full version, directory of
the headers, shared library, separated by tabs. A free-threaded build is a minor version of its own,
3.14t, and comes last, since the first line is the default. Pythons that were found but cannot be
used are named on stderr with the reason. Ends with an error when none can be used.

Looks at the python3.X and python3 of PATH, then at pyenv's versions, /usr/local/bin and
/usr/bin, and at what `make python` has built. PYFLOW_PYTHONS (executables separated
by commas) replaces the search.
"""

import argparse
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROBE = os.path.join(ROOT, "pyflow", "libpython.py")
MINORS = ("3.14", "3.13", "3.12", "3.11", "3.10", "3.14t", "3.13t")
NOTHING_SUITABLE = """\
no Python to build for. PyFlow needs CPython 3.10 to 3.14 with its headers and its shared library:
  Debian, Ubuntu:  apt-get install python3-dev
  pyenv:           PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install 3.13
or name executables: PYFLOW_PYTHONS=/path/to/python3.13"""


def newest_first(path):
    """Sort key for pyenv's .../versions/3.13.0/bin/python3.13: 3.13.10 goes before 3.13.9."""
    return [-int(number) for number in re.findall(r"\d+", path.split(os.sep)[-3])], path


def built_here(minor):
    """Return where build_python.py installs a Python of this minor version."""
    return pathlib.Path(ROOT, "build", f"python-{minor}", "bin", f"python{minor}")


def candidates():
    """Return the executables to look at, the preferred ones of each minor version first."""
    named = os.environ.get("PYFLOW_PYTHONS", "").strip()
    if named:
        return [os.path.expanduser(path.strip()) for path in named.split(",") if path.strip()]
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = []
    for minor in MINORS:
        on_path = shutil.which("python" + minor)
        if on_path:
            found.append(on_path)
        installed = glob.glob(os.path.join(pyenv, "versions", "*", "bin", "python" + minor))
        found += sorted(installed, key=newest_first)
        found += ["/usr/local/bin/python" + minor, "/usr/bin/python" + minor]
        found.append(str(built_here(minor)))
    for name in ("python3", "python"):
        on_path = shutil.which(name)
        if on_path:
            found.append(on_path)
    return [path for path in found if os.path.exists(path)]


def describe(executable):
    """Return what the executable says of itself, or None when it does not run."""
    try:
        answer = subprocess.run(
            [executable, "-I", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=True,
        )
        return json.loads(answer.stdout.decode())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def fault_of(python):
    """Return why PyFlow cannot be built for this Python, or None when it can."""
    if python["fault"]:
        return python["fault"]
    if python["include"] is None:
        return "has no headers (Debian: apt-get install libpython{minor}-dev)".format(**python)
    return None


def find(paths):
    """Return the usable Pythons, at most one per minor version, and the faults of the others."""
    usable = {}
    faults = []
    seen = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen or os.path.basename(path)[len("python") :] in usable:
            continue
        python = describe(path)
        # A pyenv shim resolves to a shell script and answers for the version it selects.
        if python is None or os.path.realpath(python["executable"]) in seen:
            continue
        seen.update((real, os.path.realpath(python["executable"])))
        fault = fault_of(python)
        if fault is None:
            usable.setdefault(python["minor"], python)
        else:
            faults.append((python, fault))
    return [usable[minor] for minor in MINORS if minor in usable], faults


def sentence(python, fault):
    """Return what keeps a Python from being used, for a person to read."""
    return "Python {version} ({executable}): it {fault}".format(**dict(python, fault=fault))


def table(pythons):
    """Return a line per Python, as described at the top."""
    line = "{minor}\t{executable}\t{version}\t{include}\t{library}\n"
    return "".join(line.format(**python) for python in pythons)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    usable, faults = find(candidates())
    for python, fault in faults:
        print("PyFlow: skipping " + sentence(python, fault), file=sys.stderr)
    if not usable:
        sys.exit("PyFlow: " + NOTHING_SUITABLE)
    print(table(usable), end="")


if __name__ == "__main__":
    main()
