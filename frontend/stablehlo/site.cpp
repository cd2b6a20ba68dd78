#include "frontend/stablehlo/site.h"

#include <charconv>
#include <unordered_map>

#include "frontend/array/expression.h"
#include "frontend/stablehlo/parser.h"
#include "frontend/stablehlo/types.h"
#include "frontend/trace/record.h"
#include "ir/scalar.h"

namespace anabranch::stablehlo {
namespace {

// What attributes hold is small; a splat could claim any number of elements.
constexpr std::int64_t most_attribute_numbers = 1 << 16;

}  // namespace

void Site::fail(const std::string& message) const {
  importer.source().fail(op.at, op.name + ": " + message);
}

Array Site::operand(std::size_t index) const {
  if (index >= op.operands.size()) {
    fail("has " + std::to_string(op.operands.size()) + " operands, and needs more");
  }
  const Bound bound = importer.value(op.operands[index], scope);
  if (bound.kind != Bound::Kind::array) {
    fail("%" + op.operands[index].name + " is a " +
         (bound.kind == Bound::Kind::tuple ? "tuple" : "token") + ", and not a tensor");
  }
  return bound.array;
}

std::vector<Array> Site::operands() const { return operands(0, count()); }

std::vector<Array> Site::operands(std::size_t first, std::size_t count) const {
  std::vector<Array> arrays;
  for (std::size_t i = first; i < first + count; ++i) arrays.push_back(operand(i));
  return arrays;
}

std::vector<Array> Site::array_operands() const {
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < count(); ++i) {
    const Bound& bound = *scope.find(importer.source(), op.operands[i]).value;
    if (bound.kind != Bound::Kind::token) arrays.push_back(operand(i));
  }
  return arrays;
}

std::optional<Literal> Site::constant_operand(std::size_t index) const {
  if (index >= op.operands.size()) return {};
  const auto found = scope.find(importer.source(), op.operands[index]);
  const Operation* constant = found.value->constant;
  if (!constant || constant->result_types.empty()) return {};
  const Type type = to_type(importer.source(), constant->result_types[0]);
  const Attribute* value = constant->find("value");
  if (!value || type.size() > most_attribute_numbers) return {};
  std::size_t bytes_left = most_expanded_bytes;
  return expanded(read_dense(importer.source(), importer.module().syntax, *value, type), type,
                  bytes_left);
}

List Site::constant_integers(std::size_t index, std::string_view what) const {
  const std::optional<Literal> constant = constant_operand(index);
  if (!constant || is_float(constant->type().dtype)) {
    fail("its " + std::string(what) +
         " are computed; a program of static shapes has them as a constant");
  }
  List list;
  const int unused = 64 - info(constant->type().dtype).bits;
  for (std::int64_t i = 0; i < constant->type().size(); ++i) {
    list.push_back(static_cast<std::int64_t>(constant->bits(i).low) << unused >> unused);
  }
  return list;
}

void Site::expect_operands(std::size_t wanted) const {
  if (count() == wanted) return;
  fail("takes " + std::to_string(wanted) + " operands, and has " + std::to_string(count()));
}

Type Site::result_type(std::size_t index) const {
  if (index >= op.result_types.size()) fail("states no type for result " + std::to_string(index));
  return to_type(importer.source(), op.result_types[index]);
}

// --- attributes ----------------------------------------------------------------------------------

const Attribute& Site::required(std::string_view name) const {
  if (const Attribute* found = op.find(name)) return *found;
  fail("needs the attribute " + std::string(name));
}

