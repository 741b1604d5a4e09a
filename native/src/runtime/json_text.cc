#include "runtime/json_text.h"

namespace pyflow {

void append_json_string(std::string& json, const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  json += '"';
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x20) {
      json += std::string("\\u00") + kDigits[byte >> 4] + kDigits[byte & 15];
    } else {
      if (each == '"' || each == '\\') json += '\\';
      json += each;
    }
  }
  json += '"';
}

}  // namespace pyflow
