package org.apache.spark.sql.execution.python

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.execution.ExternalAppendOnlyUnsafeRowArray
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, StructType}

import io.pyflow.spec.{Argument, BoundArguments}

/**
 * Rows by window partition as PySpark's functions over windows take them: the first columns tell
 * for each row where its frames begin and end, one pair for each frame that has a bound; then come
 * the functions' arguments. Lives in Spark's package because Spark keeps its frames there.
 */
class WindowedInput(
    val windowExpression: Seq[NamedExpression],
    val partitionSpec: Seq[Expression],
    val orderSpec: Seq[SortOrder],
    val childOutput: Seq[Attribute],
    val spillSize: SQLMetric)
  extends WindowPartitionLimit
  with Serializable {

  private val calls = windowExpression.flatMap(_.collect { case call: WindowExpression => call })

  val functions: Seq[PythonUDAF] = WindowedInput.functions(windowExpression)

  private val frames = calls.map(_.windowSpec.frameSpecification)
  private val boundedFrames = frames.filterNot(isUnbounded).distinct
  private val bounds = boundedFrames.flatMap { _ =>
    Seq(
      AttributeReference("lower", IntegerType, nullable = false)(),
      AttributeReference("upper", IntegerType, nullable = false)())
  }
  private val bound = BoundArguments(functions)

  def schema: StructType = BoundArguments(bounds ++ bound.values, Nil).schema

  /** Which of the columns each function gets. */
  def arguments: Seq[Seq[Argument]] = bound.ofFunctions.zip(frames).map { case (args, frame) =>
    val values = args.map(argument => argument.copy(column = argument.column + bounds.length))
    boundedFrames.indexOf(frame) match {
      case -1 => values
      case i => Argument(2 * i, None) +: Argument(2 * i + 1, None) +: values
    }
  }

  /** What tells PySpark which of the functions get the bounds of their frames. */
  def runnerConf: Map[String, String] = {
    val kinds = frames.map(frame => if (isUnbounded(frame)) "unbounded" else "bounded")
    Map("window_bound_types" -> kinds.mkString(","))
  }

  private def isUnbounded(frame: WindowFrame): Boolean = frame match {
    case specified: SpecifiedWindowFrame => specified.isUnbounded
    case _ => false
  }

  /** The output of a row of the child followed by the functions' results for it. */
  def resultProjection: UnsafeProjection = createResultProjection(calls)

  /** The partitions of rows that are sorted by partition; to be read one after the other. */
  def partitions(rows: Iterator[InternalRow]): Iterator[(InternalRow, Iterator[InternalRow])] =
    new Iterator[(InternalRow, Iterator[InternalRow])] {
      private val remaining = rows.buffered
      private val partitionKey = UnsafeProjection.create(partitionSpec, childOutput)
      private val input = UnsafeProjection.create(bounds ++ bound.values, bounds ++ childOutput)
      private val indices = new SpecificInternalRow(bounds.map(_.dataType))
      private val partition = new ExternalAppendOnlyUnsafeRowArray(
        SQLConf.get.windowExecBufferInMemoryThreshold,
        SQLConf.get.windowExecBufferSpillSizeThreshold,
        SQLConf.get.windowExecBufferSpillThreshold,
        SQLConf.get.windowExecBufferSpillSizeThreshold)
      private val frames = windowFrameExpressionFactoryPairs.map(_._2(indices)).toArray

      /** The frames that Python has to be told the bounds of. */
      private val toldFrames = boundedFrames.map { frame =>
        frames(windowFrameExpressionFactoryPairs.indexWhere(_._1.exists {
          case call: WindowExpression => call.windowSpec.frameSpecification == frame
          case _ => false
        }))
      }

      override def hasNext: Boolean = {
        val more = remaining.hasNext
        if (!more) {
          partition.clear()
          spillSize.add(partition.spillSize)
        }
        more
      }

      override def next(): (InternalRow, Iterator[InternalRow]) = {
        val key = partitionKey(remaining.head).copy()
        partition.clear()
        while (remaining.hasNext && partitionKey(remaining.head) == key) {
          partition.add(remaining.next().asInstanceOf[UnsafeRow])
        }
        checkSize(partition.length, frames)
        frames.foreach(_.prepare(partition))
        val joined = new JoinedRow
        key -> partition.generateIterator().zipWithIndex.map { case (row, i) =>
          toldFrames.zipWithIndex.foreach { case (frame, k) =>
            frame.write(i, row)
            indices.setInt(2 * k, frame.currentLowerBound())
            indices.setInt(2 * k + 1, frame.currentUpperBound())
          }
          input(joined(indices, row))
        }
      }
    }
}

object WindowedInput {
  def functions(windowExpression: Seq[NamedExpression]): Seq[PythonUDAF] =
    windowExpression.flatMap(_.collect { case call: WindowExpression =>
      call.windowFunction.asInstanceOf[AggregateExpression].aggregateFunction
    }.map(_.asInstanceOf[PythonUDAF]))
}
