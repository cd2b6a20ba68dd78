#include "anabranch/checkpoint.h"

#include <set>

#include "frontend/array/fail.h"
#include "frontend/trace/record.h"
#include "passes/transform/keep.h"

namespace anabranch::detail {
namespace {

void demand_names(const std::vector<std::string>& demanded, const std::vector<std::string>& found,
                  SourceLocation where) {
  const std::set<std::string> names(found.begin(), found.end());
  for (const std::string& name : demanded) {
    if (names.contains(name)) continue;
    std::string text =
        "checkpoint: no value that the function computes of its arguments is named \"" + name +
        "\"; ";
    std::string known;
    for (const std::string& other : names) known += (known.empty() ? "\"" : ", \"") + other + "\"";
    text +=
        known.empty() ? "none has a name: give it one with checkpoint_name" : "there are " + known;
    fail(text, where);
  }
}

}  // namespace

Leaves call_checkpoint(const FunctionTrace& function, const CheckpointPolicy& policy,
                       const std::vector<std::string>& demanded, const Leaves& arguments,
                       SourceLocation where) {
  MarkedFunction marked = mark_kept(function.graph(), [&](const KeepCandidate& value) {
    const Node& node = value.node;
    return policy({name(node.op), node.types[value.result], value.name, node.location});
  });
  demand_names(demanded, marked.names, where);
  const Leaves operands = function.with_captures(arguments);
  const CompositeAttributes attributes{CompositeRule::checkpoint, std::ssize(operands)};
  Leaves results =
      record_all(Op::composite, operands, where, attributes, {std::move(marked.graph)});
  function.mark_weak(results);
  return results;
}

Leaves with_name(const Leaves& leaves, std::string_view name, SourceLocation where) {
  if (name.empty()) fail("checkpoint_name: the name is empty; policies ask for it", where);
  const CompositeAttributes attributes{CompositeRule::named, 1, {}, std::string(name)};
  Leaves named = leaves;
  for (Array& leaf : named) {
    const Type& type = type_of_leaf("checkpoint_name", "x", leaf, where);
    if (!is_traced(leaf)) continue;
    const bool weak = is_weak(leaf);
    leaf = record_all(Op::composite, {leaf}, where, attributes, {identity_of(type)})[0];
    set_weak(leaf, weak);
  }
  return named;
}

}  // namespace anabranch::detail
