// Products that sum over axes: dot, dot_general, convolution.
#include <algorithm>

#include "anabranch/linear_algebra.h"
#include "anabranch/nn.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/contraction.h"
#include "frontend/stablehlo/scanner.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

// The dtype that products are summed in: that of the result where it holds more.
Dtype product_dtype(const Site& site, Dtype lhs, Dtype rhs) {
  const Dtype result = site.result_type().dtype;
  auto rank = [](Dtype dtype) {
    return std::pair(is_complex(dtype) ? 2 : is_float(dtype) ? 1 : 0, info(dtype).bits);
  };
  return std::max({result, lhs, rhs}, [&](Dtype a, Dtype b) { return rank(a) < rank(b); });
}

}  // namespace

// Bools are added by `or`: whether the sum of their products as integers is other than 0.
Array contracted(const Site& site, const Array& lhs, const Array& rhs, DotAttributes axes) {
  Dtype dtype = product_dtype(site, type_of(lhs).dtype, type_of(rhs).dtype);
  if (dtype == bool_) dtype = i32;
  const Array result = site.record(
      Op::dot, {site.converted(lhs, dtype), site.converted(rhs, dtype)}, std::move(axes));
  return site.converted(result, site.result_type().dtype);
}

void read_axes(const Site& site, const NamedAttribute& entry, DotAttributes& axes) {
  const auto& [name, value] = entry;
  if (name == "lhs_batching_dimensions") axes.lhs_batch = site.integers_of(value);
  if (name == "rhs_batching_dimensions") axes.rhs_batch = site.integers_of(value);
  if (name == "lhs_contracting_dimensions") axes.lhs_contracting = site.integers_of(value);
  if (name == "rhs_contracting_dimensions") axes.rhs_contracting = site.integers_of(value);
}

namespace {

Results dot_op(const Site& site) {
  site.expect_operands(2);
  const Array lhs = site.operand(0), rhs = site.operand(1);
  if (type_of(lhs).rank() < 1 || type_of(rhs).rank() < 1) site.fail("takes vectors and matrices");
  return {contracted(site, lhs, rhs, {{}, {}, {type_of(lhs).rank() - 1}, {0}})};
}

Results dot_general_op(const Site& site) {
  site.expect_operands(2);
  DotAttributes axes{site.integers("lhs_batching_dims", {}), site.integers("rhs_batching_dims", {}),
                     site.integers("lhs_contracting_dims", {}),
                     site.integers("rhs_contracting_dims", {})};
  if (const Attribute* numbers = site.op.find("dot_dimension_numbers")) {
    for (const NamedAttribute& entry : site.entries(*numbers)) read_axes(site, entry, axes);
  }
  return {contracted(site, site.operand(0), site.operand(1), std::move(axes))};
}

char letter_of_axis(std::size_t axis) {
  return static_cast<char>(axis < 10 ? '0' + axis : 'a' + (axis - 10));
}

// "[b, 0, 1, f]" as a layout of ab::conv, which has one letter per axis.
std::string layout(const Site& site, Scanner& scan, std::string_view names,
                   std::string_view letters) {
  std::string text;
  scan.expect("[", "before dimension numbers");
  while (!scan.accept("]")) {
    if (scan.accept(",")) continue;
    if (scan.at_number()) {
      const std::int64_t axis = scan.integer("a spatial axis");
      if (axis < 0 || axis > 60) site.fail("there is no spatial axis " + std::to_string(axis));
      text += letter_of_axis(static_cast<std::size_t>(axis));
      continue;
    }
    const std::string word(scan.word("an axis of a convolution"));
    const auto found = word.size() == 1 ? names.find(word[0]) : names.npos;
    if (found == names.npos) site.fail("there is no axis " + word + " of a convolution here");
    text += letters[found];
  }
  return text;
}

struct ConvolutionLayouts {
  std::string lhs, rhs, result;
};

ConvolutionLayouts layouts_in_words(const Site& site, const Attribute& numbers) {
  Scanner scan(site.importer.source(), numbers.begin, numbers.end);
  ConvolutionLayouts found;
  found.lhs = layout(site, scan, "bf", "NC");
  scan.expect("x", "between dimension numbers");
  found.rhs = layout(site, scan, "oi", "OI");
  scan.expect("->", "before the dimension numbers of the result");
  found.result = layout(site, scan, "bf", "NC");
  return found;
}

// "raw input_batch_dimension = 0, ..."
ConvolutionLayouts layouts_in_numbers(const Site& site, Attribute numbers) {
  Scanner scan(site.importer.source(), numbers.begin, numbers.end);
  scan.accept_word("raw");
  numbers.begin = scan.position();
  const auto entries = site.entries(numbers);
  auto read = [&](const std::string& of, const std::string& first, char first_letter,
                  const std::string& second, char second_letter) {
    List axes;
    std::string letters;
    for (const auto& [name, value] : entries) {
      if (!name.starts_with(of)) continue;
      const List own = site.integers_of(value);
      for (std::size_t i = 0; i < own.size(); ++i) {
        axes.push_back(own[i]);
        letters += name == of + first    ? first_letter
                   : name == of + second ? second_letter
                                         : letter_of_axis(i);
      }
    }
    std::string text(letters.size(), '?');
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] < 0 || static_cast<std::size_t>(axes[i]) >= axes.size()) {
        site.fail("there is no axis " + std::to_string(axes[i]));
      }
      text[static_cast<std::size_t>(axes[i])] = letters[i];
    }
    return text;
  };
  ConvolutionLayouts found;
  found.lhs = read("input_", "batch_dimension", 'N', "feature_dimension", 'C');
  found.rhs = read("kernel_", "output_feature_dimension", 'O', "input_feature_dimension", 'I');
  found.result = read("output_", "batch_dimension", 'N', "feature_dimension", 'C');
  return found;
}

