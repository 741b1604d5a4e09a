// The Arrow C data interface: https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <atomic>
#include <cstddef>
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

// Who lends memory: a task of the JVM. Lives until that has closed it and all its blocks are freed.
struct Lender {
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> owners{1};
  std::atomic<int64_t> peak_bytes{0};
};

// What precedes the arrays and buffers of a batch in one block of memory. The block is freed
// when its last array is released, on any thread; the JVM is not called.
struct LentBlock {
  std::atomic<int64_t> arrays;
  int64_t bytes;
  Lender* lender;
};

// What comes first in a block lies so far from its beginning, which is aligned to as many bytes, as
// Arrow recommends it for buffers.
inline constexpr size_t kLentHeaderBytes = 64;
static_assert(sizeof(LentBlock) <= kLentHeaderBytes);

// A block for `arrays` arrays; null if there is no memory. `bytes` counts the header.
LentBlock* lend(Lender& lender, int64_t bytes, int64_t arrays);

// What Python holds now of all lenders.
int64_t lent_bytes();

// One owner less.
void let_go(Lender* lender);

// The release callback of arrays whose buffers the JVM has filled. `private_data` is their block.
void release_jvm_array(ArrowArray* array);

}  // namespace pyflow
