// The order of a pickled map's entries.
//
// On their way to a pickled function maps pass through a java.util.HashMap, so that is the order in
// which the function meets the entries: by the buckets that the keys' hash codes select.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pyflow {

// hashCode() of Java's Long, Float, Double, Boolean, String (of valid UTF-8) and BigDecimal.
int32_t java_hash(int64_t number);
int32_t java_hash(float number);
int32_t java_hash(double number);
int32_t java_hash(bool value);
int32_t java_hash(std::string_view text);
int32_t java_hash(__int128 unscaled, int scale);

// The positions of keys, given their hash codes, as a HashMap made for that many entries lists
// them.
std::vector<size_t> java_map_order(const std::vector<int32_t>& hashes);

}  // namespace pyflow
