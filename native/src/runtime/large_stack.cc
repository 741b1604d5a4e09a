#include "runtime/large_stack.h"

#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace pyflow {
namespace {

// Stack that Python code may use before CPython's own recursion checks stop it; containment.py
// bounds the recursion limit to it.
constexpr size_t kRequiredStackBytes = 7u << 20;
constexpr size_t kLargeStackBytes = 16u << 20;

// Threads that CPython code runs on leave every signal to the JVM's threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// How many bytes of stack are left below the caller's frame.
size_t remaining_stack() {
  static thread_local uintptr_t lowest = 0;
  if (lowest == 0) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void* address = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &address, &size);
    pthread_attr_destroy(&attributes);
    lowest = reinterpret_cast<uintptr_t>(address);
  }
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > lowest ? here - lowest : 0;
}

// Leaked: tasks may still run while the JVM calls exit().
std::mutex& idle_mutex() {
  static auto* mutex = new std::mutex();
  return *mutex;
}

std::vector<StackThread*>& idle_threads() {
  static auto* threads = new std::vector<StackThread*>();
  return *threads;
}

}  // namespace

bool stack_suffices() { return remaining_stack() >= kRequiredStackBytes; }

bool start_large_stack_thread(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kLargeStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  BlockedSignals blocked;
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

StackThread* StackThread::acquire() {
  {
    std::lock_guard<std::mutex> lock(idle_mutex());
    if (!idle_threads().empty()) {
      StackThread* thread = idle_threads().back();
      idle_threads().pop_back();
      return thread;
    }
  }
  auto thread = std::make_unique<StackThread>();
  if (!start_large_stack_thread(body, thread.get())) return nullptr;
  return thread.release();
}

void StackThread::give_back(StackThread* thread) {
  std::lock_guard<std::mutex> lock(idle_mutex());
  idle_threads().push_back(thread);
}

void StackThread::run(const std::function<void()>& work) {
  std::unique_lock<std::mutex> lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [&] { return work_ == nullptr; });
}

void* StackThread::body(void* argument) {
  auto* self = static_cast<StackThread*>(argument);
  std::unique_lock<std::mutex> lock(self->mutex_);
  for (;;) {
    self->changed_.wait(lock, [&] { return self->work_ != nullptr; });
    lock.unlock();
    (*self->work_)();
    lock.lock();
    self->work_ = nullptr;
    self->changed_.notify_all();
  }
}

std::string with_large_stack(const std::function<void()>& work) {
  if (stack_suffices()) {
    work();
    return "";
  }
  StackThread* thread = StackThread::acquire();
  if (thread == nullptr) return kNoThread;
  thread->run(work);
  StackThread::give_back(thread);
  return "";
}

}  // namespace pyflow
