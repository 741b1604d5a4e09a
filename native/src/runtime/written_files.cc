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

bool hold(const std::string& path, unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  return holders.emplace(path, holder).first->second == holder;
}

void let_go(unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto each = holders.begin(); each != holders.end();) {
    each = each->second == holder ? holders.erase(each) : std::next(each);
  }
}

// Whether a file is about to be written anew, of which an audit event tells.
bool is_written(const char* event, PyObject* arguments) {
  if (std::strcmp(event, "sqlite3.connect") == 0) return true;
  if (std::strcmp(event, "open") != 0 || PyTuple_GET_SIZE(arguments) < 3) return false;
  PyObject* flags = PyTuple_GET_ITEM(arguments, 2);
  return PyLong_Check(flags) && (PyLong_AsLong(flags) & O_TRUNC) != 0;
}

// An audit hook, which is called for many other events, too.
int check_file(const char* event, PyObject* arguments, void* process) {
  if ((event[0] != 'o' && event[0] != 's') || !is_written(event, arguments)) return 0;
  PyObject* path = PyTuple_GET_ITEM(arguments, 0);
  if (PyLong_Check(path)) return 0;
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

int watch() {
  static const std::string process = std::to_string(getpid());
  static const int status = PySys_AddAuditHook(check_file, const_cast<char*>(process.c_str()));
  return status;
}

PyObject* call_hold_file(PyObject*, PyObject* arguments) {
  unsigned long long holder = 0;
  const char* path = nullptr;
  if (!PyArg_ParseTuple(arguments, "|Ky", &holder, &path)) return nullptr;
  return or_memory_error([&]() -> PyObject* {
    if (path != nullptr) return PyBool_FromLong(hold(path, holder));
    if (holder == 0 && watch() != 0) return nullptr;
    if (holder != 0) let_go(holder);
    return Py_NewRef(Py_None);
  });
}

PyMethodDef hold_file_method = {"hold_file", call_hold_file, METH_VARARGS,
                                "hold_file([holder[, path]]): among all tasks of the process."};

}  // namespace

PyRef hold_file_function() { return PyRef::steal(PyCFunction_New(&hold_file_method, nullptr)); }

}  // namespace pyflow
