"""Writes an archive of Spark's classes, from which the JVMs of the tests start in less time.

    python archive_classes.py ARCHIVE

Other JVMs map the classes (-XX:SharedArchiveFile), if they are the same Java with the same jars.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyflow.cli import archive

if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"
    archive.write(Path(sys.argv[1]).resolve())
