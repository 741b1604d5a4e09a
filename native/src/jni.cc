// The JVM's view of the bridge: io.pyflow.bridge.NativeBridge. The only file that knows JNI.
//
// Every function here is entered and left without any GIL. Errors leave as Java exceptions, thrown
// as the last thing a function does; texts cross as UTF-8 byte arrays, since JNI's own UTF-8 is not
// quite that.

#include <jni.h>
#include <malloc.h>
#include <pthread.h>

#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "evaluation/arrow_c_data.h"
#include "evaluation/batches.h"
#include "evaluation/program.h"
#include "runtime/application.h"
#include "runtime/attached.h"
#include "runtime/debugger.h"
#include "runtime/interpreter_pool.h"
#include "runtime/loaded_modules.h"
#include "runtime/profile.h"
#include "runtime/python_memory.h"
#include "runtime/slot.h"
#include "runtime/stacks.h"
#include "runtime/start.h"

namespace {

using pyflow::Answer;
using pyflow::Batches;
using pyflow::Evaluation;
using pyflow::Functions;
using pyflow::LoadFailure;
using pyflow::Outcome;
using pyflow::Program;
using pyflow::Slot;
using pyflow::Step;
using pyflow::Upcall;

constexpr const char* kUnavailable = "io/pyflow/bridge/PythonUnavailableException";
constexpr const char* kFunctionFailed = "io/pyflow/bridge/PythonFunctionException";
constexpr const char* kNeedsShared = "io/pyflow/bridge/SharedInterpreterRequiredException";
constexpr const char* kRefused = "io/pyflow/bridge/FunctionsRefusedException";

jbyteArray to_bytes(JNIEnv* env, const std::string& text) {
  jbyteArray bytes = env->NewByteArray(static_cast<jsize>(text.size()));
  if (bytes != nullptr) {
    env->SetByteArrayRegion(bytes, 0, static_cast<jsize>(text.size()),
                            reinterpret_cast<const jbyte*>(text.data()));
  }
  return bytes;
}

std::string from_bytes(JNIEnv* env, jbyteArray bytes) {
  std::string text(static_cast<size_t>(env->GetArrayLength(bytes)), '\0');
  env->GetByteArrayRegion(bytes, 0, static_cast<jsize>(text.size()),
                          reinterpret_cast<jbyte*>(text.data()));
  return text;
}

// Throws `class_name(byte[])`; leaves whatever exception the lookup itself raised instead.
void throw_with_text(JNIEnv* env, const char* class_name, const std::string& text) {
  jclass type = env->FindClass(class_name);
  if (type == nullptr) return;
  jmethodID constructor = env->GetMethodID(type, "<init>", "([B)V");
  if (constructor == nullptr) return;
  jbyteArray bytes = to_bytes(env, text);
  if (bytes == nullptr) return;
  jobject exception = env->NewObject(type, constructor, bytes);
  if (exception != nullptr) env->Throw(static_cast<jthrowable>(exception));
}

void throw_load_failure(JNIEnv* env, const LoadFailure& failure) {
  const char* class_name = kFunctionFailed;
  if (failure.kind == LoadFailure::Kind::kNeedsShared) class_name = kNeedsShared;
  if (failure.kind == LoadFailure::Kind::kRefused) class_name = kRefused;
  throw_with_text(env, class_name, failure.text);
}

// Attaches the current thread to the JVM until it ends; null when the JVM takes no more threads, as
// when it ends. A thread-local object would be too early to detach it: the destructors of others
// run after its own, and with Python's thread states go objects that call the JVM. Keys come last.
JNIEnv* attach_until_its_end(JavaVM* vm) {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(
        &made, [](void* attached_to) { static_cast<JavaVM*>(attached_to)->DetachCurrentThread(); });
    return made;
  }();
  void* env = nullptr;
  if (vm->AttachCurrentThreadAsDaemon(&env, nullptr) != JNI_OK) return nullptr;
  pthread_setspecific(key, vm);
  return static_cast<JNIEnv*>(env);
}

