#!/usr/bin/env python3
"""Builds PyFlow against the newest PySpark that pip finds, and reports what breaks.

Pre-releases count. What is compiled are the sources for that version, or for the newest one that
PyFlow has. Where they compile, the slice of the tests runs, too.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venvs" / "spark-next"
PYTHON = ENVIRONMENT / "bin" / "python"
LOG = ROOT / "build" / "spark-next.log"


def run(*command):
    """Run a command, and return whether it succeeds and what it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, done.stdout


def demand(*command):
    """Run what has to succeed."""
    succeeds, printed = run(*command)
    if not succeeds:
        sys.exit(printed)
    return printed


def make_environment():
    """Install the newest PySpark with what the tests need, and return its directory."""
    if not PYTHON.exists():
        demand(ROOT / ".venv" / "bin" / "python", "-m", "venv", ENVIRONMENT)
    install = (PYTHON, "-m", "pip", "install", "--quiet")
    demand(*install, "--requirement", ROOT / "requirements" / "test.txt")
    demand(*install, "--upgrade", "--pre", "pyspark")
    demand(*install, "--no-deps", "--no-build-isolation", "--editable", ROOT)
    return demand(PYTHON, "-c", "import pyspark; print(pyspark.__path__[0])").strip()


def sources_for(minor):
    """Return the version whose sources are tried: that minor version, or else the newest one."""
    names = [path.name for path in (ROOT / "jvm" / "src").glob("spark-4.*")]
    minors = {name[len("spark-") :] for name in names if not name.endswith("-plus")}
    newest = max(minors, key=lambda each: [int(number) for number in each.split(".")])
    return minor if minor in minors else newest


def report_compilation(printed):
    """Print how many errors there are in which file, and each of them."""
    errors = re.findall(r"^(\S+\.(?:scala|java)):(\d+): (?:error: )?(.*)$", printed, re.MULTILINE)
    for file, count in Counter(file for file, _, _ in errors).most_common():
        print(f"{count:4} in {Path(file).relative_to(ROOT)}")
    for file, line, message in errors:
        print(f"{Path(file).name}:{line}: {message}")
    if not errors:
        print(printed)


def main():
    """Exit with 1 where something breaks."""
    pyspark = make_environment()
    version = demand(PYTHON, "-c", "import pyspark; print(pyspark.__version__)").strip()
    sources = sources_for(".".join(version.split(".")[:2]))
    print(f"PyFlow: the newest PySpark is {version}; sources of Spark {sources}", flush=True)
    gradle = ("gradle", "--no-daemon", "--console=plain", "--quiet")
    succeeds, printed = run(*gradle, f"-Psources={sources}", f"-Ppyspark={pyspark}", "jar")
    LOG.write_text(printed)
    if not succeeds:
        report_compilation(printed)
        sys.exit(f"PyFlow: does not compile, see {LOG}")
    print("PyFlow: compiles; running the slice of the tests", flush=True)
    succeeds, printed = run(
        PYTHON, "-m", "pytest", "-q", "-m", "slice", "-p", "no:cacheprovider",
        "--ignore", "tests/packaging", *sys.argv[1:],
    )  # fmt: skip
    LOG.write_text(printed)
    failures = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR "))]
    print("\n".join([*failures, printed.strip().rpartition("\n")[2]]))
    if not succeeds:
        sys.exit(f"PyFlow: tests fail, see {LOG}")


if __name__ == "__main__":
    main()
