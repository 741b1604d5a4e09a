package org.apache.spark.sql.pyflow

import org.apache.spark.TaskContext

/** What a task knows of itself, differently in each version of Spark. */
private[pyflow] object TaskContexts {
  def cpus(context: TaskContext): BigDecimal = context.cpuAmount()
}
