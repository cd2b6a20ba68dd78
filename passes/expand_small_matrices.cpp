#include "passes/expand_small_matrices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "passes/real_parts.h"

namespace anabranch {
namespace {

// And columns. What follows grows with the third power.
constexpr std::int64_t most_rows = 4;

// For less, kernels would take longer to compile than the library takes for all of it.
constexpr std::int64_t least_batch = 64;

using Axes = std::vector<std::int64_t>;

struct MatrixShape {
  explicit MatrixShape(const Type& type)
      : batch(type.shape.begin(), type.shape.end() - 2),
        rows(type.shape[type.rank() - 2]),
        columns(type.shape[type.rank() - 1]) {}

  bool is_small() const {
    return std::clamp(rows, std::int64_t{1}, most_rows) == rows &&
           std::clamp(columns, std::int64_t{1}, most_rows) == columns &&
           Shape(batch).size() >= least_batch;
  }

  Axes batch;
  std::int64_t rows, columns;
};

bool is_small(const Type& type) {
  return (type.dtype == f32 || type.dtype == f64) && MatrixShape(type).is_small();
}

/// Elements of arrays whose last axes are put together from arrays of the batch's shape, as a stack
/// or what `together` makes: found where they come from, and not read from the array.
class Origins {
 public:
  Origins(Rewriter& graph, Axes batch) : graph_(graph), batch_(std::move(batch)) {}

  /// The elements at a place along the axes after the batch's; nothing where the array is read.
  std::optional<Value> at(Value value, const Axes& place) {
    const auto key = std::pair(value, place);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (depth_ == most_depth) return std::nullopt;
    ++depth_;
    const std::optional<Value> found = find(value, place);
    --depth_;
    return known_.emplace(key, found).first->second;
  }

  /// Of all places, the last axis first.
  std::optional<std::vector<Value>> all(Value value) {
    const Axes inner = inner_sizes(value);
    std::vector<Value> list;
    for (std::int64_t i = 0; i < Shape(inner).size(); ++i) {
      const auto element = at(value, row_major_place(i, inner));
      if (!element) return std::nullopt;
      list.push_back(*element);
    }
    return list;
  }

  /// Whether any came out of a concatenation.
  bool met_parts() const { return met_parts_; }

 private:
  static constexpr int most_depth = 32;

  std::optional<Value> find(Value value, const Axes& place) {
    const Node node = graph_.node(value);
    const Shape& shape = node.types[value.result].shape;
    if (std::ranges::equal(shape, batch_)) return value;
    if (node.types.size() > 1) return std::nullopt;
    if (const auto splat = graph_.splat_of(value)) return graph_.splat(*splat, Shape(batch_));
    switch (node.op) {
      case Op::reshape:
        return of_reshape(node, shape, place);
      case Op::concatenate:
        return of_concatenate(node, place);
      case Op::slice:
        return of_slice(node, place);
      case Op::broadcast_in_dim:
        return of_broadcast(node, place);
      case Op::iota:
        return of_iota(node, place);
      default:
        return is_elementwise(node.op) ? of_elementwise(value, node, place) : std::nullopt;
    }
  }

  std::optional<Value> of_reshape(const Node& node, const Shape& shape, const Axes& place) {
    const Axes from = graph_.sizes(node.inputs[0]);
    if (from.size() < batch_.size() || !std::equal(batch_.begin(), batch_.end(), from.begin())) {
      return std::nullopt;
    }
    std::int64_t number = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      number = number * shape[static_cast<int>(batch_.size() + i)] + place[i];
    }
    return at(node.inputs[0], row_major_place(number, inner_sizes(node.inputs[0])));
  }

  std::optional<Value> of_concatenate(const Node& node, Axes place) {
    const auto axis = static_cast<std::size_t>(node.as<AxisAttributes>().axis);
    if (axis < batch_.size()) return std::nullopt;
    std::int64_t& along = place[axis - batch_.size()];
    for (const Value part : node.inputs) {
      const std::int64_t size = graph_.sizes(part)[axis];
      if (along < size) {
        met_parts_ = true;
        return at(part, place);
      }
      along -= size;
    }
    return std::nullopt;
  }

  std::optional<Value> of_slice(const Node& node, Axes place) {
    const auto& slice = node.as<SliceAttributes>();
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (graph_.sizes(node.inputs[0])[i] != batch_[i]) return std::nullopt;
    }
    for (std::size_t i = 0; i < place.size(); ++i) {
      const std::size_t axis = batch_.size() + i;
      place[i] = slice.start[axis] + place[i] * slice.stride[axis];
    }
    return at(node.inputs[0], place);
  }

