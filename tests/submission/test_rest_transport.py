"""TLS, full disks and a soak of ``pyflow rest``."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

import pytest

pytest.importorskip("fastapi")

from rest_client import ENDED, Service, memory_of, serving
from submitted import PYFLOW

from deployments import ended, run
from sessions import wait_until

HELLO = b"print('hello')\n"
SLEEPING = b"import time\n\nprint('sleeping', flush=True)\ntime.sleep(600)\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """The files of a certificate for the loopback device, and of its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    folder = tmp_path_factory.mktemp("certificate")
    files = folder / "certificate.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    run(
        [*made, "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]],
        ".",
    )
    return files


def test_requests_are_encrypted(certificate, tmp_path):
    file, key = certificate
    trusting = ssl.create_default_context(cafile=file)
    encrypted = partial(http.client.HTTPSConnection, context=trusting)
    flags = ("--certificate", file, "--key", key)
    service = Service(tmp_path, *flags, connection=encrypted).start()
    try:
        assert "Serving at https://127.0.0.1:" in service.log.read_text()
        service.uploaded("hello.py", HELLO)
        plain = f"http://127.0.0.1:{service.port}/overview"
        with pytest.raises((OSError, http.client.HTTPException)):
            urllib.request.urlopen(plain, timeout=30)
    finally:
        service.end()


def test_a_certificate_that_is_none_is_refused(tmp_path):
    (tmp_path / "none.pem").write_text("none")
    command = [*PYFLOW, "rest", "--directory", tmp_path / "rest", "--certificate"]
    for file in ("none.pem", "missing.pem"):
        refused = ended([*command, file], tmp_path)
        assert refused.returncode == 2
        assert "pyflow rest: --certificate:" in refused.stdout


def test_an_address_that_is_taken_is_refused(tmp_path):
    with serving(tmp_path) as service:
        other = [*PYFLOW, "rest", "--directory", tmp_path / "other", "--port", service.port]
        refused = ended(other, tmp_path)

    assert refused.returncode == 2
    assert "Address already in use" in refused.stdout


@contextmanager
def small_disk(path, size):
    """A file system of few bytes."""
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(path)]
    if os.getuid() != 0 or subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("a file system cannot be mounted")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(file):
    """Write a file until the disk is full."""
    with suppress(OSError), file.open("wb", buffering=0) as written:
        while True:
            written.write(bytes(4096))


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    service = Service(tmp_path)
    with small_disk(service.directory, 4 << 20):
        service.start()
        try:
            kept = service.uploaded("kept.py", HELLO)
            for size in (2 << 20, 6 << 20):
                status, answer = service.upload("large.py", b"#" * size)
                assert (status, answer) == (507, {"errors": ["the disk is full"]})
            assert service.files() == [f"artifacts/{kept}/kept.py"]
            service.uploaded("after.py", HELLO)
            filled = service.directory / "filled"
            fill(filled)
            status, answer = service.upload("later.py", HELLO)
            assert (status, answer) == (507, {"errors": ["the disk is full"]})
            status, reason = service.refused("POST", f"/artifacts/{kept}/run")
            assert (status, reason) == (507, "the disk is full")
            assert service.did("GET", "/jobs")["jobs"] == []
            filled.unlink()
            assert len(service.files()) == 2
            service.end(signal.SIGKILL)
            service.start()
            assert len(service.did("GET", "/artifacts")["artifacts"]) == 2
        finally:
            service.end()


@pytest.mark.complete
def test_a_soak_leaves_memory_flat_and_nothing_over(tmp_path):
    """Rounds of uploads, runs, cancels and restarts, for as many minutes as PYFLOW_SOAK has."""
    minutes = float(os.environ.get("PYFLOW_SOAK", "0"))
    end = time.monotonic() + minutes * 60
    repeated = 40 if minutes else 4
    with serving(tmp_path, "--max-ended", "4") as service, ThreadPoolExecutor(8) as clients:

        def upload(number):
            return service.uploaded(f"hello{number % 20}.py", HELLO + b"#" * (number << 10))

        def refuse(number):
            assert service.upload(f"wrong{number}.zip", bytes(1 << 20))[0] == 400
            assert service.refused("GET", "/jobs/none", token="other")[0] == 401
            service.did("GET", "/jobs/overview")

        sleeping = service.uploaded("sleeping.py", SLEEPING)
        rounds = 0
        while rounds < 2 or time.monotonic() < end:
            rounds += 1
            # Of one process: another one begins with each round.
            memory = []
            for _ in range(repeated):
                made = set(clients.map(upload, range(100)))
                list(clients.map(refuse, range(40)))
                for each in made:
                    service.did("DELETE", f"/artifacts/{each}")
                memory.append(memory_of(service.process))
            print(f"{rounds}: {[each >> 20 for each in memory]} MiB")
            assert memory[-1] - memory[1] < 16 << 20, memory
            jobs = [service.ran(sleeping), service.ran(sleeping)]
            service.wait_for_log(jobs[0], "sleeping")
            service.end(signal.SIGKILL)
            service.start()
            for job in jobs:
                service.did("PATCH", f"/jobs/{job}", status=202)
            for job in jobs:
                service.wait_for_state(job, *ENDED)
        wait_until(lambda: len(service.did("GET", "/jobs")["jobs"]) <= 4, "jobs", 30)
        kept = {each["id"] for each in service.did("GET", "/jobs")["jobs"]}
        assert {path.name for path in (service.directory / "work").iterdir()} == kept
        registry = tmp_path / "state" / "pyflow" / "jobs"
        assert {path.name for path in registry.iterdir()} == kept
        for job in kept:
            process = json.loads((registry / job / "job.json").read_text())["process"]["pid"]
            assert not os.path.exists(f"/proc/{process}/environ") or is_other(process)
        assert service.files() == [f"artifacts/{sleeping}/sleeping.py"]


def is_other(process):
    """Whether a number is another process's now."""
    with open(f"/proc/{process}/cmdline") as file:
        return "sleeping.py" not in file.read()
