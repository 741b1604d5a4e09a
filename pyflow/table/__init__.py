"""The Table API, under the names of ``pyflink.table``.

Functions import this package on executors, too: nothing here is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyflow.util.gone import missing

if TYPE_CHECKING:
    from pyflow.common.types import Row as Row
    from pyflow.common.types import RowKind as RowKind
    from pyflow.table.changelog_mode import ChangelogMode as ChangelogMode
    from pyflow.table.compiled_plan import CompiledPlan as CompiledPlan
    from pyflow.table.environment_settings import EnvironmentSettings as EnvironmentSettings
    from pyflow.table.explain_detail import ExplainDetail as ExplainDetail
    from pyflow.table.module import Module as Module
    from pyflow.table.module import ModuleEntry as ModuleEntry
    from pyflow.table.plan_reference import PlanReference as PlanReference
    from pyflow.table.result_kind import ResultKind as ResultKind
    from pyflow.table.schema import Schema as Schema
    from pyflow.table.sql_dialect import SqlDialect as SqlDialect
    from pyflow.table.table_config import TableConfig as TableConfig
    from pyflow.table.table_descriptor import FormatDescriptor as FormatDescriptor
    from pyflow.table.table_descriptor import TableDescriptor as TableDescriptor
    from pyflow.table.table_schema import TableSchema as TableSchema
    from pyflow.types.data_types import DataTypes as DataTypes
    from pyflow.types.logical_types import UserDefinedType as UserDefinedType

_MODULES = {
    "TableEnvironment": "table.table_environment",
    "StreamTableEnvironment": "table.table_environment",
    "Table": "table.table",
    "StatementSet": "table.statement_set",
    "EnvironmentSettings": "table.environment_settings",
    "TableConfig": "table.table_config",
    "GroupedTable": "table.table",
    "GroupWindowedTable": "table.table",
    "OverWindowedTable": "table.table",
    "WindowGroupedTable": "table.table",
    "ScalarFunction": "table.udf",
    "TableFunction": "table.udf",
    "AggregateFunction": "table.udf",
    "TableAggregateFunction": "table.udf",
    "AsyncScalarFunction": "table.udf",
    "FunctionContext": "table.udf",
    "DataView": "table.data_view",
    "ListView": "table.data_view",
    "MapView": "table.data_view",
    "TableDescriptor": "table.table_descriptor",
    "FormatDescriptor": "table.table_descriptor",
    "Schema": "table.schema",
    "Module": "table.module",
    "ModuleEntry": "table.module",
    "SqlDialect": "table.sql_dialect",
    "DataTypes": "table.types",
    "UserDefinedType": "table.types",
    "Expression": "table.expression",
    "TableSchema": "table.table_schema",
    "TableResult": "table.table_result",
    "Row": "common.types",
    "RowKind": "common.types",
    "ChangelogMode": "table.changelog_mode",
    "ExplainDetail": "table.explain_detail",
    "ResultKind": "table.result_kind",
    "CompiledPlan": "table.compiled_plan",
    "PlanReference": "table.plan_reference",
    "TablePipeline": "table.table_pipeline",
}

__all__ = list(_MODULES)

_AS_TABLE = "CREATE TABLE ... WITH ('connector' = 'filesystem', 'format' = 'csv'), or a descriptor"
_GONE = {
    "BatchTableEnvironment": "TableEnvironment.create(EnvironmentSettings.in_batch_mode())",
    "CsvTableSource": f"{_AS_TABLE}: TableDescriptor.for_connector('filesystem')",
    "CsvTableSink": f"{_AS_TABLE}: TableDescriptor.for_connector('filesystem')",
    "WriteMode": "INSERT INTO, or INSERT OVERWRITE",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"pyflow.{_MODULES[name]}"), name)
    raise missing(__name__, name, _GONE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
