package io.pyflow.arrow;

import org.apache.arrow.vector.FieldVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.types.BinaryView;

/** A column with the getters of Spark 4.2. */
final class ImportedColumn extends AddressedColumn {
  ImportedColumn(FieldVector vector, Values values, ColumnVector... fields) {
    super(vector, values, fields);
  }

  @Override
  public BinaryView getBinaryView(int row) {
    return others().getBinaryView(row);
  }
}
