"""The row codec's C interface (native/test/codec_test.h) as a Python class."""

from __future__ import annotations

import ctypes
import enum
import fcntl
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

from pyflow import libpython
from pyflow.thread_mode.types import describe

ROOT = Path(__file__).resolve().parent.parent.parent

#: Where CMake builds; `make sanitize` names the directory of its instrumented build.
BUILD = Path(os.environ.get("PYFLOW_NATIVE_BUILD", ROOT / "build" / "native"))


class Inexact(enum.Enum):
    """The codec leaves a value to PySpark's own converter."""

    INEXACT = "inexact"


INEXACT = Inexact.INEXACT

# What pyflow_codec_encode and pyflow_codec_decode return.
_EXACT, _INEXACT = 0, 1

_libc = ctypes.CDLL(None)
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.malloc.restype = ctypes.c_void_p
_libc.free.argtypes = [ctypes.c_void_p]


class CodecError(Exception):
    """A call failed; the message is the repr of the Python exception."""


class Codec:
    """Encodes and decodes rows of a struct type.

    With `arrow` as for Arrow-optimised functions, otherwise as for pickled ones.
    """

    def __init__(
        self, struct_type: StructType, arrow: bool = False, binary_as_bytes: bool = True
    ) -> None:
        self._library = load()
        self._width = len(struct_type)
        self.descriptor = describe(struct_type)
        self._handle = self._library.pyflow_codec_open(id(self.descriptor), arrow, binary_as_bytes)
        if not self._handle:
            raise CodecError(f"no codec for {struct_type.simpleString()}")

    def encode(self, values: tuple[Any, ...]) -> bytes | Inexact:
        """The row that holds `values`, one for each field."""
        row, exact = self.encode_exact(values)
        return row if exact else INEXACT

    def encode_exact(self, values: tuple[Any, ...]) -> tuple[bytes, bool]:
        """The row with nulls for the values that are inexact, and whether none is."""
        assert len(values) == self._width
        row, size = ctypes.c_void_p(), ctypes.c_size_t()
        outcome = self._library.pyflow_codec_encode(
            self._handle, id(values), ctypes.byref(row), ctypes.byref(size)
        )
        if outcome != _INEXACT:
            self._raise_if_failed(outcome)
        return ctypes.string_at(row, size.value), outcome == _EXACT

    def decode(self, row: bytes) -> tuple[Any, ...]:
        """The value of each field of `row`."""
        # Memory that ends with the row, so that a sanitizer sees a read beyond it.
        exact = _libc.malloc(len(row))
        try:
            ctypes.memmove(exact, row, len(row))
            values: list[Any] = []
            outcome = self._library.pyflow_codec_decode(self._handle, exact, len(row), id(values))
        finally:
            _libc.free(exact)
        self._raise_if_failed(outcome)
        return tuple(values)

    def close(self) -> None:
        self._library.pyflow_codec_close(self._handle)

    def _raise_if_failed(self, outcome: int) -> None:
        if outcome != _EXACT:
            raise CodecError(self._library.pyflow_codec_error(self._handle).decode())


@cache
def load() -> ctypes.CDLL:
    """The library for the running Python, built if it is not up to date; native/test declares it.

    Calls give the GIL up.
    """
    library = ctypes.CDLL(str(_build()))
    pointer, address, size = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
    library.pyflow_codec_open.argtypes = [address, ctypes.c_int, ctypes.c_int]
    library.pyflow_codec_open.restype = pointer
    library.pyflow_codec_close.argtypes = [pointer]
    library.pyflow_codec_close.restype = None
    library.pyflow_codec_encode.argtypes = [pointer, address, pointer, pointer]
    library.pyflow_codec_decode.argtypes = [pointer, pointer, size, address]
    library.pyflow_codec_error.argtypes = [pointer]
    library.pyflow_codec_error.restype = ctypes.c_char_p
    library.pyflow_shared_numbers.argtypes = []
    library.pyflow_shared_numbers.restype = ctypes.c_char_p
    return library


def uninstrumented_environment() -> dict[str, str]:
    """The environment for programs that a sanitizer's runtime must not be loaded into."""
    preloaded = ("LD_PRELOAD", "PYTHONMALLOC", "ASAN_OPTIONS", "UBSAN_OPTIONS")
    return {name: value for name, value in os.environ.items() if name not in preloaded}


def _build() -> Path:
    tag = "cp" + libpython.minor().replace(".", "")
    commands = [["cmake", "--build", BUILD, "--parallel", "--target", f"pyflow-codec-{tag}"]]
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
