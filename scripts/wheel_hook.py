"""Has Gradle build the plugin jar, and makes the wheel around it.

PYFLOW_JARS names jars that are there already, as ``make dist`` has built one for each Spark.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

import machine


class JarHook(BuildHookInterface):
    def dependencies(self) -> list[str]:
        """CMake comes from PyPI where the machine has none."""
        return [] if shutil.which("cmake") else ["cmake>=3.18,<5"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # The jar carries native libraries, but for any Python.
        build_data["pure_python"] = False
        if version == "editable":
            build_data["tag"] = f"py3-none-linux_{os.uname().machine}"
            return
        named = os.environ.get("PYFLOW_JARS", "").split()
        jars = [Path(self.root, name) for name in named] or [self.build_jar()]
        # They have the same libraries.
        build_data["tag"] = f"py3-none-{platform_of(jars[0])}"
        for jar in jars:
            build_data["force_include"][str(jar)] = f"pyflow/jars/{jar.name}"

    def build_jar(self) -> Path:
        # The Python that installs is among those to build for, wherever it is.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        os.environ["PATH"] = path
        faults = machine.faults_of_build()
        if faults:
            raise SystemExit("\n".join(faults))
        pyspark = importlib.util.find_spec("pyspark")
        command = ["gradle", "--quiet", "--no-daemon", "jar"]
        if pyspark is not None and pyspark.origin is not None:
            command.append(f"-Ppyspark={Path(pyspark.origin).parent}")
        subprocess.run(command, cwd=self.root, check=True, stdin=subprocess.DEVNULL)
        jars = Path(self.root, "build", "libs").glob(f"*-{self.metadata.version}.jar")
        return max(jars, key=lambda jar: jar.stat().st_mtime)


def platform_of(jar: Path) -> str:
    """Return the platform tag: the newest version of glibc whose symbols the libraries use."""
    machine_name = os.uname().machine
    with zipfile.ZipFile(jar) as archive:
        libraries = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    versions = [
        (int(major), int(minor))
        for library in libraries
        for major, minor in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", library)
    ]
    if not versions:  # another C library
        return f"linux_{machine_name}"
    return "manylinux_{}_{}_{}".format(*max(versions), machine_name)
