"""The process of the service: its directory, its token and its socket."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import socket
import ssl
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import uvicorn

from pyflow.cli.service import app
from pyflow.cli.service.database import Database
from pyflow.cli.service.guard import Guard
from pyflow.cli.service.jobs import Jobs
from pyflow.cli.service.limits import Limits
from pyflow.cli.service.plans import Plans
from pyflow.cli.service.store import Store
from pyflow.cli.submission.errors import SubmissionError

# The variable that may name the token; programs do not get it.
_TOKEN = "PYFLOW_REST_TOKEN"
_LOOPBACK = ("127.", "::1", "localhost")
_LENGTH = 16
_END_SECONDS = 5


class Server:
    """The service.

    Parameters
    ----------
    directory : Path
        Where it keeps what it has; its alone as long as it runs.
    limits : Limits
    target : str, optional
        Where programs run unless they say otherwise.
    settings : mapping of str to str
        Which they have unless they say otherwise.

    Raises
    ------
    SubmissionError
        If another service has the directory.
    """

    def __init__(
        self, directory: Path, limits: Limits, target: str | None, settings: Mapping[str, str]
    ) -> None:
        self._directory = directory.absolute()
        self._limits = limits
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._directory.stat().st_uid != os.getuid():
            raise SubmissionError(f"{directory} belongs to another user")
        self._lock = (self._directory / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SubmissionError(f"another service has {directory}") from None
        self._database = Database(self._directory / "service.db")
        self._store = Store(self._directory, self._database, limits)
        self._jobs = Jobs(self._directory, self._database, self._store, limits, target, settings)
        self._plans = Plans(self._directory, self._jobs)
        self._store.clean()
        self._jobs.clean()
        self._plans.clean()
        # Forms are written there while they are read.
        tempfile.tempdir = str(self._store.received)

    def serve(
        self,
        address: tuple[str, int],
        token_file: Path | None,
        certificate: str | None,
        key: str | None,
    ) -> None:
        """Serve until a signal comes.

        Raises
        ------
        SubmissionError
            If the token, the certificate or the address cannot be used.
        """
        token, origin = self._token(token_file)
        if key is not None and certificate is None:
            raise SubmissionError("--key is that of a --certificate")
        application = app.made(self._database, self._store, self._jobs, self._plans, self._limits)
        config = uvicorn.Config(
            Guard(application, token, self._limits.upload),
            access_log=False,
            log_level="warning",
            limit_concurrency=self._limits.clients,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            server_header=False,
            timeout_graceful_shutdown=_END_SECONDS,
        )
        try:
            config.load()
        except (OSError, ssl.SSLError) as error:
            raise SubmissionError(f"--certificate: {error}") from None
        host, port = address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=2048)
        scheme = "http" if certificate is None else "https"
        shown = f"[{host}]" if ":" in host else host
        if certificate is None and not host.startswith(_LOOPBACK):
            print(
                "pyflow rest: token and programs are sent in the clear: use --certificate and "
                "--key",
                file=sys.stderr,
            )
        print(
            f"Serving at {scheme}://{shown}:{listening.getsockname()[1]}, token {origin}",
            flush=True,
        )
        _Serving(config, self._plans).run(sockets=[listening])

    def _token(self, file: Path | None) -> tuple[str, str]:
        """Return the token, and where it is from."""
        given = os.environ.pop(_TOKEN, None)
        if file is None and given is not None:
            return _checked(given, _TOKEN), f"of {_TOKEN}"
        path = file or self._directory / "token"
        if file is None and not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w") as made:
                made.write(f"{secrets.token_urlsafe(32)}\n")
        return _checked(path.read_text().strip(), str(path)), f"in {path}"


class _Serving(uvicorn.Server):
    """Ends plans before it waits for answers."""

    def __init__(self, config: uvicorn.Config, plans: Plans) -> None:
        super().__init__(config)
        self._plans = plans

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.to_thread(self._plans.end)
        await super().shutdown(sockets)


def _checked(token: str, origin: str) -> str:
    if len(token) < _LENGTH or not token.isascii() or not token.isprintable() or " " in token:
        raise SubmissionError(
            f"{origin}: a token has at least {_LENGTH} characters, without spaces"
        )
    return token
