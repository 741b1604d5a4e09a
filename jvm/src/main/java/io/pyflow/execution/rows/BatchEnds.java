package io.pyflow.execution.rows;

/**
 * Where the Arrow batches end that process mode would have made of the input. Bundles end there
 * too: a value that is not of the declared type is converted with regard to the rest of its batch.
 */
public interface BatchEnds {
  /** How many rows the batch has left; 0 if there is no more input. */
  int rowsLeft();

  /** Counts rows that were taken; whether the batch ends with them. */
  boolean endsAfter(int rows);

  /** Batches of so many rows. */
  static BatchEnds every(int rows) {
    return new BatchEnds() {
      private int left = rows;

      @Override
      public int rowsLeft() {
        return left;
      }

      @Override
      public boolean endsAfter(int count) {
        left -= count;
        if (left > 0) {
          return false;
        }
        left = rows;
        return true;
      }
    };
  }
}
