// Lowers a region, runs the kernels scalar by scalar and compares with the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "codegen/cpu/kernel_passes.h"
#include "codegen/kernel/split_loops.h"
#include "codegen/lower/lower.h"
#include "ir/interpret/interpret.h"
#include "ir/scalar.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "tests/support/run_kernel.h"

namespace anabranch::testing {

/// Small numbers, exact in every dtype, so that sums do not depend on their order.
inline Literal small_numbers(const Type& type, std::mt19937& random) {
  return visit_any_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    for (std::int64_t i = 0; i < type.size(); ++i) {
      double value = static_cast<double>(random() % 13) - (is_unsigned_integer(type.dtype) ? 0 : 6);
      if (is_float(type.dtype)) value /= 4;
      const T element = convert_scalar<T>(value);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &element, sizeof(T));
    }
    return Literal(type, std::move(bytes));
  });
}

inline std::vector<Literal> small_inputs(const Graph& graph, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(small_numbers(graph.parameter_type(i), random));
  }
  return inputs;
}

inline Lowered lower_region(const Graph& region, const LowerTarget& target = {}) {
  Node fusion;
  fusion.op = Op::fusion;
  for (Value output : region.outputs()) fusion.types.push_back(region.type(output));
  fusion.regions = {region};
  return lower(fusion, {}, region.name(), target);
}

inline std::vector<Type> output_types(const Graph& graph) {
  std::vector<Type> types;
  for (Value output : graph.outputs()) types.push_back(graph.type(output));
  return types;
}

/// Equal bits, both NaN, or within `tolerance` of each other, relative to numbers above 1.
inline void expect_equal(const Literal& got, const Literal& wanted, double tolerance,
                         const std::string& where) {
  ASSERT_EQ(got.type(), wanted.type());
  visit_any_dtype(got.type().dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < got.type().size(); ++i) {
      if (got.bits(i) == wanted.bits(i)) continue;
      if constexpr (is_complex_storage<T>) {
        FAIL() << "element " << i << " is " << element_to_string(got, i) << "\n" << where;
      } else if constexpr (!std::is_same_v<T, bool>) {
        const auto at = static_cast<std::size_t>(i);
        const double a = convert_scalar<double>(got.values<T>()[at]);
        const double b = convert_scalar<double>(wanted.values<T>()[at]);
        if (std::isnan(a) && std::isnan(b)) continue;
        ASSERT_LE(std::fabs(a - b), tolerance * std::max(1.0, std::fabs(b)))
            << "element " << i << ": " << a << " instead of " << b << "\n"
            << where;
      } else {
        FAIL() << "element " << i << " is " << got.bits(i).low << "\n" << where;
      }
    }
  });
}

/// The kernel after all passes of a CPU's but the splitting of loops.
inline Kernel tile(Kernel kernel, const Target& target = {}, bool row_major = false) {
  const std::vector<std::string> disabled = {"split_loops"};
  return run_passes(cpu::kernel_passes(), std::move(kernel), {target, row_major},
                    {.disabled = disabled});
}

/// Lowered, lowered and tiled, and with its loops split besides, `region` gives what the
/// interpreter gives.
inline void expect_lowers(const Graph& region, double tolerance = 0, const Target& target = {},
                          const LowerTarget& lower_target = {}) {
  const std::vector<Literal> inputs = small_inputs(region);
  const std::vector<Literal> wanted = interpret(region, inputs);
  const std::vector<Type> types = output_types(region);
  Lowered lowered = lower_region(region, lower_target);
  for (const std::string_view step : {"lowered", "tiled", "split"}) {
    std::string where = to_string(region);
    for (KernelCall& call : lowered.calls) {
      if (step == "tiled") call.kernel = tile(std::move(call.kernel), target);
      if (step == "split") call.kernel = split_loops(call.kernel);
      where += to_string(call.kernel);
    }
    const std::vector<Literal> got = run_lowered(lowered, inputs, types);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_equal(got[i], wanted[i], tolerance, where);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// For matrices of 2^17 elements of 8 bytes and more.
inline constexpr LowerTarget in_chunks = {.column_sums = {.least_chunked_bytes = 1 << 20},
                                          .product_tiles = {}};

/// The same where columns are summed in chunks: by two kernels, and by one else.
inline void expect_lowers_in_chunks(const Graph& region, std::size_t temporaries = 1) {
  const Lowered lowered = lower_region(region, in_chunks);
  ASSERT_EQ(lowered.calls.size(), 2u) << to_string(region);
  EXPECT_EQ(lowered.temporaries.size(), temporaries);
  EXPECT_EQ(lower_region(region).calls.size(), 1u);
  expect_lowers(region, 0, {}, in_chunks);
}

inline void expect_lowers(const std::string& text, double tolerance = 0,
                          const Target& target = {}) {
  expect_lowers(parse(text), tolerance, target);
}

/// `text` with "N" and "M" replaced by numbers.
inline std::string with_sizes(std::string text, std::int64_t n, std::int64_t m = 0) {
  for (auto [letter, value] : {std::pair{'N', n}, std::pair{'M', m}}) {
    for (std::size_t at; (at = text.find(letter)) != std::string::npos;) {
      text.replace(at, 1, std::to_string(value));
    }
  }
  return text;
}

inline constexpr std::int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 127, 128, 129};

}  // namespace anabranch::testing
