#!/usr/bin/env python3
"""Builds a CPython with a shared library, in build/python-VERSION. 3.14t is 3.14 without a GIL.

Takes the source from Debian's package of that minor version, whose index is signed: the newest one
of Debian's releases that the archive has. A mirror may have an index without the files that it
lists; then it is a version known here by its digest. The archive is the one that apt is configured
for on this machine. Installs what the build needs with apt-get. Does nothing when that Python is
there already.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile

import find_pythons
import machine

SUITES = ("stable", "testing", "unstable")
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

# Upstream version and SHA-256 of the tarball, from the signed .dsc of Debian's source package.
KNOWN = {
    "python3.13": (
        "3.13.15",
        "1e66a7945a48390ee4c2a4268a0e4185884059a13c4aab6d148aa208deea4a76",
    ),
    "python3.14": (
        "3.14.7",
        "3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81",
    ),
}
DOWNLOAD = "/usr/lib/apt/apt-helper"
BY_HAND = """\
Build CPython with --enable-shared, and with --disable-gil for a free-threaded one, and name it:
  PYFLOW_PYTHONS=/path/to/python3.14,..."""

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


def archives():
    """Return the addresses of Debian's archive in this machine's apt configuration."""
    listed = machine.output_of(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI)",
            "Created-By: Packages",
            "Origin: Debian",
            "Label: Debian",
        ]
    )
    return list(dict.fromkeys((listed or "").split()))


def configure_apt(work):
    """Return the environment in which apt-get knows only the archive's sources, below work."""
    found = archives()
    if not found:
        sys.exit("PyFlow: no archive of Debian among apt's sources. " + BY_HAND)
    apt = work / "apt"
    for directory in ("lists/partial", "cache/archives/partial"):
        (apt / directory).mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(
        "".join(
            f"deb-src [signed-by={KEYRING}] {archive} {suite} main\n"
            for archive in found
            for suite in SUITES
        )
    )
    (apt / "apt.conf").write_text(APT_CONFIGURATION.format(apt=apt))
    return dict(os.environ, APT_CONFIG=str(apt / "apt.conf"))


def fetch_source(package, work):
    """Download the newest source that can be had; return the upstream tarball and its version."""
    environment = configure_apt(work)
    run(["apt-get", "--quiet", "--quiet", "update"], env=environment)
    listed = subprocess.run(
        ["apt-cache", "showsrc", package],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    versions = set(re.findall(r"^Version: (.+)$", listed.stdout, re.MULTILINE))
    for version in sorted(versions, key=by_number, reverse=True):
        say(f"fetching the source of {package} {version}")
        command = ["apt-get", "--quiet", "source", "--download-only", f"{package}={version}"]
        if subprocess.run(command, cwd=work, env=environment).returncode == 0:
            upstream = version.rsplit("-", 1)[0]
            return work / f"{package}_{upstream}.orig.tar.xz", upstream
        say(f"the archive lists {version}, but does not have it")
    return fetch_known_source(package, work, environment)


def fetch_known_source(package, work, environment):
    """Download the source of KNOWN; return the upstream tarball and its version."""
    version, digest = KNOWN[package]
    name = f"{package}_{version}.orig.tar.xz"
    say(f"fetching {name}")
    for archive in archives():
        address = f"{archive.rstrip('/')}/pool/main/p/{package}/{name}"
        command = [DOWNLOAD, "download-file", address, work / name, f"SHA256:{digest}"]
        if subprocess.run(command, env=environment).returncode == 0:
            return work / name, version
    sys.exit(f"PyFlow: no version of Debian's source package {package} could be fetched")


def by_number(version):
    """Sort key for 3.13.5-2+deb13u5: 3.13.10-1 comes after 3.13.9-1."""
    return [int(number) for number in re.findall(r"\d+", version)]


def build(minor, tarball, prefix, work):
    """Unpack, configure, build and install."""
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(prefix, ignore_errors=True)
    with tarfile.open(tarball) as archive:
        archive.extractall(source)
    [directory] = source.iterdir()
    configure = [
        "./configure",
        "--quiet",
        f"--prefix={prefix}",
        *(["--disable-gil"] if minor.endswith("t") else []),
        "--enable-shared",
        "--disable-test-modules",
        f"LDFLAGS=-Wl,-rpath,{prefix}/lib",
    ]
    log = work / "build.log"
    say(f"building it below {directory}, see {log}")
    # Make hands on what its command line sets: VERSION, which is another one in CPython's Makefile.
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    with log.open("w") as output:
        for step in (
            configure,
            ["make", f"--jobs={os.cpu_count()}"],
            ["make", "install"],
        ):
            run(
                ["nice", *step],
                cwd=directory,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )


def run(command, **options):
    if subprocess.run(command, stdin=subprocess.DEVNULL, **options).returncode:
        sys.exit("PyFlow: failed: " + " ".join(map(str, command)))


def say(message):
    print("PyFlow: " + message, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minor", choices=find_pythons.MINORS, metavar="VERSION")
    minor = parser.parse_args().minor
    python = find_pythons.built_here(minor)
    prefix = python.parent.parent
    work = prefix.with_name(prefix.name + "-source")
    # Written last: an installation that was interrupted is done again.
    stamp = prefix / "built-from"
    if stamp.exists():
        say(f"Python {minor}, {stamp.read_text().strip()}, is there: {python}")
        return
    if shutil.which("apt-get") is None:
        sys.exit("PyFlow: no apt-get here. " + BY_HAND)
    missing = missing_packages()
    if missing:
        machine.install(missing)
    work.mkdir(parents=True, exist_ok=True)
    tarball, version = fetch_source("python" + minor.rstrip("t"), work)
    build(minor, tarball, prefix, work)
    run([python, "-c", "import ctypes, ssl"])
    stamp.write_text(version + "\n")
    shutil.rmtree(work)
    say(f"built Python {minor}, {version}: {python}")


if __name__ == "__main__":
    main()
