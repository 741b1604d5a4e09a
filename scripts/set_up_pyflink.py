#!/usr/bin/env python3
"""Makes .venvs/pyflink, the environment in which `make record` runs PyFlink.

PyFlink's packages are made for some Pythons only, of which it is given 3.11.
"""

import shutil
import subprocess
import sys

import find_pythons
from set_up import PIP, REQUIREMENTS, ROOT, run

MINOR = "3.11"
# What apache-flink is built with, from its sources, where there is no wheel.
BUILD = ["setuptools<81", "wheel"]


def python():
    """Return the executable of a Python that PyFlink runs on."""
    for executable in find_pythons.candidates():
        if executable.endswith(f"python{MINOR}") and shutil.which(executable):
            probe = [executable, "-c", "import venv, ensurepip"]
            if subprocess.run(probe, capture_output=True).returncode == 0:
                return executable
    sys.exit(
        f"PyFlow: no Python {MINOR}, which PyFlink needs to record references. Make one by "
        f"`make python VERSION={MINOR}`, or put one on the PATH."
    )


def main():
    requirements = REQUIREMENTS / "pyflink.txt"
    environment = ROOT / ".venvs" / "pyflink"
    stamp = environment / "ready"
    key = requirements.read_text()
    if stamp.exists() and stamp.read_text() == key:
        return
    executable = python()
    print(f"PyFlow: setting up .venvs/pyflink with {executable} (downloads PyFlink)", flush=True)
    shutil.rmtree(environment, ignore_errors=True)
    run(executable, "-m", "venv", environment)
    pip_install = [environment / "bin" / "python", "-m", "pip", "install", "--quiet"]
    run(*pip_install, PIP, *BUILD)
    run(*pip_install, "--requirement", requirements)
    stamp.write_text(key)


if __name__ == "__main__":
    main()
