"""Has Gradle build the plugin jar before the wheel is made around it."""

import importlib.util
import os
import shutil
import subprocess
import sys
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
        build_data["tag"] = f"py3-none-linux_{os.uname().machine}"
        if version == "editable":
            return
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
