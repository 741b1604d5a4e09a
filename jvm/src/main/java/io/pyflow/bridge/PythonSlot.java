package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The lease of an interpreter by one operator of one task. */
public final class PythonSlot implements AutoCloseable {
  private final long handle;
  private final InterpreterKind interpreter;
  private final List<LoadedFunctions> loaded = new ArrayList<>();

  /** Whoever uses the handle reads {@code closed}, and has it stay so meanwhile. */
  private final ReadWriteLock closing = new ReentrantReadWriteLock();

  private boolean closed;

  private PythonSlot(long handle, InterpreterKind interpreter) {
    this.handle = handle;
    this.interpreter = interpreter;
  }

  /**
   * Leases an interpreter; an isolated one is made if none is idle.
   *
   * @param modulesOf the session that has modules of its own, empty if none has
   * @throws PythonUnavailableException if none can be made
   */
  public static PythonSlot acquire(InterpreterKind interpreter, String modulesOf) {
    return acquire(interpreter, modulesOf, "", 0);
  }

  /**
   * Leases the isolated interpreter that is kept for an owner, from its first lease on.
   *
   * @param modulesOf the session that has modules of its own, empty if none has
   * @param owner any text, not empty
   * @param kept owners have an interpreter in common where so many are kept, at least 1
   * @throws PythonUnavailableException if none can be made
   */
  public static PythonSlot acquireKept(String modulesOf, String owner, int kept) {
    return acquire(InterpreterKind.ISOLATED, modulesOf, owner, kept);
  }

  /**
   * Leases an interpreter that is kept for owners whose texts begin with one of these, and is kept
   * for none of them any more; empty if there is none.
   */
  public static Optional<PythonSlot> acquireForLastTime(List<String> owners) {
    byte[] lines = String.join("\n", owners).getBytes(StandardCharsets.UTF_8);
    long handle = NativeBridge.acquireSlotForLastTime(lines);
    return handle == 0
        ? Optional.empty()
        : Optional.of(new PythonSlot(handle, InterpreterKind.ISOLATED));
  }

  private static PythonSlot acquire(
      InterpreterKind interpreter, String modulesOf, String owner, int kept) {
    long handle =
        NativeBridge.acquireSlot(
            interpreter == InterpreterKind.ISOLATED,
            modulesOf.getBytes(StandardCharsets.UTF_8),
            owner.getBytes(StandardCharsets.UTF_8),
            kept);
    return new PythonSlot(handle, interpreter);
  }

  /** Which interpreter it is. */
  public InterpreterKind interpreter() {
    return interpreter;
  }

  /**
   * Loads functions.
   *
   * @param specification JSON in UTF-8, as pyflow/thread_mode/program.py reads it
   * @param function what they call the JVM with; null if they do not
   * @throws PythonFunctionException if Python raises while it loads them
   * @throws SharedInterpreterRequiredException if their imports refuse this interpreter
   * @throws FunctionsRefusedException if this interpreter refuses them
   */
  public PythonProgram load(byte[] specification, JvmFunction function) {
    PythonProgram program =
        new PythonProgram(this, NativeBridge.load(handle, specification, function));
    synchronized (loaded) {
      loaded.add(program);
    }
    return program;
  }

  /**
   * Loads functions over Arrow batches.
   *
   * @param specification JSON in UTF-8, as pyflow/thread_mode/batches.py reads it
   * @param function what they call the JVM with; null if they do not
   * @throws PythonFunctionException if Python raises while it loads them
   * @throws FunctionsRefusedException if this interpreter refuses them
   */
  public PythonBatches loadBatches(byte[] specification, BatchSource source, JvmFunction function) {
    PythonBatches batches =
        new PythonBatches(this, NativeBridge.loadBatches(handle, specification, source, function));
    synchronized (loaded) {
      loaded.add(batches);
    }
    return batches;
  }

  /**
   * Raises an exception in the Python code that runs in the slot now, or keeps it from running.
   * Waits for the interpreter's GIL, which a C function may hold for long: call from a thread of
   * its own.
   */
  public void interrupt() {
    closing.readLock().lock();
    try {
      if (!closed) {
        NativeBridge.interrupt(handle);
      }
    } finally {
      closing.readLock().unlock();
    }
  }

  /**
   * The address of the thread state whose Python code runs in the slot now, as {@link
   * PythonRuntime#threads()} has it; 0 if none does. Waits for nothing.
   */
  public long runningThread() {
    if (!closing.readLock().tryLock()) {
      return 0;
    }
    try {
      return closed ? 0 : NativeBridge.runningThread(handle);
    } finally {
      closing.readLock().unlock();
    }
  }

  /** Closes the slot's functions and gives the interpreter back. */
  @Override
  public void close() {
    List<LoadedFunctions> open;
    synchronized (loaded) {
      open = new ArrayList<>(loaded);
    }
    open.forEach(LoadedFunctions::close);
    release();
  }

  private void release() {
    closing.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        NativeBridge.releaseSlot(handle);
      }
    } finally {
      closing.writeLock().unlock();
    }
  }

  void forget(LoadedFunctions functions) {
    synchronized (loaded) {
      loaded.remove(functions);
    }
  }
}
