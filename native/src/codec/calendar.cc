#include "codec/calendar.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <ctime>

namespace pyflow {
namespace {

// No zone has a fold longer than this; CPython's datetime uses the same bound.
constexpr int64_t kMaxFoldSeconds = 24 * 3600;

int64_t floor_div(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - ((value % divisor != 0) && ((value < 0) != (divisor < 0)));
}

int64_t seconds_from_fields(const std::tm& fields) {
  return days_from_civil(fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday) *
             kSecondsPerDay +
         fields.tm_hour * 3600 + fields.tm_min * 60 + fields.tm_sec;
}

LocalSeconds system_local_from_utc(int64_t seconds) {
  const std::time_t instant = seconds;
  std::tm fields;
  if (localtime_r(&instant, &fields) == nullptr) return {0, false};
  return {seconds_from_fields(fields), true};
}

std::atomic<uint64_t> zone_generation{0};

// What a thread knows of the local zone. localtime_r takes a lock for the whole process, which
// makes threads wait for each other. No zone has left an offset and come back to it within a day.
class OffsetsByDay {
 public:
  // False on days on which the offset changes.
  bool find(int64_t seconds, int64_t& offset) {
    const uint64_t generation = zone_generation.load(std::memory_order_relaxed);
    if (generation != generation_) {
      for (Day& day : days_) day = Day();
      generation_ = generation;
    }
    const int64_t number = floor_div(seconds, kSecondsPerDay);
    Day& day = days_[static_cast<size_t>(number) % kDays];
    if (day.number != number) day = look_up(number);
    offset = day.offset;
    return day.constant;
  }

 private:
  struct Day {
    int64_t number = INT64_MIN;
    int64_t offset = 0;
    bool constant = false;
  };

  static Day look_up(int64_t number) {
    const int64_t begin = number * kSecondsPerDay;
    const int64_t end = begin + kSecondsPerDay;
    const LocalSeconds first = system_local_from_utc(begin);
    const LocalSeconds last = system_local_from_utc(end);
    const bool constant = first.valid && last.valid && first.seconds - begin == last.seconds - end;
    return {number, first.seconds - begin, constant};
  }

  static constexpr size_t kDays = 512;
  uint64_t generation_ = 0;
  Day days_[kDays];
};

}  // namespace

void local_zone_may_have_changed() { zone_generation.fetch_add(1, std::memory_order_relaxed); }

// Days are counted in 400-year eras that start on 1 March, so that the leap day ends a year.
CivilDate civil_from_days(int64_t days) {
  days += 719468;
  const int64_t era = floor_div(days, 146097);
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const auto month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  const auto year = static_cast<int>(year_of_era + era * 400 + (month <= 2));
  return {year, month, day};
}

int64_t days_from_civil(int year, int month, int day) {
  const int64_t shifted_year = int64_t{year} - (month <= 2);
  const int64_t era = floor_div(shifted_year, 400);
  const int64_t year_of_era = shifted_year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

LocalSeconds local_from_utc(int64_t seconds) {
  static thread_local OffsetsByDay offsets;
  int64_t offset = 0;
  if (offsets.find(seconds, offset)) return {seconds + offset, true};
  return system_local_from_utc(seconds);
}

bool is_fold(int64_t seconds, int64_t local) {
  const LocalSeconds probe = local_from_utc(seconds - kMaxFoldSeconds);
  if (!probe.valid) return false;
  const int64_t transition = local - probe.seconds - kMaxFoldSeconds;
  if (transition >= 0) return false;
  const LocalSeconds before = local_from_utc(seconds + transition);
  return before.valid && before.seconds == local;
}

LocalSeconds utc_from_local(int64_t local, int fold) {
  const LocalSeconds first = local_from_utc(local);
  if (!first.valid) return first;
  const int64_t offset = first.seconds - local;
  const int64_t candidate = local - offset;
  const LocalSeconds first_back = local_from_utc(candidate);
  if (!first_back.valid) return first_back;

  int64_t other_offset = 0;
  if (first_back.seconds == local) {
    // A solution; another one may exist a fold away.
    const int64_t nearby = candidate + (fold != 0 ? kMaxFoldSeconds : -kMaxFoldSeconds);
    const LocalSeconds around = local_from_utc(nearby);
    if (!around.valid) return around;
    other_offset = around.seconds - nearby;
    if (other_offset == offset) return {candidate, true};
  } else {
    other_offset = first_back.seconds - candidate;
  }
  const int64_t other = local - other_offset;
  const LocalSeconds other_back = local_from_utc(other);
  if (!other_back.valid) return other_back;
  if (other_back.seconds == local) return {other, true};
  return {candidate, first_back.seconds == local};
}

LocalSeconds mktime_from_local(int64_t local) {
  const int64_t days = floor_div(local, kSecondsPerDay);
  const auto rest = static_cast<int>(local - days * kSecondsPerDay);
  const CivilDate date = civil_from_days(days);
  std::tm fields;
  std::memset(&fields, 0, sizeof fields);
  fields.tm_year = date.year - 1900;
  fields.tm_mon = date.month - 1;
  fields.tm_mday = date.day;
  fields.tm_hour = rest / 3600;
  fields.tm_min = rest / 60 % 60;
  fields.tm_sec = rest % 60;
  fields.tm_isdst = -1;
  fields.tm_wday = -1;  // stays negative only when mktime fails: -1 is also a valid instant
  const std::time_t instant = std::mktime(&fields);
  if (instant == -1 && fields.tm_wday == -1) return {0, false};
  return {instant, true};
}

}  // namespace pyflow
