// See shared_numbers.h. Part of the codec's test library only.

#include "shared_numbers.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "codec/codec.h"
#include "evaluation/arrow_c_data.h"
#include "evaluation/batches.h"
#include "evaluation/program.h"

namespace {

using namespace pyflow;

struct Number {
  const char* name;
  int64_t value;
};

#define PYFLOW_MEMBER(type, member) \
  {#type "." #member, static_cast<int64_t>(offsetof(type, member))}
#define PYFLOW_SIZE(type) {#type ".sizeof", static_cast<int64_t>(sizeof(type))}
#define PYFLOW_VALUE(value) {#value, static_cast<int64_t>(value)}

constexpr Number kNumbers[] = {
    PYFLOW_VALUE(Kind::kNull),
    PYFLOW_VALUE(Kind::kBoolean),
    PYFLOW_VALUE(Kind::kByte),
    PYFLOW_VALUE(Kind::kShort),
    PYFLOW_VALUE(Kind::kInteger),
    PYFLOW_VALUE(Kind::kLong),
    PYFLOW_VALUE(Kind::kFloat),
    PYFLOW_VALUE(Kind::kDouble),
    PYFLOW_VALUE(Kind::kDecimal),
    PYFLOW_VALUE(Kind::kString),
    PYFLOW_VALUE(Kind::kBinary),
    PYFLOW_VALUE(Kind::kDate),
    PYFLOW_VALUE(Kind::kTimestamp),
    PYFLOW_VALUE(Kind::kTimestampNtz),
    PYFLOW_VALUE(Kind::kTime),
    PYFLOW_VALUE(Kind::kDayTimeInterval),
    PYFLOW_VALUE(Kind::kArray),
    PYFLOW_VALUE(Kind::kMap),
    PYFLOW_VALUE(Kind::kStruct),
    PYFLOW_VALUE(Kind::kVariant),
    PYFLOW_VALUE(Kind::kUserDefined),
    PYFLOW_VALUE(Exchange::kPickle),
    PYFLOW_VALUE(Exchange::kArrow),
    PYFLOW_VALUE(OutputColumn::Source::kInput),
    PYFLOW_VALUE(OutputColumn::Source::kFunction),
    PYFLOW_VALUE(Outcome::kDone),
    PYFLOW_VALUE(Outcome::kFailed),
    PYFLOW_VALUE(Outcome::kMoveToShared),
    PYFLOW_VALUE(Outcome::kInterrupted),
    PYFLOW_VALUE(Batches::kEnd),
    PYFLOW_VALUE(Batches::kEndOfGroup),
    PYFLOW_MEMBER(Evaluation, output),
    PYFLOW_MEMBER(Evaluation, rows_done),
    PYFLOW_MEMBER(Evaluation, input_bytes_done),
    PYFLOW_MEMBER(Evaluation, times),
    PYFLOW_MEMBER(Evaluation, conversion_nanos),
    PYFLOW_SIZE(Evaluation),
    PYFLOW_MEMBER(Step, rows),
    PYFLOW_MEMBER(Step, times),
    PYFLOW_SIZE(Step),
    PYFLOW_MEMBER(CallTimes, gil_wait_nanos),
    PYFLOW_MEMBER(CallTimes, python_nanos),
    PYFLOW_MEMBER(CallTimes, sampled_nanos),
    PYFLOW_MEMBER(CallTimes, cpu_nanos),
    PYFLOW_MEMBER(CallTimes, others_cpu_nanos),
    PYFLOW_SIZE(CallTimes),
    PYFLOW_VALUE(kLentHeaderBytes),
    PYFLOW_MEMBER(ArrowArray, length),
    PYFLOW_MEMBER(ArrowArray, null_count),
    PYFLOW_MEMBER(ArrowArray, offset),
    PYFLOW_MEMBER(ArrowArray, n_buffers),
    PYFLOW_MEMBER(ArrowArray, n_children),
    PYFLOW_MEMBER(ArrowArray, buffers),
    PYFLOW_MEMBER(ArrowArray, children),
    PYFLOW_MEMBER(ArrowArray, dictionary),
    PYFLOW_MEMBER(ArrowArray, release),
    PYFLOW_MEMBER(ArrowArray, private_data),
    PYFLOW_SIZE(ArrowArray),
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* pyflow_shared_numbers() {
  static const std::string text = [] {
    std::string lines;
    for (const Number& each : kNumbers) {
      lines += std::string(each.name) + ' ' + std::to_string(each.value) + '\n';
    }
    return lines;
  }();
  return text.c_str();
}