List Site::integers_of(const Attribute& attribute) const {
  List list;
  const SourceText& source = importer.source();
  switch (attribute.kind) {
    case Attribute::Kind::integer: {
      std::int64_t value = 0;
      const char *begin = attribute.text.data(), *end = begin + attribute.text.size();
      const auto read = std::from_chars(begin, end, value);
      if (read.ec != std::errc() || read.ptr != end) {
        fail("'" + attribute.text + "' is no 64-bit integer, and the attribute has to be one");
      }
      list.push_back(value);
      break;
    }
    case Attribute::Kind::boolean:
      list.push_back(attribute.text == "true");
      break;
    case Attribute::Kind::list:
      for (const Attribute& part : attribute.list) {
        for (std::int64_t each : integers_of(part)) list.push_back(each);
      }
      break;
    case Attribute::Kind::dense: {
      const Type type = to_type(source, attribute.type);
      if (is_float(type.dtype)) fail("an attribute of floats where integers belong");
      if (type.size() > most_attribute_numbers)
        fail("an attribute of " + std::to_string(type.size()) + " numbers");
      std::size_t bytes_left = most_expanded_bytes;
      const Literal literal =
          expanded(read_dense(source, importer.module().syntax, attribute, type), type, bytes_left);
      for (std::int64_t i = 0; i < type.size(); ++i) {
        const auto bits = static_cast<std::int64_t>(literal.bits(i).low);
        const int unused = 64 - info(type.dtype).bits;
        const bool is_signed = is_signed_integer(type.dtype);
        list.push_back(is_signed ? bits << unused >> unused : bits);
      }
      break;
    }
    default:
      source.fail(attribute.begin, op.name + ": an attribute that is no list of integers");
  }
  return list;
}

List Site::integers(std::string_view name) const { return integers_of(required(name)); }

List Site::integers(std::string_view name, List otherwise) const {
  const Attribute* found = op.find(name);
  return found ? integers_of(*found) : otherwise;
}

std::int64_t Site::integer(std::string_view name) const { return integer_of(required(name), name); }

std::int64_t Site::integer_of(const Attribute& attribute, std::string_view name) const {
  const List list = integers_of(attribute);
  if (list.size() != 1) fail("the attribute " + std::string(name) + " has to be one integer");
  return list[0];
}

std::int64_t Site::integer(std::string_view name, std::int64_t otherwise) const {
  return op.find(name) ? integer(name) : otherwise;
}

Site::Paddings Site::paddings_of(const List& list) const {
  if (list.size() % 2 != 0) {
    fail("needs two paddings for each axis, and has " + std::to_string(list.size()) +
         " numbers in all");
  }
  Paddings paddings;
  for (std::size_t i = 0; i < list.size(); i += 2) {
    paddings.low.push_back(list[i]);
    paddings.high.push_back(list[i + 1]);
  }
  return paddings;
}

bool Site::boolean(std::string_view name, bool otherwise) const {
  const Attribute* found = op.find(name);
  if (!found) return otherwise;
  if (found->kind == Attribute::Kind::unit) return true;
  if (found->kind != Attribute::Kind::boolean) fail(std::string(name) + " has to be true or false");
  return found->text == "true";
}

std::string Site::word(std::string_view name) const {
  const Attribute& found = required(name);
  if (found.kind != Attribute::Kind::dialect) return found.text;
  const std::string_view inside = importer.source().part(found.begin, found.end);
  const std::size_t last = inside.find_last_not_of(" \t\n");
  if (last == inside.npos) return {};
  const std::size_t space = inside.find_last_of(" \t\n", last);
  const std::size_t first = space == inside.npos ? 0 : space + 1;
  return std::string(inside.substr(first, last + 1 - first));
}

std::string Site::word(std::string_view name, std::string_view otherwise) const {
  return op.find(name) ? word(name) : std::string(otherwise);
}

Literal Site::scalar_attribute(std::string_view name) const {
  const Attribute& found = required(name);
  const bool is_bool = found.kind == Attribute::Kind::boolean;
  if (!is_bool && found.kind != Attribute::Kind::floating &&
      found.kind != Attribute::Kind::integer) {
    fail(std::string(name) + " has to be a number");
  }
  Attribute digits = found;
  digits.end = found.begin + found.text.size();
  Type type{is_bool ? bool_ : f64, {}};
  if (found.typed) {
    TypeSyntax stated = found.type;
    stated.kind = TypeSyntax::Kind::tensor;  // of no axes
    type = to_type(importer.source(), stated);
  }
  return read_dense(importer.source(), importer.module().syntax, digits, type).elements;
}

double Site::number(std::string_view name, double otherwise) const {
  if (!op.find(name)) return otherwise;
  const Literal scalar = scalar_attribute(name);
  return visit_any_dtype(scalar.type().dtype,
                         [&]<class T>() { return convert_scalar<double>(scalar.values<T>()[0]); });
}

