#include "runtime/held_names.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/no_memory.h"

namespace pyflow {
namespace {

std::mutex mutex;
std::unordered_map<std::string, unsigned long long> holders;

bool hold(const std::string& name, unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  return holders.emplace(name, holder).first->second == holder;
}

void let_go(unsigned long long holder) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto each = holders.begin(); each != holders.end();) {
    each = each->second == holder ? holders.erase(each) : std::next(each);
  }
}

PyObject* call_hold_name(PyObject*, PyObject* arguments) {
  unsigned long long holder = 0;
  const char* name = nullptr;
  if (!PyArg_ParseTuple(arguments, "K|y", &holder, &name)) return nullptr;
  return or_memory_error([&] {
    if (name != nullptr) return PyBool_FromLong(hold(name, holder));
    let_go(holder);
    return Py_NewRef(Py_None);
  });
}

PyMethodDef hold_name_method = {"hold_name", call_hold_name, METH_VARARGS,
                                "hold_name(holder[, name]): among all tasks of the process."};

}  // namespace

PyRef hold_name_function() { return PyRef::steal(PyCFunction_New(&hold_name_method, nullptr)); }

}  // namespace pyflow
