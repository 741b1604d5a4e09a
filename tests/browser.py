"""A page in headless Chromium, as its remote debugging protocol tells of it.

Tornado, which Bokeh brings, has the client of WebSockets.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import signal
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

from sessions import wait_until

_SECONDS = 60

# Also of what is in shadow roots, where Bokeh has all.
_TEXT = """(function text(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (['SCRIPT', 'STYLE'].includes(node.nodeName)) return '';
    const inside = node.shadowRoot ? text(node.shadowRoot) : '';
    return inside + Array.from(node.childNodes).map(text).join(' ');
})(document.body)"""


class Page:
    """A page that is open.

    Parameters
    ----------
    socket
        Where its messages go.
    loop
        What runs them.
    """

    def __init__(self, socket: WebSocketClientConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._socket = socket
        self._loop = loop
        self._number = 0

    def text(self) -> str:
        """Return its text."""
        found = self._call("Runtime.evaluate", expression=_TEXT, returnByValue=True)
        return str(found["result"].get("value"))

    def write_picture(self, path: Path) -> None:
        """Write what it shows as PNG."""
        found = self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        answer = asyncio.wait_for(self._answer(message), _SECONDS)
        found = self._loop.run_until_complete(answer)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']}")
        result: dict[str, Any] = found["result"]
        return result

    async def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        await self._socket.write_message(json.dumps(message))
        while True:
            text = await self._socket.read_message()
            if text is None:
                raise RuntimeError("the browser has ended")
            found: dict[str, Any] = json.loads(text)
            if found.get("id") == message["id"]:
                return found


@contextmanager
def opened(address: str, folder: Path, width: int, height: int) -> Iterator[Page]:
    """A page at an address, in a browser that ends with it.

    Parameters
    ----------
    folder
        Of the browser's profile and log.
    width, height
        Of its window, in pixels.
    """
    log = folder / "chromium.log"
    command = [
        *("chromium-headless-shell", "--no-sandbox", "--disable-gpu"),
        *("--remote-debugging-port=0", f"--user-data-dir={folder / 'chromium'}"),
        f"--window-size={width},{height}",
    ]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            start_new_session=True,
        )
    loop = asyncio.new_event_loop()
    try:
        listening = re.compile(r"DevTools listening on ws://([\d.:]+)/")
        wait_until(lambda: listening.search(log.read_text()), "the browser listens", _SECONDS)
        found = listening.search(log.read_text())
        assert found is not None
        made = urllib.request.Request(
            f"http://{found[1]}/json/new?{urllib.parse.quote(address, safe=':/')}", method="PUT"
        )
        with urllib.request.urlopen(made, timeout=_SECONDS) as answer:
            url = json.load(answer)["webSocketDebuggerUrl"]

        async def connected() -> WebSocketClientConnection:
            return await websocket_connect(url, max_message_size=1 << 26)

        yield Page(loop.run_until_complete(connected()), loop)
    finally:
        # The command is a script, which starts the browser.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        loop.close()
