"""Functions of JVM classes in tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyspark

from deployments import PROGRAMS, run

CLASS = """
package com.example;

public class Repeated implements org.apache.spark.sql.api.java.UDF2<Integer, String, String> {
  public String call(Integer times, String text) {
    return text == null ? null : text.repeat(times);
  }
}
"""


def jar_of_the_class(folder):
    source = folder / "com" / "example" / "Repeated.java"
    source.parent.mkdir(parents=True)
    source.write_text(CLASS)
    classpath = Path(pyspark.__file__).parent / "jars" / "*"
    subprocess.run(["javac", "-cp", classpath, source], check=True)
    jar = folder / "functions.jar"
    subprocess.run(["jar", "cf", jar, "-C", folder, "com"], check=True)
    return jar


def test_functions_of_jvm_classes(tmp_path):
    jar = jar_of_the_class(tmp_path)

    printed = run([sys.executable, PROGRAMS / "java_functions.py", jar], tmp_path)

    # The JVM may write to its log while it ends.
    answers = json.loads(next(line for line in printed.splitlines() if line.startswith('{"rows"')))
    assert answers["rows"] == [["aa", "xx", "a"], [None, "xxx", None]]
    assert answers["types"] == ["VARCHAR"] * 3
    assert "requires 2 parameters but the actual number is 1" in answers["arguments"]
    for name in ("no class", "in SQL"):
        assert "no.Such is no function here: Can not load class" in answers[name]
    assert "implements one of org.apache.spark.sql.api.java.UDF0" in answers["no function"]
    assert "repeated already exists in Catalog default_catalog" in answers["twice"]