  // Of what has the batch's axes, in their places.
  std::optional<Value> of_broadcast(const Node& node, const Axes& place) {
    const Axes& axes = node.as<AxesAttributes>().axes;
    const Axes from = graph_.sizes(node.inputs[0]);
    if (axes.size() < batch_.size()) return of_number(node, place);
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (axes[i] != static_cast<std::int64_t>(i) || from[i] != batch_[i])
        return of_number(node, place);
    }
    Axes inner;
    for (std::size_t i = batch_.size(); i < axes.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(axes[i]) - batch_.size();
      inner.push_back(from[i] == 1 ? 0 : place[at]);
    }
    return at(node.inputs[0], inner);
  }

  // Of the numbers of an axis, repeated for the batch.
  std::optional<Value> of_number(const Node& node, const Axes& place) {
    const Node& iota = graph_.node(node.inputs[0]);
    if (iota.op != Op::iota) return std::nullopt;
    const Type& type = iota.types[0];
    const auto along = static_cast<std::size_t>(iota.as<AxisAttributes>().axis);
    if (type.shape[static_cast<int>(along)] == 1) {  // which may be repeated
      return graph_.splat(Literal::scalar(type.dtype, 0), Shape(batch_));
    }
    return number(node.as<AxesAttributes>().axes[along], type.dtype, place);
  }
  std::optional<Value> of_iota(const Node& node, const Axes& place) {
    return number(node.as<AxisAttributes>().axis, node.types[0].dtype, place);
  }
  std::optional<Value> number(std::int64_t axis, Dtype dtype, const Axes& place) {
    if (axis < std::ssize(batch_)) return std::nullopt;
    const std::int64_t at = place[static_cast<std::size_t>(axis) - batch_.size()];
    return graph_.splat(Literal::scalar(dtype, static_cast<double>(at)), Shape(batch_));
  }

  // What takes long and is needed as an array is not computed twice.
  std::optional<Value> of_elementwise(Value value, const Node& node, const Axes& place) {
    if (info(node.op).has(OpInfo::approximate) && graph_.is_shared(value)) return std::nullopt;
    std::vector<Value> inputs;
    for (const Value input : node.inputs) {
      const auto element = at(input, place);
      if (!element) return std::nullopt;
      inputs.push_back(*element);
    }
    std::optional<Type> stated;
    if (info(node.op).has(OpInfo::typed)) stated = Type{node.types[0].dtype, Shape(batch_)};
    return graph_.add(node.op, std::move(inputs), node.attributes, stated);
  }

  Axes inner_sizes(Value value) const {
    const Axes sizes = graph_.sizes(value);
    return {sizes.begin() + std::ssize(batch_), sizes.end()};
  }
  Rewriter& graph_;
  const Axes batch_;
  std::map<std::pair<Value, Axes>, std::optional<Value>> known_;
  bool met_parts_ = false;
  int depth_ = 0;
};

/// The elements of a batch of matrices: arrays of the batch's shape.
class Elements {
 public:
  Elements(Rewriter& graph, Value matrices);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Part& operator()(std::int64_t i, std::int64_t j) {
    return list_[static_cast<std::size_t>(i * columns_ + j)];
  }
  std::vector<Part>& list() { return list_; }

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<Part> list_;
};

Elements::Elements(Rewriter& graph, Value matrices) {
  const MatrixShape shape(graph.type(matrices));
  rows_ = shape.rows, columns_ = shape.columns;
  if (const auto parts = Origins(graph, shape.batch).all(matrices)) {
    for (const Value part : *parts) list_.push_back({&graph, part});
    return;
  }
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t j = 0; j < columns_; ++j) {
      SliceAttributes slice{Axes(shape.batch.size(), 0), shape.batch, Axes(shape.batch.size(), 1)};
      for (const std::int64_t place : {i, j}) {
        slice.start.push_back(place);
        slice.limit.push_back(place + 1);
        slice.stride.push_back(1);
      }
      const Value element = graph.add(Op::slice, {matrices}, std::move(slice));
      list_.push_back({&graph, graph.reshape(element, shape.batch)});
    }
  }
}

