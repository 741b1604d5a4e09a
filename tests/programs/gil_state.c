// What C code is told of the GIL, for gil_state.py and test_gil_state.py.
#include <Python.h>
#include <pthread.h>
#include <stdint.h>

typedef struct {
  int before;
  int held;
  int after;
  int64_t interpreter;
  void (*callback)(void);
} Seen;

int check(void) { return PyGILState_Check(); }

static void* look(void* argument) {
  Seen* seen = argument;
  seen->before = PyGILState_Check();
  PyGILState_STATE state = PyGILState_Ensure();
  seen->held = PyGILState_Check();
  seen->interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());
  PyGILState_Release(state);
  if (seen->callback) seen->callback();
  seen->after = PyGILState_Check();
  return NULL;
}

void look_here(Seen* seen) { look(seen); }

int look_on_own_thread(Seen* seen) {
  pthread_t thread;
  return pthread_create(&thread, NULL, look, seen) || pthread_join(thread, NULL);
}

// As a thread_local of C++ that has a reference to an object.
extern int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
extern void* __dso_handle;

static void write_interpreter(void* path) {
  PyGILState_STATE state = PyGILState_Ensure();
  FILE* file = fopen(path, "a");
  fprintf(file, "%ld\n", (long)PyInterpreterState_GetID(PyInterpreterState_Get()));
  fclose(file);
  PyGILState_Release(state);
}

int write_when_thread_ends(const char* path) {
  return __cxa_thread_atexit_impl(write_interpreter, strdup(path), &__dso_handle);
}
