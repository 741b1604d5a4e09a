package io.pyflow.bridge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Comparator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A temporary directory that only this user can read and that goes when the JVM exits. A JVM that
 * crashes leaves its own behind; the next one that makes such a directory removes it, and logs what
 * a {@link CrashNote} in it tells.
 *
 * <p>Each holds a file that its JVM keeps locked: the lock can be taken when the JVM is gone. The
 * system's locks belong to the process and end when it closes any descriptor of the file, so no
 * process opens its own: the name tells whose it is.
 */
final class PrivateDirectory {
  private static final Logger log = LoggerFactory.getLogger(PrivateDirectory.class);

  private static final String PREFIX = "pyflow-";
  private static final String LOCK = "lock";

  private static Path ofThisJvm;

  private PrivateDirectory() {}

  /** The directory of this JVM, made when it is first asked for. */
  static synchronized Path ofThisJvm() throws IOException {
    if (ofThisJvm == null) {
      ofThisJvm = create();
    }
    return ofThisJvm;
  }

  private static Path create() throws IOException {
    String ofThisProcess = PREFIX + ProcessHandle.current().pid() + "-";
    Path directory =
        Files.createTempDirectory(
            ofThisProcess,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    removeAbandoned(directory, ofThisProcess);
    FileChannel channel = lock(directory);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> remove(directory, channel), "pyflow-cleanup"));
    return directory;
  }

  /** The file gets its name when it is locked: it cannot be found without the lock. */
  private static FileChannel lock(Path directory) throws IOException {
    Path unnamed = directory.resolve(LOCK + ".new");
    FileChannel channel =
        FileChannel.open(unnamed, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    channel.lock();
    Files.move(unnamed, directory.resolve(LOCK), StandardCopyOption.ATOMIC_MOVE);
    return channel;
  }

  /** A directory that cannot be removed stays to the system's own cleaning. */
  private static void removeAbandoned(Path own, String ofThisProcess) {
    try (DirectoryStream<Path> candidates =
        Files.newDirectoryStream(own.getParent(), PREFIX + "*")) {
      UserPrincipal user = Files.getOwner(own);
      for (Path candidate : candidates) {
        if (!candidate.getFileName().toString().startsWith(ofThisProcess)
            && Files.isDirectory(candidate, LinkOption.NOFOLLOW_LINKS)
            && Files.getOwner(candidate, LinkOption.NOFOLLOW_LINKS).equals(user)) {
          removeIfAbandoned(candidate);
        }
      }
    } catch (IOException | UncheckedIOException e) {
      // Nothing depends on it.
    }
  }

  private static void removeIfAbandoned(Path directory) {
    Path lock = directory.resolve(LOCK);
    if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
        FileLock ended = channel.tryLock()) {
      if (ended != null) {
        tell(directory);
        delete(directory);
      }
    } catch (IOException e) {
      // Another process has removed it, or does so now.
    }
  }

  /** Whatever is in it, the directory is removed. */
  private static void tell(Path abandoned) {
    try {
      CrashNote.leftIn(abandoned).ifPresent(log::warn);
    } catch (IOException | RuntimeException e) {
      log.debug("{} does not tell what ran", abandoned, e);
    }
  }

  private static void remove(Path directory, FileChannel lock) {
    CrashNote.end();
    delete(directory);
    try {
      lock.close();
    } catch (IOException e) {
      // It ends with the process.
    }
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // A file that is in use or already gone stays to the system's own cleaning of temporary
      // files.
    }
  }
}
