package io.pyflow.arrow;

import org.apache.arrow.vector.FieldVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.types.BinaryView;
import org.apache.spark.unsafe.types.TimestampNanosVal;

/** A column with the getters of Spark 4.3. */
final class ImportedColumn extends AddressedColumn {
  ImportedColumn(FieldVector vector, Values values, ColumnVector... fields) {
    super(vector, values, fields);
  }

  @Override
  public BinaryView getBinaryView(int row) {
    return others().getBinaryView(row);
  }

  @Override
  public TimestampNanosVal getTimestampNTZNanos(int row) {
    return others().getTimestampNTZNanos(row);
  }

  @Override
  public TimestampNanosVal getTimestampLTZNanos(int row) {
    return others().getTimestampLTZNanos(row);
  }
}
