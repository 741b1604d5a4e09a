package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The CPython of this JVM. Started once, never stopped. */
public final class PythonRuntime {
  private static PythonInstallation running;
  private static String whyNoIsolatedInterpreters = "";

  private PythonRuntime() {}

  /**
   * Starts the CPython behind an executable in this JVM; returns at once if it runs already.
   *
   * @param pythonExec the Python executable, a path or a name on the PATH
   * @param environment variables that Spark sets for its Python workers; C code of this process has
   *     them from now on, too
   * @throws PythonUnavailableException if it cannot be embedded, or another executable's CPython
   *     runs
   */
  public static synchronized void start(String pythonExec, Map<String, String> environment) {
    if (running != null) {
      if (!running.requested().equals(pythonExec)) {
        throw new PythonUnavailableException(
            "This JVM already runs the Python of '"
                + running.requested()
                + "' and cannot run that of '"
                + pythonExec
                + "' too. Use one Python for all functions in thread mode, or set "
                + "spark.pyflow.execution-mode=process.");
      }
      return;
    }
    PythonInstallation installation = PythonInstallation.inspect(pythonExec, environment);
    JarContents contents = JarContents.unpack(installation.minorVersion());
    load(contents.loader());
    String linkError = NativeLoader.loadGlobally(installation.sharedLibrary());
    if (linkError != null) {
      throw new PythonUnavailableException(
          "The shared library of the Python at '"
              + pythonExec
              + "' cannot be loaded: "
              + linkError);
    }
    load(contents.bridge());

    List<String> options = new ArrayList<>(installation.startOptions());
    options.add(Integer.toString(environment.size()));
    environment.forEach((name, value) -> options.add(name + "=" + value));
    options.add(contents.pythonPath().toString());
    options.addAll(installation.searchPath());
    NativeBridge.start(
        options.stream().map(each -> each.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new));
    whyNoIsolatedInterpreters =
        installation.isFreeThreaded()
            ? "is a free-threaded build: its tasks run in parallel in the shared interpreter, and"
                + " isolated ones are not supported"
            : new String(NativeBridge.whyNoIsolatedInterpreters(), StandardCharsets.UTF_8);
    running = installation;
  }

  private static void load(Path library) {
    try {
      System.load(library.toString());
    } catch (UnsatisfiedLinkError e) {
      throw new PythonUnavailableException(
          "The native library "
              + library.getFileName()
              + " cannot be loaded ("
              + e.getMessage()
              + "). "
              + cure(e.getMessage()),
          e);
    }
  }

  private static String cure(String message) {
    if (message.contains("GLIBC")) {
      return "The PyFlow jar was built on a newer system than this one: build it here, or on a"
          + " system as old as the oldest that it is to run on.";
    }
    if (message.contains("failed to map segment") || message.contains("Operation not permitted")) {
      return "The directory "
          + System.getProperty("java.io.tmpdir")
          + " may be mounted noexec: set -Djava.io.tmpdir to another directory in"
          + " spark.driver.extraJavaOptions and spark.executor.extraJavaOptions.";
    }
    return "Reinstall PyFlow, or build it on this machine.";
  }

  public static synchronized boolean isStarted() {
    return running != null;
  }

  /** The full version of the running CPython, such as 3.13.0. */
  public static synchronized String version() {
    if (running == null) {
      throw new IllegalStateException("Python has not been started");
    }
    return running.version();
  }

  /** Whether the running CPython is a free-threaded build, which starts without a GIL. */
  public static synchronized boolean isFreeThreaded() {
    return running != null && running.isFreeThreaded();
  }

  /**
   * What of the running CPython forbids interpreters with a GIL of their own, to be said after its
   * version; empty if it has them, and before it runs.
   */
  public static synchronized String whyNoIsolatedInterpreters() {
    return whyNoIsolatedInterpreters;
  }

  /**
   * The memory that CPython has allocated now, in bytes: the objects of all interpreters and other
   * memory from its allocators, but not that which extension modules allocate themselves. 0 before
   * it runs.
   */
  public static long memoryBytes() {
    return isStarted() ? NativeBridge.memoryBytes() : 0;
  }

  /**
   * The number of interpreters with a GIL of their own. Each is kept for as long as the JVM lives;
   * a task that cannot be interrupted keeps its own, and the next one gets another.
   */
  public static int isolatedInterpreters() {
    return isStarted() ? NativeBridge.isolatedInterpreters() : 0;
  }

  /**
   * What interpreters have imported, as JSON: an array of objects with {@code number}, 0 for the
   * shared one, and {@code modules}, which are not of the standard library. Waits for each
   * interpreter's GIL.
   */
  public static String loadedModules() {
    return isStarted() ? new String(NativeBridge.loadedModules(), StandardCharsets.UTF_8) : "[]";
  }

  /**
   * Gives memory that is free in malloc's arenas back to the operating system. malloc itself does
   * so only at the end of an arena, and every thread that Python runs on may have one.
   */
  public static void trimMemory() {
    NativeBridge.trimMemory();
  }

  /**
   * Drops all that interpreters keep for an application that has ended: broadcast variables and the
   * modules from its files. Waits for each interpreter's GIL.
   */
  public static void endApplication(String identifier) {
    if (isStarted()) {
      NativeBridge.endApplication(identifier.getBytes(StandardCharsets.UTF_8));
    }
  }

  /**
   * What threads of all interpreters do now, as JSON: an array of objects with the address of the
   * thread state ({@code state}), the interpreter's number, 0 for the shared one ({@code
   * interpreter}), the system's number of the thread ({@code thread}), {@code holds_gil}, and
   * {@code frames} with {@code function}, {@code file} and {@code line}, the innermost first.
   * Threads that run no Python code are left out. Takes no GIL.
   */
  public static String threads() {
    return isStarted() ? new String(NativeBridge.pythonThreads(), StandardCharsets.UTF_8) : "[]";
  }

  /**
   * Asks the debugger of the shared interpreter, which is started by that, as {@code
   * pyflow.thread_mode.debugger} says. Waits for the GIL.
   */
  public static String askDebugger(String request) {
    byte[] answer = NativeBridge.askDebugger(request.getBytes(StandardCharsets.UTF_8));
    return new String(answer, StandardCharsets.UTF_8);
  }

  /** Takes the GIL of the shared interpreter and gives it back; returns when that was possible. */
  public static void takeGil() {
    NativeBridge.takeGil();
  }

  /**
   * Makes isolated interpreters ahead of the tasks that will lease them, until there are so many;
   * takes about 0.1 s for each.
   */
  public static void prewarm(int interpreters) {
    NativeBridge.prewarm(interpreters);
  }
}
