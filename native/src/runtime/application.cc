#include "runtime/application.h"

#include "runtime/attached.h"
#include "runtime/interpreter_pool.h"
#include "runtime/large_stack.h"
#include "runtime/start.h"

namespace pyflow {

void end_application(const std::string& identifier) {
  forget_owners();
  std::vector<const Interpreter*> interpreters = isolated_interpreters();
  interpreters.push_back(&shared_interpreter());
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

}  // namespace pyflow
