/* Threads of C that call a function, for extension modules of different kinds. */

#include <pthread.h>
#include <stdint.h>

#define OWN_THREADS 4
#define CALLS_OF_EACH 50

typedef int64_t (*called_function)(void*, int64_t);

struct own_thread {
  pthread_t thread;
  called_function call;
  void* argument;
  int64_t first;
  int64_t sum;
};

static void* call_often(void* argument) {
  struct own_thread* own = (struct own_thread*)argument;
  for (int64_t n = 0; n < CALLS_OF_EACH; ++n) own->sum += own->call(own->argument, own->first + n);
  return NULL;
}

/* The sum of what a function returns on threads that are not Python's. Without the GIL. */
static int64_t on_own_threads(called_function call, void* argument) {
  struct own_thread all[OWN_THREADS];
  int64_t sum = 0;
  for (int n = 0; n < OWN_THREADS; ++n) {
    all[n].call = call;
    all[n].argument = argument;
    all[n].first = (int64_t)n * CALLS_OF_EACH;
    all[n].sum = 0;
    pthread_create(&all[n].thread, NULL, call_often, &all[n]);
  }
  for (int n = 0; n < OWN_THREADS; ++n) {
    pthread_join(all[n].thread, NULL);
    sum += all[n].sum;
  }
  return sum;
}
