#include "runtime/written_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/no_memory.h"

namespace pyflow {
namespace {

std::mutex mutex;
std::unordered_map<std::string, unsigned long long> holders;

bool hold(const std::string& path, unsigned long long holder, bool takes) {
  const std::lock_guard<std::mutex> lock(mutex);
  unsigned long long& held_by = holders.emplace(path, holder).first->second;
  if (takes) held_by = holder;
  return held_by == holder;
}

void let_go(unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto each = holders.begin(); each != holders.end();) {
    each = each->second == holder ? holders.erase(each) : std::next(each);
  }
}

// The path of a file that is about to be written anew, of which an audit event tells; null if none
// is.
PyObject* written_path(const char* event, PyObject* arguments) {
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  const auto is = [&](const char* name, Py_ssize_t least) {
    return count >= least && std::strcmp(event, name) == 0;
  };
  if (is("sqlite3.connect", 1)) return PyTuple_GET_ITEM(arguments, 0);
  if (is("os.rename", 2)) return PyTuple_GET_ITEM(arguments, 1);
  if (!is("open", 3) || !PyLong_Check(PyTuple_GET_ITEM(arguments, 2))) return nullptr;
  int overflow = 0;
  const long flags = PyLong_AsLongAndOverflow(PyTuple_GET_ITEM(arguments, 2), &overflow);
  return (flags & O_TRUNC) != 0 && overflow == 0 ? PyTuple_GET_ITEM(arguments, 0) : nullptr;
}

// An audit hook, which is called for many other events, too.
int check_file(const char* event, PyObject* arguments, void* process) {
  if (event[0] != 'o' && event[0] != 's') return 0;
  PyObject* path = written_path(event, arguments);
  if (path == nullptr || PyLong_Check(path)) return 0;
  PyRef encoded;
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path, &bytes) != 0) encoded = PyRef::steal(bytes);
  if (!encoded) {
    PyErr_Clear();  // whoever opens it says what is wrong
    return 0;
  }
  const char* digits = static_cast<const char*>(process);
  if (std::strstr(PyBytes_AS_STRING(encoded.get()), digits) == nullptr) return 0;
  const PyRef name = PyRef::steal(PyUnicode_FromString("pyflow.thread_mode.process_id"));
  const PyRef module = name ? PyRef::steal(PyImport_GetModule(name.get())) : PyRef();
  if (!module) return PyErr_Occurred() != nullptr ? -1 : 0;
  const PyRef checked =
      PyRef::steal(PyObject_CallMethod(module.get(), "check_file", "O", encoded.get()));
  return checked ? 0 : -1;
}

// Hooks of programs may refuse another one: then no file is watched.
void watch() {
  static const std::string process = std::to_string(getpid());
  static const int status = PySys_AddAuditHook(check_file, const_cast<char*>(process.c_str()));
  if (status != 0) PyErr_Clear();
}

PyObject* call_hold_file(PyObject*, PyObject* arguments) {
  unsigned long long holder = 0;
  const char* path = nullptr;
  int takes = 0;
  if (!PyArg_ParseTuple(arguments, "|Kyp", &holder, &path, &takes)) return nullptr;
  return or_memory_error([&]() -> PyObject* {
    if (path != nullptr) return PyBool_FromLong(hold(path, holder, takes != 0));
    if (holder == 0) {
      watch();
    } else {
      let_go(holder);
    }
    return Py_NewRef(Py_None);
  });
}

PyMethodDef hold_file_method = {
    "hold_file", call_hold_file, METH_VARARGS,
    "hold_file([holder[, path[, takes]]]): among all tasks of the process."};

}  // namespace

PyRef hold_file_function() { return PyRef::steal(PyCFunction_New(&hold_file_method, nullptr)); }

}  // namespace pyflow
