"""The tab "Python" of Spark's UI, as programs and browsers read it."""

from __future__ import annotations

import json
import urllib.request
from typing import Any


def read(address: str) -> str:
    """The text at an address."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        return str(answer.read().decode())


class Shown:
    """An application as a UI shows it.

    Parameters
    ----------
    ui
        The address of the UI; in a history server, that of the application.
    application
        Its id.
    """

    def __init__(self, ui: str, application: str) -> None:
        self.ui = ui
        self.application = application

    def page(self, path: str = "") -> str:
        """A page of the tab."""
        return read(f"{self.ui}/python/{path}")

    def answer(self, path: str) -> Any:
        """What Spark's REST API has of it."""
        api = self.ui.split("/history/")[0]
        return json.loads(read(f"{api}/api/v1/applications/{self.application}/python/{path}"))

    def functions(self, key: str) -> dict[str, Any]:
        """All of the functions of these names."""
        return next(each for each in self.answer("functions") if each["key"] == key)
