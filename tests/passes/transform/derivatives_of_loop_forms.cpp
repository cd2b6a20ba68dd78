// Loops and branches of unusual forms, as text: their derivatives against differences.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "marked.h"
#include "passes/transform/jvp.h"
#include "tests/support/derivative_check.h"

namespace anabranch {
namespace {

using testing::check_derivatives;
using testing::spread_numbers;

// Parameters of floats are drawn from `low` to `high`; the text's last parameter may be an integer.
void check_graph(const Graph& graph, double low = 0.2, double high = 1, int order = 2,
                 std::int64_t integer = 3) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    std::vector<Literal> inputs;
    for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
      const Type& type = graph.parameter_type(i);
      inputs.push_back(has_tangent(type.dtype)
                           ? spread_numbers(type, random, low, high)
                           : Literal::scalar(type.dtype, static_cast<double>(integer)));
    }
    check_derivatives(graph, inputs, random, to_string(graph), {.tolerance = 1e-5, .order = order});
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

void check_text(const std::string& text, double low = 0.2, double high = 1, int order = 2,
                std::int64_t integer = 3) {
  check_graph(parse(text), low, high, order, integer);
}

// Counters of any dtype, that begin anywhere: -100 to 100 is more than an i8 counts from 0.
TEST(DerivativesOfLoopForms, WithACounterOfAnyDtype) {
  for (const auto& [dtype, first, last] : {std::tuple{"i8", -100, 100},
                                           {"i8", 120, 125},
                                           {"u8", 100, 250},
                                           {"i16", -5, 3},
                                           {"u32", 7, 9},
                                           {"i32", 3, 3},
                                           {"i64", 5, 2}}) {
    std::string text = R"(graph f(%0: f64[2], %1: f64[2]) {
  %2: DTYPE[] = constant FIRST
  %3: DTYPE[], %4: f64[2] = while %2, %0, %1
    graph condition(%0: DTYPE[], %1: f64[2], %2: f64[2]) {
      %3: DTYPE[] = constant LAST
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    }
    graph body(%0: DTYPE[], %1: f64[2], %2: f64[2]) {
      %3: DTYPE[] = constant 1
      %4: DTYPE[] = add %0, %3
      %5: f64[] = convert %0
      %6: f64[2] = broadcast_in_dim %5 axes=[]
      %7: f64[2] = sine %6
      %8: f64[2] = multiply %1, %2
      %9: f64[2] = sine %8
      %10: f64[2] = multiply %9, %7
      %11: f64[2] = add %10, %2
      return %4, %11
    }
  return %4
})";
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at; (at = text.find(from)) != std::string::npos;) {
        text.replace(at, from.size(), to);
      }
    };
    replace("DTYPE", dtype);
    replace("FIRST", std::to_string(first));
    replace("LAST", std::to_string(last));
    check_text(text, 0.2, 1, 1);
  }
}

// No carry depends on what is differentiated by, but for one that nothing asks for.
TEST(DerivativesOfLoopForms, WithResultsThatAreNotAskedFor) {
  check_text(R"(graph f(%0: f64[2], %1: f64[2], %2: i64[]) {
  %3: i64[] = constant 0
  %4: i64[], %5: f64[2], %6: f64[2] = while %3, %0, %1, %2
    graph condition(%0: i64[], %1: f64[2], %2: f64[2], %3: i64[]) {
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    }
    graph body(%0: i64[], %1: f64[2], %2: f64[2], %3: i64[]) {
      %4: i64[] = constant 1
      %5: i64[] = add %0, %4
      %6: f64[2] = sine %1
      %7: f64[2] = multiply %2, %6
      return %5, %6, %7
    }
  return %4, %5
})");
}

// What is captured twice, and carried as well, has one sum.
TEST(DerivativesOfLoopForms, OfAnOperandInSeveralPlaces) {
  for (const char* bound : {"constant 4", "add %3, %3"}) {
    check_text(R"(graph f(%0: f64[2], %1: i64[]) {
  %2: i64[] = constant 0
  %3: i64[] = add %1, %2
  %4: i64[] = )" +
               std::string(bound) + R"(
  %5: i64[], %6: f64[2], %7: f64[2] = while %2, %0, %0, %0, %0, %4
    graph condition(%0: i64[], %1: f64[2], %2: f64[2], %3: f64[2], %4: f64[2], %5: i64[]) {
      %6: bool[] = compare %0, %5 direction=lt
      return %6
    }
    graph body(%0: i64[], %1: f64[2], %2: f64[2], %3: f64[2], %4: f64[2], %5: i64[]) {
      %6: i64[] = constant 1
      %7: i64[] = add %0, %6
      %8: f64[2] = multiply %1, %3
      %9: f64[2] = sine %8
      %10: f64[2] = multiply %2, %4
      %11: f64[2] = add %9, %10
      return %7, %11, %9
    }
  %8: f64[2] = multiply %6, %0
  return %8, %7
})");
  }
}