// NativeBridge.log(int, byte[]), sessionLog(long, byte[]) and messageOf(Throwable) as threads find
// them that have no class loader.
struct JavaLogs {
  JavaVM* vm = nullptr;
  jclass bridge = nullptr;
  jmethodID log = nullptr;
  jmethodID session_log = nullptr;
  jmethodID message_of = nullptr;
};
JavaLogs java_logs;

JNIEnv* current_env() {
  void* env = nullptr;
  if (java_logs.vm->GetEnv(&env, JNI_VERSION_10) == JNI_OK) return static_cast<JNIEnv*>(env);
  return attach_until_its_end(java_logs.vm);
}

// A message that cannot be logged is no reason to fail.
void call_java_log(jmethodID method, jvalue number, const std::string& message) {
  JNIEnv* env = current_env();
  if (env == nullptr) return;
  jvalue bytes;
  bytes.l = to_bytes(env, message);
  if (bytes.l != nullptr) {
    const jvalue arguments[] = {number, bytes};
    env->CallStaticVoidMethodA(java_logs.bridge, method, arguments);
    env->DeleteLocalRef(bytes.l);
  }
  if (env->ExceptionCheck()) env->ExceptionClear();
}

void log_to_java(int64_t level, const std::string& message) {
  jvalue number;
  number.i = static_cast<jint>(level);
  call_java_log(java_logs.log, number, message);
}

void session_log_to_java(int64_t log, const std::string& line) {
  jvalue number;
  number.j = log;
  call_java_log(java_logs.session_log, number, line);
}

// False with a Java exception pending.
bool find_java_logs(JNIEnv* env, jclass bridge) {
  java_logs.log = env->GetStaticMethodID(bridge, "log", "(I[B)V");
  if (java_logs.log == nullptr) return false;
  java_logs.session_log = env->GetStaticMethodID(bridge, "sessionLog", "(J[B)V");
  if (java_logs.session_log == nullptr) return false;
  java_logs.message_of = env->GetStaticMethodID(bridge, "messageOf", "(Ljava/lang/Throwable;)[B");
  if (java_logs.message_of == nullptr) return false;
  java_logs.bridge = static_cast<jclass>(env->NewGlobalRef(bridge));
  return env->GetJavaVM(&java_logs.vm) == JNI_OK;
}

Slot& slot_at(jlong handle) { return *reinterpret_cast<Slot*>(handle); }
Program& program_at(jlong handle) { return *reinterpret_cast<Program*>(handle); }
pyflow::Profile& profile_at(jlong handle) { return *reinterpret_cast<pyflow::Profile*>(handle); }

// A BatchSource as native code calls it, from any thread, and the exception that it threw.
class JavaSource {
 public:
  JavaSource(JNIEnv* env, jobject source, jmethodID next)
      : source_(env->NewGlobalRef(source)), next_(next) {}
  JavaSource(const JavaSource&) = delete;
  JavaSource& operator=(const JavaSource&) = delete;
  ~JavaSource() {
    JNIEnv* env = current_env();
    if (env == nullptr) return;
    env->DeleteGlobalRef(source_);
    if (failure_ != nullptr) env->DeleteGlobalRef(failure_);
  }

  int64_t next(uint64_t array) {
    JNIEnv* env = current_env();
    if (env == nullptr) return Batches::kSourceFailed;
    const jlong rows = env->CallLongMethod(source_, next_, static_cast<jlong>(array));
    jthrowable thrown = env->ExceptionOccurred();
    if (thrown == nullptr) return rows;
    env->ExceptionClear();
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_ == nullptr) failure_ = static_cast<jthrowable>(env->NewGlobalRef(thrown));
    env->DeleteLocalRef(thrown);
    return Batches::kSourceFailed;
  }

  // Throws what the source threw first.
  void rethrow(JNIEnv* env) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_ != nullptr) env->Throw(failure_);
  }

 private:
  const jobject source_;
  const jmethodID next_;
  std::mutex mutex_;
  jthrowable failure_ = nullptr;
};

