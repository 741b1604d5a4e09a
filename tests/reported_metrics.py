"""What Spark's metrics system is told of functions."""

from __future__ import annotations

from py4j.java_gateway import is_instance_of


def reported(spark, function):
    """What Spark's metrics system gets of a function, by the names of the metrics.

    Py4J cannot look at the system itself, whose class names servlets that are not there.
    """
    lang = spark._jvm.java.lang
    name = "org.apache.spark.sql.pyflow.FunctionMetricsSource$"
    source = lang.Class.forName(name, True, lang.Thread.currentThread().getContextClassLoader())
    field = source.getDeclaredField("current")
    field.setAccessible(True)
    metrics = field.get(None).get().metricRegistry().getMetrics()
    own = {
        name.removeprefix(f"{function}."): metric
        for name, metric in metrics.items()
        if name.startswith(f"{function}.")
    }
    gateway = spark.sparkContext._gateway
    return {
        name: metric.getValue()
        if is_instance_of(gateway, metric, "com.codahale.metrics.Gauge")
        else metric.getCount()
        for name, metric in own.items()
    }
