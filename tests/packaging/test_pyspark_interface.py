"""What is bound to a version of PySpark is in few modules."""

from __future__ import annotations

import ast

PUBLIC = {
    "pyspark",
    "pyspark.errors",
    "pyspark.sql",
    "pyspark.sql.datasource",
    # Mypy knows the documented classes of streams by the modules that they are in.
    "pyspark.sql.streaming.query",
    "pyspark.sql.streaming.readwriter",
    "pyspark.sql.types",
}


def imported_of_pyspark(source):
    """The modules and names of PySpark that a module imports, as (module, name or None)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [(each.name, None) for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [(node.module, each.name) for each in node.names]
        else:
            continue
        yield from (each for each in found if each[0].split(".")[0] == "pyspark")


def is_public(module, name):
    import pyspark

    if module not in PUBLIC or (name or "").startswith("_"):
        return False
    return module != "pyspark" or name is None or name in pyspark.__all__


def test_modules_that_import_what_pyspark_keeps_to_itself(root):
    private = {
        path.relative_to(root).as_posix()
        for path in (root / "pyflow").rglob("*.py")
        if not all(is_public(*each) for each in imported_of_pyspark(path.read_text()))
    }

    assert private == {
        "pyflow/datastream/runtime/pickling.py",
        "pyflow/session/loopback.py",
        "pyflow/thread_mode/pyspark_worker.py",
        "pyflow/thread_mode/transport_bytes.py",
        "pyflow/thread_mode/transport_info.py",
    }
