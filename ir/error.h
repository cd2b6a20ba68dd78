// The two kinds of failure: what the user can mend, and what only we can.
#pragma once

#include <stdexcept>
#include <string>

namespace anabranch {

/// What is wrong with a call, a file or the machine, in words that name the object and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken promise inside the compiler: which stage broke it, and the dump that shows it.
class InternalError : public std::logic_error {
 public:
  InternalError(std::string stage, const std::string& what, std::string dump = {})
      : std::logic_error(stage + ": " + what + (dump.empty() ? "" : "\n" + dump)),
        stage_(std::move(stage)),
        dump_(std::move(dump)) {}

  const std::string& stage() const { return stage_; }
  const std::string& dump() const { return dump_; }

 private:
  std::string stage_;
  std::string dump_;
};

}  // namespace anabranch
