"""A client of the Debug Adapter Protocol, as an editor has one."""

from __future__ import annotations

import json
import socket
import time


class DapClient:
    """A connection to a debugger that listens.

    Parameters
    ----------
    host : str
    port : int
    """

    def __init__(self, host, port):
        self._socket = socket.create_connection((host, port), timeout=60)
        self._stream = self._socket.makefile("rb")
        self._number = 0
        self._events = []
        self._answers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()
        self._socket.close()

    def send(self, command, **arguments):
        """Send a request; return its number."""
        self._number += 1
        request = {"seq": self._number, "type": "request", "command": command}
        body = json.dumps({**request, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._number

    def answer(self, number):
        """The body of the answer to a request, which has to be a success."""
        while number not in self._answers:
            self._receive()
        answer = self._answers.pop(number)
        assert answer["success"], answer
        return answer.get("body", {})

    def ask(self, command, **arguments):
        return self.answer(self.send(command, **arguments))

    def event(self, name, seconds=60):
        """The body of the next event of a name."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event in self._events:
                if event["event"] == name:
                    self._events.remove(event)
                    return event.get("body", {})
            self._receive()
        raise AssertionError(f"no event {name} within {seconds} s")

    def attach(self, breakpoints):
        """Attach with breakpoints: lines by file."""
        self.ask("initialize", adapterID="tests", pathFormat="path", linesStartAt1=True)
        attached = self.send("attach", justMyCode=True)
        self.event("initialized")
        for file, lines in breakpoints.items():
            self.ask(
                "setBreakpoints",
                source={"path": str(file)},
                breakpoints=[{"line": line} for line in lines],
            )
        self.ask("configurationDone")
        self.answer(attached)

    def stopped(self):
        """The thread that has stopped, its innermost frame, and the variables there."""
        thread = self.event("stopped")["threadId"]
        frame = self.ask("stackTrace", threadId=thread)["stackFrames"][0]
        scopes = self.ask("scopes", frameId=frame["id"])["scopes"]
        variables = self.ask("variables", variablesReference=scopes[0]["variablesReference"])
        return thread, frame, {each["name"]: each["value"] for each in variables["variables"]}

    def _receive(self):
        size = None
        while (line := self._stream.readline().strip()) or size is None:
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        message = json.loads(self._stream.read(size))
        if message["type"] == "event":
            self._events.append(message)
        elif message["type"] == "response":
            self._answers[message["request_seq"]] = message