// A JvmFunction as native code calls it, from any thread. Such a thread may never return to the
// JVM, so local references are deleted here.
class JavaFunction {
 public:
  JavaFunction(JNIEnv* env, jobject function, jmethodID call)
      : function_(env->NewGlobalRef(function)), call_(call) {}
  JavaFunction(const JavaFunction&) = delete;
  JavaFunction& operator=(const JavaFunction&) = delete;
  ~JavaFunction() {
    JNIEnv* env = current_env();
    if (env != nullptr) env->DeleteGlobalRef(function_);
  }

  Answer call(int32_t code, const char* argument, size_t size) const {
    JNIEnv* env = current_env();
    if (env == nullptr) return {Answer::Kind::kThrown, "the JVM ends"};
    const auto length = static_cast<jsize>(size);
    jbyteArray bytes = env->NewByteArray(length);
    if (bytes == nullptr) return thrown(env);
    env->SetByteArrayRegion(bytes, 0, length, reinterpret_cast<const jbyte*>(argument));
    jobject answer = env->CallObjectMethod(function_, call_, static_cast<jint>(code), bytes);
    env->DeleteLocalRef(bytes);
    if (env->ExceptionCheck()) return thrown(env);
    return taken(env, answer);
  }

 private:
  static Answer taken(JNIEnv* env, jobject answer) {
    if (answer == nullptr) return {Answer::Kind::kNothing, ""};
    Answer bytes = {Answer::Kind::kThrown, "no memory"};
    try {
      bytes = {Answer::Kind::kBytes, from_bytes(env, static_cast<jbyteArray>(answer))};
    } catch (const std::bad_alloc&) {
      // Python gets the answer that is there.
    }
    env->DeleteLocalRef(answer);
    return bytes;
  }

  // Clears the pending exception.
  static Answer thrown(JNIEnv* env) {
    jthrowable exception = env->ExceptionOccurred();
    env->ExceptionClear();
    jobject message =
        env->CallStaticObjectMethod(java_logs.bridge, java_logs.message_of, exception);
    env->DeleteLocalRef(exception);
    Answer answer = {Answer::Kind::kThrown, "an exception of the JVM"};
    if (env->ExceptionCheck()) {
      env->ExceptionClear();
    } else if (message != nullptr) {
      answer.bytes = from_bytes(env, static_cast<jbyteArray>(message));
      env->DeleteLocalRef(message);
    }
    return answer;
  }

  const jobject function_;
  const jmethodID call_;
};

// Null with a Java exception pending, or for no function.
std::shared_ptr<const Upcall> upcall_to(JNIEnv* env, jobject function) {
  if (function == nullptr) return nullptr;
  jmethodID call = env->GetMethodID(env->GetObjectClass(function), "call", "(I[B)[B");
  if (call == nullptr) return nullptr;
  auto java_function = std::make_shared<const JavaFunction>(env, function, call);
  return std::make_shared<const Upcall>(
      [java_function](int32_t code, const char* argument, size_t size) {
        return java_function->call(code, argument, size);
      });
}

struct JavaBatches {
  std::shared_ptr<JavaSource> source;
  std::unique_ptr<Batches> batches;
};

JavaBatches& batches_at(jlong handle) { return *reinterpret_cast<JavaBatches*>(handle); }