// Arrays without elements, and complex numbers.
TEST(DerivativesOfLoopForms, OfComplexAndOfEmptyArrays) {
  for (const char* type : {"c128[2]", "f64[0]", "f64[]", "f64[2,0,3]"}) {
    std::string text = R"(graph f(%0: TYPE, %1: TYPE, %2: i64[]) {
  %3: i64[] = constant 0
  %4: i64[], %5: TYPE = while %3, %0, %1, %2
    graph condition(%0: i64[], %1: TYPE, %2: TYPE, %3: i64[]) {
      %4: bool[] = compare %0, %3 direction=lt
      return %4
    }
    graph body(%0: i64[], %1: TYPE, %2: TYPE, %3: i64[]) {
      %4: i64[] = constant 1
      %5: i64[] = add %0, %4
      %6: TYPE = multiply %1, %2
      %7: TYPE = sine %6
      return %5, %7
    }
  return %5
})";
    for (std::size_t at; (at = text.find("TYPE")) != std::string::npos;) {
      text.replace(at, 4, type);
    }
    check_text(text);
  }
}

// The branch that is taken is that of the data; past the last one it is the last one.
TEST(DerivativesOfBranches, OfEachBranch) {
  for (std::int64_t which : {-1, 0, 1, 2, 9}) {
    check_text(R"(graph f(%0: f64[2], %1: f64[2], %2: i32[]) {
  %3: f64[2], %4: f64[2] = case %2, %0, %1
    graph a(%0: f64[2], %1: f64[2]) {
      %2: f64[2] = multiply %0, %1
      return %2, %0
    }
    graph b(%0: f64[2], %1: f64[2]) {
      %2: f64[2] = sine %0
      %3: f64[2] = constant 3
      return %2, %3
    }
    graph c(%0: f64[2], %1: f64[2]) {
      %2: f64[2] = exponential %1
      %3: f64[2] = multiply %2, %2
      return %1, %3
    }
  %5: f64[2] = multiply %3, %4
  return %5, %4
})",
               0.2, 1, 2, which);
  }
}

// Its results are steps of what is differentiated by, and what does not depend on it.
TEST(DerivativesOfBranches, ThatGiveNothingWithATangent) {
  check_text(R"(graph f(%0: f64[2], %1: f64[2], %2: i32[]) {
  %3: bool[2], %4: f64[2] = case %2, %0, %1
    graph a(%0: f64[2], %1: f64[2]) {
      %2: bool[2] = compare %0, %1 direction=lt
      %3: f64[2] = floor %0
      return %2, %3
    }
    graph b(%0: f64[2], %1: f64[2]) {
      %2: bool[2] = compare %0, %1 direction=gt
      %3: f64[2] = constant 2
      return %2, %3
    }
  %5: f64[2] = multiply %4, %0
  %6: f64[2] = select %3, %5, %1
  return %6
})",
             0.2, 0.9);
}

// A checkpoint of what has no tangent, and of what has one beside it.
TEST(DerivativesOfCheckpoints, ThatGiveNothingWithATangent) {
  for (const char* second : {"%2, %3", "%2, %4"}) {
    const std::string text = R"(graph f(%0: f64[2], %1: f64[2]) {
  %2: bool[2], %3: f64[2] = composite %0, %1 rule=checkpoint arguments=2
    graph g(%0: f64[2], %1: f64[2]) {
      %2: bool[2] = compare %0, %1 direction=lt
      %3: f64[2] = floor %0
      %4: f64[2] = multiply %0, %1
      return )" + std::string(second) +
                             R"(
    }
  %4: f64[2] = multiply %3, %0
  %5: f64[2] = select %2, %4, %1
  return %5
})";
    for (const Graph& graph : testing::with_extreme_policies(parse(text))) {
      check_graph(graph, 0.2, 0.9);
    }
  }
}

}  // namespace
}  // namespace anabranch
