#include "ir/op.h"

#include <array>
#include <string_view>
#include <unordered_map>

namespace anabranch {
namespace {

// The name without the underscore that only avoids a keyword.
constexpr std::string_view spelled(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

constexpr auto table = [] {
  using enum OpKind;
  using enum OpInfo::Flags;
  constexpr auto variadic = OpInfo::variadic;
  return std::to_array<OpInfo>({
#define OP(name, arity, kind, attributes, flags, meaning) \
  {spelled(#name), arity, kind, flags, #attributes, meaning},
#include "ir/ops.def"
#undef OP
  });
}();

}  // namespace

std::span<const OpInfo> all_ops() { return table; }

const OpInfo& info(Op op) { return table[static_cast<std::size_t>(op)]; }

std::optional<Op> parse_op(std::string_view name) {
  static const auto& by_name = *new auto([] {
    std::unordered_map<std::string_view, Op> map;
    for (std::size_t i = 0; i < table.size(); ++i) map.emplace(table[i].name, static_cast<Op>(i));
    return map;
  }());
  auto found = by_name.find(name);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

}  // namespace anabranch
