import io.pyflow.bridge.InterpreterKind;
import io.pyflow.bridge.JvmFunction;
import io.pyflow.bridge.PythonProgram;
import io.pyflow.bridge.PythonRuntime;
import io.pyflow.bridge.PythonSlot;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.unsafe.Platform;

/**
 * Runs a processor that keeps state, whose requests end in different ways, and prints what became of
 * each key: DONE, INTERRUPTED or the last line of the error. Arguments: executable, interpreter,
 * specification, stack size of the calling thread in KiB.
 */
public final class Upcalls {
  private static final int ROWS = 1;
  private static final int OPEN_VALUE = 2;
  private static final int EXISTS = 10;
  private static final int CLEAR = 11;
  private static final int GET = 14;
  private static final int UPDATE = 15;

  private static final int INPUT_BYTES = 56;
  private static final int KEYS = 7;

  private static final CountDownLatch inside = new CountDownLatch(1);
  private static final AtomicReference<PythonSlot> slots = new AtomicReference<>();

  private Upcalls() {}

  public static void main(String[] arguments) throws Exception {
    PythonRuntime.start(arguments[0], new HashMap<>(System.getenv()));
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Runnable calls =
        () -> {
          try {
            callAll(arguments);
          } catch (Throwable error) {
            failure.set(error);
          }
        };
    Thread thread = new Thread(null, calls, "calls", Long.parseLong(arguments[3]) << 10);
    thread.start();
    inside.await();
    interruptUntilEnd(thread);
    if (failure.get() != null) {
      failure.get().printStackTrace();
    }
    // Python threads and interpreters live as long as the JVM.
    System.exit(failure.get() == null ? 0 : 1);
  }

  private static void interruptUntilEnd(Thread thread) throws Exception {
    while (thread.isAlive()) {
      if (slots.get() != null) {
        slots.get().interrupt();
      }
      thread.join(50);
    }
  }

  private static void callAll(String[] arguments) throws Exception {
    byte[] spec = Files.readAllBytes(Paths.get(arguments[2]));
    long input = Platform.allocateMemory(Long.BYTES + INPUT_BYTES);
    try (PythonSlot slot = PythonSlot.acquire(InterpreterKind.valueOf(arguments[1]), "");
        PythonProgram program = slot.load(spec, Upcalls::answer)) {
      slots.set(slot);
      for (int key = -1; key < KEYS; key++) {
        int status = call(program, input, key < 0 ? 0 : ROWS, key);
        String[] error = status == PythonProgram.ERROR ? program.error().strip().split("\n") : null;
        System.out.println(
            key + " " + (error == null ? name(status) : error[error.length - 1]));
      }
    } finally {
      inside.countDown();
    }
  }

  private static byte[] answer(int code, byte[] argument) throws Exception {
    switch (code & 0xff) {
      case OPEN_VALUE:
        return new byte[Long.BYTES];
      case EXISTS:
        throw new IllegalStateException("no state \u00fc\u20ac\ud83d\ude00");
      case CLEAR:
        throw new StackOverflowError();
      case GET:
        return null;
      case UPDATE:
        inside.countDown();
        Thread.sleep(300);
        return null;
      default:
        throw new IllegalArgumentException("unexpected request " + code);
    }
  }

  private static String name(int status) {
    return status == PythonProgram.DONE
        ? "DONE"
        : status == PythonProgram.INTERRUPTED ? "INTERRUPTED" : "status " + status;
  }

  private static int call(PythonProgram program, long address, int operation, long key) {
    long row = address + Long.BYTES;
    Platform.putLong(null, address, INPUT_BYTES);
    Platform.putLong(null, row, 0);
    Platform.putLong(null, row + 8, operation);
    Platform.putLong(null, row + 16, 40L << 32 | 16);
    Platform.putLong(null, row + 24, -1);
    Platform.putLong(null, row + 32, -1);
    Platform.putLong(null, row + 40, 0);
    Platform.putLong(null, row + 48, key);
    return program.evaluate(address, 1, true);
  }
}
