// How the processor rounds, and whether it flushes subnormal numbers to zero.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <fenv.h>
#endif

namespace pyflow {

// The floating-point modes that functions have set on their thread, such as by
// torch.set_flush_denormal() or fesetround(). Each thread has one set of modes, with which the JVM
// computes, too: it does not restore them after a native method.
//
// The functions of <fenv.h> that set modes alone are in no C library before glibc 2.25, and those
// that set exception flags as well take longer than a short call of a function.
class FloatModes {
 public:
  // Sets the modes that were kept on the current thread, if any.
  void restore() const {
    if (kept_) set(modes_);
  }

  // Keeps the modes of the current thread, and sets those that the JVM relies on.
  void keep() {
    modes_ = current();
    kept_ = true;
    set(kDefault);
  }

  // The modes of the current thread as a number, in which exceptions that were raised are not.
  static uint64_t number();
  static void set_number(uint64_t number);

 private:
#if defined(__x86_64__)
  struct Modes {
    uint32_t sse;
    uint16_t x87;
  };
  static constexpr Modes kDefault = {0x1f80, 0x037f};

  static Modes current() {
    Modes modes;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(modes.sse), "=m"(modes.x87));
    return modes;
  }
  static void set(const Modes& modes) {
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(modes.sse), "m"(modes.x87));
  }
#elif defined(__aarch64__)
  using Modes = uint64_t;
  static constexpr Modes kDefault = 0;

  static Modes current() {
    Modes modes;
    asm volatile("mrs %0, fpcr" : "=r"(modes));
    return modes;
  }
  static void set(const Modes& modes) { asm volatile("msr fpcr, %0" : : "r"(modes)); }
#else
  struct Modes {
    fenv_t environment;
    bool is_default;
  };
  static constexpr Modes kDefault = {{}, true};

  static Modes current() {
    Modes modes = {{}, false};
    fegetenv(&modes.environment);
    return modes;
  }
  static void set(const Modes& modes) {
    fesetenv(modes.is_default ? FE_DFL_ENV : &modes.environment);
  }
#endif

  Modes modes_{};
  bool kept_ = false;
};

#if defined(__x86_64__)
inline uint64_t FloatModes::number() {
  constexpr uint32_t kRaised = 0x3f;
  const Modes modes = current();
  return uint64_t{modes.x87} << 32 | (modes.sse & ~kRaised);
}
inline void FloatModes::set_number(uint64_t number) {
  set({static_cast<uint32_t>(number), static_cast<uint16_t>(number >> 32)});
}
#elif defined(__aarch64__)
inline uint64_t FloatModes::number() { return current(); }
inline void FloatModes::set_number(uint64_t number) { set(number); }
#else
inline uint64_t FloatModes::number() { return static_cast<uint64_t>(fegetround()); }
inline void FloatModes::set_number(uint64_t number) { fesetround(static_cast<int>(number)); }
#endif

}  // namespace pyflow
