"""The directories of the native side: each includes only itself and what is below it."""

from __future__ import annotations

import re

import pytest

from codec import ROOT

_SOURCES = ROOT / "native" / "src"
_LAYERS = ("runtime", "codec", "evaluation")


@pytest.mark.parametrize("layer", _LAYERS)
def test_no_directory_includes_one_above_it(layer: str) -> None:
    below = _LAYERS[: _LAYERS.index(layer) + 1]
    files = [each for each in (_SOURCES / layer).iterdir() if each.suffix in (".cc", ".h")]
    included = {
        (file.name, directory)
        for file in files
        for directory in re.findall(r'#include "(\w+)/', file.read_text())
    }
    assert files
    assert {directory for _, directory in included} <= set(below), included
