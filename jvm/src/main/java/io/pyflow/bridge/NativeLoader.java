package io.pyflow.bridge;

/** Entry point of libpyflow-loader, which needs no Python. */
final class NativeLoader {
  private NativeLoader() {}

  /** Loads a library with global symbols; returns null, or what the dynamic linker said. */
  static native String loadGlobally(String path);
}
