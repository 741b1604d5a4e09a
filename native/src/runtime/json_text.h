// What the native side tells as JSON.
#pragma once

#include <string>

namespace pyflow {

// Appends text in UTF-8 as a string of JSON.
void append_json_string(std::string& json, const std::string& text);

}  // namespace pyflow