// One array of those, of this type.
Value together(const std::vector<Part>& parts, const Type& type) {
  Rewriter& graph = *parts[0].graph;
  Axes sizes = graph.sizes(parts[0].value);
  const AxisAttributes last{std::ssize(sizes)};
  sizes.push_back(1);
  std::vector<Value> columns;
  for (const Part& part : parts) columns.push_back(graph.reshape(part.value, sizes));
  Value joined = columns[0];
  if (columns.size() > 1) joined = graph.add(Op::concatenate, std::move(columns), last);
  return graph.reshape(joined, Axes(type.shape.begin(), type.shape.end()));
}

// Where a matrix holds a NaN or an infinity: 0 times either is NaN, and so is every sum with it.
Part has_none_but_numbers(const std::vector<Part>& elements) {
  Part sum = elements[0] * 0.0;
  for (std::size_t i = 1; i < elements.size(); ++i) sum = sum + elements[i] * 0.0;
  return sum == sum;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Row by row (Cholesky-Banachiewicz).
std::optional<Value> small_cholesky(Rewriter& graph, const Node& given) {
  const Node node = given;  // what a rule sees is good until the next `add`
  if (!is_small(node.types[0])) return std::nullopt;
  Elements a(graph, node.inputs[0]);
  const bool lower = node.as<TriangleAttributes>().lower;
  const auto at = [&](std::int64_t i, std::int64_t j) -> Part& {
    return lower ? a(i, j) : a(j, i);
  };
  std::vector<Part> read;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) read.push_back(at(i, j));
  }
  Part exists = has_none_but_numbers(read);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      Part sum = at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum = sum - at(i, k) * at(j, k);
      if (i == j) exists = exists & (sum > sum.number(0));
      at(i, j) = i == j ? sqrt(sum) : sum / at(j, j);
    }
  }
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.rows(); ++j) {
      at(i, j) = j > i ? at(i, j).number(0) : select(!exists, nan, at(i, j));
    }
  }
  return together(a.list(), node.types[0]);
}

// X op(A) = B is op(A)^T X^T = B^T.
std::optional<Value> small_triangular_solve(Rewriter& graph, const Node& given) {
  const Node node = given;
  if (!is_small(node.types[0]) || !is_small(graph.type(node.inputs[0]))) return std::nullopt;
  const auto& how = node.as<TriangularSolveAttributes>();
  const bool turned = (how.transpose_a != Transpose::no) == how.left_side;
  const bool lower = how.lower != turned;
  Elements a(graph, node.inputs[0]), b(graph, node.inputs[1]);
  const std::int64_t size = a.rows(), others = how.left_side ? b.columns() : b.rows();
  for (std::int64_t column = 0; column < others; ++column) {
    const auto x = [&](std::int64_t i) -> Part& {
      return how.left_side ? b(i, column) : b(column, i);
    };
    for (std::int64_t step = 0; step < size; ++step) {
      const std::int64_t i = lower ? step : size - 1 - step;
      const std::int64_t begin = lower ? 0 : i + 1, end = lower ? i : size;
      for (std::int64_t k = begin; k < end; ++k) x(i) = x(i) - (turned ? a(k, i) : a(i, k)) * x(k);
      if (!how.unit_diagonal) x(i) = x(i) / a(i, i);
    }
  }
  return together(b.list(), node.types[0]);
}

// Gaussian elimination with row exchanges. What is exchanged depends on the matrix: every row below
// is asked whether it is the one.
class Elimination {
 public:
  Elimination(Rewriter& graph, Value matrices) : a_(graph, matrices) {
    const Value zeros =
        graph.splat(Literal::scalar(i32, 0), Shape(graph.type(a_(0, 0).value).shape));
    const Part first{&graph, zeros};
    for (std::int64_t i = 0; i < a_.rows(); ++i) {
      order_.push_back(first.number(static_cast<double>(i)));
    }
    is_finite_ = has_none_but_numbers(a_.list());
    for (std::int64_t k = 0; k < std::min(a_.rows(), a_.columns()); ++k) {
      find_pivot(k);
      exchange(k);
      eliminate(k);
    }
  }

  std::vector<Value> results(const Node& node) {
    for (Part& x : a_.list()) x = select(!is_finite_, nan, x);
    keep_order(pivots_);
    keep_order(order_);
    return {together(a_.list(), node.types[0]), together(pivots_, node.types[1]),
            together(order_, node.types[2])};
  }

