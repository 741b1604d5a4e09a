#!/usr/bin/env python3
"""Makes libraries in the place of CUDA's, which PyTorch's wheel for x86-64 loads on any processor.

    python -m pip install --no-deps torch
    python -m pip install filelock typing-extensions sympy networkx jinja2 fsspec setuptools
    python scripts/stand_in_for_cuda.py

Otherwise the wheel requires packages of some gigabytes. Run it in the environment that has the
wheel: it writes beside PyTorch's own libraries. Needs readelf and a C compiler.
"""

import collections
import importlib.util
import pathlib
import re
import subprocess
import tempfile

NAMES = re.compile("lib(cu|nccl|nvrtc|nvshmem)")
FUNCTIONS = re.compile("(cu|nccl|nvrtc|nvshmem)[A-Za-z0-9_]+")

#: The version of symbols that is not the name of their library.
LIBRARIES = {"NVSHMEM": "libnvshmem_host.so.3"}

#: Has the symbols without a version, whichever library has them.
WITHOUT_VERSIONS = "libnccl.so.2"

#: What functions answer: cudaErrorNoDevice, or a text.
NUMBER = "int {}(void) {{ return 100; }}\n"
TEXT = 'const char *{}(void) {{ return "no CUDA"; }}\n'


def listed(option, library):
    command = ["readelf", "--wide", option, library]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def needed(libraries):
    """Return the names of the missing libraries."""
    found = re.findall(
        r"NEEDED.*\[(.+)\]", "".join(listed("--dynamic", each) for each in libraries)
    )
    return {name for name in found if NAMES.match(name)}


def undefined(libraries):
    """Return the functions that are called, by library and version."""
    functions = collections.defaultdict(set)
    for library in libraries:
        for symbol in re.findall(r" UND (\S+)", listed("--dyn-syms", library)):
            name, _, version = symbol.partition("@")
            owner = LIBRARIES.get(version, version or WITHOUT_VERSIONS)
            if NAMES.match(owner) and (version or FUNCTIONS.fullmatch(name)):
                functions[owner, version].add(name)
    return functions


def make(library, version, names):
    """Compile a library with some functions."""
    with tempfile.TemporaryDirectory() as directory:
        source, script = (pathlib.Path(directory, name) for name in ("made.c", "made.map"))
        kinds = ((name, TEXT if re.search("String|Name", name) else NUMBER) for name in names)
        source.write_text("".join(kind.format(name) for name, kind in kinds))
        options = ["-w", "-fno-builtin", "-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
        if version:
            script.write_text(f"{version} {{ global: *; }};\n")
            options.append(f"-Wl,--version-script={script}")
        subprocess.run(["cc", *options, "-o", library, source], check=True)


def main():
    [directory] = importlib.util.find_spec("torch").submodule_search_locations
    place = pathlib.Path(directory, "lib")
    libraries = sorted(place.glob("*.so"))
    functions = undefined(libraries)
    for library in needed(libraries) - {library for library, _ in functions}:
        functions[library, ""] = set()
    for (library, version), names in functions.items():
        make(place / library, version, sorted(names))
    print(f"made {len(functions)} libraries in {place}")


if __name__ == "__main__":
    main()
