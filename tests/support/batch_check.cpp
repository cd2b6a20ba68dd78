#include "tests/support/batch_check.h"

#include <cstring>

#include "ir/graph/verify.h"
#include "ir/text/print.h"
#include "passes/transform/batch.h"
#include "tests/support/compare.h"

namespace anabranch::testing {

Literal stacked(const Type& type, const std::vector<Literal>& literals) {
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes.insert(sizes.begin(), static_cast<std::int64_t>(literals.size()));
  std::vector<std::byte> bytes;
  for (const Literal& literal : literals) {
    bytes.insert(bytes.end(), literal.bytes().begin(), literal.bytes().end());
  }
  return {Type{type.dtype, Shape(std::move(sizes))}, std::move(bytes)};
}

Literal element_of(const Literal& whole, std::int64_t index) {
  const Shape& shape = whole.type().shape;
  const Type type{whole.type().dtype,
                  Shape(std::vector<std::int64_t>(shape.begin() + 1, shape.end()))};
  const auto bytes = whole.bytes().subspan(static_cast<std::size_t>(index) * type.bytes());
  return {type, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(type.bytes())}};
}

BatchCase batch_case(const Graph& graph, std::int64_t size, std::vector<bool> batched,
                     const std::vector<Literal>& first, Random& random) {
  BatchCase made{graph, size, std::move(batched), {}, {}};
  for (std::int64_t k = 0; k < size; ++k) {
    std::vector<Literal>& own = made.inputs.emplace_back(first);
    for (std::size_t i = 0; k > 0 && i < own.size(); ++i) {
      if (made.batched[i]) own[i] = random_literal(random, first[i].type(), Flavour::ordinary);
    }
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<Literal> all;
    for (const std::vector<Literal>& own : made.inputs) all.push_back(own[i]);
    made.whole.push_back(made.batched[i] ? stacked(first[i].type(), all) : first[i]);
  }
  return made;
}

GraphCase batched_graph(const BatchCase& tested) {
  return {batch(tested.graph, tested.size, tested.batched).graph, tested.whole};
}

std::optional<std::string> batch_problem(const BatchCase& tested) {
  const auto [graph, batched] = batch(tested.graph, tested.size, tested.batched);
  const auto failed = [&](const std::string& what) {
    return what + "\n" + to_string(tested.graph) + to_string(graph);
  };
  std::vector<Literal> results;
  try {
    verify(graph);
    results = interpret(graph, tested.whole);
  } catch (const std::exception& error) {
    return failed("threw: " + std::string(error.what()));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Type& single = tested.graph.output_type(i);
    const Shape& shape = results[i].type().shape;
    const bool fits = batched[i] ? shape.rank() == single.rank() + 1 && shape[0] == tested.size
                                 : shape == single.shape;
    if (!fits) return failed("output " + std::to_string(i) + " is " + to_string(results[i].type()));
  }
  for (std::size_t k = 0; k < tested.inputs.size(); ++k) {
    std::vector<Literal> own;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto at = static_cast<std::int64_t>(k);
      own.push_back(batched[i] ? element_of(results[i], at) : results[i]);
    }
    std::vector<Bounded> wanted;
    for (Literal& result : interpret(tested.graph, tested.inputs[k])) {
      wanted.push_back(Bounded::exact(std::move(result)));
    }
    const auto wrong = difference(wanted, own);
    if (wrong) return failed("element " + std::to_string(k) + ": " + *wrong);
  }
  return std::nullopt;
}

}  // namespace anabranch::testing
