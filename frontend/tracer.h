// Tracer: one function being traced, and the graph that its operations are recorded into.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/array.h"
#include "frontend/expression.h"
#include "ir/graph.h"

namespace anabranch {

/// Open from its making until `finish`; its arrays keep it alive, and refuse further use once it is
/// over.
class Tracer : public std::enable_shared_from_this<Tracer> {
 public:
  explicit Tracer(std::string name) : builder_(std::move(name)) {}

  Array parameter(const Type& type);

  /// Records one op. Arrays that are not of this trace become part of it: memory and host numbers
  /// as constants, recorded operations as nodes. Throws Error for an array of another trace.
  Array record(Op op, const std::vector<Array>& operands, Attributes attributes,
               std::optional<Type> stated, SourceLocation where);

  /// The graph of what the outputs need, and of all parameters.
  Graph finish(const std::vector<Array>& outputs);
  /// The trace is over, with or without a graph: its arrays refuse further use.
  void close();

  /// "<f32[3] traced as %5, from model.cpp:12>": for printing.
  std::string describe(const Expression& traced) const;

 private:
  Value import(const ExpressionPtr& expression, const std::string& function, SourceLocation where);
  std::optional<Value> import_leaf(const ExpressionPtr& expression, const std::string& function,
                                   SourceLocation where);

  mutable std::mutex mutex_;
  bool open_ = true;
  GraphBuilder builder_;
  std::unordered_map<const Expression*, Value> imported_;
  std::vector<ExpressionPtr> keep_alive_;  // those of imported_, whose addresses must stay theirs
};

}  // namespace anabranch
