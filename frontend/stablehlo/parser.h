// Parser: MLIR's text as the syntax tree of a StableHLO module.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "frontend/stablehlo/scanner.h"
#include "frontend/stablehlo/syntax.h"

namespace anabranch::stablehlo {

/// Regions, types and attributes may be nested as deep as this; text that nests deeper is broken.
inline constexpr int most_nested_syntax = 96;
/// What copies of aliases take together, beyond one node for each use.
inline constexpr std::size_t most_alias_bytes = std::size_t{1} << 26;

/// What a copy of a type or an attribute takes.
struct Extent {
  std::size_t bytes = 0;  ///< beyond its outermost node
  int depth = 1;          ///< how deep it nests; 1 without parts
};

/// Throws ReadError with the place and what was expected there.
ModuleSyntax parse_module(const SourceText& source);

/// Reads types and attributes, and operations over them; the ops' names say which form they have.
class Parser {
 public:
  explicit Parser(const SourceText& source) : scan_(source) {}
  /// Reads a part of the text: the inside of a dialect attribute.
  Parser(const SourceText& source, std::size_t begin, std::size_t end)
      : scan_(source, begin, end) {}

  ModuleSyntax module();
  TypeSyntax type();
  Attribute attribute();
  Scanner& scanner() { return scan_; }

  /// "{a = 1, b}", from behind the opening bracket to behind `close`, or to the end if that is "".
  std::vector<NamedAttribute> entries(std::string_view close);

 private:
  struct Nesting;  // counts a level for as long as it lives

  // What a name stands for. Each use copies it.
  template <class Syntax>
  struct Alias {
    Syntax syntax;
    Extent extent;
  };

  // parse_type.cpp
  TypeSyntax tensor_type(std::size_t at);
  TypeSyntax function_type(std::size_t at);
  TypeSyntax dialect_type(std::size_t at);
  std::string element_type();
  std::vector<TypeSyntax> type_list();
  bool at_type() const;

  // parse_attribute.cpp
  Attribute hash_attribute(std::size_t at);
  Attribute word_attribute(std::size_t at);
  Attribute number_attribute(std::size_t at);
  Attribute list_attribute(std::string_view close);
  Attribute array_attribute();
  void skip_location();

  // parse_operation.cpp
  Operation operation();
  void result_names(Operation& op);
  void generic_form(Operation& op);
  void pretty_form(Operation& op);
  bool pretty_item(Operation& op);
  void pretty_key(Operation& op, std::string key);
  void pretty_list(Operation& op);
  void signature(Operation& op);
  void one_result(Operation& op, const TypeSyntax& type);
  ValueUse value_use();
  void operands_until(Operation& op, std::string_view close);
  RegionSyntax region();
  BlockArgument block_argument();
  std::vector<BlockArgument> block_arguments();
  void block(RegionSyntax& region);

  // parse_forms.cpp
  bool special_form(Operation& op);
  void while_form(Operation& op);
  void reduce_form(Operation& op);
  void convolution_form(Operation& op);
  void scan_form(Operation& op);
  void manual_form(Operation& op);
  void rename_attributes(Operation& op);

  // parse_module.cpp
  FunctionSyntax function();
  void function_arguments(FunctionSyntax& function);
  void function_results(FunctionSyntax& function);
  void generic_functions(const Operation& op, ModuleSyntax& module);
  void module_body(ModuleSyntax& module, std::string_view close);
  void module_item(ModuleSyntax& module);
  void mesh(ModuleSyntax& module);
  void top_level_alias();
  void take_alias(const Extent& extent, std::size_t at);
  void resources(ModuleSyntax& module);

  Scanner scan_;
  int depth_ = 0;
  std::size_t alias_bytes_left_ = most_alias_bytes;
  std::map<std::string, Alias<Attribute>, std::less<>> aliases_;
  std::map<std::string, Alias<TypeSyntax>, std::less<>> type_aliases_;
};

/// Counts a level of brackets; throws ReadError where there are too many.
struct Parser::Nesting {
  explicit Nesting(Parser& parser) : depth(parser.depth_) {
    if (++depth <= most_nested_syntax) return;
    --depth;
    parser.scan_.fail("brackets are nested more than " + std::to_string(most_nested_syntax) +
                      " deep; give each region a function of its own");
  }
  ~Nesting() { --depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  int& depth;
};

}  // namespace anabranch::stablehlo
