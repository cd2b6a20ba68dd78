// Site: one operation that is being translated, with its operands and attributes; and the tables
// of translations.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anabranch/operand.h"
#include "frontend/stablehlo/importer.h"

namespace anabranch::stablehlo {

using List = std::vector<std::int64_t>;
using Results = std::vector<Array>;

class Site {
 public:
  Site(Importer& importer, const Operation& op, const Scope& scope)
      : importer(importer), op(op), scope(scope) {}

  SourceLocation where() const { return importer.source().location(op.at); }
  /// Throws ReadError "OP: MESSAGE" with the place.
  [[noreturn]] void fail(const std::string& message) const;

  std::size_t count() const { return op.operands.size(); }
  /// Throws ReadError where there is no such operand, or where it is a tuple or a token.
  Array operand(std::size_t index) const;
  std::vector<Array> operands() const;
  std::vector<Array> operands(std::size_t first, std::size_t count) const;
  /// Those that are no tokens.
  std::vector<Array> array_operands() const;
  /// The constant that an operand is, where it is one.
  std::optional<Literal> constant_operand(std::size_t index) const;
  /// The integers that a constant operand holds; throws ReadError, which names them, where they are
  /// computed.
  List constant_integers(std::size_t index, std::string_view what) const;
  /// Throws ReadError unless there are so many.
  void expect_operands(std::size_t count) const;
  Type result_type(std::size_t index = 0) const;

  /// Each throws ReadError where the attribute is missing (and no other value is given) or is of
  /// another kind.
  List integers(std::string_view name) const;
  List integers(std::string_view name, List otherwise) const;
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  bool boolean(std::string_view name, bool otherwise) const;
  /// The word of an enumeration (LT of `#stablehlo<comparison_direction LT>`), a string or a
  /// symbol.
  std::string word(std::string_view name, std::string_view otherwise) const;
  std::string word(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  /// The scalar that an attribute is, of the type that it states; f64 where it states none.
  Literal scalar_attribute(std::string_view name) const;
  /// "name = value" inside a dialect attribute or a dictionary, as attributes of their own.
  std::vector<NamedAttribute> entries(const Attribute& attribute) const;
  List integers_of(const Attribute& attribute) const;
  /// `name` is what the attribute is called.
  std::int64_t integer_of(const Attribute& attribute, std::string_view name) const;

  /// Of low, high, low, high ...: the low ones, and the high ones. Throws ReadError for an odd
  /// number of them.
  struct Paddings {
    List low, high;
  };
  Paddings paddings_of(const List& list) const;

  const RegionSyntax& region(std::size_t index) const;

  /// Arrays as the frontend takes them, with the line of the op.
  Operands located(const std::vector<Array>& arrays) const;
  /// What a region returns for these scalars, which a function of the frontend hands to it.
  std::vector<Array> run_body(const RegionSyntax& region, const std::vector<Array>& scalars) const;

  /// The frontend's record, with the line of the op.
  Array record(Op op, const std::vector<Array>& operands, Attributes attributes = NoAttributes{},
               std::optional<Type> stated = std::nullopt) const;
  /// The array in another dtype; itself where it has it.
  Array converted(const Array& array, Dtype dtype) const;
  /// A scalar repeated to a shape; itself where it has it.
  Array repeated(const Array& scalar, const Shape& shape) const;
  /// A scalar of a number that the dtype holds.
  Array scalar(double value, Dtype dtype) const;

  Importer& importer;
  const Operation& op;
  const Scope& scope;

 private:
  const Attribute& required(std::string_view name) const;
};

/// How the operations of one name become arrays.
using Translate = Results (*)(const Site& site);
struct Translation {
  std::string_view name;
  Translate translate;
};

std::span<const Translation> elementwise_translations();
std::span<const Translation> shape_translations();
std::span<const Translation> reduction_translations();
std::span<const Translation> control_translations();
std::span<const Translation> contraction_translations();
std::span<const Translation> ragged_translations();
std::span<const Translation> random_translations();
std::span<const Translation> chlo_translations();
std::span<const Translation> linalg_translations();
std::span<const Translation> index_translations();
std::span<const Translation> order_translations();
std::span<const Translation> batch_norm_translations();
std::span<const Translation> dynamic_translations();
std::span<const Translation> refused_translations();

/// The translation of that name without its dialect's, or null. `custom_call` is one.
const Translation* find_translation(std::string_view name);

/// What a custom_call gives; throws ReadError for an unknown name.
Results translate_custom_call(const Site& site);

/// What a factorisation called by LAPACK's or XLA's name gives; nothing for another name.
std::optional<Results> linear_algebra_call(const Site& site, std::string_view name);

/// Floats as integers of their width that are in the order of IEEE 754's totalOrder: -NaN, -inf,
/// ..., -0, 0, ..., inf, NaN.
Array total_order_key(const Site& site, const Array& x);

/// The name of the op that a region of two operations applies to its two arguments, in any order
/// where that makes no difference; empty for any other.
std::string applied_op(const RegionSyntax& body);

}  // namespace anabranch::stablehlo
