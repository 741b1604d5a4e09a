// The default generator of PyTorch's random numbers: one per task instead of one per process.
//
// PyTorch's libraries call `const at::Generator& at::detail::getDefaultCPUGenerator()` through a
// symbol that the dynamic linker looks up in global libraries first, and so finds here.
// `pyflow.thread_mode.torch_generator` says which generator is the current thread's.

#include <dlfcn.h>

#include <atomic>

namespace {

using DefaultGenerator = const void* (*)();

constexpr char kDefaultGenerator[] = "_ZN2at6detail22getDefaultCPUGeneratorEv";

// PyTorch's own function; null until it is called.
std::atomic<DefaultGenerator> of_process{nullptr};

// Calls pyflow_torch_set_generator for the current thread. Takes the GIL.
std::atomic<void (*)()> look_up{nullptr};

thread_local const void* of_thread = nullptr;

// Looks in the library that has the caller, and in those that it depends on.
DefaultGenerator find_original(const void* caller) {
  Dl_info library;
  if (dladdr(caller, &library) == 0) return nullptr;
  void* handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  return reinterpret_cast<DefaultGenerator>(dlsym(handle, kDefaultGenerator));
}

}  // namespace

#define PYFLOW_EXPORT extern "C" __attribute__((visibility("default")))

PYFLOW_EXPORT const void* _ZN2at6detail22getDefaultCPUGeneratorEv() {
  static const DefaultGenerator original = of_process = find_original(__builtin_return_address(0));
  void (*const ask)() = look_up;
  if (of_thread == nullptr && ask != nullptr) ask();
  return of_thread != nullptr ? of_thread : original();
}

// The process's `at::Generator`, or null where PyTorch has not called this library.
PYFLOW_EXPORT const void* pyflow_torch_generator_of_process() {
  const DefaultGenerator original = of_process;
  return original == nullptr ? nullptr : original();
}

// Null: to be looked up at the next use.
PYFLOW_EXPORT void pyflow_torch_set_generator(const void* generator) { of_thread = generator; }

PYFLOW_EXPORT void pyflow_torch_set_look_up(void (*function)()) { look_up = function; }
