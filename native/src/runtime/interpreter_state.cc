#include "runtime/datetime_api.h"
#include "runtime/interruption.h"

namespace pyflow {
namespace {

PyRef import_attribute(const char* module_name, const char* attribute) {
  PyRef module = PyRef::steal(PyImport_ImportModule(module_name));
  if (!module) return PyRef();
  return PyRef::steal(PyObject_GetAttrString(module.get(), attribute));
}

}  // namespace

std::unique_ptr<InterpreterState> InterpreterState::create() {
  auto state = std::make_unique<InterpreterState>();
  state->datetime_api = PyCapsule_Import(PyDateTime_CAPSULE_NAME, 0);
  if (state->datetime_api == nullptr) return nullptr;
  const bool complete =
      (state->decimal_type = import_attribute("decimal", "Decimal")) &&
      (state->row_type = import_attribute("pyspark.sql.types", "Row")) &&
      (state->variant_type = import_attribute("pyspark.sql.types", "VariantVal")) &&
      (state->fields_attribute = PyRef::steal(PyUnicode_InternFromString("__fields__"))) &&
      (state->value_attribute = PyRef::steal(PyUnicode_InternFromString("value"))) &&
      (state->metadata_attribute = PyRef::steal(PyUnicode_InternFromString("metadata"))) &&
      (state->load_program = import_attribute("pyflow.thread_mode.program", "load")) &&
      (state->load_batches = import_attribute("pyflow.thread_mode.batches", "load")) &&
      (state->end_application = import_attribute("pyflow.thread_mode.application", "end")) &&
      (state->loaded_modules = import_attribute("pyflow.thread_mode.loaded_modules", "as_json")) &&
      (state->format_exception =
           import_attribute("pyflow.thread_mode.errors", "format_exception")) &&
      (state->load_refused = import_attribute("pyflow.thread_mode.errors", "LoadRefusedError")) &&
      (state->interruption = new_interruption_type()) &&
      (state->date_beyond_python =
           import_attribute("pyflow.thread_mode.types", "date_beyond_python")) &&
      (state->timestamp_beyond_python =
           import_attribute("pyflow.thread_mode.types", "timestamp_beyond_python"));
  if (!complete) return nullptr;
  return state;
}

}  // namespace pyflow
