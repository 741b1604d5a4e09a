// The Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>

extern "C" {

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}

namespace pyflow {

// The release callback of arrays whose buffers the JVM owns. `private_data` points to the number of
// arrays that have not been released, an int64 that the JVM watches: it calls nothing, so that it
// may run on any thread and with any GIL held.
void release_jvm_array(ArrowArray* array);

}  // namespace pyflow
