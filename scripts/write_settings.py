"""Writes the reference of all settings, as the jar prints it, into a page of the documentation."""

import re
import subprocess
import sys
from pathlib import Path

import pyspark

import pyflow

BEGIN = "<!-- written by `make docs` from PyFlowConf.scala -->\n"
END = "<!-- end -->\n"


def settings():
    """Return the Markdown table of all settings."""
    spark_jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = ["java", "-cp", f"{pyflow.jar_path()}:{spark_jars}", "io.pyflow.config.PyFlowConf"]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    ).stdout


def with_settings(page, table):
    """Return a page with the part between its marks replaced."""
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    return re.sub(pattern, lambda _: BEGIN + table + END, page, flags=re.DOTALL)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_settings(path.read_text(), settings()))
