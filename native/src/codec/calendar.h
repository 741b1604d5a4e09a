// Calendar arithmetic between Spark's epoch-based values and Python's datetime fields, in the
// proleptic Gregorian calendar, and the process's local time zone exactly as CPython's datetime
// module applies it.
#pragma once

#include <cstdint>

namespace pyflow {

inline constexpr int64_t kMicrosPerSecond = 1000000;
inline constexpr int64_t kSecondsPerDay = 86400;
// 0001-01-01 and 9999-12-31, the range of Python's dates, in days since 1970-01-01.
inline constexpr int64_t kMinPythonDay = -719162;
inline constexpr int64_t kMaxPythonDay = 2932896;

inline bool is_in_calendar(int64_t seconds) {
  return seconds >= kMinPythonDay * kSecondsPerDay &&
         seconds < (kMaxPythonDay + 1) * kSecondsPerDay;
}

// Whether local time can be had at a point in time, or a wall-clock time, without leaving that
// range on the way: CPython's datetime looks a day to either side, and zones are up to a day from
// UTC.
inline bool is_well_inside_calendar(int64_t seconds) {
  return seconds >= (kMinPythonDay + 3) * kSecondsPerDay &&
         seconds < (kMaxPythonDay - 2) * kSecondsPerDay;
}

struct CivilDate {
  int year;
  int month;
  int day;
};

CivilDate civil_from_days(int64_t days);
int64_t days_from_civil(int year, int month, int day);

struct LocalSeconds {
  int64_t seconds;  // wall-clock seconds, counted as if the wall clock were UTC
  bool valid;
};

// Threads remember the local zone's offsets; this makes them look again.
void local_zone_may_have_changed();

// Wall-clock time in the local zone at a point in time (seconds since the epoch).
LocalSeconds local_from_utc(int64_t seconds);

// Whether a wall-clock time at this instant is the second of two equal ones (PEP 495), as
// datetime.fromtimestamp decides it; `local` is local_from_utc(seconds).
bool is_fold(int64_t seconds, int64_t local);

// datetime.astimezone() of a naive value: the instant of a wall-clock time, honouring `fold`. Not
// valid for a time that the clocks skip: there patch releases of CPython differ (gh-83861).
LocalSeconds utc_from_local(int64_t local, int fold);

// time.mktime() of a naive value with tm_isdst = -1, which ignores `fold`.
LocalSeconds mktime_from_local(int64_t local);

}  // namespace pyflow
