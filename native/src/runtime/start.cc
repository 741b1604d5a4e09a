// The only file that starts CPython.
//
// Statics are leaked on purpose: tasks may still run while the JVM calls exit(), and nothing they
// use may be destroyed under them.

#include "runtime/start.h"

#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "runtime/attached.h"
#include "runtime/environment.h"
#include "runtime/gil_state.h"
#include "runtime/large_stack.h"
#include "runtime/python_memory.h"

namespace pyflow {
namespace {

Interpreter* main_interpreter = nullptr;
std::string no_isolated;

// Fields of PyConfig are wide strings in the decoded form that Py_DecodeLocale gives.
PyStatus set_string(PyConfig& config, wchar_t** field, const std::string& value) {
  return PyConfig_SetBytesString(&config, field, value.c_str());
}

PyStatus configure(PyConfig& config, const StartOptions& options) {
  config.install_signal_handlers = 0;  // the JVM owns the signals, SIGSEGV above all
  config.faulthandler = 0;
  config.parse_argv = 0;
  config.buffered_stdio = 1;
  const std::pair<wchar_t**, const std::string*> fields[] = {
      {&config.program_name, &options.executable},
      {&config.executable, &options.executable},
      {&config.prefix, &options.prefix},
      {&config.exec_prefix, &options.exec_prefix},
      {&config.base_prefix, &options.base_prefix},
      {&config.base_exec_prefix, &options.base_exec_prefix},
      {stdlib_dir_field(config), &options.stdlib_dir},
  };
  for (const auto& [field, value] : fields) {
    if (field == nullptr) continue;
    if (kFindsPrefix && (field == &config.prefix || field == &config.exec_prefix)) continue;
    const PyStatus status = set_string(config, field, *value);
    if (PyStatus_Exception(status)) return status;
  }
  config.module_search_paths_set = 1;
  for (const std::string& path : options.search_paths) {
    wchar_t* decoded = Py_DecodeLocale(path.c_str(), nullptr);
    if (decoded == nullptr) return PyStatus_NoMemory();
    const PyStatus status = PyWideStringList_Append(&config.module_search_paths, decoded);
    PyMem_RawFree(decoded);
    if (PyStatus_Exception(status)) return status;
  }
  return PyStatus_Ok();
}

// A worker's locale is that of C but for its characters. The JVM has set all of the user's.
void reset_locale() {
  for (const int category : {LC_COLLATE, LC_MONETARY, LC_NUMERIC, LC_TIME, LC_MESSAGES}) {
    if (std::strcmp(setlocale(category, nullptr), "C") != 0) setlocale(category, "C");
  }
}

std::string initialise(const StartOptions& options) {
  reset_locale();
  set_environment(options.environment);
  count_python_memory();
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  preconfig.parse_argv = 0;
  preconfig.configure_locale = 0;  // that of characters is the JVM's
  preconfig.coerce_c_locale = 0;
  preconfig.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&preconfig);
  if (PyStatus_Exception(status)) return status_text(status);

  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  status = configure(config, options);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return PyStatus_Exception(status) ? status_text(status) : "";
}

// What the starting thread and its caller share; the caller outlives the start.
struct Start {
  const StartOptions& options;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::string error;
};

void* run_start(void* argument) {
  auto* start = static_cast<Start*>(argument);
  std::string error = initialise(start->options);
  if (error.empty()) PyEval_SaveThread();
  {
    std::lock_guard<std::mutex> lock(start->mutex);
    start->error = std::move(error);
    start->done = true;
    start->changed.notify_all();
  }
  for (;;) pause();
}

std::string initialise_on_own_thread(const StartOptions& options) {
  Start start{options, {}, {}, false, {}};
  if (!start_large_stack_thread(run_start, &start)) {
    return std::string("no thread could be started for CPython: ") + std::strerror(errno);
  }
  std::unique_lock<std::mutex> lock(start.mutex);
  start.changed.wait(lock, [&] { return start.done; });
  return start.error;
}

}  // namespace

std::string start_python(const StartOptions& options) {
  static auto* mutex = new std::mutex();
  std::lock_guard<std::mutex> lock(*mutex);
  if (main_interpreter != nullptr) return "";
  set_jvm_logs(options.logs);
  if (!Py_IsInitialized()) {
    std::string error = initialise_on_own_thread(options);
    if (!error.empty()) return error;
  }
  auto interpreter = std::make_unique<Interpreter>();
  interpreter->handle = PyInterpreterState_Main();
  std::string error;
  const std::string refused = with_large_stack([&] {
    Attached attached(*interpreter);
    no_isolated = try_gil_state();
    error = prepare(*interpreter);
  });
  if (!refused.empty()) error = refused;
  if (!error.empty()) {
    interpreter.release();  // thread states refer to it
    return error;
  }
  main_interpreter = interpreter.release();
  return "";
}

Interpreter& shared_interpreter() { return *main_interpreter; }

const std::string& why_no_isolated_interpreters() { return no_isolated; }

std::string status_text(const PyStatus& status) {
  return std::string("CPython did not start: ") +
         (status.err_msg != nullptr ? status.err_msg : "unknown error");
}

}  // namespace pyflow
