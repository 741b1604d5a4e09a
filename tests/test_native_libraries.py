"""Libraries whose C code calls Python from its own threads, beside isolated interpreters."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import sysconfig

import pytest

from deployments import PROGRAMS, run
from sessions import OWN_GIL

#: Why a library may be missing.
LIBRARIES = {
    "cffi": "it is no requirement of the tests of 3.13t",
    "pybind11": "it is no requirement of the tests of 3.13t",
    "Cython": "it is no requirement of the tests of 3.13t",
    "numba": "it is too large to be a requirement",
    "torch": "it is too large to be a requirement; see scripts/stand_in_for_cuda.py",
    "jax": "it is too large to be a requirement",
}


def compiled(compiler, source, target, *options):
    include = f"-I{sysconfig.get_path('include')}"
    command = [compiler, "-O1", "-shared", "-fPIC", "-pthread", include, f"-I{PROGRAMS}", *options]
    subprocess.run([*command, "-o", str(target), str(source)], check=True)


ON_THREADS = """
#include "own_threads.h"

int64_t on_threads(called_function call, void *argument) { return on_own_threads(call, argument); }
"""


def make_threads(directory):
    source = directory / "own_threads.c"
    source.write_text(ON_THREADS)
    compiled("cc", source, source.with_suffix(".so"))


def make_cffi(directory):
    import cffi

    builder = cffi.FFI()
    builder.cdef(
        'extern "Python" int64_t called_back(void *, int64_t);'
        "int64_t on_threads(int64_t (*call)(void *, int64_t), void *argument);"
    )
    builder.set_source("own_threads_of_cffi", ON_THREADS)
    source = directory / "own_threads_of_cffi.c"
    builder.emit_c_code(str(source))
    compiled("cc", source, source.with_suffix(".so"))


def make_pybind11(directory):
    import pybind11

    source = PROGRAMS / "own_threads_of_pybind11.cc"
    target = directory / "own_threads_of_pybind11.so"
    compiled("c++", source, target, "-std=c++17", f"-I{pybind11.get_include()}")


def make_cython(directory):
    source = directory / "own_threads_of_cython.c"
    translate = [sys.executable, "-m", "cython", "-o", source]
    subprocess.run([*translate, PROGRAMS / "own_threads_of_cython.pyx"], check=True)
    compiled("cc", source, source.with_suffix(".so"))


MAKERS = {"cffi": make_cffi, "pybind11": make_pybind11, "Cython": make_cython}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each library that is there gave in each mode."""
    directory = tmp_path_factory.mktemp("native_libraries")
    there = [library for library in LIBRARIES if importlib.util.find_spec(library)]
    make_threads(directory)
    for library in MAKERS:
        if library in there:
            MAKERS[library](directory)
    program = PROGRAMS / "native_libraries.py"
    output = run([sys.executable, program, directory, *there], directory, 900)
    (line,) = [line for line in output.splitlines() if line.startswith("FOUND ")]
    return json.loads(line.removeprefix("FOUND "))


@pytest.mark.complete
@pytest.mark.parametrize("library", LIBRARIES)
def test_callbacks_from_threads_of_a_library(found, library):
    """They give what they give in process mode; by itself, and while all libraries are used."""
    pytest.importorskip(library, reason=LIBRARIES[library])
    right = found[library].pop("process")

    assert right[0] == right[1]
    for mode, given in found[library].items():
        assert given == right, mode
    assert all((place > 0) == OWN_GIL for place in found["isolated"])
