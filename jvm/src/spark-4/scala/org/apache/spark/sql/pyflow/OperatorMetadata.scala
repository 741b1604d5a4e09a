package org.apache.spark.sql.pyflow

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.types.Metadata
import org.json4s.DefaultFormats
import org.json4s.jackson.JsonMethods

/**
 * What the Table API or a data stream says of an operator that keeps state, as in pyflow/streaming/plan:
 * in the metadata of a column that it emits, or else of the last one that it takes.
 */
object OperatorMetadata {
  private val Name = "pyflow.operator"
  private val State = "pyflow.state"

  def nameOf(taken: Seq[Attribute], emitted: Seq[Attribute]): Option[String] =
    of(taken, emitted).map(_.getString(Name))

  /** The state variables of an operator: kind and name, and its schemas as DDL. */
  def stateOf(taken: Seq[Attribute], emitted: Seq[Attribute]): Option[Seq[Seq[String]]] =
    of(taken, emitted).filter(_.contains(State)).map { metadata =>
      implicit val formats: DefaultFormats.type = DefaultFormats
      JsonMethods.parse(metadata.getString(State)).extract[Seq[Seq[String]]]
    }

  private def of(taken: Seq[Attribute], emitted: Seq[Attribute]): Option[Metadata] =
    (emitted ++ taken.lastOption).map(_.metadata).find(_.contains(Name))
}
