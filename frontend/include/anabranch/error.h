// The two kinds of failure: what the user can mend, and what only we can.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

/// What is wrong with a call, a file or the machine, in words that name the object and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;  // in the library, and its type with it, for programs without RTTI
};

/// A broken promise inside the compiler: which stage broke it, and the dump that shows it.
class InternalError : public std::logic_error {
 public:
  InternalError(std::string from, const std::string& text, std::string shown = {})
      : std::logic_error(from + ": " + text + (shown.empty() ? "" : "\n" + shown)),
        stage_(std::move(from)),
        dump_(std::move(shown)) {}

  InternalError(const InternalError&) = default;
  InternalError& operator=(const InternalError&) = default;
  ~InternalError() override;

  const std::string& stage() const { return stage_; }
  const std::string& dump() const { return dump_; }

 private:
  std::string stage_;
  std::string dump_;
};

}  // namespace anabranch
