// What PyTorch keeps once per process, kept once per task: the default generator of random numbers
// on the CPU, and the default type of floating-point tensors.
//
// PyTorch's libraries call the functions below through symbols that the dynamic linker looks up in
// global libraries first, and so finds here. `pyflow.thread_mode.torch_state` says what the current
// thread's task has.

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

namespace caffe2 {

// As PyTorch has it: the number of a type, for types of tensors that of the c10::ScalarType.
struct TypeMeta {
  uint16_t number;
};

}  // namespace caffe2

namespace c10 {

enum class ScalarType : int8_t {};

}  // namespace c10

namespace {

// Looks in the library that has the caller, and in those that it depends on.
template <typename Function>
Function find_original(const char* symbol, const void* caller) {
  Dl_info library;
  if (dladdr(caller, &library) == 0) return nullptr;
  void* handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  return reinterpret_cast<Function>(dlsym(handle, symbol));
}

// --- const at::Generator& at::detail::getDefaultCPUGenerator() ---

using DefaultGenerator = const void* (*)();

constexpr char kDefaultGenerator[] = "_ZN2at6detail22getDefaultCPUGeneratorEv";

// PyTorch's own function; null until it is called.
std::atomic<DefaultGenerator> generator_of_process{nullptr};

// Calls pyflow_torch_set_generator for the current thread. Takes the GIL.
std::atomic<void (*)()> look_up_generator{nullptr};

thread_local const void* generator_of_thread = nullptr;

// --- c10::get_default_dtype() and the like ---

using GetType = caffe2::TypeMeta (*)();
using SetType = void (*)(caffe2::TypeMeta);

constexpr char kGetType[] = "_ZN3c1017get_default_dtypeEv";
constexpr char kSetType[] = "_ZN3c1017set_default_dtypeEN6caffe28TypeMetaE";

constexpr uint16_t kHalf = 5, kFloat = 6, kDouble = 7, kComplexHalf = 8, kComplexFloat = 9,
                   kComplexDouble = 10;

// Sets the type of the current thread's task; returns whether to set the process's instead. Needs
// the GIL.
std::atomic<bool (*)(int32_t)> set_type_of_task{nullptr};

// The type of the current thread's task, negative for the process's. Null for no task.
thread_local const std::atomic<int32_t>* type_of_task = nullptr;

caffe2::TypeMeta default_type(const void* caller) {
  static const auto of_process = find_original<GetType>(kGetType, caller);
  const int32_t own = type_of_task == nullptr ? -1 : type_of_task->load(std::memory_order_relaxed);
  if (own >= 0) return {static_cast<uint16_t>(own)};
  return of_process != nullptr ? of_process() : caffe2::TypeMeta{kFloat};
}

}  // namespace

#define PYFLOW_VISIBLE __attribute__((visibility("default")))
#define PYFLOW_EXPORT extern "C" PYFLOW_VISIBLE

PYFLOW_EXPORT const void* _ZN2at6detail22getDefaultCPUGeneratorEv() {
  static const DefaultGenerator original = generator_of_process =
      find_original<DefaultGenerator>(kDefaultGenerator, __builtin_return_address(0));
  void (*const ask)() = look_up_generator;
  if (generator_of_thread == nullptr && ask != nullptr) ask();
  return generator_of_thread != nullptr ? generator_of_thread : original();
}

// The process's `at::Generator`, or null where PyTorch has not called this library.
PYFLOW_EXPORT const void* pyflow_torch_generator_of_process() {
  const DefaultGenerator original = generator_of_process;
  return original == nullptr ? nullptr : original();
}

// Null: to be looked up at the next use.
PYFLOW_EXPORT void pyflow_torch_set_generator(const void* generator) {
  generator_of_thread = generator;
}

PYFLOW_EXPORT void pyflow_torch_set_look_up(void (*function)()) { look_up_generator = function; }

namespace c10 {

PYFLOW_VISIBLE caffe2::TypeMeta get_default_dtype() {
  return default_type(__builtin_return_address(0));
}

PYFLOW_VISIBLE ScalarType get_default_dtype_as_scalartype() {
  return static_cast<ScalarType>(default_type(__builtin_return_address(0)).number);
}

PYFLOW_VISIBLE caffe2::TypeMeta get_default_complex_dtype() {
  switch (default_type(__builtin_return_address(0)).number) {
    case kHalf:
      return {kComplexHalf};
    case kDouble:
      return {kComplexDouble};
    default:
      return {kComplexFloat};
  }
}

PYFLOW_VISIBLE void set_default_dtype(caffe2::TypeMeta type) {
  static const auto set_of_process = find_original<SetType>(kSetType, __builtin_return_address(0));
  bool (*const set)(int32_t) = set_type_of_task;
  if (set_of_process != nullptr && (set == nullptr || set(type.number))) set_of_process(type);
}

}  // namespace c10

// What the current thread's task has set, which must outlive the thread's use of it.
PYFLOW_EXPORT void pyflow_torch_set_type_of_task(const std::atomic<int32_t>* type) {
  type_of_task = type;
}

PYFLOW_EXPORT void pyflow_torch_set_type_setter(bool (*function)(int32_t)) {
  set_type_of_task = function;
}
