"""What the build needs from the machine: what is missing, and how it gets there.

Python, a JDK 17 and a C++ compiler are the user's to provide; a fault says what to do. The rest
comes through apt-get, as root or through sudo.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import find_pythons

OLDEST_JAVA = 17
NO_JDK = """\
{found}. PyFlow is built with a JDK 17 or newer:
  Debian, Ubuntu:  apt-get install openjdk-17-jdk-headless
or set JAVA_HOME to one."""
NO_COMPILER = """\
{found}. PyFlow's native bridge needs one that knows C++17:
  Debian, Ubuntu:  apt-get install g++
or set CXX to one."""
NO_GRADLE = """\
no Gradle on PATH. PyFlow is built with Gradle 4.4 or newer:
  Debian, Ubuntu:  apt-get install gradle"""

# Command and the Debian package that brings it.
TOOLS = {"gradle": "gradle", "cmake": "cmake", "npm": "npm"}
# What tests and examples start. None of these packages starts a service.
TEST_TOOLS = {
    "mariadbd": "mariadb-server-core",
    "my_print_defaults": "mariadb-client-core",
    "chromium-headless-shell": "chromium-headless-shell",
    "locale-gen": "locales",
}

# A server of RabbitMQ, and Erlang. They are unpacked, since they start services where installed.
RABBITMQ_PACKAGES = [
    "rabbitmq-server",
    "erlang-base",
    "erlang-asn1",
    "erlang-crypto",
    "erlang-eldap",
    "erlang-inets",
    "erlang-mnesia",
    "erlang-os-mon",
    "erlang-public-key",
    "erlang-runtime-tools",
    "erlang-ssl",
    "erlang-syntax-tools",
    "erlang-tools",
    "erlang-xmerl",
]


def output_of(command):
    """Return what a command prints, or None when it does not run or fails."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.decode(errors="replace")


def jdk_fault():
    """Return why there is no JDK to build with, or None."""
    home = os.environ.get("JAVA_HOME")
    javac = os.path.join(home, "bin", "javac") if home else shutil.which("javac")
    if javac is None:
        java = shutil.which("java")
        found = f"{java} comes without a compiler (javac)" if java else "no JDK on PATH"
        return NO_JDK.format(found=found)
    version = output_of([javac, "-version"])
    if version is None:
        return NO_JDK.format(found=f"no JDK: {javac} does not run")
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    feature = numbers[1] if numbers[0] == 1 else numbers[0]
    if feature < OLDEST_JAVA:
        return NO_JDK.format(found=f"{javac} is of Java {feature}")
    return None


def compiler_fault():
    """Return why there is no C++ compiler, or None. Looks where CMake looks."""
    named = os.environ.get("CXX")
    for name in [named.split()[0]] if named else ["c++", "g++", "clang++"]:
        if shutil.which(name) and output_of([name, "--version"]) is not None:
            return None
    found = f"the C++ compiler CXX={named} does not run" if named else "no C++ compiler on PATH"
    return NO_COMPILER.format(found=found)


def faults_of_build():
    """Return all that keeps `gradle jar` from working on this machine."""
    faults = [jdk_fault(), compiler_fault()]
    if not shutil.which("gradle"):
        faults.append(NO_GRADLE)
    usable, rejected = find_pythons.find(find_pythons.candidates())
    if not usable:
        faults += [find_pythons.sentence(*python) for python in rejected]
        faults.append(find_pythons.NOTHING_SUITABLE)
    return [f"PyFlow: {fault}" for fault in faults if fault]


def debian_packages(usable, rejected, tools):
    """Return the Debian packages that are missing for the tools, the Pythons and their venvs."""
    path = os.environ.get("PATH", "") + ":/usr/sbin"
    packages = [
        package for command, package in tools.items() if not shutil.which(command, path=path)
    ]
    for python in usable or [python for python, _ in rejected]:
        # Debian splits its Python: executable, headers with shared library, and venv.
        if not python["executable"].startswith("/usr/bin/"):
            continue
        if not usable:
            packages.append(f"python{python['minor']}-dev")
        if output_of([python["executable"], "-c", "import ensurepip, venv"]) is None:
            packages.append(f"python{python['minor']}-venv")
    return packages


def as_root():
    """Return what comes before a command that root alone may run."""
    return [] if os.geteuid() == 0 else ["sudo", "-n"]


def install(packages):
    """Install Debian packages, or end with the command that would."""
    command = [*as_root(), "apt-get", "install", "--yes", "--no-install-recommends", *packages]
    by_hand = "apt-get install --no-install-recommends " + " ".join(packages)
    if shutil.which("apt-get") is None or (as_root() and output_of([*as_root(), "true"]) is None):
        sys.exit(f"PyFlow: missing here: {' '.join(packages)}. As root: {by_hand}")
    print(f"PyFlow: installing with apt-get: {' '.join(packages)}", flush=True)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for step in ([*as_root(), "apt-get", "--quiet", "update"], command):
        if subprocess.run(step, stdin=subprocess.DEVNULL, env=environment).returncode:
            sys.exit(f"PyFlow: {' '.join(step)} failed")


def unpack_rabbitmq(target):
    """Unpack a server of RabbitMQ into a directory that is not there, or end with the reason."""
    if os.path.exists(target):
        return
    if shutil.which("apt-get") is None:
        sys.exit(
            "PyFlow: the tests need a RabbitMQ server of Debian's, and there is no apt-get here"
        )
    parent = os.path.dirname(target)
    os.makedirs(parent, exist_ok=True)
    print("PyFlow: fetching a RabbitMQ server with apt-get", flush=True)
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        # apt-get downloads as a user of its own, where it may.
        os.chmod(folder, 0o777)
        made = os.path.join(folder, "unpacked")
        download = ["apt-get", "--quiet", "--quiet", "download", *RABBITMQ_PACKAGES]
        # The first time may find no list of packages, or an old one.
        for step in (download, [*as_root(), "apt-get", "--quiet", "update"], download):
            failed = subprocess.run(step, cwd=folder, stdin=subprocess.DEVNULL).returncode
            if step is download and not failed:
                break
        else:
            sys.exit(f"PyFlow: {' '.join(download)} failed")
        for package in glob.glob(os.path.join(folder, "*.deb")):
            subprocess.run(["dpkg-deb", "--extract", package, made], check=True)
        # The start script of Erlang says where that is.
        script = os.path.join(made, "usr", "lib", "erlang", "bin", "erl")
        with open(script) as file:
            text = file.read()
        with open(script, "w") as file:
            file.write(text.replace("=/usr/lib/erlang", f"={target}/usr/lib/erlang"))
        os.rename(made, target)


def prepare(purposes):
    """Install what is missing for the purposes; return the Pythons to build for, newest first.

    Ends the program with what to do when there is something that only the user can provide.
    """
    faults = [fault for fault in (jdk_fault(), compiler_fault()) if fault]
    if faults:
        sys.exit("\n".join(f"PyFlow: {fault}" for fault in faults))
    usable, rejected = find_pythons.find(find_pythons.candidates())
    tools = {**TOOLS, **(TEST_TOOLS if "test" in purposes else {})}
    packages = debian_packages(usable, rejected, tools)
    if packages:
        install(packages)
        usable, rejected = find_pythons.find(find_pythons.candidates())
    for python in rejected:
        print("PyFlow: skipping " + find_pythons.sentence(*python), flush=True)
    if not usable:
        sys.exit("PyFlow: " + find_pythons.NOTHING_SUITABLE)
    return usable
