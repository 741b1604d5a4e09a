// What interpreters keep for a Spark application.
#pragma once

#include <string>

namespace pyflow {

// Has every interpreter forget what belongs to an application that has ended. Waits for each GIL.
void end_application(const std::string& identifier);

}  // namespace pyflow