std::vector<NamedAttribute> Site::entries(const Attribute& attribute) const {
  if (attribute.kind == Attribute::Kind::dictionary) return attribute.entries;
  if (attribute.kind != Attribute::Kind::dialect) fail("an attribute that has no entries");
  Parser parser(importer.source(), attribute.begin, attribute.end);
  if (parser.scanner().at_end()) return {};
  return parser.entries("");
}

const RegionSyntax& Site::region(std::size_t index) const {
  if (index >= op.regions.size()) fail("needs a region ({...}), number " + std::to_string(index));
  return op.regions[index];
}

Operands Site::located(const std::vector<Array>& arrays) const {
  std::vector<Operand> operands;
  for (const Array& array : arrays) operands.emplace_back(array, where());
  return Operands(std::move(operands));
}

std::vector<Array> Site::run_body(const RegionSyntax& region,
                                  const std::vector<Array>& scalars) const {
  if (scalars.empty()) fail("a body without arguments");
  WithinTraceOf within(importer, scalars[0]);
  return importer.run(region, scope, scalars);
}

// --- recording -----------------------------------------------------------------------------------

Array Site::record(Op op, const std::vector<Array>& operands, Attributes attributes,
                   std::optional<Type> stated) const {
  return anabranch::record(op, operands, where(), std::move(attributes), std::move(stated));
}

Array Site::converted(const Array& array, Dtype dtype) const {
  const Type& type = type_of(array);
  if (type.dtype == dtype) return array;
  return record(Op::convert, {array}, NoAttributes{}, Type{dtype, type.shape});
}

Array Site::repeated(const Array& scalar, const Shape& shape) const {
  const Type& type = type_of(scalar);
  if (type.shape == shape || type.rank() != 0) return scalar;
  return record(Op::broadcast_in_dim, {scalar}, AxesAttributes{}, Type{type.dtype, shape});
}

Array Site::scalar(double value, Dtype dtype) const {
  return importer.constant({Literal::scalar(dtype, value), false}, Type{dtype, {}}, where());
}

// --- tables --------------------------------------------------------------------------------------

const Translation* find_translation(std::string_view name) {
  static const auto& table = *new auto([] {
    std::unordered_map<std::string_view, const Translation*> all;
    for (auto rows : {elementwise_translations(), shape_translations(), reduction_translations(),
                      control_translations(), contraction_translations(), ragged_translations(),
                      random_translations(), chlo_translations(), linalg_translations(),
                      index_translations(), order_translations(), dynamic_translations(),
                      batch_norm_translations(), refused_translations()}) {
      for (const Translation& row : rows) all.emplace(row.name, &row);
    }
    static constexpr Translation custom_call = {"custom_call", translate_custom_call};
    all.emplace(custom_call.name, &custom_call);
    return all;
  }());
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::string applied_op(const RegionSyntax& body) {
  if (body.operations.size() != 2 || body.arguments.size() != 2) return {};
  const Operation &apply = body.operations[0], &give = body.operations[1];
  if (apply.operands.size() != 2 || apply.results.size() != 1 || apply.results[0].count != 1 ||
      !apply.regions.empty() || !is_return(give) || give.operands.size() != 1 ||
      give.operands[0].name != apply.results[0].name) {
    return {};
  }
  // "#1" of what has one result is an error, as elsewhere.
  for (const ValueUse* use : {&apply.operands[0], &apply.operands[1], &give.operands[0]}) {
    if (use->index != 0) return {};
  }
  if (!apply.name.starts_with("stablehlo.") && !apply.name.starts_with("mhlo.")) return {};
  const std::string &a = apply.operands[0].name, &b = apply.operands[1].name;
  const std::string &x = body.arguments[0].name, &y = body.arguments[1].name;
  if (!(a == x && b == y) && !(a == y && b == x)) return {};
  const std::string name = apply.name.substr(apply.name.find('.') + 1);
  for (const char* known : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
    if (name == known) return name;
  }
  return {};
}

}  // namespace anabranch::stablehlo
