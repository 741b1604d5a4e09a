// See python_memory.h.
//
// Small objects live in arenas; larger ones, and memory that needs no GIL, come from the allocator
// of the domain "raw", which is malloc. Both are counted here, in what malloc really sets aside.

#include "runtime/python_memory.h"

#include <malloc.h>

#include <array>
#include <atomic>

#include "runtime/gil_state.h"
#include "runtime/python_compat.h"

namespace pyflow {

#if PYFLOW_FREE_THREADED
void count_python_memory() {}

int64_t python_memory_bytes() { return 0; }
#else
namespace {

// Threads count in different places, so that interpreters with their own GIL do not meet here.
class Counter {
 public:
  void add(int64_t bytes) {
    static std::atomic<unsigned> threads{0};
    static thread_local const unsigned mine = threads++ % kPlaces;
    places_[mine].bytes.fetch_add(bytes, std::memory_order_relaxed);
  }

  int64_t total() const {
    int64_t total = 0;
    for (const Place& place : places_) total += place.bytes.load(std::memory_order_relaxed);
    return total;
  }

 private:
  static constexpr unsigned kPlaces = 32;
  struct alignas(64) Place {
    std::atomic<int64_t> bytes{0};
  };
  std::array<Place, kPlaces> places_;
};

Counter counter;
PyMemAllocatorEx raw;
PyObjectArenaAllocator arenas;

int64_t size_of(void* memory) { return static_cast<int64_t>(malloc_usable_size(memory)); }

void* counted(void* memory) {
  if (memory != nullptr) counter.add(size_of(memory));
  return memory;
}

void* raw_malloc(void*, size_t size) { return counted(raw.malloc(raw.ctx, size)); }

void* raw_calloc(void*, size_t count, size_t size) {
  // The first memory that CPython takes for an interpreter, right after it has ended the checks,
  // and before it gives up the GIL of the thread that makes it.
  keep_gil_state_check();
  return counted(raw.calloc(raw.ctx, count, size));
}

void* raw_realloc(void*, void* memory, size_t size) {
  const int64_t before = memory != nullptr ? size_of(memory) : 0;
  void* moved = raw.realloc(raw.ctx, memory, size);
  if (moved != nullptr) counter.add(size_of(moved) - before);
  return moved;
}

void raw_free(void*, void* memory) {
  if (memory != nullptr) counter.add(-size_of(memory));
  raw.free(raw.ctx, memory);
}

void* arena_alloc(void*, size_t size) {
  void* arena = arenas.alloc(arenas.ctx, size);
  if (arena != nullptr) counter.add(static_cast<int64_t>(size));
  return arena;
}

void arena_free(void*, void* arena, size_t size) {
  counter.add(-static_cast<int64_t>(size));
  arenas.free(arenas.ctx, arena, size);
}

}  // namespace

void count_python_memory() {
  PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &raw);
  PyMemAllocatorEx counting = {nullptr, raw_malloc, raw_calloc, raw_realloc, raw_free};
  PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &counting);
  PyObject_GetArenaAllocator(&arenas);
  PyObjectArenaAllocator counting_arenas = {nullptr, arena_alloc, arena_free};
  PyObject_SetArenaAllocator(&counting_arenas);
}

int64_t python_memory_bytes() { return counter.total(); }
#endif

}  // namespace pyflow
