// Makes libpython's symbols visible to extension modules, and those of this library to PyTorch.
//
// The JVM loads libraries with local symbols; extension modules expect CPython's to be global. This
// library knows nothing of Python and is loaded first.

#include <dlfcn.h>
#include <jni.h>

extern "C" JNIEXPORT jstring JNICALL Java_io_pyflow_bridge_NativeLoader_loadGlobally(JNIEnv* env,
                                                                                     jclass,
                                                                                     jstring path) {
  const char* chars = env->GetStringUTFChars(path, nullptr);
  if (chars == nullptr) return nullptr;  // OutOfMemoryError is pending
  void* library = dlopen(chars, RTLD_NOW | RTLD_GLOBAL);
  env->ReleaseStringUTFChars(path, chars);
  static const char here = 0;
  Dl_info self;
  if (dladdr(&here, &self) != 0) dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  return library != nullptr ? nullptr : env->NewStringUTF(dlerror());
}
