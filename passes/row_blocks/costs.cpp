#include "passes/row_blocks/costs.h"

#include <algorithm>
#include <set>

#include "passes/fusion/fuse.h"
#include "passes/fusion/groups.h"

namespace anabranch {
namespace {

// Of the time that the chain takes: a loop that gains less may as well lose.
constexpr double least_part_saved = 0.1;
// Blocks that are so much larger than the cache gain little.
constexpr double most_excess = 4;
// Rather than one more loop for a little.
constexpr double tolerance = 1.25;

double bytes_of(const Type& type) { return static_cast<double>(type.bytes()); }

/// A chain as its kernels and products see memory.
struct Traffic {
  struct Stored {
    Value value;
    double accesses = 0;  ///< how often it is written and read
  };
  std::vector<Stored> stored;  ///< what is written to memory and is no output of the chain
  std::size_t steps = 0;
  double operations = 0;  ///< of products
};

// Of what it computes for itself, nothing would be written without blocks.
Traffic traffic_of(const Chain& of) {
  const Graph& chain = of.graph;
  Traffic traffic;
  const FusionGroups groups = fusion_groups(chain);
  const auto outputs = chain.outputs();
  for (GroupId id = 0; id < groups.groups().size(); ++id) {
    if (!groups.groups()[id].alive) continue;
    ++traffic.steps;
    for (Value value : groups.outputs(id)) {
      if (std::ranges::find(outputs, value) != outputs.end()) continue;
      const std::size_t readers = groups.readers(value.node).size();
      const bool is_copy = !of.is_copy.empty() && of.is_copy[value.node];
      traffic.stored.push_back({value, is_copy ? 0 : 1 + static_cast<double>(readers)});
    }
  }
  for (const Node& node : chain.nodes()) {
    if (node.op == Op::dot) traffic.operations += dot_operations(chain, node);
  }
  return traffic;
}

/// Chooses the loops of one chain.
class Chooser {
 public:
  Chooser(const Chain& chain, const BlockCosts& costs)
      : chain_(chain.graph), costs_(costs), traffic_(traffic_of(chain)) {}

  std::vector<BlockLevel> run() {
    const auto& stored = traffic_.stored;
    const auto largest = std::ranges::max_element(
        stored, {}, [&](const auto& each) { return bytes_of(chain_.type(each.value)); });
    if (largest == stored.end() || excess(largest->value) <= tolerance) return {};
    if (!is_large(bytes_of(chain_.type(largest->value)), costs_)) return {};
    largest_ = largest->value.node;
    rows_ = row_axes(chain_);
    std::erase_if(rows_, [&](const RowAxis& row) { return !row.result[largest_]; });
    std::ranges::sort(rows_, {}, [&](const RowAxis& row) { return *row.result[largest_]; });
    std::vector<BlockLevel> levels = cut(excess(largest->value));
    return pays(levels) ? levels : std::vector<BlockLevel>();
  }

 private:
  double cached() const { return static_cast<double>(costs_.cached_bytes); }
  /// How many times as large as the cache it is.
  double excess(Value value) const { return bytes_of(chain_.type(value)) / cached(); }

  // From outside in, until the largest value fits.
  std::vector<BlockLevel> cut(double excess) {
    std::vector<BlockLevel> levels;
    for (const RowAxis& row : rows_) {
      if (excess <= tolerance) break;
      const std::int64_t rows = rows_of_block(row, excess);
      cut_.push_back(static_cast<double>(row.size) / static_cast<double>(rows));
      if (rows == row.size) continue;
      levels.push_back({{largest_, *row.result[largest_]}, rows});
      excess /= cut_.back();
    }
    return excess <= most_excess ? levels : std::vector<BlockLevel>();
  }

  std::int64_t rows_of_block(const RowAxis& row, double excess) const {
    const std::int64_t least = std::min(row.size, is_of_products(row) ? costs_.least_rows : 1);
    const auto fit = static_cast<std::int64_t>(static_cast<double>(row.size) * tolerance / excess);
    std::int64_t rows = std::clamp(fit, least, row.size);
    // Whole blocks of the products, else blocks of equal size.
    if (rows > least && is_of_products(row)) return rows / least * least;
    const std::int64_t turns = (row.size + rows - 1) / rows;
    return std::max(least, (row.size + turns - 1) / turns);
  }

