import io.pyflow.bridge.InterpreterKind;
import io.pyflow.bridge.PythonProgram;
import io.pyflow.bridge.PythonRuntime;
import io.pyflow.bridge.PythonSlot;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import sun.misc.Unsafe;

/** Calls one function through PyFlow's bridge with hand-made rows, one and 1,024 at a time. */
public final class PyFlowCalls {
  private static final int ROWS = 1024;
  private static final Unsafe UNSAFE = unsafe();

  private PyFlowCalls() {}

  public static void main(String[] arguments) throws Exception {
    InterpreterKind interpreter = InterpreterKind.valueOf(arguments[1]);
    byte[] spec = Files.readAllBytes(Paths.get(arguments[2]));
    String caseName = arguments[3];
    int length = Integer.parseInt(arguments[4]);

    byte[][] rows = new byte[ROWS][];
    int bytes = 0;
    for (int row = 0; row < ROWS; row++) {
      rows[row] = length == 0 ? longRow(row) : textRow(Calls.text(caseName, length, row));
      bytes += rows[row].length;
    }
    long buffer = UNSAFE.allocateMemory(bytes);
    PythonRuntime.start(arguments[0], new HashMap<>(System.getenv()));
    try (PythonSlot slot = PythonSlot.acquire(interpreter, "");
        PythonProgram program = slot.load(spec, null)) {
      for (int bundle : new int[] {1, ROWS}) {
        Calls.measure(
            caseName,
            arguments[1].toLowerCase(),
            bundle,
            number -> evaluate(program, rows, (int) (number * bundle % ROWS), bundle, buffer));
      }
    }
    // Python threads and interpreters live as long as the JVM.
    System.exit(0);
  }

  /** Copies a bundle off heap, as the operator does, evaluates it, and looks at the output. */
  private static void evaluate(
      PythonProgram program, byte[][] rows, int first, int count, long buffer) {
    long end = buffer;
    for (int row = first; row < first + count; row++) {
      UNSAFE.copyMemory(rows[row], Unsafe.ARRAY_BYTE_BASE_OFFSET, null, end, rows[row].length);
      end += rows[row].length;
    }
    int status = program.evaluate(buffer, count, false);
    if (status != PythonProgram.DONE || program.rowsDone() != count) {
      throw new AssertionError("status " + status + ": " + program.error());
    }
    if (UNSAFE.getInt(program.outputAddress()) < 16) {
      throw new AssertionError("no result row");
    }
  }

  /** One input row: its size, then an UnsafeRow of one long. */
  private static byte[] longRow(long value) {
    return littleEndian(24).putLong(16).putLong(0).putLong(value).array();
  }

  /** One input row: its size, then an UnsafeRow of one string, padded to whole words. */
  private static byte[] textRow(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    int size = 16 + (utf8.length + 7) / 8 * 8;
    long offsetAndSize = 16L << 32 | utf8.length;
    return littleEndian(8 + size).putLong(size).putLong(0).putLong(offsetAndSize).put(utf8).array();
  }

  private static ByteBuffer littleEndian(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException error) {
      throw new ExceptionInInitializerError(error);
    }
  }
}