// Null with a Java exception pending.
jobjectArray accumulator_updates(JNIEnv* env, Functions& functions) {
  std::vector<std::string> updates;
  if (!functions.accumulator_updates(updates)) {
    throw_with_text(env, kFunctionFailed, functions.error());
    return nullptr;
  }
  jclass byte_array = env->FindClass("[B");
  if (byte_array == nullptr) return nullptr;
  jobjectArray array = env->NewObjectArray(static_cast<jsize>(updates.size()), byte_array, nullptr);
  if (array == nullptr) return nullptr;
  for (size_t i = 0; i < updates.size(); ++i) {
    if (updates[i].size() > static_cast<size_t>(std::numeric_limits<jsize>::max())) {
      throw_with_text(env, kFunctionFailed, "an accumulator has more than 2 GiB of updates");
      return nullptr;
    }
    jbyteArray bytes = to_bytes(env, updates[i]);
    if (bytes == nullptr) return nullptr;
    env->SetObjectArrayElement(array, static_cast<jsize>(i), bytes);
    env->DeleteLocalRef(bytes);
  }
  return array;
}

}  // namespace

extern "C" {

// options: executable, prefix, exec_prefix, base_prefix, base_exec_prefix, stdlib_dir, hash seed,
// GIL, number of OpenMP's threads, sys.path entries...
JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_start(JNIEnv* env, jclass bridge,
                                                                jobjectArray options) {
  if (!find_java_logs(env, bridge)) return;
  std::vector<std::string> values;
  const jsize count = env->GetArrayLength(options);
  for (jsize i = 0; i < count; ++i) {
    auto bytes = static_cast<jbyteArray>(env->GetObjectArrayElement(options, i));
    values.push_back(from_bytes(env, bytes));
    env->DeleteLocalRef(bytes);
  }
  const auto variables = values.begin() + 7;
  const auto search_paths = variables + std::stoi(values[6]);
  pyflow::StartOptions start{values[0],
                             values[1],
                             values[2],
                             values[3],
                             values[4],
                             values[5],
                             {variables, search_paths},
                             {search_paths, values.end()},
                             {log_to_java, session_log_to_java}};
  const std::string error = pyflow::start_python(start);
  if (!error.empty()) throw_with_text(env, kUnavailable, error);
}

JNIEXPORT jbyteArray JNICALL
Java_io_pyflow_bridge_NativeBridge_whyNoIsolatedInterpreters(JNIEnv* env, jclass) {
  return to_bytes(env, pyflow::why_no_isolated_interpreters());
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_prewarm(JNIEnv* env, jclass, jint count) {
  const std::string error = pyflow::prewarm_isolated(count);
  if (!error.empty()) throw_with_text(env, kUnavailable, error);
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_takeGil(JNIEnv*, jclass) {
  pyflow::Attached attached(pyflow::shared_interpreter());
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_memoryBytes(JNIEnv*, jclass) {
  return pyflow::python_memory_bytes();
}

JNIEXPORT jint JNICALL Java_io_pyflow_bridge_NativeBridge_isolatedInterpreters(JNIEnv*, jclass) {
  return static_cast<jint>(pyflow::isolated_interpreters().size());
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_loadedModules(JNIEnv* env, jclass) {
  return to_bytes(env, pyflow::loaded_modules_json());
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_trimMemory(JNIEnv*, jclass) {
  malloc_trim(0);
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_endApplication(JNIEnv* env, jclass,
                                                                         jbyteArray identifier) {
  pyflow::end_application(from_bytes(env, identifier));
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_acquireSlot(
    JNIEnv* env, jclass, jboolean isolated, jbyteArray modules_of, jbyteArray owner, jint kept) {
  std::string error;
  std::unique_ptr<Slot> slot = Slot::acquire(isolated == JNI_TRUE, from_bytes(env, modules_of),
                                             {from_bytes(env, owner), kept}, error);
  if (slot == nullptr) {
    throw_with_text(env, kUnavailable, error);
    return 0;
  }
  return reinterpret_cast<jlong>(slot.release());
}

JNIEXPORT jlong JNICALL
Java_io_pyflow_bridge_NativeBridge_acquireSlotForLastTime(JNIEnv* env, jclass, jbyteArray owners) {
  std::vector<std::string> begins;
  std::istringstream lines(from_bytes(env, owners));
  for (std::string line; std::getline(lines, line);) begins.push_back(line);
  return reinterpret_cast<jlong>(Slot::acquire_for_last_time(begins).release());
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_releaseSlot(JNIEnv*, jclass, jlong slot) {
  delete &slot_at(slot);
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_interrupt(JNIEnv*, jclass, jlong slot) {
  slot_at(slot).interrupt();
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_runningThread(JNIEnv*, jclass,
                                                                         jlong slot) {
  return reinterpret_cast<jlong>(slot_at(slot).running_thread());
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_pythonThreads(JNIEnv* env, jclass) {
  return to_bytes(env, pyflow::all_threads_json());
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_askDebugger(JNIEnv* env, jclass,
                                                                            jbyteArray request) {
  return to_bytes(env, pyflow::ask_debugger(from_bytes(env, request)));
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_newProfile(JNIEnv*, jclass) {
  return reinterpret_cast<jlong>(new pyflow::Profile());
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_sample(JNIEnv* env, jclass, jlong profile,
                                                                 jlongArray threads,
                                                                 jintArray numbers) {
  std::vector<pyflow::SampledCall> calls(static_cast<size_t>(env->GetArrayLength(threads)));
  for (size_t i = 0; i < calls.size(); ++i) {
    jlong thread = 0;
    jint number = 0;
    env->GetLongArrayRegion(threads, static_cast<jsize>(i), 1, &thread);
    env->GetIntArrayRegion(numbers, static_cast<jsize>(i), 1, &number);
    calls[i] = {static_cast<uintptr_t>(thread), number};
  }
  profile_at(profile).sample(pyflow::all_interpreters(), calls);
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_profileJson(JNIEnv* env, jclass,
                                                                            jlong profile) {
  return to_bytes(env, profile_at(profile).json());
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_closeProfile(JNIEnv*, jclass,
                                                                       jlong profile) {
  delete &profile_at(profile);
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_load(JNIEnv* env, jclass, jlong slot,
                                                                jbyteArray specification,
                                                                jobject function) {
  std::shared_ptr<const Upcall> upcall = upcall_to(env, function);
  if (env->ExceptionCheck()) return 0;
  LoadFailure failure;
  std::unique_ptr<Program> program =
      Program::load(slot_at(slot), from_bytes(env, specification), std::move(upcall), failure);
  if (program != nullptr) return reinterpret_cast<jlong>(program.release());
  throw_load_failure(env, failure);
  return 0;
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_closeProgram(JNIEnv*, jclass,
                                                                       jlong program) {
  Program::close(std::unique_ptr<Program>(&program_at(program)));
}

// `evaluation` is the address of a pyflow::Evaluation that the caller owns.
JNIEXPORT jint JNICALL Java_io_pyflow_bridge_NativeBridge_evaluate(JNIEnv*, jclass, jlong program,
                                                                   jlong input, jint row_count,
                                                                   jboolean ends_batch,
                                                                   jlong evaluation) {
  return static_cast<jint>(program_at(program).evaluate(
      reinterpret_cast<const uint8_t*>(input), row_count, ends_batch == JNI_TRUE,
      *reinterpret_cast<Evaluation*>(evaluation)));
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_error(JNIEnv* env, jclass,
                                                                      jlong program) {
  return to_bytes(env, program_at(program).error());
}

JNIEXPORT jobjectArray JNICALL
Java_io_pyflow_bridge_NativeBridge_accumulatorUpdates(JNIEnv* env, jclass, jlong program) {
  return accumulator_updates(env, program_at(program));
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_loadBatches(
    JNIEnv* env, jclass, jlong slot, jbyteArray specification, jobject source, jobject function) {
  jclass type = env->GetObjectClass(source);
  jmethodID next = env->GetMethodID(type, "next", "(J)J");
  if (next == nullptr) return 0;
  std::shared_ptr<const Upcall> upcall = upcall_to(env, function);
  if (env->ExceptionCheck()) return 0;
  auto java_source = std::make_shared<JavaSource>(env, source, next);
  LoadFailure failure;
  std::unique_ptr<Batches> batches = Batches::load(
      slot_at(slot), from_bytes(env, specification),
      [java_source](uint64_t array) { return java_source->next(array); }, std::move(upcall),
      failure);
  if (batches == nullptr) {
    throw_load_failure(env, failure);
    return 0;
  }
  return reinterpret_cast<jlong>(new JavaBatches{std::move(java_source), std::move(batches)});
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_closeBatches(JNIEnv*, jclass,
                                                                       jlong handle) {
  std::unique_ptr<JavaBatches> batches(&batches_at(handle));
  Batches::close(std::move(batches->batches));
}

// `array` is the address of an ArrowArray and `step` that of a pyflow::Step; the caller owns both.
JNIEXPORT jint JNICALL Java_io_pyflow_bridge_NativeBridge_nextBatch(JNIEnv* env, jclass,
                                                                    jlong handle, jlong array,
                                                                    jlong step) {
  JavaBatches& batches = batches_at(handle);
  const Outcome outcome =
      batches.batches->next(static_cast<uint64_t>(array), *reinterpret_cast<Step*>(step));
  if (outcome == Outcome::kSourceFailed) batches.source->rethrow(env);
  return static_cast<jint>(outcome);
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_batchesSchema(JNIEnv* env, jclass,
                                                                              jlong handle) {
  return to_bytes(env, batches_at(handle).batches->schema());
}

JNIEXPORT jbyteArray JNICALL Java_io_pyflow_bridge_NativeBridge_batchesError(JNIEnv* env, jclass,
                                                                             jlong handle) {
  return to_bytes(env, batches_at(handle).batches->error());
}

JNIEXPORT jobjectArray JNICALL
Java_io_pyflow_bridge_NativeBridge_batchesAccumulatorUpdates(JNIEnv* env, jclass, jlong handle) {
  return accumulator_updates(env, *batches_at(handle).batches);
}

// The address of the release callback for arrays in a pyflow::LentBlock.
JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_releaseCallback(JNIEnv*, jclass) {
  return reinterpret_cast<jlong>(&pyflow::release_jvm_array);
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_newLender(JNIEnv*, jclass) {
  return reinterpret_cast<jlong>(new pyflow::Lender);
}

JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_closeLender(JNIEnv*, jclass,
                                                                      jlong lender) {
  pyflow::let_go(reinterpret_cast<pyflow::Lender*>(lender));
}

// The address of a pyflow::LentBlock; 0 if there is no memory.
JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_lend(JNIEnv*, jclass, jlong lender,
                                                                jlong bytes, jlong arrays) {
  return reinterpret_cast<jlong>(
      pyflow::lend(*reinterpret_cast<pyflow::Lender*>(lender), bytes, arrays));
}

// Of all lenders if none is given.
JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_lentBytes(JNIEnv*, jclass,
                                                                     jlong lender) {
  return lender == 0 ? pyflow::lent_bytes()
                     : reinterpret_cast<pyflow::Lender*>(lender)->bytes.load();
}

JNIEXPORT jlong JNICALL Java_io_pyflow_bridge_NativeBridge_peakLentBytes(JNIEnv*, jclass,
                                                                         jlong lender) {
  return reinterpret_cast<pyflow::Lender*>(lender)->peak_bytes;
}

// Gives back what Python exported to the ArrowArray at the address. Python's memory may take the
// GIL for it, so the caller holds none.
JNIEXPORT void JNICALL Java_io_pyflow_bridge_NativeBridge_releaseArray(JNIEnv*, jclass,
                                                                       jlong address) {
  auto* array = reinterpret_cast<ArrowArray*>(address);
  if (array->release != nullptr) array->release(array);
}

}  // extern "C"
