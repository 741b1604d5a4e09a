// The Python objects that the codec and the programs of one interpreter use.
//
// Objects never cross interpreters, so each interpreter has a state of its own. Created and used
// only while that interpreter's GIL is held; not changed any more once it is made, so that threads
// can use it at the same time; lives as long as the JVM, like the interpreter.
#pragma once

#include <memory>

#include "runtime/py_ref.h"

namespace pyflow {

struct InterpreterState {
  void* datetime_api = nullptr;  // PyDateTime_CAPI of this interpreter
  PyRef decimal_type;
  PyRef row_type;            // pyspark.sql.types.Row
  PyRef variant_type;        // pyspark.sql.types.VariantVal
  PyRef fields_attribute;    // "__fields__"
  PyRef value_attribute;     // "value"
  PyRef metadata_attribute;  // "metadata"
  PyRef load_program;        // pyflow.thread_mode.program.load
  PyRef load_batches;        // pyflow.thread_mode.batches.load
  PyRef end_application;     // pyflow.thread_mode.application.end
  PyRef loaded_modules;      // pyflow.thread_mode.loaded_modules.as_json
  PyRef format_exception;    // pyflow.thread_mode.errors.format_exception
  PyRef load_refused;        // pyflow.thread_mode.errors.LoadRefusedError
  PyRef interruption;        // the exception type of interruption.h
  PyRef date_beyond_python;  // pyflow.thread_mode.types.date_beyond_python
  PyRef timestamp_beyond_python;

  // Imports what the state refers to; null with a Python error set on failure.
  static std::unique_ptr<InterpreterState> create();
};

}  // namespace pyflow
