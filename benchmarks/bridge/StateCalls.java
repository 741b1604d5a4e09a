import io.pyflow.bridge.InterpreterKind;
import io.pyflow.bridge.JvmFunction;
import io.pyflow.bridge.PythonProgram;
import io.pyflow.bridge.PythonRuntime;
import io.pyflow.bridge.PythonSlot;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import org.apache.spark.unsafe.Platform;

/**
 * Calls a processor whose state is in a field: what each access of Python to the JVM costs, without
 * a state store.
 */
public final class StateCalls {
  // Numbers of StatefulFunction.scala and StateAccess.scala.
  private static final int INIT = 0;
  private static final int ROWS = 1;
  private static final int OPEN_VALUE = 2;
  private static final int EXISTS = 10;
  private static final int GET = 14;
  private static final int UPDATE = 15;

  private static final int INPUT_BYTES = 56;

  private StateCalls() {}

  public static void main(String[] arguments) throws Exception {
    InterpreterKind interpreter = InterpreterKind.valueOf(arguments[1]);
    byte[] spec = Files.readAllBytes(Paths.get(arguments[2]));
    String caseName = arguments[3];
    int key = Integer.parseInt(arguments[4]);
    int accesses = Integer.parseInt(arguments[5]);
    long input = Platform.allocateMemory(Long.BYTES + INPUT_BYTES);
    PythonRuntime.start(arguments[0], new HashMap<>(System.getenv()));
    try (PythonSlot slot = PythonSlot.acquire(interpreter, "");
        PythonProgram program = slot.load(spec, new OneValue())) {
      call(program, input, INIT, 0);
      Calls.measure(
          caseName,
          arguments[1].toLowerCase(),
          accesses,
          number -> call(program, input, ROWS, key));
    }
    // Python threads and interpreters live as long as the JVM.
    System.exit(0);
  }

  /** The only value is that of the last update, as a row after its size in 8 bytes. */
  private static final class OneValue implements JvmFunction {
    private byte[] value;

    @Override
    public byte[] call(int code, byte[] argument) {
      switch (code & 0xff) {
        case OPEN_VALUE:
          return new byte[Long.BYTES];
        case EXISTS:
          return null;
        case GET:
          return value;
        case UPDATE:
          ByteBuffer framed = ByteBuffer.allocate(Long.BYTES + argument.length);
          value =
              framed.order(ByteOrder.LITTLE_ENDIAN).putLong(argument.length).put(argument).array();
          return null;
        default:
          throw new IllegalArgumentException("unexpected request " + code);
      }
    }
  }

  /** Input: an operation, a key of one long, and two times; each row comes after its size. */
  private static void call(PythonProgram program, long address, int operation, long key) {
    long row = address + Long.BYTES;
    Platform.putLong(null, address, INPUT_BYTES);
    Platform.putLong(null, row, 0);
    Platform.putLong(null, row + 8, operation);
    Platform.putLong(null, row + 16, 40L << 32 | 16);
    Platform.putLong(null, row + 24, -1);
    Platform.putLong(null, row + 32, -1);
    Platform.putLong(null, row + 40, 0);
    Platform.putLong(null, row + 48, key);
    int status = program.evaluate(address, 1, true);
    if (status != PythonProgram.DONE) {
      throw new AssertionError("status " + status + ": " + program.error());
    }
  }
}
