package io.pyflow.bridge;

/** What the functions of a {@link PythonProgram} call in the JVM. */
public interface JvmFunction {
  /**
   * Called without the GIL, from any thread that the functions use. An exception is raised in
   * Python with its message.
   *
   * @param code what is wanted
   * @return null for None
   */
  byte[] call(int code, byte[] argument) throws Exception;
}
