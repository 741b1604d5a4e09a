"""What every request passes: its token, and the size of its body."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pyflow.cli.service.errors import RefusedError

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]

# Of a body that is JSON.
_BODY = 1 << 20
# What stands around a file in a form.
_FORM = 1 << 16
# How much of a body that is too large is read, for clients that read no answer before it is sent.
_DRAINED = 4


class Guard:
    """Refuses requests without the token, and stops bodies that are too large.

    Parameters
    ----------
    app : callable
        What is guarded, by the interface ASGI.
    token : str
    upload : int
        Bytes that a file may have.
    """

    def __init__(self, app: _App, token: str, upload: int) -> None:
        self._app = app
        self._token = token.encode()
        self._upload = upload

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if not self._is_known(headers.get(b"authorization", b""), scope["method"]):
            reason = "the request has no token, or another: Authorization: Bearer TOKEN"
            challenge = [(b"www-authenticate", b'Bearer, Basic realm="pyflow"')]
            await _answer(send, RefusedError(401, reason), challenge)
            return
        is_upload = scope["path"] == "/artifacts" and scope["method"] == "POST"
        limit = self._upload + _FORM if is_upload else _BODY
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit:
            await _drain(receive, int(length) if int(length) <= _DRAINED * limit else 0)
            await _answer(send, _too_large(limit))
            return
        size = 0

        async def receive_limited() -> _Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                if message.get("more_body"):
                    await _drain(receive, (_DRAINED - 1) * limit)
                raise _too_large(limit)
            return message

        await self._app(scope, receive_limited, send)

    def _is_known(self, authorization: bytes, method: str) -> bool:
        scheme, _, value = authorization.partition(b" ")
        if scheme.lower() == b"basic" and method in ("GET", "HEAD"):
            # A browser asks for it, and sends it along from then on; it may not change anything so.
            try:
                _, _, value = base64.b64decode(value, validate=True).partition(b":")
            except binascii.Error:
                return False
        elif scheme.lower() != b"bearer":
            return False
        return hmac.compare_digest(value.strip(), self._token)


def _too_large(limit: int) -> RefusedError:
    return RefusedError(413, f"the request has more than {limit} bytes")


async def _drain(receive: _Receive, rest: int) -> None:
    while rest > 0:
        message = await receive()
        rest -= len(message.get("body", b""))
        if not message.get("more_body"):
            return


async def _answer(
    send: _Send, refused: RefusedError, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = json.dumps({"errors": [refused.reason]}).encode()
    lines = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *(headers or []),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": lines})
    await send({"type": "http.response.body", "body": body})
