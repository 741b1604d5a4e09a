#include "runtime/interpreter_pool.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/gil_state.h"
#include "runtime/large_stack.h"
#include "runtime/start.h"
#include "runtime/thread_states.h"

namespace pyflow {
namespace {

// Beyond so many interpreters, sessions with modules of their own take those of each other.
constexpr int kKeptForSessions = 16;

struct Pool {
  // Slots leased by the same thread have a lease in common.
  struct Leased {
    uint64_t id;
    pthread_t thread;
    Interpreter* interpreter;
    int slots;
  };

  // An interpreter stays with an owner, and is leased for nobody else.
  struct Kept {
    std::string owner;
    Interpreter* interpreter;
  };

  std::mutex mutex;
  std::vector<Interpreter*> idle;
  std::vector<Leased> leased;
  std::vector<Kept> kept;
  int made = 0;
  uint64_t last_lease = 0;
};

// Leaked: tasks may still run while the JVM calls exit().
Pool& pool() {
  static auto* instance = new Pool();
  return *instance;
}

#if PYFLOW_HAS_ISOLATED_INTERPRETERS
PyInterpreterConfig isolated_config() {
  PyInterpreterConfig config = {};
  config.use_main_obmalloc = 0;
  config.allow_fork = 1;  // subprocess needs it
  config.allow_exec = 0;  // would replace the JVM
  config.allow_threads = 1;
  config.allow_daemon_threads = 1;
  config.check_multi_interp_extensions = 1;
  config.gil = PyInterpreterConfig_OWN_GIL;
  return config;
}

Interpreter* make_isolated(std::string& error) {
  PyEval_RestoreThread(thread_states().of(shared_interpreter()));
  const PyInterpreterConfig config = isolated_config();
  PyThreadState* thread_state = nullptr;
  const PyStatus status = Py_NewInterpreterFromConfig(&thread_state, &config);
  if (PyStatus_Exception(status)) {
    PyEval_SaveThread();
    error = status_text(status);
    return nullptr;
  }
  auto* interpreter = new Interpreter();
  interpreter->handle = PyThreadState_GetInterpreter(thread_state);
  interpreter->isolated = true;
  error = prepare(*interpreter);
  // This thread state stays, and the thread gets another like every other thread. Without any, the
  // next thread to come would be given the memory of the last one, which may not be free yet: a
  // thread that ends takes it from the interpreter's list before it releases it.
  PyEval_SaveThread();
  forget_gil_state();
  // One that could not be prepared stays all the same: destroying an interpreter is not safe.
  return error.empty() ? interpreter : nullptr;
}
#else
Interpreter* make_isolated(std::string&) { return nullptr; }
#endif

Interpreter* make_isolated_with_large_stack(std::string& error) {
  if (!why_no_isolated_interpreters().empty()) {
    error = "isolated interpreters cannot be made: this Python " + why_no_isolated_interpreters();
    return nullptr;
  }
  Interpreter* interpreter = nullptr;
  const std::string refused = with_large_stack([&] { interpreter = make_isolated(error); });
  if (!refused.empty()) error = refused;
  return interpreter;
}

bool is_leased(const Interpreter* interpreter) {
  const auto& leased = pool().leased;
  return std::any_of(leased.begin(), leased.end(),
                     [&](const Pool::Leased& each) { return each.interpreter == interpreter; });
}

long owners_of(const Interpreter* interpreter) {
  const auto& kept = pool().kept;
  return std::count_if(kept.begin(), kept.end(),
                       [&](const Pool::Kept& each) { return each.interpreter == interpreter; });
}

// The lease that the current thread has, with one slot more; empty if it has none.
Lease lease_again() {
  for (Pool::Leased& each : pool().leased) {
    if (pthread_equal(each.thread, pthread_self())) {
      ++each.slots;
      return {each.interpreter, each.id, ""};
    }
  }
  return {};
}

Lease lease_of(Interpreter* interpreter) {
  const uint64_t id = ++pool().last_lease;
  pool().leased.push_back({id, pthread_self(), interpreter, 1});
  return {interpreter, id, ""};
}

// The interpreter that is kept for an owner. Where none is, and there are enough, the owner shares
// one with the fewest owners, rather one that no task runs in now; null if another may be kept.
Interpreter* take_kept(const Owner& owner, const std::string& modules_of) {
  std::vector<Interpreter*> found;
  for (const Pool::Kept& each : pool().kept) {
    if (each.owner == owner.name) return each.interpreter;
    if (each.interpreter->modules_of == modules_of &&
        std::find(found.begin(), found.end(), each.interpreter) == found.end()) {
      found.push_back(each.interpreter);
    }
  }
  if (static_cast<int>(found.size()) < owner.interpreters) return nullptr;
  const auto cost = [](const Interpreter* each) {
    return std::make_pair(owners_of(each), is_leased(each));
  };
  return *std::min_element(
      found.begin(), found.end(),
      [&](const Interpreter* one, const Interpreter* other) { return cost(one) < cost(other); });
}

// A lease whose interpreter is kept for the owner, if there is one.
Lease kept_for(const Owner& owner, Lease lease) {
  auto& kept = pool().kept;
  const bool is_known =
      owner.name.empty() || std::any_of(kept.begin(), kept.end(), [&](const Pool::Kept& each) {
        return each.owner == owner.name;
      });
  if (is_known) return lease;
  kept.push_back({owner.name, lease.interpreter});
  lease.new_owner = owner.name;
  return lease;
}

// Takes an idle interpreter from the pool; null if there is none, or one should rather be made.
Interpreter* take_idle(const std::string& modules_of) {
  auto& idle = pool().idle;
  auto found = idle.end();
  for (const std::string& wanted : {modules_of, std::string()}) {
    const auto latest = std::find_if(idle.rbegin(), idle.rend(), [&](const Interpreter* each) {
      return each->modules_of == wanted;
    });
    if (latest != idle.rend()) {
      found = std::prev(latest.base());
      break;
    }
  }
  if (found == idle.end()) {
    if (idle.empty() || pool().made < kKeptForSessions) return nullptr;
    found = idle.begin();  // the one that is idle for longest
  }
  Interpreter* interpreter = *found;
  idle.erase(found);
  return interpreter;
}

}  // namespace

std::string prewarm_isolated(int count) {
  for (;;) {
    {
      std::lock_guard<std::mutex> lock(pool().mutex);
      if (pool().made >= count) return "";
      ++pool().made;
    }
    std::string error;
    Interpreter* interpreter = make_isolated_with_large_stack(error);
    std::lock_guard<std::mutex> lock(pool().mutex);
    if (interpreter == nullptr) {
      --pool().made;
      return error;
    }
    pool().idle.push_back(interpreter);
  }
}

Lease lease_isolated(const std::string& modules_of, const Owner& owner, std::string& error) {
  Interpreter* interpreter = nullptr;
  {
    std::lock_guard<std::mutex> lock(pool().mutex);
    const Lease again = lease_again();
    if (again.interpreter != nullptr) return kept_for(owner, again);
    interpreter = owner.name.empty() ? nullptr : take_kept(owner, modules_of);
    if (interpreter != nullptr) return kept_for(owner, lease_of(interpreter));
    interpreter = take_idle(modules_of);
    if (interpreter != nullptr) {
      interpreter->modules_of = modules_of;
      return kept_for(owner, lease_of(interpreter));
    }
    ++pool().made;
  }
  interpreter = make_isolated_with_large_stack(error);
  std::lock_guard<std::mutex> lock(pool().mutex);
  if (interpreter == nullptr) {
    --pool().made;
    return {};
  }
  // Another task of the owner may have been here meanwhile.
  Interpreter* const kept = owner.name.empty() ? nullptr : take_kept(owner, modules_of);
  if (kept != nullptr) {
    pool().idle.push_back(interpreter);
    return kept_for(owner, lease_of(kept));
  }
  interpreter->modules_of = modules_of;
  return kept_for(owner, lease_of(interpreter));
}

Lease lease_for_last_time(const std::vector<std::string>& owners) {
  std::lock_guard<std::mutex> lock(pool().mutex);
  auto& kept = pool().kept;
  const auto is_one = [&](const Pool::Kept& each) {
    return std::any_of(owners.begin(), owners.end(), [&](const std::string& begin) {
      return each.owner.compare(0, begin.size(), begin) == 0;
    });
  };
  const auto found = std::find_if(kept.begin(), kept.end(), is_one);
  if (found == kept.end()) return {};
  Interpreter* const interpreter = found->interpreter;
  kept.erase(std::remove_if(kept.begin(), kept.end(),
                            [&](const Pool::Kept& each) {
                              return each.interpreter == interpreter && is_one(each);
                            }),
             kept.end());
  return lease_of(interpreter);
}

void forget_owner(const Lease& lease) {
  std::lock_guard<std::mutex> lock(pool().mutex);
  auto& kept = pool().kept;
  kept.erase(std::remove_if(kept.begin(), kept.end(),
                            [&](const Pool::Kept& each) {
                              return each.interpreter == lease.interpreter &&
                                     each.owner == lease.new_owner;
                            }),
             kept.end());
}

void forget_owners() {
  std::lock_guard<std::mutex> lock(pool().mutex);
  auto& idle = pool().idle;
  for (const Pool::Kept& each : pool().kept) {
    const bool is_idle = std::find(idle.begin(), idle.end(), each.interpreter) != idle.end();
    if (!is_idle && !is_leased(each.interpreter)) idle.push_back(each.interpreter);
  }
  pool().kept.clear();
}

void end_lease(uint64_t id) {
  std::lock_guard<std::mutex> lock(pool().mutex);
  auto& leased = pool().leased;
  const auto lease = std::find_if(leased.begin(), leased.end(),
                                  [&](const Pool::Leased& each) { return each.id == id; });
  if (--lease->slots > 0) return;
  Interpreter* const interpreter = lease->interpreter;
  leased.erase(lease);
  if (owners_of(interpreter) == 0 && !is_leased(interpreter)) pool().idle.push_back(interpreter);
}

std::vector<const Interpreter*> isolated_interpreters() {
  std::lock_guard<std::mutex> lock(pool().mutex);
  std::vector<const Interpreter*> all(pool().idle.begin(), pool().idle.end());
  const auto add = [&](const Interpreter* interpreter) {
    if (std::find(all.begin(), all.end(), interpreter) == all.end()) all.push_back(interpreter);
  };
  for (const Pool::Leased& each : pool().leased) add(each.interpreter);
  for (const Pool::Kept& each : pool().kept) add(each.interpreter);
  return all;
}

}  // namespace pyflow
