#include "interruption.h"

namespace pyflow {
namespace {

thread_local const std::atomic<bool>* repeating = nullptr;

int initialise(PyObject* self, PyObject* arguments, PyObject* keywords) {
  auto* base = reinterpret_cast<PyTypeObject*>(PyExc_BaseException);
  if (base->tp_init(self, arguments, keywords) != 0) return -1;
  if (repeating != nullptr && repeating->load(std::memory_order_relaxed)) {
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(),
                              reinterpret_cast<PyObject*>(Py_TYPE(self)));
  }
  return 0;
}

}  // namespace

PyRef new_interruption_type() {
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("Raised inside a function whose task was cancelled.")},
      {Py_tp_init, reinterpret_cast<void*>(initialise)},
      {0, nullptr},
  };
  static PyType_Spec spec = {"pyflow.thread_mode.TaskInterrupted", 0, 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyRef bases = PyRef::steal(PyTuple_Pack(1, PyExc_BaseException));
  if (!bases) return PyRef();
  return PyRef::steal(PyType_FromSpecWithBases(&spec, bases.get()));
}

void repeat_interruptions(const std::atomic<bool>* interrupted) { repeating = interrupted; }

}  // namespace pyflow
