// Bytes that are not UTF-8, as the JVM reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pyflow {

// UTF-8 with U+FFFD wherever `new String(bytes, UTF_8)` puts it. Where one malformed sequence ends
// and the next begins is Java's own choice: a surrogate, say, is replaced once, by Python's decoder
// three times.
std::string replace_malformed_as_jvm(const uint8_t* data, size_t size);

}  // namespace pyflow
