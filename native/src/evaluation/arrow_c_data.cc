#include "evaluation/arrow_c_data.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace pyflow {

namespace {

std::atomic<int64_t> lent_by_all{0};

void free_block(LentBlock* block) {
  Lender* lender = block->lender;
  lender->bytes -= block->bytes;
  lent_by_all -= block->bytes;
  std::free(block);
  let_go(lender);
}

}  // namespace

LentBlock* lend(Lender& lender, int64_t bytes, int64_t arrays) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kLentHeaderBytes, static_cast<size_t>(bytes)) != 0) return nullptr;
  ++lender.owners;
  lender.bytes += bytes;
  lent_by_all += bytes;
  lender.peak_bytes = std::max(lender.peak_bytes.load(), lender.bytes.load());
  return new (memory) LentBlock{{arrays}, bytes, &lender};
}

int64_t lent_bytes() { return lent_by_all; }

void let_go(Lender* lender) {
  if (lender->owners.fetch_sub(1) == 1) delete lender;
}

void release_jvm_array(ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    ArrowArray* child = array->children[i];
    if (child->release != nullptr) child->release(child);
  }
  array->release = nullptr;
  // The children lie in the block.
  auto* block = static_cast<LentBlock*>(array->private_data);
  if (block->arrays.fetch_sub(1) == 1) free_block(block);
}

}  // namespace pyflow
