package io.pyflow.bridge;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The native libraries and the Python code that the plugin jar carries, unpacked to a {@link
 * PrivateDirectory}.
 */
final class JarContents {
  private static final String PYTHON = "python/";

  private final Path directory;
  private final Path bridge;

  private JarContents(Path directory, Path bridge) {
    this.directory = directory;
    this.bridge = bridge;
  }

  static JarContents unpack(String pythonMinorVersion) {
    String platform =
        System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT)
            + "-"
            + System.getProperty("os.arch").replace("amd64", "x86_64");
    String libraries = "native/" + platform + "/";
    String bridgeName = libraries + "libpyflow-cp" + pythonMinorVersion.replace(".", "") + ".so";
    try (JarFile jar = new JarFile(ownJar().toFile())) {
      if (jar.getEntry(bridgeName) == null) {
        throw new PythonUnavailableException(
            "The PyFlow jar "
                + jar.getName()
                + " holds no native library for Python "
                + pythonMinorVersion
                + " on "
                + platform
                + ". Use a Python it was built for, build it again with that Python "
                + "installed, or set spark.pyflow.execution-mode=process.");
      }
      Path directory = PrivateDirectory.ofThisJvm();
      for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
        JarEntry entry = entries.nextElement();
        boolean wanted =
            entry.getName().startsWith(PYTHON)
                || entry.getName().equals(bridgeName)
                || entry.getName().equals(libraries + "libpyflow-loader.so");
        if (wanted && !entry.isDirectory()) {
          Path target = directory.resolve(entry.getName()).normalize();
          if (!target.startsWith(directory)) {
            throw new IOException("entry outside of the jar: " + entry.getName());
          }
          Files.createDirectories(target.getParent());
          try (InputStream content = jar.getInputStream(entry)) {
            // A start that has failed may have unpacked it before.
            Files.copy(content, target, StandardCopyOption.REPLACE_EXISTING);
          }
        }
      }
      JarContents contents = new JarContents(directory, directory.resolve(bridgeName));
      Properties expected = properties(jar);
      verify(contents.loader(), expected, jar.getName());
      verify(contents.bridge(), expected, jar.getName());
      return contents;
    } catch (IOException e) {
      throw new PythonUnavailableException(
          "The PyFlow jar cannot be unpacked: " + e.getMessage(), e);
    }
  }

  private static Properties properties(JarFile jar) throws IOException {
    Properties properties = new Properties();
    JarEntry entry = jar.getJarEntry("META-INF/pyflow.properties");
    if (entry != null) {
      try (InputStream content = jar.getInputStream(entry)) {
        properties.load(content);
      }
    }
    return properties;
  }

  /** What goes into the JVM must be, byte by byte, what the build has made. */
  private static void verify(Path library, Properties expected, String jar) throws IOException {
    String digest = sha256(Files.readAllBytes(library));
    String built = expected.getProperty("sha256." + library.getFileName(), "none");
    if (!digest.equals(built)) {
      throw new PythonUnavailableException(
          "The native library "
              + library.getFileName()
              + " from the PyFlow jar "
              + jar
              + " is not the one that was built with it (SHA-256 "
              + digest
              + ", expected "
              + built
              + "), so it is not loaded. Replace the jar by an intact one, or set "
              + "spark.pyflow.execution-mode=process.");
    }
  }

  private static String sha256(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static Path ownJar() throws IOException {
    try {
      Path location =
          Path.of(JarContents.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (Files.isRegularFile(location)) {
        return location;
      }
      throw new IOException("PyFlow's classes do not come from a jar but from " + location);
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }

  /** The library that makes libpython's symbols global. */
  Path loader() {
    return bridge.resolveSibling("libpyflow-loader.so");
  }

  /** The library with the bridge, made for one CPython minor version. */
  Path bridge() {
    return bridge;
  }

  /** The folder with the Python package, for sys.path. */
  Path pythonPath() {
    return directory.resolve("python");
  }
}
