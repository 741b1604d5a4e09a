#include "runtime/written_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/no_memory.h"

namespace pyflow {
namespace {

struct Hold {
  unsigned long long holder;
  bool is_left = false;  // the holder has renamed or removed the file
};

std::mutex mutex;
std::unordered_map<std::string, Hold> holds;

bool hold(const std::string& path, unsigned long long holder, bool exists) {
  const std::lock_guard<std::mutex> lock(mutex);
  Hold& held = holds.emplace(path, Hold{holder}).first->second;
  if (held.holder != holder && (exists || !held.is_left)) return false;
  held = Hold{holder};
  return true;
}

void leave(const std::string& path, unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto& [each, held] : holds) {
    const bool is_below = each.size() > path.size() && each[path.size()] == '/';
    const bool is_meant = each.compare(0, path.size(), path) == 0;
    if (held.holder == holder && is_meant && (is_below || each.size() == path.size())) {
      held.is_left = true;
    }
  }
}

void let_go(unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto each = holds.begin(); each != holds.end();) {
    each = each->second.holder == holder ? holds.erase(each) : std::next(each);
  }
}

// Of what an audit event tells; null if there is none.
struct Paths {
  PyObject* written = nullptr;  // is about to be written anew
  PyObject* left = nullptr;     // is about to be renamed or removed, with what is in it
};

Paths paths_of(const char* event, PyObject* arguments) {
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  const auto is = [&](const char* name, Py_ssize_t least) {
    return count >= least && std::strcmp(event, name) == 0;
  };
  const auto argument = [&](Py_ssize_t n) { return PyTuple_GET_ITEM(arguments, n); };
  if (is("sqlite3.connect", 1)) return {argument(0), nullptr};
  if (is("os.rename", 2)) return {argument(1), argument(0)};
  if (is("os.remove", 1) || is("shutil.rmtree", 1)) return {nullptr, argument(0)};
  if (!is("open", 3) || !PyLong_Check(argument(2))) return {};
  int overflow = 0;
  const long flags = PyLong_AsLongAndOverflow(argument(2), &overflow);
  return {(flags & O_TRUNC) != 0 && overflow == 0 ? argument(0) : nullptr, nullptr};
}

// Calls a function of pyflow.thread_mode.process_id with a path that has the digits of the
// process's ID. Not zero if the function has raised an error.
int tell_of(PyObject* path, const char* digits, const char* function) {
  if (path == nullptr || PyLong_Check(path)) return 0;
  PyRef encoded;
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path, &bytes) != 0) encoded = PyRef::steal(bytes);
  if (!encoded) {
    PyErr_Clear();  // whoever opens it says what is wrong
    return 0;
  }
  if (std::strstr(PyBytes_AS_STRING(encoded.get()), digits) == nullptr) return 0;
  const PyRef name = PyRef::steal(PyUnicode_FromString("pyflow.thread_mode.process_id"));
  const PyRef module = name ? PyRef::steal(PyImport_GetModule(name.get())) : PyRef();
  if (!module) return PyErr_Occurred() != nullptr ? -1 : 0;
  const PyRef told = PyRef::steal(PyObject_CallMethod(module.get(), function, "O", encoded.get()));
  return told ? 0 : -1;
}

// An audit hook, which is called for many other events, too.
int check_files(const char* event, PyObject* arguments, void* process) {
  if (event[0] != 'o' && event[0] != 's') return 0;
  const Paths paths = paths_of(event, arguments);
  const char* digits = static_cast<const char*>(process);
  if (tell_of(paths.written, digits, "check_file") != 0) return -1;
  return tell_of(paths.left, digits, "leave_file");
}

// Hooks of programs may refuse another one: then no file is watched.
PyObject* call_watch(PyObject*, PyObject*) {
  static const std::string process = std::to_string(getpid());
  // Other hooks are told of this one: a lock must not be held meanwhile.
  static std::atomic_flag is_watching = ATOMIC_FLAG_INIT;
  if (!is_watching.test_and_set() &&
      PySys_AddAuditHook(check_files, const_cast<char*>(process.c_str())) != 0) {
    PyErr_Clear();
  }
  return Py_NewRef(Py_None);
}

PyObject* call_hold(PyObject*, PyObject* arguments) {
  unsigned long long holder = 0;
  const char* path = nullptr;
  int exists = 0;
  if (!PyArg_ParseTuple(arguments, "Kyp", &holder, &path, &exists)) return nullptr;
  return or_memory_error([&] { return PyBool_FromLong(hold(path, holder, exists != 0)); });
}

PyObject* call_leave(PyObject*, PyObject* arguments) {
  unsigned long long holder = 0;
  const char* path = nullptr;
  if (!PyArg_ParseTuple(arguments, "Ky", &holder, &path)) return nullptr;
  return or_memory_error([&] {
    leave(path, holder);
    return Py_NewRef(Py_None);
  });
}

PyObject* call_let_go(PyObject*, PyObject* holder) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(holder);
  if (PyErr_Occurred() != nullptr) return nullptr;
  let_go(number);
  return Py_NewRef(Py_None);
}

PyMethodDef methods[] = {
    {"watch", call_watch, METH_NOARGS, "watch(): has files of the process watched."},
    {"hold", call_hold, METH_VARARGS, "hold(holder, path, exists): whether nobody else does."},
    {"leave", call_leave, METH_VARARGS, "leave(holder, path): when it is renamed or removed."},
    {"let_go", call_let_go, METH_O, "let_go(holder): of all of its files."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyRef written_files_module() {
  PyRef module = PyRef::steal(PyModule_New("written_files"));
  if (!module || PyModule_AddFunctions(module.get(), methods) != 0) return PyRef();
  return module;
}

}  // namespace pyflow
