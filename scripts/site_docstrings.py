"""Docstrings that are made when a module is imported, for the API reference: see mkdocs.yml."""

import importlib
import inspect

import griffe

# Most docstrings of these are made from the table of built-in functions.
MODULES = ("pyflow.table.expression", "pyflow.table.expressions")


class Docstrings(griffe.Extension):
    """Adds them to what Griffe reads from the sources."""

    def on_function(self, *, func, **_):
        """Give a function without a docstring in its source the one that it has."""
        complete(func)

    def on_attribute(self, *, attr, **_):
        """Do the same for a property."""
        complete(attr)


def complete(found):
    """Give an object of Griffe's the docstring of what it stands for."""
    module = found.module.path
    if found.docstring is not None or module not in MODULES:
        return
    value = importlib.import_module(module)
    for name in found.path.removeprefix(f"{module}.").split("."):
        value = getattr(value, name, None)
    text = inspect.getdoc(value)
    # What is no function or property has the docstring of its class.
    if text and text != inspect.getdoc(type(value)):
        found.docstring = griffe.Docstring(text, parent=found)
