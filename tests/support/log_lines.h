// The lines that the library logs while a test runs.
#pragma once

#include <string>
#include <vector>

#include "anabranch/log.h"

namespace anabranch::testing {

class LogLines {
 public:
  LogLines() {
    set_log([this](const std::string& line) { lines_.push_back(line); });
  }
  ~LogLines() { set_log({}); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace anabranch::testing
