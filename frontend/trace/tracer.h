// Tracer: one function being traced, and the graph that its operations are recorded into.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "frontend/array/expression.h"
#include "ir/graph/builder.h"
#include "ir/graph/graph.h"

namespace anabranch {

/// What becomes part of the trace as what. Host numbers are constants in all of them.
enum class TraceKind : std::uint8_t {
  function,  ///< memory: constants; recorded operations: nodes; values of other traces are refused
  loop,      ///< all from outside is captured, and so computed once, before the loop
  body,      ///< a loop whose results are carried: those that are its parameters stay seen to be
  branch,    ///< as loop, but what is computed while the branch is traced belongs into the branch
};

/// Open from its making until `finish`; its arrays keep it alive, and refuse further use once it is
/// over.
///
/// Loops and branches are traced within the trace of what surrounds them. An operation on values of
/// several open traces belongs to the one opened last.
class Tracer : public std::enable_shared_from_this<Tracer> {
 public:
  explicit Tracer(std::string name, TraceKind kind = TraceKind::function);
  ~Tracer() { end(); }

  /// Throws InternalError once operations are recorded.
  Array parameter(const Type& type, std::optional<Device> device = std::nullopt);

  /// Larger for a tracer opened later.
  std::uint64_t serial() const { return serial_; }

  /// Records one op, whose result is on `device` where that is known. Throws Error for an array of
  /// another trace that cannot become part of this one.
  Array record(Op op, const std::vector<Array>& operands, Attributes attributes,
               std::optional<Type> stated, SourceLocation where, std::optional<Device> device);

  /// The same of an op with several results or regions.
  std::vector<Array> record_all(Op op, const std::vector<Array>& operands, Attributes attributes,
                                std::vector<Graph> regions, SourceLocation where,
                                std::optional<Device> device);

  /// The outputs of `graph`, of which all nodes are copied into this trace. `function` names what
  /// it is in messages.
  std::vector<Array> call(std::string_view function, const Graph& graph,
                          const std::vector<Array>& operands, SourceLocation where,
                          std::optional<Device> device);

  /// Whether there are checks so far, for the outputs to be guarded by.
  bool has_checks() const;
  /// The graph of what the outputs need, and of all parameters. Throws Error (fail_unguarded) where
  /// there are checks and no outputs.
  Graph finish(const std::vector<Array>& outputs);
  /// Once finished: the line of the first check, or of the first loop or branch that has one.
  SourceLocation first_check() const { return first_check_; }
  /// What the parameters that the graph has beyond its own stand for, in order, once finished.
  const std::vector<Array>& captures() const { return captures_; }
  /// Once finished: the constants of the graph that are arrays from outside the function, as their
  /// nodes. An array that the function makes itself and keeps for later counts as one.
  const std::vector<std::uint32_t>& captured_constants() const { return captured_constants_; }
  /// What the value is, where that is a constant of the graph.
  std::optional<Literal> constant(Value value) const;
  /// The trace is over, with or without a graph: its arrays refuse further use.
  void close();

  /// "<f32[3] traced as %5, from model.cpp:12>": for printing.
  std::string describe(const Expression& traced) const;

 private:
  Value import(const ExpressionPtr& expression, const std::string& function, SourceLocation where);
  std::optional<Value> import_leaf(const ExpressionPtr& expression, const std::string& function,
                                   SourceLocation where);
  Value import_traced(const ExpressionPtr& expression, const std::string& function,
                      SourceLocation where);
  Value import_computed(const std::shared_ptr<Tracer>& outer, Value value);
  Value capture(const std::shared_ptr<Tracer>& outer, Value value);
  Value capture(const ExpressionPtr& memory);
  std::vector<Value> import_all(const std::vector<Array>& operands, std::string_view function,
                                SourceLocation where);
  void note_births();
  void note_checks(std::uint32_t first);
  void record_checks();
  void append_checked(std::vector<Value>& outputs) const;
  std::optional<std::pair<Value, CheckAttributes>> take_checks();
  void end();
  std::vector<const std::byte*> held_elsewhere(const std::vector<Array>& outputs) const;
  std::optional<Node> node_since(std::uint64_t serial, std::uint32_t node) const;
  Type type_of(Value value) const;

  const TraceKind kind_;
  const std::uint64_t serial_;
  mutable std::mutex mutex_;
  std::atomic<bool> open_ = true;
  GraphBuilder builder_;
  std::vector<std::uint32_t> checked_;  // nodes with checks, whether or not an output needs them
  std::vector<std::uint64_t> births_;   // per node: the serial of the last tracer opened before it
  std::map<std::pair<const Tracer*, Value>, Value> captured_;  // of other traces
  std::vector<Array> captures_;
  std::vector<std::uint32_t> captured_constants_;
  std::unordered_map<const Expression*, Value> imported_;
  std::vector<ExpressionPtr> keep_alive_;  // those of imported_, whose addresses must stay theirs
  SourceLocation first_check_;             // once it is taken, or of what was recorded with checks
};

/// Throws the Error for a check in a function without results.
[[noreturn]] void fail_unguarded(SourceLocation check);

}  // namespace anabranch
