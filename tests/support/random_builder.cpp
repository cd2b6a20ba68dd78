#include "tests/support/random_builder.h"

#include <algorithm>
#include <map>

#include "anabranch/error.h"
#include "ir/graph/builder.h"
#include "ir/infer/infer.h"
#include "tests/support/random_graph.h"

namespace anabranch {
namespace {

constexpr std::int64_t sizes[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 127, 128, 129};
constexpr std::int64_t rare_sizes[] = {4, 5, 6, 15, 16, 17, 63, 64, 65, 100, 255, 257, 300, 1'000};
constexpr int ranks[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5};
constexpr std::size_t constant_limit = 64;  // elements; longer texts say no more

// The share of elements that any result would satisfy.
double unknown_share(const Bounded& bounded) {
  auto bounds = bounded.bound.values<double>();
  if (bounds.empty()) return 0;
  return static_cast<double>(std::ranges::count(bounds, unknown)) /
         static_cast<double>(bounds.size());
}

}  // namespace

RandomBuilder::RandomBuilder(std::uint64_t seed) : random(seed) {
  usual_size_ = random.percent(75) ? 1'000 : size_limit;
  // Most of what goes wrong goes wrong in few nodes, and those take little time.
  const std::int64_t length = random.below(1'000);
  node_limit_ = length < 600 ? 16 : length < 880 ? 26 : length < 997 ? 40 : 300;
  if (node_limit_ == 300) usual_size_ = 40;
  const int kind = static_cast<int>(random.below(100));
  flavour_ = kind < 50   ? Flavour::ordinary
             : kind < 70 ? Flavour::special
             : kind < 87 ? Flavour::wide
                         : Flavour::any_bits;
  device_count_ = random.percent(80) ? 1 : random_graph_devices;
}

std::int64_t RandomBuilder::random_size(std::int64_t others) {
  if (random.percent(2)) return 0;
  const auto draw = [&] { return random.percent(90) ? random.of(sizes) : random.of(rare_sizes); };
  std::int64_t size = draw();
  while (size * others > usual_size_ && size > 1) size = draw();
  return size * others > size_limit ? 1 : size;
}

Shape RandomBuilder::random_shape(std::int64_t limit) {
  const std::int64_t rank = random.percent(97) ? random.of(ranks) : 6 + random.below(3);
  Axes axes(static_cast<std::size_t>(rank), 1);
  std::int64_t product = 1;
  for (std::int64_t& size : axes) {
    do {
      size = random.percent(90) ? random.of(sizes) : random.of(rare_sizes);
    } while (size * product > limit && size > 1);
    if (size * product > limit) size = 1;
    product *= size;
    if (random.percent(2)) size = 0;
  }
  for (std::size_t i = axes.size(); i > 1; --i) {
    std::swap(axes[i - 1],
              axes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  return Shape(axes);
}

Dtype RandomBuilder::random_dtype() {
  return random.percent(20) ? f32 : static_cast<Dtype>(random.below(dtype_count));
}

Axes RandomBuilder::random_axes(int rank) {
  if (rank > 0 && random.percent(35)) return {rank - 1};
  Axes axes;
  const int chance = random.percent(25) ? 100 : 50;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (random.percent(chance)) axes.push_back(axis);
  }
  return axes;
}

Value RandomBuilder::append(Node node, std::vector<Bounded> values, std::optional<Device> device) {
  const Value first{static_cast<std::uint32_t>(nodes_.size()), 0};
  for (std::uint32_t k = 0; k < values.size(); ++k) {
    if (unknown_share(values[k]) < 0.2) known_.push_back({first.node, k});
  }
  nodes_.push_back(std::move(node));
  values_.push_back(std::move(values));
  devices_.push_back(device);
  return first;
}

Value RandomBuilder::parameter(const Type& type, std::optional<Flavour> flavour) {
  return append(Node{Op::parameter, {type}, {}, NoAttributes{}, {}, {}},
                {Bounded::exact(random_literal(random, type, flavour.value_or(flavour_)))}, here_);
}

Value RandomBuilder::constant(Literal literal) {
  Type type = literal.type();
  return append(Node{Op::constant, {std::move(type)}, {}, ConstantAttributes{literal}, {}, {}},
                {Bounded::exact(literal)}, std::nullopt);
}

Value RandomBuilder::filled(const Type& type, double number) {
  const Value scalar = constant(Literal::scalar(type.dtype, number));
  if (type.rank() == 0) return scalar;
  return add(Op::broadcast_in_dim, {scalar}, AxesAttributes{}, type);
}

Value RandomBuilder::add(Op op, std::vector<Value> inputs, Attributes attributes,
                         std::optional<Type> stated, std::vector<Graph> regions) {
  std::vector<Type> types;
  std::vector<Bounded> operands;
  std::optional<Device> device;
  for (Value input : inputs) {
    types.push_back(type(input));
    operands.push_back(values_[input.node][input.result]);
    if (!device) device = devices_[input.node];
  }
  if (op == Op::transfer) device = std::get<DeviceAttributes>(attributes).device;
  Node node{op,
            infer(op, types, attributes, stated, regions, {}),
            std::move(inputs),
            std::move(attributes),
            std::move(regions),
            {}};
  std::vector<Bounded> values = interpret_bounded(node, operands);
  return append(std::move(node), std::move(values), device);
}

bool RandomBuilder::takes(Op op, const std::vector<Value>& inputs) const {
  std::vector<Type> types;
  for (Value input : inputs) types.push_back(type(input));
  try {
    infer(op, types, default_attributes(op), std::nullopt, {}, {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<Value> RandomBuilder::pick(const std::function<bool(const Type&)>& fits) {
  std::vector<Value> fitting;
  for (Value value : known_) {
    if (devices_[value.node].value_or(here_) == here_ && fits(type(value))) {
      fitting.push_back(value);
    }
  }
  if (fitting.empty()) return std::nullopt;
  return builds_on_newest_ ? fitting.back() : one_of(fitting);
}

// Newer ones more often.
Value RandomBuilder::one_of(const std::vector<Value>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t back = std::min(random.below(count), random.below(count));
  return values[static_cast<std::size_t>(count - 1 - back)];
}

Value RandomBuilder::partner(const Type& type) {
  if (random.percent(60)) {
    if (auto found = pick([&](const Type& other) { return other == type; })) return *found;
  }
  if (random.percent(25) && static_cast<std::size_t>(type.size()) <= constant_limit) {
    return constant(random_literal(random, type, flavour_));
  }
  if (random.percent(25)) return filled(type, static_cast<double>(random.below(4)) + 0.5);
  return parameter(type);
}

Value RandomBuilder::repeated_along(Value reduced, const Shape& shape, const Axes& axes) {
  AxesAttributes kept;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::count(axes, axis) == 0) kept.axes.push_back(axis);
  }
  return add(Op::broadcast_in_dim, {reduced}, kept, Type{dtype(reduced), shape});
}

Value RandomBuilder::converted(Value operand, Dtype to) {
  if (dtype(operand) == to) return operand;
  return add(Op::convert, {operand}, NoAttributes{}, Type{to, shape(operand)});
}

// The newest values, and some from anywhere; an input or the same value twice is allowed.
std::vector<Value> RandomBuilder::choose_outputs() {
  std::vector<Value> outputs;
  const std::int64_t count = 1 + random.below(random.percent(95) ? 4 : 12);
  for (auto value = known_.rbegin(); value != known_.rend() && outputs.empty(); ++value) {
    if (nodes_[value->node].op != Op::parameter) outputs.push_back(*value);
  }
  if (outputs.empty() && known_.empty()) known_.push_back(constant(Literal::scalar(f32, 0)));
  while (static_cast<std::int64_t>(outputs.size()) < count) {
    outputs.push_back(one_of(known_));
  }
  return outputs;
}

GraphCase RandomBuilder::finish() {
  const std::vector<Value> outputs = choose_outputs();
  GraphBuilder builder("random");
  GraphCase result;
  std::map<Value, Value> renamed;
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    if (nodes_[index].op != Op::parameter) continue;
    renamed[{index, 0}] = builder.parameter(nodes_[index].types[0]);
    result.inputs.push_back(values_[index][0].value);
    result.parameters.push_back(devices_[index]);
  }
  for (std::uint32_t index = 0; index < nodes_.size(); ++index) {
    const Node& node = nodes_[index];
    if (node.op == Op::parameter) continue;
    std::vector<Value> inputs;
    for (Value input : node.inputs) inputs.push_back(renamed.at(input));
    std::optional<Type> stated;
    if (info(node.op).has(OpInfo::typed)) stated = node.types[0];
    const Value made = builder.add(node.op, inputs, node.attributes, stated, node.regions);
    for (std::uint32_t k = 0; k < node.types.size(); ++k) renamed[{index, k}] = {made.node, k};
  }
  std::vector<Value> renamed_outputs;
  for (Value output : outputs) renamed_outputs.push_back(renamed.at(output));
  result.graph = builder.build(renamed_outputs);
  return result;
}

}  // namespace anabranch
