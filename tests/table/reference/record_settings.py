"""Records what PyFlink answers to `settings_cases`, and the defaults of Flink's settings."""

from __future__ import annotations

import os
import time

import recordings

import settings_cases as cases

os.environ["TZ"] = cases.ZONE
time.tzset()

#: Classes of Flink with settings.
OPTIONS = {
    "org.apache.flink.table.api.config": [
        "ExecutionConfigOptions",
        "OptimizerConfigOptions",
        "TableConfigOptions",
    ],
    "org.apache.flink.python": ["PythonOptions"],
    "org.apache.flink.configuration": [
        "CheckpointingOptions",
        "CoreOptions",
        "ExecutionOptions",
        "PipelineOptions",
        "RestartStrategyOptions",
        "StateBackendOptions",
        "StateRecoveryOptions",
    ],
}


def record(only: list[str]) -> None:
    from pyflink.java_gateway import get_gateway
    from pyflink.table.types import (
        _create_type_verifier,
        _infer_schema_from_data,
        _to_java_data_type,
    )

    jvm = get_gateway().jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    parser = jvm.org.apache.flink.table.types.logical.utils.LogicalTypeParser
    known = cases.names("pyflink")
    known["verifier"] = lambda data_type: _create_type_verifier(data_type, "value")
    # PyFlink's own call constructors that Flink has not.
    java = jvm.org.apache.flink.table.catalog
    known["primary_key"] = lambda name, columns: known["UniqueConstraint"](
        java.UniqueConstraint.primaryKey(name, columns)
    )
    known["resolved_schema"] = lambda columns, key: known["ResolvedSchema"](
        j_resolved_schema=java.ResolvedSchema(
            [column._j_column for column in columns], [], key._j_unique_constraint
        )
    )
    known.update(cases.objects(known))

    def java_text(data_type):
        return _to_java_data_type(data_type).toString()

    def parsed(text):
        try:
            return parser.parse(text, loader).asSummaryString()
        except Exception:
            return None

    def of_literal(expression):
        try:
            to_expression = jvm.org.apache.flink.table.expressions.ApiExpressionUtils
            literal = to_expression.objectToExpression(eval(expression, known))
            return literal.getOutputDataType().toString()
        except Exception as error:
            return f"raises {type(error).__name__}"

    def of_rows(arguments):
        try:
            return java_text(_infer_schema_from_data(*eval(f"({arguments},)", known)))
        except Exception as error:
            return f"raises {type(error).__name__}"

    def type_answer(expression):
        data_type = eval(expression, known)
        return {"text": java_text(data_type), "repr": repr(data_type), "str": str(data_type)}

    answers = {
        "types": {case: type_answer(case) for case in cases.TYPES},
        "type_texts": {case: parsed(case) for case in cases.TYPE_TEXTS},
        "literals": {case: of_literal(case) for case in cases.LITERALS},
        "rows": {case: of_rows(case) for case in cases.ROWS},
        "verified": {case: cases.outcome(case, known) for case in cases.VERIFIED},
        "values": {case: cases.outcome(case, known) for case in cases.VALUES},
        "settings": settings(jvm, loader),
    }
    recordings.write("settings", answers)


def settings(jvm, loader) -> dict[str, str | None]:
    """The keys of Flink's settings with their defaults."""
    option = loader.loadClass("org.apache.flink.configuration.ConfigOption")
    found = {}
    for package, names in OPTIONS.items():
        for name in names:
            declared = loader.loadClass(f"{package}.{name}")
            for field in declared.getFields():
                if not field.getType().equals(option):
                    continue
                described = field.get(None)
                default = described.defaultValue() if described.hasDefaultValue() else None
                found[described.key()] = setting_text(jvm, default)
    return dict(sorted(found.items()))


def setting_text(jvm, default) -> str | None:
    if default is None or isinstance(default, str):
        return default
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, (int, float)):
        return str(default)
    kind = default.getClass().getName()
    if kind == "java.time.Duration":
        return jvm.org.apache.flink.util.TimeUtils.formatWithHighestUnit(default)
    if "List" in kind:
        return ";".join(map(str, default))
    return default.toString()
