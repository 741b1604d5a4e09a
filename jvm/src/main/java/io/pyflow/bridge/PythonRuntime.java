package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The CPython of this JVM. Started once, never stopped. */
public final class PythonRuntime {
  private static PythonInstallation running;

  private PythonRuntime() {}

  /**
   * Starts the CPython behind an executable in this JVM; returns at once if it runs already.
   *
   * @param pythonExec the Python executable, a path or a name on the PATH
   * @param environment variables that Spark sets for its Python workers
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
    System.load(contents.loader().toString());
    String linkError = NativeLoader.loadGlobally(installation.sharedLibrary());
    if (linkError != null) {
      throw new PythonUnavailableException(
          "The shared library of the Python at '"
              + pythonExec
              + "' cannot be loaded: "
              + linkError);
    }
    System.load(contents.bridge().toString());

    List<String> options = new ArrayList<>(installation.startOptions());
    options.add(environment.getOrDefault("PYTHONHASHSEED", "0"));
    options.add(environment.getOrDefault("PYTHON_GIL", ""));
    options.add(environment.getOrDefault("OMP_NUM_THREADS", ""));
    options.add(contents.pythonPath().toString());
    options.addAll(installation.searchPath());
    NativeBridge.start(
        options.stream().map(each -> each.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new));
    running = installation;
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
   * What CPython has allocated now, in bytes: the objects of all interpreters and what else comes
   * from its allocators, but not what extension modules allocate by themselves. 0 before it runs.
   */
  public static long memoryBytes() {
    return isStarted() ? NativeBridge.memoryBytes() : 0;
  }

  /**
   * Lets go of what interpreters keep for an application that has ended: broadcast variables and
   * the modules from its files. Waits for each interpreter's GIL.
   */
  public static void endApplication(String identifier) {
    if (isStarted()) {
      NativeBridge.endApplication(identifier.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Makes interpreters ahead of the tasks that will lease them; takes about 0.1 s for each. */
  public static void prewarm(Interpreter mode, int slots) {
    if (mode == Interpreter.ISOLATED) {
      NativeBridge.prewarm(slots);
    }
  }
}
