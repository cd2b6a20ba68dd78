#include "ir/graph/graph.h"

#include <algorithm>

#include "ir/mix.h"

namespace anabranch {
namespace {

std::uint64_t hash_field(std::uint64_t hash, const std::vector<std::int64_t>& list) {
  hash = mix(hash, list.size());
  for (std::int64_t item : list) hash = mix(hash, static_cast<std::uint64_t>(item));
  return hash;
}

std::uint64_t hash_field(std::uint64_t hash, const Device& device) {
  hash = mix(hash, static_cast<std::uint64_t>(device.kind()));
  return mix(hash, static_cast<std::uint64_t>(device.index()));
}

std::uint64_t hash_field(std::uint64_t hash, const std::string& text) {
  hash = mix(hash, text.size());
  for (unsigned char c : text) hash = mix(hash, c);
  return hash;
}

std::uint64_t hash_field(std::uint64_t hash, const CustomFunctionHandle& function) {
  return mix(hash, function.number);
}

// The results' types are the node's types, which are hashed already.
std::uint64_t hash_field(std::uint64_t hash, const std::vector<Type>&) { return hash; }

std::uint64_t hash_field(std::uint64_t hash, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) hash = hash_field(hash, text);
  return hash;
}

template <class Scalar>
std::uint64_t hash_field(std::uint64_t hash, Scalar scalar) {
  return mix(hash, static_cast<std::uint64_t>(scalar));
}

std::uint64_t hash_field(std::uint64_t hash, std::optional<std::int64_t> number) {
  return number ? mix(hash, static_cast<std::uint64_t>(*number)) : hash;
}

}  // namespace

std::uint64_t hash_of(const Node& node) {
  std::uint64_t hash = mix(0, static_cast<std::uint64_t>(node.op));
  for (const Type& type : node.types) {
    hash = mix(hash, static_cast<std::uint64_t>(type.dtype));
    for (std::int64_t size : type.shape) hash = mix(hash, static_cast<std::uint64_t>(size));
  }
  for (Value input : node.inputs) {
    hash = mix(hash, (static_cast<std::uint64_t>(input.node) << 32) | input.result);
  }
  std::visit(
      [&](const auto& attributes) {
        fields(attributes, [&](const char*, const auto& value) { hash = hash_field(hash, value); });
      },
      node.attributes);
  if (auto* constant = std::get_if<ConstantAttributes>(&node.attributes)) {
    hash = mix(hash, constant->value.hash());
  }
  for (const Graph& region : node.regions) hash = mix(hash, region.hash());
  return hash;
}

bool same_computation(const Node& a, const Node& b) {
  return a.op == b.op && a.types == b.types && a.inputs == b.inputs &&
         a.attributes == b.attributes && a.regions == b.regions;
}

Graph::Graph() = default;
Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph::~Graph() = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

const Type& Graph::parameter_type(std::size_t index) const { return nodes()[index].types[0]; }
const Type& Graph::output_type(std::size_t index) const { return type(outputs_[index]); }

bool Graph::operator==(const Graph& other) const {
  return name_ == other.name_ && parameter_count_ == other.parameter_count_ &&
         outputs_ == other.outputs_ &&
         (nodes_ == other.nodes_ || std::ranges::equal(nodes(), other.nodes(), same_computation));
}

std::uint64_t Graph::hash() const {
  std::uint64_t hash = mix(parameter_count_, nodes().size());
  for (const Node& node : nodes()) hash = mix(hash, hash_of(node));
  for (Value output : outputs_) {
    hash = mix(hash, (static_cast<std::uint64_t>(output.node) << 32) | output.result);
  }
  return hash;
}

}  // namespace anabranch
