// Importer: calls the frontend's functions for the operations of a syntax tree.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anabranch/array.h"
#include "frontend/stablehlo/dense.h"
#include "frontend/stablehlo/source_text.h"
#include "frontend/stablehlo/syntax.h"
#include "frontend/trace/tracer.h"
#include "ir/attributes.h"
#include "ir/op.h"

namespace anabranch::stablehlo {

/// Whether the operation ends its region.
bool is_return(const Operation& op);

/// A module that has been read, and the text that it refers to.
struct ParsedModule {
  ParsedModule(std::string text, std::string_view file, std::uint32_t first_line = 1)
      : source(std::move(text), file, first_line), syntax() {}

  const FunctionSyntax* find(std::string_view name) const;

  SourceText source;
  ModuleSyntax syntax;
};
std::shared_ptr<const ParsedModule> parsed(std::string text, std::string_view file,
                                           std::uint32_t first_line = 1);

/// What a name stands for: an array, a tuple, or a token.
struct Bound {
  enum class Kind : std::uint8_t { array, tuple, token };

  Kind kind = Kind::array;
  Array array;
  std::vector<Bound> parts;
  const Operation* constant = nullptr;  ///< the op that made it, where that is a constant

  static Bound of(Array array) {
    Bound bound;
    bound.array = std::move(array);
    return bound;
  }
  static Bound of_token() {
    Bound bound;
    bound.kind = Kind::token;
    return bound;
  }
};

/// The names of one region, within those of the regions around it.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  /// Throws ReadError where the name has a meaning in this region.
  void bind(const SourceText& source, std::size_t at, const std::string& name,
            std::vector<Bound> values);

  struct Found {
    const Bound* value = nullptr;
    bool is_outer = false;  ///< of a region around this one
  };
  /// Throws ReadError where there is no such value.
  Found find(const SourceText& source, const ValueUse& use) const;

 private:
  const Scope* outer_;
  std::map<std::string_view, std::vector<Bound>> values_;
};

/// An assertion of the check dialect that was met.
struct CheckSite {
  const Operation* op = nullptr;
  std::string name;             ///< "expect_eq"
  std::vector<Array> operands;  ///< actual, and expected where that is no constant of the op
};

class Site;

class Importer {
 public:
  explicit Importer(const ParsedModule& module) : module_(module) {}

  /// The results of a function, operation by operation. `at` is the call.
  std::vector<Bound> call(const FunctionSyntax& function, std::vector<Bound> arguments,
                          std::size_t at);
  /// What a region returns for these arguments; tokens come and go beside them.
  std::vector<Array> run(const RegionSyntax& region, const Scope& outer,
                         const std::vector<Array>& arguments);

  /// A constant, iota or another op without operands: part of the trace at hand, if there is one.
  Array leaf(Op op, Attributes attributes, const Type& type, SourceLocation where);
  Array constant(const DenseValue& value, const Type& type, SourceLocation where);

  const ParsedModule& module() const { return module_; }
  const SourceText& source() const { return module_.source; }

  /// The trace that constants become part of; null where arrays are computed at once.
  std::shared_ptr<Tracer> tracer;
  /// Where assertions go; null to leave them out.
  std::vector<CheckSite>* checks = nullptr;
  /// What constants outside of regions are, in place of their values.
  std::map<const Operation*, Array> given_constants;

 private:
  friend class Site;

  // What a region that sees nothing around it returns for these arguments. `name` is its own in
  // messages, and `at` where it is called.
  std::vector<Bound> isolated(const std::string& name, const RegionSyntax& region,
                              std::vector<Bound> arguments, std::size_t at);
  std::vector<Bound> block(const RegionSyntax& region, Scope& scope);
  void apply(const Operation& op, Scope& scope);
  std::vector<Bound> results_of(const Operation& op, Scope& scope);
  std::vector<Bound> structural(const Operation& op, Scope& scope, bool& done);
  bool check(const Operation& op, const std::string& name, Site& site);
  Bound value(const ValueUse& use, const Scope& scope);
  void verify(const Operation& op, const std::vector<Bound>& results);

  const ParsedModule& module_;
  std::vector<const FunctionSyntax*> calls_;  // those that are being carried out
  int regions_ = 0;                           // around the operation at hand, of this function
  int blocks_ = 0;                            // that are open, of calls and of regions
  std::int64_t operations_left_ = 4'000'000;
};

/// For as long as it lives, constants belong to the trace of `array`, where that is traced.
class WithinTraceOf {
 public:
  WithinTraceOf(Importer& importer, const Array& array);
  ~WithinTraceOf() { importer_.tracer = std::move(outer_); }
  WithinTraceOf(const WithinTraceOf&) = delete;
  WithinTraceOf& operator=(const WithinTraceOf&) = delete;

 private:
  Importer& importer_;
  std::shared_ptr<Tracer> outer_;
};

}  // namespace anabranch::stablehlo