// A third operand, of dynamic_conv, is the padding.
List padding_of(const Site& site) {
  if (site.count() < 3) return site.integers("padding", {});
  return site.constant_integers(2, "paddings");
}

// ab::conv takes lists in the order in which the spatial axes are in the layout of its left
// operand, StableHLO in the order of their numbers.
ConvOptions window_options(const Site& site, const std::string& lhs_layout) {
  const Site::Paddings paddings = site.paddings_of(padding_of(site));
  const auto spatial = lhs_layout.size() - std::min<std::size_t>(2, lhs_layout.size());
  const auto in_order = [&](const List& list) {
    if (list.empty()) return list;
    if (list.size() != spatial) {
      site.fail("a list of " + std::to_string(list.size()) + " entries for " +
                std::to_string(spatial) + " spatial axes");
    }
    List ordered;
    for (char letter : lhs_layout) {
      for (std::size_t axis = 0; axis < spatial; ++axis) {
        if (letter == letter_of_axis(axis)) ordered.push_back(list[axis]);
      }
    }
    return ordered;
  };
  ConvOptions options;
  options.strides = in_order(site.integers("window_strides", {}));
  options.lhs_dilation = in_order(site.integers("lhs_dilation", {}));
  options.rhs_dilation = in_order(site.integers("rhs_dilation", {}));
  options.padding_low = in_order(paddings.low);
  options.padding_high = in_order(paddings.high);
  options.groups = site.integer("feature_group_count", 1);
  options.batch_groups = site.integer("batch_group_count", 1);
  return options;
}

Results convolution_op(const Site& site) {
  site.expect_operands(site.op.name.ends_with("dynamic_conv") ? 3 : 2);
  const Attribute* numbers = site.op.find("dimension_numbers");
  if (!numbers || numbers->kind != Attribute::Kind::dialect) site.fail("needs dim_numbers");
  const bool in_words = Scanner(site.importer.source(), numbers->begin, numbers->end).at('[');
  const ConvolutionLayouts layouts =
      in_words ? layouts_in_words(site, *numbers) : layouts_in_numbers(site, *numbers);
  ConvOptions options = window_options(site, layouts.lhs);
  options.lhs_layout = layouts.lhs;
  options.rhs_layout = layouts.rhs;
  options.result_layout = layouts.result;

  Array lhs = site.operand(0), rhs = site.operand(1);
  const Dtype dtype = product_dtype(site, type_of(lhs).dtype, type_of(rhs).dtype);
  lhs = site.converted(lhs, dtype);
  rhs = site.converted(rhs, dtype);
  const List turned = site.integers("window_reversal", {});
  if (!turned.empty() && turned.size() + 2 != layouts.rhs.size()) {
    site.fail("window_reversal has " + std::to_string(turned.size()) + " entries for " +
              std::to_string(layouts.rhs.size()) + " axes, of which two are no spatial ones");
  }
  List axes;
  for (std::size_t i = 0; i < turned.size(); ++i) {
    if (turned[i] == 0) continue;
    axes.push_back(static_cast<std::int64_t>(layouts.rhs.find(letter_of_axis(i))));
  }
  std::sort(axes.begin(), axes.end());
  if (!axes.empty()) rhs = site.record(Op::reverse, {rhs}, AxesAttributes{axes});
  const Array result = conv({lhs, site.where()}, {rhs, site.where()}, options);
  return {site.converted(result, site.result_type().dtype)};
}

Results einsum_op(const Site& site) {
  return {einsum(site.word("einsum_config"), site.located(site.operands()))};
}

constexpr Translation rows_of_contractions[] = {
    {"dot", dot_op},
    {"dot_general", dot_general_op},
    {"convolution", convolution_op},
    {"dynamic_conv", convolution_op},
    {"einsum", einsum_op},
    {"unary_einsum", einsum_op},
};

}  // namespace

std::span<const Translation> contraction_translations() { return rows_of_contractions; }

}  // namespace anabranch::stablehlo
