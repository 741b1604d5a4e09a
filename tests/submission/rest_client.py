"""The service of ``pyflow rest`` as a process, and a client of it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import uuid
from contextlib import contextmanager

from submitted import PYFLOW

from deployments import environment
from sessions import base_conf, wait_until

TOKEN = "a-token-of-the-tests-0123456789"
ENDED = ("FINISHED", "FAILED", "CANCELED")


class Service:
    """A service that is started, ended, killed and started again.

    Parameters
    ----------
    home : Path
        Where it runs, with the registry of its user.
    flags : str
        Of the command.
    connection : callable
        That is asked by.
    """

    def __init__(self, home, *flags, connection=http.client.HTTPConnection):
        self.home = home
        self.directory = home / "rest"
        self.log = home / "rest.log"
        self._flags = flags
        self._connection = connection
        self.process = None
        self.port = None

    def start(self, **variables):
        conf = {"spark.log.level": "ERROR", **base_conf()}
        settings = [word for key, value in conf.items() for word in ("-D", f"{key}={value}")]
        command = [*PYFLOW, "rest", "--port", "0", "--directory", self.directory, "-t", "local[1]"]
        own = {"XDG_STATE_HOME": str(self.home / "state"), "PYFLOW_REST_TOKEN": TOKEN}
        given = {**environment(), **own, **variables}
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in (*command, *settings, *self._flags)],
                cwd=self.home,
                env={key: value for key, value in given.items() if value is not None},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

        def serves():
            assert self.process.poll() is None, self.log.read_text()
            return re.search(r"Serving at \w+://[^ ]+:(\d+)", self.log.read_text()[before:])

        wait_until(serves, "the service", 60, every=0.05)
        self.port = int(serves()[1])
        return self

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(30)
        self.process = None
        return code

    def ask(self, method, path, body=None, token=TOKEN, **headers):
        """The status and the text of an answer."""
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        connection = self._connection("127.0.0.1", self.port, timeout=180)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def did(self, method, path, body=None, status=200):
        """The answer to a request that is served."""
        found, text = self.ask(method, path, body)
        assert found == status, text
        return json.loads(text)

    def refused(self, method, path, body=None, **headers):
        """The status and the reason of a request that is refused."""
        status, text = self.ask(method, path, body, **headers)
        (reason,) = json.loads(text)["errors"]
        return status, reason

    def upload(self, name, content, **headers):
        """The status and the answer to an upload."""
        boundary = uuid.uuid4().hex
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="artifact"; filename="{name}"'
            "\r\nContent-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        headers["Content-Type"] = f"multipart/form-data; boundary={boundary}"
        status, text = self.ask("POST", "/artifacts", body, **headers)
        return status, json.loads(text)

    def uploaded(self, name, content):
        """The id of an artifact that is uploaded."""
        status, answer = self.upload(name, content)
        assert status == 200, answer
        return answer["id"]

    def ran(self, artifact, **body):
        """The id of a job that is started."""
        return self.did("POST", f"/artifacts/{artifact}/run", body)["jobid"]

    def state(self, job):
        return self.did("GET", f"/jobs/{job}/status")["status"]

    def plan(self, artifact, query=""):
        """The plan of a program's first job."""
        return self.did("GET", f"/artifacts/{artifact}/plan{query}")["plan"]

    def wait_for_state(self, job, *states, seconds=120):
        wait_until(lambda: self.state(job) in states, states, seconds, every=0.3)

    def wait_for_log(self, job, text, seconds=120):
        def has_printed():
            assert self.state(job) not in ENDED or text in self.logs(job), self.logs(job)
            return text in self.logs(job)

        wait_until(has_printed, text, seconds, every=0.3)

    def logs(self, job, query=""):
        return self.ask("GET", f"/jobs/{job}/logs{query}")[1]

    def files(self):
        """What is in the store: directories of artifacts, and what is being received."""
        return [
            path.relative_to(self.directory).as_posix()
            for folder in ("artifacts", "received")
            for path in (self.directory / folder).rglob("*")
            if path.is_file()
        ]


@contextmanager
def serving(home, *flags):
    """A service whose jobs are ended with it."""
    service = Service(home, *flags)
    try:
        yield service.start()
    except BaseException:
        print(service.log.read_text()[-4000:])
        raise
    finally:
        if service.process is None or service.process.poll() is not None:
            service.start()
        for each in service.did("GET", "/jobs")["jobs"]:
            if each["status"] not in ENDED:
                service.ask("PATCH", f"/jobs/{each['id']}")
                service.wait_for_state(each["id"], *ENDED)
        service.end()


def memory_of(process):
    """The resident bytes of a process."""
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
