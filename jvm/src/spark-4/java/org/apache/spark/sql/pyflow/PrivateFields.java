package org.apache.spark.sql.pyflow;

import java.lang.reflect.Field;

/** Reads fields that neither Java nor Scala let others see. */
final class PrivateFields {
  private PrivateFields() {}

  /** The value of a field that a class declares; its type is the caller's to know. */
  @SuppressWarnings("unchecked")
  static <T> T get(Object owner, Class<?> declaring, String name) {
    try {
      Field field = declaring.getDeclaredField(name);
      field.setAccessible(true);
      return (T) field.get(owner);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("not the Spark version that this jar was built for", e);
    }
  }
}
