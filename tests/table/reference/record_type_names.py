"""Records how types can be named, and what they are then called."""

from __future__ import annotations

import flink
import recordings
from pyflink.java_gateway import get_gateway
from type_names import INTERVALS, NAMES, declared, types, values


def record(only):
    t_env = flink.environment("batch")
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
    recordings.write("type_names", answers)
