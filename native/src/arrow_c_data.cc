#include "arrow_c_data.h"

#include <atomic>

namespace pyflow {

void release_jvm_array(ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    ArrowArray* child = array->children[i];
    if (child->release != nullptr) child->release(child);
  }
  array->release = nullptr;
  // The last one: the JVM may then free the memory that the children lie in.
  static_cast<std::atomic<int64_t>*>(array->private_data)->fetch_sub(1, std::memory_order_release);
}

}  // namespace pyflow