  // Whether its rows are those of the matrices of a product, and not its batches.
  bool is_of_products(const RowAxis& row) const {
    for (auto i = static_cast<std::uint32_t>(chain_.parameter_count()); i < chain_.nodes().size();
         ++i) {
      const Node& node = chain_.node(i);
      if (node.op != Op::dot) continue;
      const auto batches = static_cast<std::int64_t>(node.as<DotAttributes>().lhs_batch.size());
      if (row.is_summed[i] || (row.result[i] && *row.result[i] >= batches)) return true;
    }
    return false;
  }

  /// The part of a value that a turn has where so many loops are around it.
  double block_bytes(const Type& type, const std::vector<RowAxis::Place>& places,
                     std::size_t levels) const {
    double bytes = bytes_of(type);
    for (std::size_t i = 0; i < levels; ++i) {
      if (places[i]) bytes /= cut_[i];
    }
    return bytes;
  }

  std::vector<RowAxis::Place> places(const auto& place_of) const {
    std::vector<RowAxis::Place> found;
    for (std::size_t i = 0; i < cut_.size(); ++i) found.push_back(place_of(rows_[i]));
    return found;
  }

  bool pays(const std::vector<BlockLevel>& levels) const {
    if (levels.empty()) return false;
    double saved = 0, stored = 0;
    for (const Traffic::Stored& each : traffic_.stored) {
      const Type& type = chain_.type(each.value);
      if (!is_large(bytes_of(type), costs_)) continue;
      const auto at = places([&](const RowAxis& row) { return row.result[each.value.node]; });
      const double left = block_bytes(type, at, cut_.size()) / cached();
      const double ns = each.accesses * bytes_of(type) * costs_.memory_ns_per_byte;
      stored += ns;
      saved += ns * std::min(1.0, tolerance / left);
    }
    double turns = 1, paid = output_bytes() * costs_.memory_ns_per_byte;
    for (std::size_t level = 0; level < cut_.size(); ++level) {
      turns *= cut_[level];
      paid += turns * copied_bytes(level) * costs_.copy_ns_per_byte;
    }
    paid += turns * static_cast<double>(traffic_.steps) * costs_.step_ns;
    return saved - paid > least_part_saved * (stored + traffic_.operations * costs_.operation_ns);
  }

  // By a turn of one of the loops: blocks of operands and results, and sums, which are read and
  // written.
  double copied_bytes(std::size_t level) const {
    double bytes = 0;
    std::set<std::pair<Value, std::vector<RowAxis::Place>>> slices;
    for (auto i = static_cast<std::uint32_t>(chain_.parameter_count()); i < chain_.nodes().size();
         ++i) {
      const Node& node = chain_.node(i);
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (node.inputs[k].node >= chain_.parameter_count()) continue;
        const auto at = places([&](const RowAxis& row) { return row.operands[i][k]; });
        if (!at[level] || !slices.emplace(node.inputs[k], at).second) continue;
        bytes += 2 * block_bytes(chain_.type(node.inputs[k]), at, level + 1);
      }
    }
    for (Value output : chain_.outputs()) {
      const auto at = places([&](const RowAxis& row) { return row.result[output.node]; });
      bytes += (at[level] ? 2 : 4) * block_bytes(chain_.type(output), at, level + 1);
    }
    return bytes;
  }

  // They begin as zeros.
  double output_bytes() const {
    double bytes = 0;
    for (Value output : chain_.outputs()) bytes += bytes_of(chain_.type(output));
    return bytes;
  }

  const Graph& chain_;
  const BlockCosts& costs_;
  const Traffic traffic_;
  std::uint32_t largest_ = 0;
  std::vector<RowAxis> rows_;  // of the largest value, from outside in
  std::vector<double> cut_;    // into how many blocks, of the first of them
};

}  // namespace

double dot_operations(const Graph& graph, const Node& dot) {
  double inner = 1;
  for (std::int64_t axis : dot.as<DotAttributes>().lhs_contracting) {
    inner *= static_cast<double>(graph.type(dot.inputs[0]).shape[static_cast<int>(axis)]);
  }
  return 2 * inner * static_cast<double>(dot.types[0].size());
}

std::vector<BlockLevel> block_levels(const Chain& chain, const BlockCosts& costs) {
  return Chooser(chain, costs).run();
}

}  // namespace anabranch
