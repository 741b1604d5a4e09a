"""Lists in YAML, as settings have them: ``[a, 'b', 3]``, or a line ``- a`` for each."""

from __future__ import annotations

from typing import Any


def list_of(text: str) -> list[Any] | None:
    """Return the elements of a list, as PyFlink reads them; None of a text that is none.

    Raises
    ------
    ValueError
        If the text is no YAML.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ValueError(f"{text!r} is no YAML: {error}") from error
    return found if isinstance(found, list) else None
