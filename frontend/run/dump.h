// The dumps that the environment asks for.
#pragma once

#include <string>

#include "codegen/compile.h"

namespace anabranch {

/// Writes what ANABRANCH_DUMP names of one compilation, stages and what passes made: to stderr, or
/// as PROGRAM.NUMBER.STAGE.txt and PROGRAM.NUMBER.after_COUNT_PASS.txt in ANABRANCH_DUMP_DIR.
class AskedDumps {
 public:
  /// Before `graph` is compiled.
  explicit AskedDumps(const Graph& graph);

  /// For `compile`; empty where no pass is asked for. This outlives it.
  PassObserver observer();
  void write_stages(const Compilation& compilation) const;

 private:
  void write(const std::string& what, const std::string& file, const std::string& text) const;

  std::string program_;
  int passes_ = 0;  // that have been seen
};

}  // namespace anabranch
