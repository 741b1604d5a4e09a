package io.pyflow.arrow;

import org.apache.arrow.vector.FieldVector;
import org.apache.spark.sql.vectorized.ColumnVector;

/** A column with the getters of Spark 4.1. */
final class ImportedColumn extends AddressedColumn {
  ImportedColumn(FieldVector vector, Values values, ColumnVector... fields) {
    super(vector, values, fields);
  }
}
