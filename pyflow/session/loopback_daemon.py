"""What Spark starts in place of ``pyspark.daemon`` where functions run in the driver's Python.

It has the program open the socket that Spark's JVM asks workers of, and tells the JVM its address.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys

#: The variable that names the program's socket.
ADDRESS = "PYFLOW_LOOPBACK"


def main() -> None:
    """Introduce the JVM to the program, and stay until the JVM ends."""
    unix = os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", "false").lower() == "true"
    request = {
        "pid": os.getpid(),
        "reuse": bool(os.environ.get("SPARK_REUSE_WORKER")),
        "secret": None if unix else os.environ["PYTHON_WORKER_FACTORY_SECRET"],
        "directory": os.environ["PYTHON_WORKER_FACTORY_SOCK_DIR"] if unix else None,
        "ipv6": os.environ.get("SPARK_PREFER_IPV6", "false").lower() == "true",
    }
    with socket.socket(socket.AF_UNIX) as program:
        program.connect(os.environ[ADDRESS])
        program.sendall(json.dumps(request).encode() + b"\n")
        address = json.loads(program.makefile("rb").readline())
        sys.stdout.buffer.write(_encoded(address))
        sys.stdout.buffer.flush()
        # It asks for the end of workers, which are threads and cannot be killed.
        while sys.stdin.buffer.read(4):
            pass


def _encoded(address: int | str) -> bytes:
    if isinstance(address, int):
        return struct.pack("!i", address)
    path = address.encode()
    return struct.pack("!i", len(path)) + path


if __name__ == "__main__":
    main()
