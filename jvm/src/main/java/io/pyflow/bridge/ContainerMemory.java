package io.pyflow.bridge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The memory that control groups leave this process, such as the container of an executor. */
final class ContainerMemory {
  private static final Path ROOT = Path.of("/sys/fs/cgroup");

  private ContainerMemory() {}

  /** {@code Long.MAX_VALUE} where memory has no limit, or the limit is unknown. */
  static long availableBytes() {
    try {
      return available(Files.readAllLines(Path.of("/proc/self/cgroup")), ROOT);
    } catch (IOException | RuntimeException e) {
      return Long.MAX_VALUE;
    }
  }

  /**
   * @param groups the lines of {@code /proc/self/cgroup}
   * @param root where control groups are mounted
   */
  static long available(List<String> groups, Path root) throws IOException {
    long least = Long.MAX_VALUE;
    for (String line : groups) {
      String[] group = line.split(":", 3);
      if (group[1].isEmpty()) {
        least = Math.min(least, new Version("memory.max", "memory.current", "").of(root, group[2]));
      } else if (List.of(group[1].split(",")).contains("memory")) {
        Version first = new Version("memory.limit_in_bytes", "memory.usage_in_bytes", "total_");
        least = Math.min(least, first.of(root.resolve("memory"), group[2]));
      }
    }
    return least;
  }

  /** The files of a version of control groups, and what precedes the names of its statistics. */
  private record Version(String limit, String usage, String prefix) {
    /** The least of a group and those that it is in; a container may see its own as the root. */
    long of(Path mount, String group) throws IOException {
      long least = Long.MAX_VALUE;
      Path path = mount.resolve(group.substring(1)).normalize();
      while (path.startsWith(mount)) {
        if (Files.exists(path.resolve(limit))) {
          least = Math.min(least, left(path));
        }
        path = path.getParent();
      }
      return least;
    }

    private long left(Path group) throws IOException {
      String most = Files.readString(group.resolve(limit)).trim();
      if (most.equals("max")) {
        return Long.MAX_VALUE;
      }
      long used = Long.parseLong(Files.readString(group.resolve(usage)).trim());
      return Long.parseLong(most) - used + files(group);
    }

    /** Pages of files, which the kernel takes back before it refuses memory. */
    private long files(Path group) throws IOException {
      long bytes = 0;
      for (String line : Files.readAllLines(group.resolve("memory.stat"))) {
        if (line.startsWith(prefix + "active_file ")
            || line.startsWith(prefix + "inactive_file ")) {
          bytes += Long.parseLong(line.substring(line.indexOf(' ') + 1).trim());
        }
      }
      return bytes;
    }
  }
}
