import pemja.core.PythonInterpreter;
import pemja.core.PythonInterpreterConfig;

/** Calls one function through pemja, the way PyFlink does: a method, by name, boxed arguments. */
public final class PemjaCalls {
  private static final int ROWS = 1024;

  private PemjaCalls() {}

  public static void main(String[] arguments) {
    String function = arguments[1];
    String caseName = arguments[2];
    int length = Integer.parseInt(arguments[3]);

    Object[] rows = new Object[ROWS];
    for (int row = 0; row < ROWS; row++) {
      rows[row] = length == 0 ? (Object) (long) row : Calls.text(caseName, length, row);
    }
    PythonInterpreterConfig config =
        PythonInterpreterConfig.newBuilder()
            .setPythonExec(arguments[0])
            .addPythonPaths(System.getenv("PYTHONPATH").split(":"))
            .setExcType(PythonInterpreterConfig.ExecType.MULTI_THREAD)
            .build();
    try (PythonInterpreter interpreter = new PythonInterpreter(config)) {
      interpreter.exec(
          "import functions\n"
              + "class Operation: pass\n"
              + "operation = Operation()\n"
              + ("operation.process_element = functions." + function));
      Calls.measure(
          caseName,
          "shared",
          1,
          number -> {
            Object row = rows[(int) (number % ROWS)];
            if (interpreter.invokeMethod("operation", "process_element", row) == null) {
              throw new AssertionError("no result");
            }
          });
    }
  }
}
