"""Writes type_names.json: ``python record_type_names.py``, with a Python that has PyFlink 2.3."""

from __future__ import annotations

import json
from pathlib import Path

from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment
from type_names import INTERVALS, NAMES, declared, types, values

HERE = Path(__file__).parent


def main():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    jvm = get_gateway().jvm
    parser = jvm.org.apache.flink.table.types.logical.utils.LogicalTypeParser
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()

    def read(name):
        try:
            return parser.parse(name, loader).asSerializableString()
        except Exception:
            return "error"

    answers = {
        "columns": {name: declared(t_env, name) for name in NAMES},
        "strings": {name: read(name) for name in [*NAMES, *INTERVALS]},
        "types": types(t_env),
        "values": values(t_env),
    }
    text = json.dumps(answers, indent=1, ensure_ascii=False) + "\n"
    (HERE / "type_names.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
