#include "frontend/ops/sorting_network.h"

#include <bit>
#include <cstdint>

#include "anabranch/control_flow.h"
#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

class Network {
 public:
  Network(const std::vector<Array>& matrices, const ScalarFunction& comparator,
          SourceLocation where)
      : comparator_(comparator),
        where_(where),
        rows_(type_of(matrices[0]).shape[0]),
        columns_(type_of(matrices[0]).shape[1]),
        levels_(std::bit_width(static_cast<std::uint64_t>(rows_ - 1))),
        padded_(std::int64_t{1} << levels_) {}

  std::vector<Array> sort(const std::vector<Array>& matrices) const {
    // Rows behind the last are known by their numbers, which go last in the carry.
    detail::Tree init;
    for (const Array& matrix : matrices) {
      const Array zero = array_of(type_of(matrix).dtype, 0, where_);
      init.leaves.push_back(record(Op::pad, {matrix, zero}, where_,
                                   PadAttributes{{0, 0}, {padded_ - rows_, 0}, {0, 0}}));
      init.form.add("array", "");
    }
    init.leaves.push_back(
        record(Op::iota, {}, where_, AxisAttributes{0}, Type{i64, {padded_, columns_}}));
    init.form.add("place", "");
    const detail::Form form = init.form;
    const Array first = array_of(i64, 0, where_);
    const Array last = array_of(i64, static_cast<std::uint64_t>(levels_ * levels_), where_);
    std::vector<Array> sorted =
        detail::run_fori({first, where_}, {last, where_}, std::move(init),
                         [&](const Array& turn, const detail::Leaves& carry) {
                           return detail::Tree{exchanged({turn, where_}, carry), form};
                         });
    sorted.pop_back();
    for (Array& matrix : sorted) matrix = half(matrix, 0, rows_);
    return sorted;
  }

 private:
  Array half(const Array& matrix, std::int64_t begin, std::int64_t end) const {
    return record(Op::slice, {matrix}, where_,
                  SliceAttributes{{begin, 0}, {end, columns_}, {1, 1}});
  }

  // Whether the pair's first comes first. Rows of padding, and what is equal, go by their places.
  Term is_before(const std::vector<Array>& low, const std::vector<Array>& high) const {
    std::vector<Array> forward, backward;
    for (std::size_t i = 0; i + 1 < low.size(); ++i) {
      forward.insert(forward.end(), {low[i], high[i]});
      backward.insert(backward.end(), {high[i], low[i]});
    }
    const Term a = {comparator_.over(forward)[0], where_};
    const Term b = {comparator_.over(backward)[0], where_};
    const Term p = {low.back(), where_}, q = {high.back(), where_};
    return anabranch::where((a == b) | (p >= rows_) | (q >= rows_), p < q, a);
  }

  // Turn number phase * levels + step: partners differ in bit levels - 1 - step of where they are
  // by rights, which the shuffles have brought to the top by now.
  std::vector<Array> exchanged(const Term& turn, const std::vector<Array>& carry) const {
    std::vector<Array> low, high, next;
    for (const Array& matrix : carry) {
      low.push_back(half(matrix, 0, padded_ / 2));
      high.push_back(half(matrix, padded_ / 2, padded_));
    }
    const Term phase = turn / levels_, step = turn - turn / levels_ * levels_;
    const Term pair = {
        record(Op::iota, {}, where_, AxisAttributes{0}, Type{i64, {padded_ / 2, columns_}}),
        where_};
    const Term by_rights = ((pair >> step) | (pair << (levels_ - step))) & (padded_ - 1);
    const Term falls = ((by_rights >> (phase + 1)) & 1) == 1;
    const Term acts = levels_ - 1 - step <= phase;
    const Term swaps = (is_before(low, high) == falls) & acts;
    for (std::size_t i = 0; i < carry.size(); ++i) {
      const Term a = {low[i], where_}, b = {high[i], where_};
      const Term first = anabranch::where(swaps, b, a), second = anabranch::where(swaps, a, b);
      const Array both = stack({first, second}, 1);
      next.push_back(record(Op::reshape, {both}, where_, NoAttributes{}, type_of(carry[i])));
    }
    return next;
  }

  const ScalarFunction& comparator_;
  const SourceLocation where_;
  const std::int64_t rows_, columns_, levels_, padded_;
};

}  // namespace

std::vector<Array> network_sort(const std::vector<Array>& matrices,
                                const ScalarFunction& comparator, SourceLocation where) {
  if (type_of(matrices[0]).shape[0] < 2 || type_of(matrices[0]).shape[1] == 0) return matrices;
  return Network(matrices, comparator, where).sort(matrices);
}

}  // namespace anabranch
