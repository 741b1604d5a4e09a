#include "runtime/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

#include "runtime/no_memory.h"

namespace pyflow {
namespace {

constexpr size_t kRoom = 64;

std::mutex mutex;

// What `environ` points to; nulls follow the variables. Leaked, with all before it.
std::vector<char*>* variables = nullptr;

// All that functions have set, NAME=VALUE or NAME, and the names. Leaked, as tasks may still run
// while the JVM calls exit().
std::set<std::string>& texts = *new std::set<std::string>();
std::set<std::string>& names = *new std::set<std::string>();

void publish(std::vector<char*> all) {
  all.resize(2 * all.size() + kRoom, nullptr);
  variables = new std::vector<char*>(std::move(all));
  __atomic_store_n(&environ, variables->data(), __ATOMIC_RELEASE);
}

std::vector<char*> current_variables() {
  std::vector<char*> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) all.push_back(*each);
  return all;
}

// Whether an entry is of a variable, also of one that was removed.
bool is_of(const char* entry, const std::string& name) {
  return std::strncmp(entry, name.c_str(), name.size()) == 0 &&
         (entry[name.size()] == '=' || entry[name.size()] == '\0');
}

// The entry of a variable, or the first null.
char** entry_of(const std::string& name) {
  char** each = variables->data();
  while (*each != nullptr && !is_of(*each, name)) ++each;
  return each;
}

// `text` is NAME=VALUE; or NAME, which getenv takes for no variable.
void set_variable(const std::string& name, const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex);
  // C code may have called setenv itself.
  if (variables == nullptr || environ != variables->data()) publish(current_variables());
  char** entry = entry_of(name);
  const bool is_new = *entry == nullptr;
  if (is_new ? text == name : names.count(name) == 0) return;
  if (is_new && entry + 1 == variables->data() + variables->size()) {
    publish(current_variables());
    entry = entry_of(name);
  }
  names.insert(name);
  char* kept = const_cast<char*>(texts.insert(text).first->c_str());
  __atomic_store_n(entry, kept, __ATOMIC_RELEASE);
}

PyObject* call_set_variable(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  const char* value = nullptr;
  if (!PyArg_ParseTuple(arguments, "y|y", &name, &value)) return nullptr;
  return or_memory_error([&] {
    set_variable(name, value == nullptr ? std::string(name) : std::string(name) + "=" + value);
    return Py_NewRef(Py_None);
  });
}

PyMethodDef set_variable_method = {"set_variable", call_set_variable, METH_VARARGS,
                                   "set_variable(name, value): the environment of the process."};

}  // namespace

void set_environment(const std::vector<std::string>& changed) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<char*> all = current_variables();
  for (const std::string& each : changed) {
    const std::string name = each.substr(0, each.find('='));
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const char* other) { return is_of(other, name); }),
              all.end());
    all.push_back(strdup(each.c_str()));
  }
  publish(std::move(all));
  tzset();
}

PyRef set_variable_function() {
  return PyRef::steal(PyCFunction_New(&set_variable_method, nullptr));
}

PyRef names_set_by_functions() {
  const std::lock_guard<std::mutex> lock(mutex);
  PyRef list = PyRef::steal(PyList_New(0));
  for (const std::string& each : names) {
    if (!list) break;
    PyRef name = PyRef::steal(PyBytes_FromStringAndSize(each.data(), Py_ssize_t(each.size())));
    if (!name || PyList_Append(list.get(), name.get()) != 0) return PyRef();
  }
  return list;
}

}  // namespace pyflow
