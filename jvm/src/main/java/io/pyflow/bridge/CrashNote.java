package io.pyflow.bridge;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names of the functions that run in this JVM, in a file until the note is closed. It is for local
 * mode, where no driver outlives the JVM: if the JVM crashes, the file stays.
 *
 * <p>A shell that waits for the end of this JVM prints the names, to the standard error that it
 * shares with the JVM. The next JVM that removes the directory logs them.
 */
public final class CrashNote implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(CrashNote.class);

  /** A name in each line that is not empty. */
  private static final String NAMES = "running";

  /** The message's two lines: what precedes the names in it, and what follows them. */
  private static final String MESSAGE = "crashed";

  /** Its input ends with the JVM. */
  private static final String WAIT_AND_TELL =
      """
      trap '' INT
      read -r end
      [ -f "$1/running" ] || exit 0
      names=
      while read -r name; do
        [ -z "$name" ] || names="${names:+$names, }$name"
      done < "$1/running"
      [ -n "$names" ] || exit 0
      { read -r before; read -r after; } < "$1/crashed"
      printf '%s %s%s\\n' "$before" "$names" "$after" >&2
      """;

  /** How many notes there are of each name. */
  private static final Map<String, Integer> running = new LinkedHashMap<>();

  private static boolean ended;

  /** Unlike a channel, not closed by the interruption of a task that writes to it. */
  private static RandomAccessFile file;

  /** Kept: the pipe to a process is closed when nothing refers to it any more. */
  private static Process shell;

  private final Set<String> names;

  private CrashNote(Set<String> names) {
    this.names = names;
  }

  /** Notes that something runs. A disk that takes no note fails no task. */
  public static CrashNote of(Collection<String> names) {
    CrashNote note = new CrashNote(Set.copyOf(names));
    change(note.names, 1);
    return note;
  }

  @Override
  public void close() {
    change(names, -1);
  }

  /** This JVM ends without a crash: its directory is removed, and no longer written to. */
  static synchronized void end() {
    ended = true;
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        log.debug("The file of notes cannot be closed", e);
      }
    }
  }

  private static synchronized void change(Set<String> names, int by) {
    int before = running.size();
    for (String name : names) {
      running.merge(name, by, (one, other) -> one + other == 0 ? null : one + other);
    }
    if (running.size() != before && !ended) {
      try {
        write();
      } catch (IOException | IllegalStateException e) {
        // The latter comes from a JVM that is about to end.
        log.debug("What runs in this JVM cannot be noted", e);
      }
    }
  }

  /** In one piece, over all that was there. */
  private static void write() throws IOException {
    if (file == null) {
      file = begin(PrivateDirectory.ofThisJvm());
    }
    byte[] text = (String.join("\n", running.keySet()) + "\n").getBytes(StandardCharsets.UTF_8);
    byte[] padded = Arrays.copyOf(text, Math.max(text.length, (int) file.length()));
    Arrays.fill(padded, text.length, padded.length, (byte) '\n');
    file.seek(0);
    file.write(padded);
  }

  private static RandomAccessFile begin(Path directory) throws IOException {
    long process = ProcessHandle.current().pid();
    Path errors = Path.of("hs_err_pid" + process + ".log").toAbsolutePath();
    Files.write(
        directory.resolve(MESSAGE),
        List.of(
            "PyFlow: the JVM of process "
                + process
                + " has ended while this ran in it in thread mode:",
            ". The likely cause is a crash in a native extension; "
                + errors
                + " names it, if the JVM could still write that file. Set"
                + " spark.pyflow.execution-mode=process for the query to keep a function out of the"
                + " JVM, or spark.pyflow.thread-mode.allowed for the application to name those that"
                + " may run there."));
    RandomAccessFile names = new RandomAccessFile(directory.resolve(NAMES).toFile(), "rw");
    try {
      shell =
          new ProcessBuilder("/bin/sh", "-c", WAIT_AND_TELL, "pyflow", directory.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
    } catch (IOException e) {
      log.debug("A crash of this JVM is told by the next one only", e);
    }
    return names;
  }

  /** The message about a JVM that has crashed and left its directory, if Python ran in it. */
  static Optional<String> leftIn(Path directory) throws IOException {
    Path file = directory.resolve(NAMES);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    List<String> names = Files.readAllLines(file);
    names.removeIf(String::isEmpty);
    if (names.isEmpty()) {
      return Optional.empty();
    }
    List<String> message = Files.readAllLines(directory.resolve(MESSAGE));
    return Optional.of(message.get(0) + " " + String.join(", ", names) + message.get(1));
  }
}
