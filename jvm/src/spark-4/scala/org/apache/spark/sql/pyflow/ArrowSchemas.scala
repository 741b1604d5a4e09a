package org.apache.spark.sql.pyflow

import org.apache.arrow.vector.types.pojo.Schema
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.ArrowUtils

/** Arrow's schemas of Spark's, as Spark sends them to Python. */
object ArrowSchemas {
  def of(schema: StructType, timeZone: String, largeVarTypes: Boolean): Schema =
    ArrowUtils.toArrowSchema(
      schema,
      timeZone,
      errorOnDuplicatedFieldNames = true,
      largeVarTypes = largeVarTypes)

  def failOnDuplicateNames(schema: StructType): Unit = of(schema, "UTC", largeVarTypes = false)
}
