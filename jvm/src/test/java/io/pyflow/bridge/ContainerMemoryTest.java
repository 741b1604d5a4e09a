package io.pyflow.bridge;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class ContainerMemoryTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private Path group(String path, String limit, String usage, String... statistics)
      throws IOException {
    Path group = folder.getRoot().toPath().resolve(path);
    Files.createDirectories(group);
    boolean first = path.startsWith("memory");
    Files.writeString(group.resolve(first ? "memory.limit_in_bytes" : "memory.max"), limit + "\n");
    Files.writeString(
        group.resolve(first ? "memory.usage_in_bytes" : "memory.current"), usage + "\n");
    Files.write(group.resolve("memory.stat"), List.of(statistics));
    return group;
  }

  private long available(String... groups) throws IOException {
    return ContainerMemory.available(List.of(groups), folder.getRoot().toPath());
  }

  @Test
  public void filesThatAreCachedAreAvailable() throws IOException {
    group("executor", "1000", "700", "anon 400", "active_file 200", "inactive_file 50");

    assertEquals(550, available("0::/executor"));
  }

  @Test
  public void theGroupWithTheLeastCounts() throws IOException {
    group("node", "500", "400");
    group("node/executor", "1000", "300");

    assertEquals(100, available("0::/node/executor"));
  }

  @Test
  public void groupsWithoutALimitDoNotCount() throws IOException {
    group("executor", "max", "700");

    assertEquals(Long.MAX_VALUE, available("0::/executor"));
  }

  @Test
  public void aContainerMaySeeItsGroupAsTheRoot() throws IOException {
    group("", "1000", "700");

    assertEquals(300, available("0::/kubepods/pod"));
  }

  @Test
  public void theFirstVersionHasAHierarchyForMemory() throws IOException {
    group("memory/executor", "1000", "700", "active_file 1", "total_active_file 100");

    assertEquals(400, available("12:cpu,cpuacct:/", "5:memory:/executor", "0::/"));
  }
}
