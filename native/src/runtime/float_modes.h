// How the processor rounds, and whether it flushes subnormal numbers to zero.
#pragma once

#include <fenv.h>

namespace pyflow {

// The floating-point modes that functions have set on their thread, such as by
// torch.set_flush_denormal() or fesetround(). Each thread has one set of modes, with which the JVM
// computes, too: it does not restore them after a native method.
class FloatModes {
 public:
  // Sets the modes that were kept on the current thread, if any.
  void restore() const {
    if (kept_) fesetmode(&modes_);
  }

  // Keeps the modes of the current thread, and sets those that the JVM relies on.
  void keep() {
    fegetmode(&modes_);
    kept_ = true;
    fesetmode(FE_DFL_MODE);
  }

 private:
  femode_t modes_{};
  bool kept_ = false;
};

}  // namespace pyflow
