// The lines of instructions, from the tables that code objects have of them.
#pragma once

#include <cstdint>
#include <string>

namespace pyflow {

// The line of an instruction, counted from the code's first; 0 where it has none.
int line_of(const std::string& table, int first_line, int64_t instruction);

}  // namespace pyflow
