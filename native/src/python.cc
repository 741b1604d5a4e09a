// See python.h. The only file that starts CPython or makes interpreters and thread states.
//
// Statics are leaked on purpose: tasks may still run while the JVM calls exit(), and nothing they
// use may be destroyed under them.

#include "python.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <utility>

#include "interruption.h"
#include "python_memory.h"

namespace pyflow {
namespace {

// Stack that Python code may use before CPython's own recursion checks stop it; containment.py
// bounds the recursion limit to it.
constexpr size_t kRequiredStackBytes = 7u << 20;
constexpr size_t kLargeStackBytes = 16u << 20;

// How long code that is interrupted may take to unwind before it is insisted upon, and an import to
// come to its end.
constexpr int64_t kUnwindingNanos = 1000000000;
constexpr int64_t kImportPatienceNanos = 20000000000;

// Code that is often inside what must not be interrupted is caught outside by some more attempts.
constexpr int kAttemptsAtOnce = 8;
constexpr useconds_t kBetweenAttemptsMicros = 1000;

Interpreter* main_interpreter = nullptr;
Log log_to_jvm = nullptr;
Log session_log_to_jvm = nullptr;

// Threads that CPython code runs on leave every signal to the JVM's threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// A detached thread with a large stack; false when the system refuses one.
bool start_large_stack_thread(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kLargeStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  BlockedSignals blocked;
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

// How many bytes of stack are left below the caller's frame.
size_t remaining_stack() {
  static thread_local uintptr_t lowest = 0;
  if (lowest == 0) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void* address = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &address, &size);
    pthread_attr_destroy(&attributes);
    lowest = reinterpret_cast<uintptr_t>(address);
  }
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > lowest ? here - lowest : 0;
}

// The thread states of one thread, one per interpreter it has entered. They are made on first use,
// serve every task that runs on the thread, and go with it: PyGILState_Ensure inside extension
// modules finds exactly one per thread and interpreter.
class ThreadStates {
 public:
  ~ThreadStates() {
    for (const auto& [interpreter, state] : states_) {
      PyEval_RestoreThread(state);
      PyThreadState_Clear(state);
      PyThreadState_DeleteCurrent();
    }
  }

  PyThreadState* of(const Interpreter& interpreter) {
    for (const auto& [known, state] : states_) {
      if (known == &interpreter) return state;
    }
    PyThreadState* state = PyThreadState_New(interpreter.handle);
    if (state == nullptr) Py_FatalError("pyflow: no memory for a Python thread state");
    adopt(interpreter, state);
    return state;
  }

  void adopt(const Interpreter& interpreter, PyThreadState* state) {
    states_.emplace_back(&interpreter, state);
  }

