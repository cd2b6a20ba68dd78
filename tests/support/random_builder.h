// What random graphs are written with: a growing list of nodes whose values are known as they are
// made.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/infer/infer.h"
#include "tests/support/error_bounds.h"
#include "tests/support/random_literal.h"
#include "tests/support/shrink.h"

namespace anabranch {

using Axes = std::vector<std::int64_t>;

class RandomBuilder {
 public:
  static constexpr std::int64_t size_limit = 20'000;  // but for long axes (random_long.cpp)

  explicit RandomBuilder(std::uint64_t seed);

  Random random;

  /// Most values of this graph stay below so many elements.
  std::int64_t usual_size() const { return usual_size_; }
  /// Most nodes of this graph.
  int node_limit() const { return node_limit_; }
  int room() const { return node_limit_ - static_cast<int>(nodes_.size()); }

  /// Devices that this graph may span, `Device::cpu(0)` the first; mostly one.
  int device_count() const { return device_count_; }
  /// Where new inputs are, and what is picked.
  const Device& here() const { return here_; }
  void go_to(const Device& device) { here_ = device; }

  const Type& type(Value value) const { return nodes_[value.node].types[value.result]; }
  const Shape& shape(Value value) const { return type(value).shape; }
  Dtype dtype(Value value) const { return type(value).dtype; }

  Shape random_shape(std::int64_t limit);
  Dtype random_dtype();
  /// A size that `others` elements can be had of within the limit.
  std::int64_t random_size(std::int64_t others);
  /// Ascending; empty now and then.
  Axes random_axes(int rank);

  /// A new input of the graph, of the graph's flavour where none is given.
  Value parameter(const Type& type, std::optional<Flavour> flavour = std::nullopt);
  Value constant(Literal literal);
  /// `number`, repeated all over `type`.
  Value filled(const Type& type, double number);
  /// Throws Error where the op does not take the operands. Of several results, the first.
  Value add(Op op, std::vector<Value> inputs, Attributes attributes = NoAttributes{},
            std::optional<Type> stated = std::nullopt, std::vector<Graph> regions = {});
  bool takes(Op op, const std::vector<Value>& inputs) const;

  /// Some value that is here, or anywhere, and that error analysis knows well, newer ones more
  /// often; nothing where none fits.
  std::optional<Value> pick(const std::function<bool(const Type&)>& fits);
  /// While it is on, `pick` takes the newest that fits: what is added builds on what was.
  void build_on_newest(bool on) { builds_on_newest_ = on; }
  /// Some value of this type, made where need be (of at most two nodes).
  Value partner(const Type& type);
  /// `reduced`, which lost `axes` of `shape`, repeated along them again.
  Value repeated_along(Value reduced, const Shape& shape, const Axes& axes);
  /// `operand` to `dtype`; itself where it is that.
  Value converted(Value operand, Dtype dtype);

  GraphCase finish();

 private:
  Value append(Node node, std::vector<Bounded> values, std::optional<Device> device);
  Value one_of(const std::vector<Value>& values);
  std::vector<Value> choose_outputs();

  std::int64_t usual_size_;
  int node_limit_;
  bool builds_on_newest_ = false;
  Flavour flavour_;
  int device_count_;
  Device here_ = Device::cpu(0);
  std::vector<Node> nodes_;  // parameters anywhere among them, until `finish`
  std::vector<std::vector<Bounded>> values_;
  ParameterDevices devices_;  // per node; nothing where any will do
  std::vector<Value> known_;  // well enough to build on
};

}  // namespace anabranch
