#include "anabranch/cumulative.h"

#include "anabranch/arrange.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/term.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

// x and the axis, or all of x as one.
struct RunningAxis {
  Term x;
  std::int64_t axis;

  RunningAxis(const char* function, const Term& given, const Axes& axes) : x(given), axis(0) {
    const Shape& shape = type_of(given.array()).shape;
    if (axes.all()) {
      if (shape.rank() != 1) x = {ravel(given), given.where()};
      return;
    }
    const std::vector<std::int64_t> list = axes.of_rank(function, shape, given.where());
    if (list.size() != 1) {
      fail(std::string(function) +
               ": takes one axis, or none for the flattened array, and was given " +
               std::to_string(list.size()),
           given.where());
    }
    axis = list[0];
  }
};

Array running(const char* function, Running of, const Term& x, const Axes& axes, bool reverse) {
  const RunningAxis line(function, x, axes);
  return record(Op::cumulative, {line.x}, x.where(), CumulativeAttributes{line.axis, of, reverse});
}

Array running_extreme(const char* function, Running of, const Operand& x, const Axes& axes,
                      bool reverse) {
  const Term y = term(function, x, Takes::anything);
  if (is_complex(type_of(y).dtype)) term(function, x, Takes::real_numbers);  // says what is wrong
  return running(function, of, y, axes, reverse);
}

template <class Combine>
Array scanned(const RunningAxis& line, bool reverse, Combine combine) {
  const SourceLocation where = line.x.where();
  detail::AssociativeScan scan{where, {{line.x}, {{"x", ""}}}, line.axis, reverse};
  scan.combine = [&](const detail::Leaves& a, const detail::Leaves& b) {
    return detail::Tree{{combine(Operand(a[0], where), Operand(b[0], where))}, {{"x", ""}}};
  };
  return detail::run_associative_scan(scan)[0];
}

}  // namespace

Array cumsum(const Operand& x, const Axes& axis, bool reverse) {
  return running("cumsum", Running::sum, countable("cumsum", x), axis, reverse);
}

Array cumprod(const Operand& x, const Axes& axis, bool reverse) {
  return running("cumprod", Running::product, countable("cumprod", x), axis, reverse);
}

Array cummax(const Operand& x, const Axes& axis, bool reverse) {
  return running_extreme("cummax", Running::maximum, x, axis, reverse);
}

Array cummin(const Operand& x, const Axes& axis, bool reverse) {
  return running_extreme("cummin", Running::minimum, x, axis, reverse);
}

Array logcumsumexp(const Operand& x, const Axes& axis, bool reverse) {
  const Term given = term("logcumsumexp", x);
  const RunningAxis line("logcumsumexp", widened(given), axis);
  const Term all = {
      scanned(line, reverse, [](const Operand& a, const Operand& b) { return logaddexp(a, b); }),
      x.where()};
  return rounded_as(given, all);
}

namespace detail {
namespace {

// The recursion of jax.lax.associative_scan: neighbours are combined, the half as many results
// scanned, and what is between them made of these.
class Scanner {
 public:
  Scanner(const AssociativeScan& scan, std::int64_t axis) : scan_(scan), axis_(axis) {}

  Leaves scanned(const Leaves& xs) const {
    const std::int64_t size = type_of(xs[0]).shape[static_cast<int>(axis_)];
    if (size < 2) return xs;
    const Leaves pairs = combined(every_other(xs, 0, size - 1), every_other(xs, 1, size));
    const Leaves odd = scanned(pairs);
    Leaves first = part(xs, 0, 1, 1), all;
    if (size > 2) {
      const Leaves before = part(odd, 0, (size - 1) / 2, 1);
      const Leaves even = combined(before, every_other(xs, 2, size));
      for (std::size_t i = 0; i < xs.size(); ++i) first[i] = joined(first[i], even[i]);
    }
    for (std::size_t i = 0; i < xs.size(); ++i) all.push_back(interleaved(first[i], odd[i], size));
    return all;
  }

