"""Records what PyFlink answers, in the JSON files of this directory and of the DataStream API's.

``make record`` records all of it, which takes hours, and ``make record PARTS="sql streams"`` some
parts. Behind the name of a part may stand which of its answers are recorded, where its recorder can
choose: ``PARTS=sql/joins,windows``. What is not recorded stays as it is.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATASTREAM = HERE.parents[1] / "datastream" / "reference"

#: The module of each part, which has a function `record` that takes names; without any it records
#: all that it has. With it the files that it writes.
PARTS = {
    "names": ("record_names", ["pyflink_names"]),
    "settings": ("record_settings", ["settings"]),
    "configurations": ("record_configurations", ["configurations"]),
    "type_names": ("record_type_names", ["type_names"]),
    "python_values": ("record_python_values", ["python_values"]),
    "function_names": ("record_function_names", ["function_names"]),
    "declared_types": ("record_declared_types", ["declared_types"]),
    "functions": ("record_functions", ["function_values"]),
    "expressions": ("record_expressions", ["expressions_*"]),
    "time_functions": ("record_time_functions", ["time_functions"]),
    "catalogs": ("record_catalogs", ["catalog_programs"]),
    "examples": ("record_examples", ["example_programs"]),
    "tables": ("record_tables", ["table_programs"]),
    "sql": ("record_sql", ["sql_queries", "nested_queries"]),
    "sql_operands": ("record_sql_operands", ["sql_operands"]),
    "sql_conversions": ("record_sql_conversions", ["sql_conversions"]),
    "streams": ("record_streams", ["stream_queries"]),
    "nexmark": ("record_nexmark", ["nexmark"]),
    "changes": ("record_changes", ["change_queries"]),
    "upserts": ("record_upserts", ["upserts"]),
    "windows": ("record_windows", ["datastream/windows"]),
    "row_schemas": ("record_row_schemas", ["datastream/row_schemas"]),
    "stream_values": ("record_stream_values", ["datastream/values"]),
    "pipelines": ("record_pipelines", ["datastream/pipelines"]),
    "ttl": ("record_ttl", ["datastream/ttl"]),
    "stream_programs": ("record_stream_programs", ["datastream/programs"]),
    "stream_examples": ("record_stream_examples", ["datastream/examples"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    # A part runs in a process of its own: what Flink compiles stays in memory.
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = [part.partition("/")[::2] for part in options.parts or PARTS]
    unknown = [name for name, _ in chosen if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if options.here:
        ((name, only),) = chosen
        sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2])]
        sys.path[:0] = [str(DATASTREAM), str(DATASTREAM.parent)]
        importlib.import_module(PARTS[name][0]).record([each for each in only.split(",") if each])
        return
    # Functions are imported by a Python that Flink starts, which is the first on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    failed = []
    for name, only in chosen:
        print(f"PyFlow: recording {name}: {', '.join(PARTS[name][1])}", flush=True)
        command = [sys.executable, __file__, "--here", f"{name}/{only}"]
        if subprocess.run(command, env={**os.environ, "PATH": path}).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"PyFlow: not recorded: {', '.join(failed)}")


if __name__ == "__main__":
    main()
