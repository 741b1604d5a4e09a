package org.apache.spark.sql.pyflow;

import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkPlanInfo;

/** What the SQL tab knows of a plan; Spark's Scala keeps the way to it to its own packages. */
final class PlanInfos {
  private PlanInfos() {}

  static SparkPlanInfo of(SparkPlan plan) {
    return SparkPlanInfo.fromSparkPlan(plan);
  }
}
