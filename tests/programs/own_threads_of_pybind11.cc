// Calls Python back on threads of C++, by std::function, with pybind11's ways to the GIL.

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

namespace py = pybind11;

namespace {

using Function = std::function<std::int64_t(std::int64_t)>;

constexpr int kThreads = 4;
constexpr std::int64_t kCalls = 50;

// The caller has given up the GIL. std::function takes it for each call.
std::int64_t OnThreads(const Function& function, bool holds_gil) {
  std::vector<std::int64_t> sums(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int64_t n = 0; n < kCalls; ++n) {
        if (holds_gil) {
          py::gil_scoped_acquire gil;
          sums[thread] += function(thread * kCalls + n);
          py::gil_scoped_release released;
          std::this_thread::yield();
        } else {
          sums[thread] += function(thread * kCalls + n);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

}  // namespace

PYBIND11_MODULE(own_threads_of_pybind11, m) {
  m.def("on_threads", &OnThreads, py::call_guard<py::gil_scoped_release>());
}