 private:
  std::vector<std::pair<const Interpreter*, PyThreadState*>> states_;
};

ThreadStates& thread_states() {
  static thread_local ThreadStates states;
  return states;
}

std::string text_of(PyObject* object) {
  if (object != nullptr) {
    PyRef bytes = PyRef::steal(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
    if (bytes) {
      return std::string(PyBytes_AS_STRING(bytes.get()),
                         static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
    }
    PyErr_Clear();
  }
  return "a Python exception whose text cannot be shown";
}

PyObject* write_line(Log log, PyObject* arguments) {
  long long number = 0;
  const char* text = nullptr;
  Py_ssize_t size = 0;
  if (!PyArg_ParseTuple(arguments, "Ly#", &number, &text, &size)) return nullptr;
  const std::string line(text, static_cast<size_t>(size));
  Py_BEGIN_ALLOW_THREADS;
  log(number, line);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* write_log(PyObject*, PyObject* arguments) { return write_line(log_to_jvm, arguments); }

PyObject* write_session_log(PyObject*, PyObject* arguments) {
  return write_line(session_log_to_jvm, arguments);
}

PyMethodDef log_method = {"log", write_log, METH_VARARGS, "log(level, line): the JVM's log."};
PyMethodDef session_log_method = {"session_log", write_session_log, METH_VARARGS,
                                  "session_log(number, line): the log of a task's functions."};

// Makes the interpreter whose GIL is held ready for PyFlow; an error text, empty on success.
std::string prepare(Interpreter& interpreter) {
  PyRef bootstrap = PyRef::steal(PyImport_ImportModule("pyflow.thread_mode.bootstrap"));
  PyRef log = PyRef::steal(PyCFunction_New(&log_method, nullptr));
  PyRef session_log = PyRef::steal(PyCFunction_New(&session_log_method, nullptr));
  PyRef prepared;
  if (bootstrap && log && session_log) {
    prepared = PyRef::steal(PyObject_CallMethod(bootstrap.get(), "prepare", "OOO",
                                                interpreter.isolated ? Py_True : Py_False,
                                                log.get(), session_log.get()));
  }
  if (prepared) interpreter.state = InterpreterState::create();
  if (interpreter.state != nullptr) return "";
  return "the embedded Python could not import what PyFlow needs: " +
         take_error_text(nullptr, nullptr);
}

std::string status_text(const PyStatus& status) {
  return std::string("CPython did not start: ") +
         (status.err_msg != nullptr ? status.err_msg : "unknown error");
}

// Fields of PyConfig are wide strings in the decoded form that Py_DecodeLocale gives.
PyStatus set_string(PyConfig& config, wchar_t** field, const std::string& value) {
  return PyConfig_SetBytesString(&config, field, value.c_str());
}

PyStatus configure(PyConfig& config, const StartOptions& options) {
  config.install_signal_handlers = 0;  // the JVM owns the signals, SIGSEGV above all
  config.faulthandler = 0;
  config.parse_argv = 0;
  config.buffered_stdio = 1;
  if (options.hash_seed == "random") {
    config.use_hash_seed = 0;
  } else if (!options.hash_seed.empty()) {
    config.use_hash_seed = 1;
    config.hash_seed = std::strtoul(options.hash_seed.c_str(), nullptr, 10);
  }
  set_gil(config, options.gil);
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

// For C code that functions load, such as OpenMP's. Not with setenv: threads of the JVM that look
// at the old variables at this moment go on doing so, and so these are never freed.
void set_environment_variable(const std::string& name, const std::string& value) {
  const std::string start = name + "=";
  auto* variables = new std::vector<char*>{strdup((start + value).c_str())};
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strncmp(*each, start.c_str(), start.size()) != 0) variables->push_back(*each);
  }
  variables->push_back(nullptr);
  __atomic_store_n(&environ, variables->data(), __ATOMIC_RELEASE);
}

std::string initialise(const StartOptions& options) {
  if (!options.omp_threads.empty()) {
    set_environment_variable("OMP_NUM_THREADS", options.omp_threads);
  }
  count_python_memory();
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  preconfig.parse_argv = 0;
  preconfig.configure_locale = 0;  // the locale is the JVM's
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

// Isolated interpreters and who has them.
struct Pool {
  struct Lease {
    uint64_t id;
    pthread_t thread;
    Interpreter* interpreter;
    int slots;
  };

  std::mutex mutex;
  std::vector<Interpreter*> idle;
  std::vector<Lease> leases;
  int made = 0;
  uint64_t last_lease = 0;
};

Pool& pool() {
  static auto* instance = new Pool();
  return *instance;
}

#if PYFLOW_HAS_ISOLATED_INTERPRETERS
PyInterpreterConfig isolated_config() {
  PyInterpreterConfig config = {};
  config.use_main_obmalloc = 0;
  config.allow_fork = 1;  // subprocess needs it
  config.allow_exec = 0;  // would replace the JVM
  config.allow_threads = 1;
  config.allow_daemon_threads = 1;
  config.check_multi_interp_extensions = 1;
  config.gil = PyInterpreterConfig_OWN_GIL;
  return config;
}

Interpreter* make_isolated(std::string& error) {
  PyEval_RestoreThread(thread_states().of(shared_interpreter()));
  const PyInterpreterConfig config = isolated_config();
  PyThreadState* thread_state = nullptr;
  const PyStatus status = Py_NewInterpreterFromConfig(&thread_state, &config);
  if (PyStatus_Exception(status)) {
    PyEval_SaveThread();
    error = status_text(status);
    return nullptr;
  }
  auto* interpreter = new Interpreter();
  interpreter->handle = PyThreadState_GetInterpreter(thread_state);
  interpreter->isolated = true;
  thread_states().adopt(*interpreter, thread_state);
  error = prepare(*interpreter);
  PyEval_SaveThread();
  // One that could not be prepared stays all the same: destroying an interpreter is not safe.
  return error.empty() ? interpreter : nullptr;
}
#else
Interpreter* make_isolated(std::string& error) {
  error = "isolated interpreters need CPython 3.13 or later, and not a free-threaded build";
  return nullptr;
}
#endif

}  // namespace

// A thread with a large stack that runs Python code for threads whose own is too small. Idle ones
// are kept.
class StackThread {
 public:
  // Null when the system refuses another thread.
  static StackThread* acquire() {
    {
      std::lock_guard<std::mutex> lock(idle_mutex());
      if (!idle().empty()) {
        StackThread* thread = idle().back();
        idle().pop_back();
        return thread;
      }
    }
    auto thread = std::make_unique<StackThread>();
    if (!start_large_stack_thread(body, thread.get())) return nullptr;
    return thread.release();
  }

  static void give_back(StackThread* thread) {
    std::lock_guard<std::mutex> lock(idle_mutex());
    idle().push_back(thread);
  }

  void run(const std::function<void()>& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }

 private:
  static std::mutex& idle_mutex() {
    static auto* mutex = new std::mutex();
    return *mutex;
  }
  static std::vector<StackThread*>& idle() {
    static auto* threads = new std::vector<StackThread*>();
    return *threads;
  }

  static void* body(void* argument) {
    auto* self = static_cast<StackThread*>(argument);
    std::unique_lock<std::mutex> lock(self->mutex_);
    for (;;) {
      self->changed_.wait(lock, [&] { return self->work_ != nullptr; });
      lock.unlock();
      (*self->work_)();
      lock.lock();
      self->work_ = nullptr;
      self->changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

namespace {

constexpr const char* kNoThread =
    "the system refused a thread with a stack large enough for Python";

// Runs `work` where CPython's recursion limits hold; an error text if there is no such thread.
std::string with_large_stack(const std::function<void()>& work) {
  if (remaining_stack() >= kRequiredStackBytes) {
    work();
    return "";
  }
  StackThread* thread = StackThread::acquire();
  if (thread == nullptr) return kNoThread;
  thread->run(work);
  StackThread::give_back(thread);
  return "";
}

thread_local Attached* innermost = nullptr;

// One that other threads can read too.
clockid_t clock_of_thread() {
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  pthread_getcpuclockid(pthread_self(), &clock);
  return clock;
}

int64_t nanos_of(clockid_t clock) {
  std::timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

Interpreter* make_isolated_with_large_stack(std::string& error) {
  Interpreter* interpreter = nullptr;
  const std::string refused = with_large_stack([&] { interpreter = make_isolated(error); });
  if (!refused.empty()) error = refused;
  return interpreter;
}

}  // namespace

int64_t monotonic_nanos() { return nanos_of(CLOCK_MONOTONIC); }

void CpuAccount::begin(Stretch& stretch) {
  stretch.since = nanos_of(stretch.clock);
  std::lock_guard<std::mutex> lock(mutex_);
  running_.push_back(&stretch);
}

int64_t CpuAccount::end(Stretch& stretch) {
  const int64_t spent = nanos_of(stretch.clock) - stretch.since;
  std::lock_guard<std::mutex> lock(mutex_);
  running_.erase(std::find(running_.begin(), running_.end(), &stretch));
  ended_nanos_ += spent;
  return spent;
}

int64_t CpuAccount::total_nanos() {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t total = ended_nanos_;
  for (const Stretch* each : running_) total += nanos_of(each->clock) - each->since;
  return total;
}

std::string start_python(const StartOptions& options) {
  static auto* mutex = new std::mutex();
  std::lock_guard<std::mutex> lock(*mutex);
  if (main_interpreter != nullptr) return "";
  log_to_jvm = options.log;
  session_log_to_jvm = options.session_log;
  if (!Py_IsInitialized()) {
    std::string error = initialise_on_own_thread(options);
    if (!error.empty()) return error;
  }
  auto interpreter = std::make_unique<Interpreter>();
  interpreter->handle = PyInterpreterState_Main();
  std::string error;
  const std::string refused = with_large_stack([&] {
    Attached attached(*interpreter);
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

std::string prewarm_isolated(int count) {
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(pool().mutex);
      if (pool().made >= count) return "";
      ++pool().made;
    }
    std::string error;
    Interpreter* interpreter = make_isolated_with_large_stack(error);
    std::lock_guard<std::mutex> lock(pool().mutex);
    if (interpreter == nullptr) {
      --pool().made;
      return error;
    }
    pool().idle.push_back(interpreter);
  }
}

void end_application(const std::string& identifier) {
  std::vector<const Interpreter*> interpreters = {main_interpreter};
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    interpreters.insert(interpreters.end(), pool().idle.begin(), pool().idle.end());
    for (const Pool::Lease& lease : pool().leases) interpreters.push_back(lease.interpreter);
  }
  for (const Interpreter* interpreter : interpreters) {
    // Destructors of the application's objects are Python code.
    static_cast<void>(with_large_stack([&] {
      Attached attached(*interpreter);
      PyRef ended = PyRef::steal(PyObject_CallFunction(interpreter->state->end_application.get(),
                                                       "s", identifier.c_str()));
      if (!ended) PyErr_Clear();
    }));
  }
}

Attached::Attached(const Interpreter& interpreter)
    : interpreter_(interpreter),
      outer_(innermost),
      thread_state_(thread_states().of(interpreter)),
      start_nanos_(monotonic_nanos()),
      stretch_{clock_of_thread(), 0} {
  innermost = this;
  retake();
}

Attached::~Attached() {
  if (held_) release();
  innermost = outer_;
}

Attached* Attached::current() { return innermost; }

void Attached::release() {
  cpu_nanos_ += interpreter_.cpu.end(stretch_);
  held_ = false;
  PyEval_SaveThread();
}

void Attached::retake() {
  const int64_t start = monotonic_nanos();
  PyEval_RestoreThread(thread_state_);
  waited_nanos_ += monotonic_nanos() - start;
  held_ = true;
  interpreter_.cpu.begin(stretch_);
}

std::string take_error_text(const InterpreterState* state, PyObject* options) {
  PyRef exception = PyRef::steal(take_exception());
  if (!exception) return "Python reported an error without an exception";
  if (state != nullptr) {
    PyRef text =
        PyRef::steal(PyObject_CallFunctionObjArgs(state->format_exception.get(), exception.get(),
                                                  options != nullptr ? options : Py_None, nullptr));
    if (text) return text_of(text.get());
    PyErr_Clear();
  }
  PyRef text = PyRef::steal(PyObject_Repr(exception.get()));
  if (!text) PyErr_Clear();
  return text_of(text.get());
}

std::unique_ptr<Slot> Slot::acquire(bool isolated, std::string& error) {
  if (!isolated) return std::unique_ptr<Slot>(new Slot(shared_interpreter(), 0));
  Interpreter* interpreter = nullptr;
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    for (Pool::Lease& lease : pool().leases) {
      if (pthread_equal(lease.thread, pthread_self())) {
        ++lease.slots;
        return std::unique_ptr<Slot>(new Slot(*lease.interpreter, lease.id));
      }
    }
    if (!pool().idle.empty()) {
      interpreter = pool().idle.back();
      pool().idle.pop_back();
    } else {
      ++pool().made;
    }
  }
  if (interpreter == nullptr) interpreter = make_isolated_with_large_stack(error);
  std::lock_guard<std::mutex> lock(pool().mutex);
  if (interpreter == nullptr) {
    --pool().made;
    return nullptr;
  }
  const uint64_t id = ++pool().last_lease;
  pool().leases.push_back({id, pthread_self(), interpreter, 1});
  return std::unique_ptr<Slot>(new Slot(*interpreter, id));
}

Slot::~Slot() {
  if (stack_thread_ != nullptr) StackThread::give_back(stack_thread_);
  if (lease_ == 0) return;
  std::lock_guard<std::mutex> lock(pool().mutex);
  auto& leases = pool().leases;
  const auto lease = std::find_if(leases.begin(), leases.end(),
                                  [&](const Pool::Lease& each) { return each.id == lease_; });
  if (--lease->slots == 0) {
    pool().idle.push_back(lease->interpreter);
    leases.erase(lease);
  }
}

bool Slot::stack_suffices() { return remaining_stack() >= kRequiredStackBytes; }

std::string Slot::run_on_large_stack(const std::function<void()>& work) {
  if (stack_thread_ == nullptr) stack_thread_ = StackThread::acquire();
  if (stack_thread_ == nullptr) return kNoThread;
  stack_thread_->run(work);
  return "";
}

void Slot::begin_python() {
  {
    std::lock_guard<GilMutex> lock(running_mutex_);
    running_thread_ = PyThreadState_Get();
  }
  repeat_interruptions(&insisting_);
}

void Slot::end_python() {
  repeat_interruptions(nullptr);
  std::lock_guard<GilMutex> lock(running_mutex_);
  // An interruption that came too late must not hit the next one who uses this thread state.
  if (interrupted()) PyThreadState_SetAsyncExc(running_thread_->thread_id, nullptr);
  running_thread_ = nullptr;
}

void Slot::interrupt() {
  const int64_t now = monotonic_nanos();
  if (!interrupted_.exchange(true, std::memory_order_relaxed)) interrupted_since_ = now;
  const int64_t passed = now - interrupted_since_;
  if (passed > kUnwindingNanos) insisting_.store(true, std::memory_order_relaxed);
  for (int attempt = 0; attempt < kAttemptsAtOnce; ++attempt) {
    if (attempt > 0) usleep(kBetweenAttemptsMicros);
    Attached attached(interpreter_);
    std::lock_guard<GilMutex> lock(running_mutex_);
    if (running_thread_ == nullptr ||
        raise_interruption(running_thread_, interpreter_.state->interruption.get(),
                           passed > kImportPatienceNanos)) {
      return;
    }
  }
}

}  // namespace pyflow
