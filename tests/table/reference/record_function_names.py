"""Records which names built-in functions have, and which of them programs can take over."""

from __future__ import annotations

import datetime
import decimal

import flink
import function_names as cases
import recordings
from pyflink.java_gateway import get_gateway
from pyflink.table import DataTypes, expression, expressions
from pyflink.table.udf import udf

OWN = "BINARY(7)"


@udf(result_type=DataTypes.BINARY(7))
def function(*values):
    return b"1234567"


def definitions():
    """Return the name of each built-in function, and the one that it has in SQL."""
    found = get_gateway().jvm.org.apache.flink.table.functions.BuiltInFunctionDefinitions
    return {each.getName(): each.isInternal() for each in found.getDefinitions()}


def type_of(table, expression):
    schema = table.select(expression)._j_table.getResolvedSchema()
    return str(schema.getColumnDataTypes().get(0).getLogicalType().copy(True).toString())


def answer(table, name, text, names):
    try:
        found = eval(text, names)
        return {"type": type_of(table, found)}
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if "Exception: " in line]
        return {"error": (lines[-1] if lines else str(error))[-200:]}


def record(only):
    t_env = flink.environment("batch")
    columns = ", ".join(f"`{name}` {kind}" for name, kind in cases.COLUMNS.items())
    t_env.execute_sql(f"CREATE TABLE t ({columns}) WITH ('connector' = 'datagen')")
    table = t_env.from_path("t")
    names = {**vars(expression), **vars(expressions), "DataTypes": DataTypes, "abs": abs}
    names.update({"datetime": datetime, "decimal": decimal, "function": function})
    names.update({each: expressions.col(each) for each in cases.COLUMNS})

    found = {
        "internal": [],
        "calls": {},
        "others": {},
        "overridden": {},
        "texts": {},
        "methods": {},
    }
    known = definitions()
    called = {name for name, _ in cases.CALLS}
    assert called == set(known), called ^ set(known)
    found["names"] = sorted(known)
    found["internal"] = sorted(name for name, internal in known.items() if internal)
    for name, text in cases.CALLS:
        found["calls"][text] = answer(table, name, text, names)
        # Others than temporary system functions, and all functions in the operators of SQL, are
        # not before built-in functions.
        for kind in ("temporary_system_function", "temporary_function"):
            getattr(t_env, f"create_{kind}")(f"`{name}`" if kind[10] == "f" else name, function)
            own = answer(table, name, text, names).get("type") == OWN
            found["overridden"].setdefault(name, {})[kind] = own
            getattr(t_env, f"drop_{kind}")(f"`{name}`" if kind[10] == "f" else name)
    for name in cases.OTHER_NAMES:
        found["others"][name] = answer(table, name, f"call({name!r}, s)", names)
    for text in cases.TEXTS:
        try:
            found["texts"][text] = str(eval(text, names))
        except Exception as error:
            found["texts"][text] = None
            print(text, str(error).splitlines()[0][:150])
            continue
        # Of an operator or a method: whether a function of its name is called in its place.
        name = found["texts"][text].partition("(")[0]
        if name in known:
            t_env.create_temporary_system_function(name, function)
            own = answer(table, name, text, names).get("type") == OWN
            found["methods"][text] = own
            t_env.drop_temporary_system_function(name)
    recordings.write("function_names", found)
