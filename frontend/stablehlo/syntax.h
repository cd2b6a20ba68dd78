// The syntax tree of a StableHLO module: plain data, by the names of the generic form.
//
// The pretty forms of ops are read into the same tree: `stablehlo.transpose %a, dims = [1, 0]` has
// the attribute `permutation`, as "stablehlo.transpose"(%a) <{permutation = ...}> has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anabranch::stablehlo {

inline constexpr std::int64_t dynamic_size = -1;

/// A type as written; whether it is one of ours is asked when it is used.
struct TypeSyntax {
  enum class Kind : std::uint8_t { tensor, scalar, tuple, token, function, other };

  Kind kind = Kind::other;
  std::string element;              ///< of a tensor or scalar: "f32", "complex<f32>"; else its text
  std::vector<std::int64_t> sizes;  ///< of a tensor; `dynamic_size` for ?
  bool unranked = false;            ///< tensor<*xf32>
  std::vector<TypeSyntax> parts;    ///< of a tuple; of a function: inputs, then results
  std::size_t inputs = 0;           ///< of a function: how many of the parts are inputs
  std::size_t at = 0;               ///< offset in the text
};
inline bool is_token(const TypeSyntax& type) { return type.kind == TypeSyntax::Kind::token; }
/// The type as MLIR writes it.
std::string to_string(const TypeSyntax& type);

struct NamedAttribute;

/// `begin` to `end` is its text, of a `dense` or dialect attribute what is between < and >.
struct Attribute {
  enum class Kind : std::uint8_t {
    unit,
    boolean,
    integer,   ///< `text` has its digits
    floating,  ///< `text` has its digits
    string,
    symbol,
    keyword,  ///< a word that stands for itself: LT, DEFAULT, e5m10
    list,     ///< [...] or array<i64: ...>
    dictionary,
    dense,
    resource,  ///< dense_resource<name>: `text` is the name
    type,
    dialect,  ///< #stablehlo.gather<...>: `text` is "stablehlo.gather"; and any other NAME<...>
  };

  Kind kind = Kind::unit;
  std::string text;
  std::size_t begin = 0, end = 0;
  std::vector<Attribute> list;
  std::vector<NamedAttribute> entries;
  TypeSyntax type;  ///< of a dense one, of `1 : i32`, or the type itself
  bool typed = false;
};

struct NamedAttribute {
  std::string name;
  Attribute value;
};

struct ResultName {
  std::string name;
  std::size_t count = 1;  ///< %0:2
};

struct ValueUse {
  std::string name;
  std::size_t index = 0;  ///< %0#1
  std::size_t at = 0;
};

struct BlockArgument {
  std::string name;
  TypeSyntax type;
  std::size_t at = 0;
};

struct Operation;

/// One block.
struct RegionSyntax {
  std::vector<BlockArgument> arguments;
  std::vector<Operation> operations;
  std::size_t at = 0;
};

struct Operation {
  std::string name;
  std::size_t at = 0;
  std::vector<ResultName> results;
  std::vector<ValueUse> operands;
  std::vector<NamedAttribute> attributes;
  std::vector<RegionSyntax> regions;
  std::vector<TypeSyntax> operand_types, result_types;

  const Attribute* find(std::string_view attribute) const {
    for (const auto& [name, value] : attributes) {
      if (name == attribute) return &value;
    }
    return nullptr;
  }
};

struct FunctionSyntax {
  std::string name;
  bool is_private = false;
  bool is_declaration = false;  ///< without a body
  std::vector<TypeSyntax> result_types;
  RegionSyntax body;
  std::size_t at = 0;
};

struct ModuleSyntax {
  std::string name;
  std::vector<FunctionSyntax> functions;
  /// Named blobs of dense_resource: name, and the offsets of the string in the text.
  std::vector<NamedAttribute> resources;
  /// Meshes of devices: name, and the offsets of its axes in the text.
  std::vector<NamedAttribute> meshes;
};

}  // namespace anabranch::stablehlo
