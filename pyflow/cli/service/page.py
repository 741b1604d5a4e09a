"""A page about the interface, made from its OpenAPI description, without files from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }}
summary {{ cursor: pointer; padding: .3em 0 }}
code, pre {{ font: 13px/1.5 ui-monospace, monospace }}
pre {{ background: #f4f4f4; overflow-x: auto; padding: .7em }}
td, th {{ padding: .1em 1em .1em 0; text-align: left; vertical-align: top }}
b {{ display: inline-block; width: 4.5em }}
</style>
</head>
<body>
<h1>{title} {version}</h1>
<p>{description} <a href="openapi.json">openapi.json</a></p>
<p>All requests have the header <code>Authorization: Bearer TOKEN</code>.</p>
"""


def html(described: dict[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    described : dict
        The description by OpenAPI.
    """
    return "\n".join([*_lines(described), "</body>", "</html>"])


def _lines(described: dict[str, Any]) -> Iterator[str]:
    yield _HEAD.format(**{key: escape(value) for key, value in described["info"].items()})
    part = None
    for path, methods in described["paths"].items():
        for method, each in methods.items():
            if each["tags"][0] != part:
                part = each["tags"][0]
                yield f"<h2>{escape(part)}</h2>"
            yield from _operation(path, method, each)
    yield "<h2>bodies</h2>"
    for name, schema in described["components"]["schemas"].items():
        yield f"<details id='{escape(name)}'><summary>{escape(name)}</summary>"
        yield f"<pre>{escape(json.dumps(schema, indent=2))}</pre></details>"


def _operation(path: str, method: str, described: dict[str, Any]) -> Iterator[str]:
    text = described.get("description", described["summary"])
    yield f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code></summary>"
    yield f"<p>{escape(text)}</p><table>"
    for each in described.get("parameters", []):
        kind = escape(json.dumps(each["schema"].get("type", "string")))
        yield f"<tr><td><code>{escape(each['name'])}</code><td>{each['in']}<td>{kind}</tr>"
    yield "</table>"
    for kind, content in described.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body: {escape(kind)}</p><pre>{escape(json.dumps(content, indent=2))}</pre>"
    yield "</details>"
