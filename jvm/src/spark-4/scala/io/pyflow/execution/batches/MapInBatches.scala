package io.pyflow.execution.batches

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.pyflow.ArrowResults
import org.apache.spark.sql.types.DataType

/**
 * Evaluates a function from an iterator of batches to another over the rows of a partition.
 *
 * @param output the columns of its result
 * @param declared the same as one type
 */
private[execution] class MapInBatches(
    lane: ArrowLane,
    output: Seq[Attribute],
    declared: DataType,
    evalType: Int)
  extends Serializable {

  def apply(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val batches = ArrowResults.checked(lane.stream(rows), declared, evalType)
    ArrowResults.ofStructs(batches, output.length).map(UnsafeProjection.create(output, output))
  }
}