 private:
  Leaves every_other(const Leaves& xs, std::int64_t begin, std::int64_t end) const {
    return part(xs, begin, end, 2);
  }
  Leaves part(const Leaves& xs, std::int64_t begin, std::int64_t end, std::int64_t stride) const {
    Leaves parts;
    for (const Array& x : xs) {
      parts.push_back(slice_in_dim({x, scan_.where}, begin, end, axis_, stride));
    }
    return parts;
  }
  Array joined(const Array& a, const Array& b) const {
    return record(Op::concatenate, {a, b}, scan_.where, AxisAttributes{axis_});
  }

  // Elements of `even` and `odd` in turns: with gaps between them, one beside the other.
  Array interleaved(const Array& even, const Array& odd, std::int64_t size) const {
    const Shape shape = type_of(even).shape;
    const std::int64_t pairs = shape[static_cast<int>(axis_)];
    std::vector<std::int64_t> sizes(shape.begin(), shape.end());
    const auto with_gaps = [&](const Array& x) {
      const Array filler = array_of(type_of(x).dtype, 0, scan_.where);
      const std::vector<std::int64_t> none(sizes.size(), 0);
      PadAttributes edges{none, none, none};
      edges.high[static_cast<std::size_t>(axis_)] =
          pairs - type_of(x).shape[static_cast<int>(axis_)];
      return expand_dims({record(Op::pad, {x, filler}, scan_.where, std::move(edges)), scan_.where},
                         axis_ + 1);
    };
    const Array both = record(Op::concatenate, {with_gaps(even), with_gaps(odd)}, scan_.where,
                              AxisAttributes{axis_ + 1});
    sizes[static_cast<std::size_t>(axis_)] = 2 * pairs;
    const Array line = record(Op::reshape, {both}, scan_.where, NoAttributes{},
                              Type{type_of(even).dtype, Shape(sizes)});
    return slice_in_dim({line, scan_.where}, 0, size, axis_);
  }

  Leaves combined(const Leaves& a, const Leaves& b) const {
    const Tree given = scan_.combine(a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i < given.leaves.size() && type_of(given.leaves[i]) == type_of(a[i])) continue;
      fail("associative_scan: combining " + to_string(type_of(a[i])) + " gives " +
               (i < given.leaves.size() ? to_string(type_of(given.leaves[i])) : "nothing") +
               "; give the same types, place by place",
           scan_.where);
    }
    return given.leaves;
  }

  const AssociativeScan& scan_;
  const std::int64_t axis_;
};

}  // namespace

Leaves run_associative_scan(const AssociativeScan& scan) {
  const Leaves& leaves = scan.xs.leaves;
  if (leaves.empty()) fail("associative_scan: xs has no arrays; give one or more", scan.where);
  for (const Array& leaf : leaves) {
    if (!leaf.expression()) fail("associative_scan: xs has an empty Array", scan.where);
  }
  Leaves xs = leaves;
  std::vector<std::int64_t> axes;
  for (const Array& x : xs) {
    axes.push_back(axis_of("associative_scan", scan.axis, type_of(x).shape, scan.where));
    const std::int64_t size = type_of(x).shape[static_cast<int>(axes.back())];
    const std::int64_t first = type_of(xs[0]).shape[static_cast<int>(axes[0])];
    if (axes.back() == axes[0] && size == first) continue;
    fail("associative_scan: " + to_string(type_of(x)) + " beside " + to_string(type_of(xs[0])) +
             "; all arrays need the same size along the same axis",
         scan.where);
  }
  const auto turned = [&] {
    for (Array& x : xs) x = flip({x, scan.where}, Axes(Axis(axes[0])));
  };
  if (scan.reverse) turned();
  xs = Scanner(scan, axes[0]).scanned(xs);
  if (scan.reverse) turned();
  return xs;
}

}  // namespace detail
}  // namespace anabranch
