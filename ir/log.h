// Writing to the log.
#pragma once

#include <string>

#include "anabranch/log.h"

namespace anabranch {

/// Hands a line to the sink. What the sink throws is dropped.
void log_line(const std::string& line) noexcept;

}  // namespace anabranch
