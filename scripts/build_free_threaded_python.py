#!/usr/bin/env python3
"""Builds a free-threaded CPython 3.13 with a shared library, in build/python-free-threaded.

Takes the source from Debian's package python3.13, whose index is signed: the newest version of
trixie and sid that the archive still has. Installs what the build needs with apt-get. Does nothing
when that Python is there already.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent
PREFIX = ROOT / "build" / "python-free-threaded"
WORK = ROOT / "build" / "python-free-threaded-source"
PACKAGE = "python3.13"
SUITES = ("trixie", "sid")
ARCHIVE = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# Without these, modules are missing that pip, pyarrow and pandas import.
BUILD_PACKAGES = (
    "debian-archive-keyring",
    "gcc",
    "libbz2-dev",
    "libffi-dev",
    "liblzma-dev",
    "libssl-dev",
    "make",
    "pkg-config",
    "zlib1g-dev",
)

APT_CONFIGURATION = """\
Dir::Etc::SourceList "{apt}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "{apt}/lists";
Dir::Cache "{apt}/cache";
APT::Sandbox::User "";
Acquire::Languages "none";
"""


def missing_packages():
    """Return the Debian packages that the build needs and this machine lacks."""
    return [
        package
        for package in BUILD_PACKAGES
        if "install ok installed"
        not in (
            machine.output_of(["dpkg-query", "--show", "--showformat=${Status}", package]) or ""
        )
    ]


def configure_apt():
    """Return the environment in which apt-get knows only the sources' archive, below WORK."""
    apt = WORK / "apt"
    for directory in ("lists/partial", "cache/archives/partial"):
        (apt / directory).mkdir(parents=True, exist_ok=True)
    line = "deb-src [signed-by={}] {} {} main\n"
    (apt / "sources.list").write_text(
        "".join(line.format(KEYRING, ARCHIVE, suite) for suite in SUITES)
    )
    (apt / "apt.conf").write_text(APT_CONFIGURATION.format(apt=apt))
    return dict(os.environ, APT_CONFIG=str(apt / "apt.conf"))


def fetch_source():
    """Download the newest source that can be had; return the upstream tarball and its version."""
    environment = configure_apt()
    run(["apt-get", "--quiet", "--quiet", "update"], env=environment)
    listed = subprocess.run(
        ["apt-cache", "showsrc", PACKAGE],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    versions = set(re.findall(r"^Version: (.+)$", listed.stdout, re.MULTILINE))
    for version in sorted(versions, key=by_number, reverse=True):
        say(f"fetching the source of {PACKAGE} {version}")
        command = ["apt-get", "--quiet", "source", "--download-only", f"{PACKAGE}={version}"]
        if subprocess.run(command, cwd=WORK, env=environment).returncode == 0:
            upstream = version.rsplit("-", 1)[0]
            return WORK / f"{PACKAGE}_{upstream}.orig.tar.xz", upstream
        say(f"the archive lists {version}, but does not have it")
    sys.exit(f"PyFlow: no version of Debian's source package {PACKAGE} could be fetched")


def by_number(version):
    """Sort key for 3.13.5-2+deb13u5: 3.13.10-1 comes after 3.13.9-1."""
    return [int(number) for number in re.findall(r"\d+", version)]


def build(tarball):
    """Unpack, configure, build and install."""
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(PREFIX, ignore_errors=True)
    with tarfile.open(tarball) as archive:
        archive.extractall(source)
    [directory] = source.iterdir()
    configure = [
        "./configure",
        "--quiet",
        f"--prefix={PREFIX}",
        "--disable-gil",
        "--enable-shared",
        "--disable-test-modules",
        f"LDFLAGS=-Wl,-rpath,{PREFIX}/lib",
    ]
    log = WORK / "build.log"
    say(f"building it below {directory}, see {log}")
    with log.open("w") as output:
        for step in (
            configure,
            ["make", f"--jobs={os.cpu_count()}"],
            ["make", "install"],
        ):
            run(["nice", *step], cwd=directory, stdout=output, stderr=subprocess.STDOUT)


def run(command, **options):
    if subprocess.run(command, stdin=subprocess.DEVNULL, **options).returncode:
        sys.exit("PyFlow: failed: " + " ".join(map(str, command)))


def say(message):
    print("PyFlow: " + message, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    # Written last: an installation that was interrupted is done again.
    stamp = PREFIX / "built-from"
    python = PREFIX / "bin" / (PACKAGE + "t")
    if stamp.exists():
        say(f"free-threaded Python {stamp.read_text().strip()} is there: {python}")
        return
    if shutil.which("apt-get") is None:
        sys.exit(
            "PyFlow: no apt-get here. Build CPython 3.13 with --disable-gil and --enable-shared, "
            "and name it: PYFLOW_PYTHONS=/path/to/python3.13t,..."
        )
    missing = missing_packages()
    if missing:
        machine.install(missing)
    WORK.mkdir(parents=True, exist_ok=True)
    tarball, version = fetch_source()
    build(tarball)
    stamp.write_text(version + "\n")
    shutil.rmtree(WORK)
    say(f"built free-threaded Python {version}: {python}")


if __name__ == "__main__":
    main()
