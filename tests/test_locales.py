"""A user with another locale, and a module in the working directory."""

from __future__ import annotations

import subprocess
import sys

from deployments import PROGRAMS, run


def test_functions_have_the_locale_and_the_modules_of_workers(tmp_path):
    subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=True
    )
    (tmp_path / "beside_the_program.py").write_text("VALUE = 7\n")
    program = [sys.executable, PROGRAMS / "surroundings.py"]
    output = run(program, tmp_path, LOCPATH=str(tmp_path), LANG="de_DE.UTF-8", LC_ALL="")

    found = [line for line in output.splitlines() if line.startswith("FOUND ")]
    assert found == ["FOUND process March 1234.5 7", "FOUND thread March 1234.5 7"]