 private:
  void find_pivot(std::int64_t k) {
    Part greatest = abs(a_(k, k)), at = row_number(k);
    for (std::int64_t i = k + 1; i < a_.rows(); ++i) {
      const Part size = abs(a_(i, k)), is_greater = size > greatest;
      greatest = select(is_greater, size, greatest);
      at = select(is_greater, row_number(i), at);
    }
    pivots_.push_back(at);
  }

  void exchange(std::int64_t k) {
    const Part at = pivots_.back();
    for (std::int64_t i = k + 1; i < a_.rows(); ++i) {
      const Part is_it = at == row_number(i);
      for (std::int64_t j = 0; j < a_.columns(); ++j) exchange(is_it, a_(k, j), a_(i, j));
      exchange(is_it, order_[static_cast<std::size_t>(k)], order_[static_cast<std::size_t>(i)]);
    }
  }
  static void exchange(Part condition, Part& x, Part& y) {
    const Part before = x;
    x = select(condition, y, x);
    y = select(condition, before, y);
  }

  // Below a pivot of 0 all are 0.
  void eliminate(std::int64_t k) {
    const Part pivot = a_(k, k), divisor = select(pivot == 0.0, 1, pivot);
    for (std::int64_t i = k + 1; i < a_.rows(); ++i) {
      a_(i, k) = a_(i, k) / divisor;
      for (std::int64_t j = k + 1; j < a_.columns(); ++j) a_(i, j) = a_(i, j) - a_(i, k) * a_(k, j);
    }
  }

  // Of a matrix that is not finite no row is exchanged.
  void keep_order(std::vector<Part>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = select(is_finite_, rows[i], row_number(static_cast<std::int64_t>(i)));
    }
  }

  Part row_number(std::int64_t i) const { return order_[0].number(static_cast<double>(i)); }

  Elements a_;
  std::vector<Part> pivots_, order_;
  Part is_finite_;
};

std::optional<std::vector<Value>> small_lu(Rewriter& graph, const Node& given) {
  const Node node = given;
  if (!is_small(node.types[0])) return std::nullopt;
  return Elimination(graph, node.inputs[0]).results(node);
}

Op combination_of(Op reduction) {
  switch (reduction) {
    case Op::reduce_sum:
      return Op::add;
    case Op::reduce_product:
      return Op::multiply;
    case Op::reduce_max:
      return Op::maximum;
    default:
      return Op::minimum;
  }
}

// Not in a wider dtype.
bool adds_up_as_it_is(Dtype dtype) {
  if (is_float(dtype)) return byte_size(dtype) >= 4;
  return !is_complex(dtype) && dtype != Dtype::bool_;
}

// Over the last axes, of what is put together there: such as the product of a triangle's diagonal.
std::optional<Value> reduction_of_parts(Rewriter& graph, const Node& given) {
  const Node node = given;
  const Type from = graph.type(node.inputs[0]);
  Axes axes = node.as<AxesAttributes>().axes;
  std::ranges::sort(axes);
  const auto batch = static_cast<std::int64_t>(from.rank() - std::ssize(axes));
  if (axes.empty() || axes[0] != batch || !adds_up_as_it_is(from.dtype)) return std::nullopt;
  const std::int64_t count = from.size() / std::max<std::int64_t>(1, node.types[0].size());
  if (count < 1 || count > most_rows * most_rows) return std::nullopt;
  Origins origins(graph, Axes(from.shape.begin(), from.shape.begin() + batch));
  const auto parts = origins.all(node.inputs[0]);
  if (!parts || !origins.met_parts()) return std::nullopt;
  Part combined{&graph, (*parts)[0]};
  if (node.op == Op::reduce_sum) combined = combined.number(0) + combined;  // -0 as well
  for (std::size_t i = 1; i < parts->size(); ++i) {
    combined = combined.op(combination_of(node.op), {&graph, (*parts)[i]});
  }
  return combined.value;
}

}  // namespace

std::vector<Rule> small_matrix_rules() {
  return {{"cholesky(small) = arithmetic", {Op::cholesky}, small_cholesky},
          {"triangular_solve(small) = arithmetic", {Op::triangular_solve}, small_triangular_solve},
          {.equation = "lu(small) = arithmetic", .ops = {Op::lu}, .apply_to_all = small_lu}};
}

std::vector<Rule> stack_rules() {
  return {{"reduce(stack(x, y), last axis) = x + y",
           {Op::reduce_sum, Op::reduce_product, Op::reduce_max, Op::reduce_min},
           reduction_of_parts}};
}

}  // namespace anabranch
