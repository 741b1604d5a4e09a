"""The row codec's C interface (native/src/codec_test.h) as a Python class."""

from __future__ import annotations

import enum
import fcntl
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import cffi
from pyspark.sql.types import StructType

from pyflow.thread_mode.types import describe

ROOT = Path(__file__).resolve().parent.parent.parent
HEADER = ROOT / "native" / "src" / "codec_test.h"

#: Where CMake builds; `make sanitize` names the directory of its instrumented build.
BUILD = Path(os.environ.get("PYFLOW_NATIVE_BUILD", ROOT / "build" / "native"))


class Inexact(enum.Enum):
    """The codec leaves a value to PySpark's own converter."""

    INEXACT = "inexact"


INEXACT = Inexact.INEXACT


class CodecError(Exception):
    """A call failed; the message is the repr of the Python exception."""


class Codec:
    """Encodes and decodes rows of a struct type.

    With `arrow` as for Arrow-optimised functions, otherwise as for pickled ones.
    """

    def __init__(
        self, struct_type: StructType, arrow: bool = False, binary_as_bytes: bool = True
    ) -> None:
        self._ffi, self._library = load()
        self._width = len(struct_type)
        self.descriptor = describe(struct_type)
        self._handle = self._library.pyflow_codec_open(id(self.descriptor), arrow, binary_as_bytes)
        if not self._handle:
            raise CodecError(f"no codec for {struct_type.simpleString()}")
        self._row = self._ffi.new("const uint8_t **")
        self._size = self._ffi.new("size_t *")

    def encode(self, values: tuple[Any, ...]) -> bytes | Inexact:
        """The row that holds `values`, one for each field."""
        row, exact = self.encode_exact(values)
        return row if exact else INEXACT

    def encode_exact(self, values: tuple[Any, ...]) -> tuple[bytes, bool]:
        """The row with nulls for the values that are inexact, and whether none is."""
        assert len(values) == self._width
        outcome = self._library.pyflow_codec_encode(self._handle, id(values), self._row, self._size)
        if outcome != self._library.PYFLOW_INEXACT:
            self._raise_if_failed(outcome)
        row = bytes(self._ffi.buffer(self._row[0], self._size[0]))
        return row, outcome == self._library.PYFLOW_EXACT

    def decode(self, row: bytes) -> tuple[Any, ...]:
        """The value of each field of `row`."""
        # Memory that ends with the row, so that a sanitizer sees a read beyond it.
        exact = self._ffi.new("uint8_t[]", len(row))
        self._ffi.memmove(exact, row, len(row))
        values: list[Any] = []
        outcome = self._library.pyflow_codec_decode(self._handle, exact, len(row), id(values))
        self._raise_if_failed(outcome)
        return tuple(values)

    def close(self) -> None:
        self._library.pyflow_codec_close(self._handle)

    def _raise_if_failed(self, outcome: int) -> None:
        if outcome != self._library.PYFLOW_EXACT:
            text = self._ffi.string(self._library.pyflow_codec_error(self._handle))
            raise CodecError(text.decode())


@cache
def load() -> tuple[Any, Any]:
    """The library for the running Python, built if it is not up to date."""
    ffi = cffi.FFI()
    ffi.cdef(_declarations())
    return ffi, ffi.dlopen(str(_build()))


def uninstrumented_environment() -> dict[str, str]:
    """The environment for programs that a sanitizer's runtime must not be loaded into."""
    preloaded = ("LD_PRELOAD", "PYTHONMALLOC", "ASAN_OPTIONS", "UBSAN_OPTIONS")
    return {name: value for name, value in os.environ.items() if name not in preloaded}


def _build() -> Path:
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    commands = [["cmake", "--build", BUILD, "--target", f"pyflow-codec-{tag}"]]
    if not (BUILD / "CMakeCache.txt").exists():
        commands.insert(0, ["cmake", "-S", ROOT / "native", "-B", BUILD])
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "codec-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests of several Pythons may run at once
        for command in commands:
            built = subprocess.run(
                command, env=uninstrumented_environment(), capture_output=True, text=True
            )
            if built.returncode:
                raise RuntimeError(f"cannot build the codec:\n{built.stdout}\n{built.stderr}")
    return BUILD / "lib" / f"libpyflow-codec-{tag}.so"


def _declarations() -> str:
    """What cffi understands of the header: all but the preprocessor's and C++'s lines."""
    lines = HEADER.read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith(("#", 'extern "C"', "}")))
