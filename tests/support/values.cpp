#include "tests/support/values.h"

#include <algorithm>

std::vector<double> doubles(const ab::Literal& literal) {
  return ab::visit_any_dtype(literal.type().dtype, [&]<class T>() {
    std::vector<double> values;
    for (T value : literal.values<T>()) values.push_back(ab::convert_scalar<double>(value));
    return values;
  });
}

std::vector<double> doubles(const ab::Array& array) {
  return ab::visit_any_dtype(array.dtype(), [&]<class T>() {
    std::vector<double> values;
    for (T value : array.to_vector<T>()) values.push_back(ab::convert_scalar<double>(value));
    return values;
  });
}

void expect_close(const std::vector<double>& values, const std::vector<double>& expected,
                  double tolerance, const char* way) {
  ASSERT_EQ(values.size(), expected.size()) << way;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << way << ", element " << i << ": " << values[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(values[i], expected[i]) << way << ", element " << i;
    } else {
      EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i])))
          << way << ", element " << i;
    }
  }
}

void expect_values(const std::function<ab::Array()>& function, const ab::Type& type,
                   const std::vector<double>& expected, double tolerance) {
  ab::Graph graph = ab::trace(function);
  EXPECT_EQ(graph.type(graph.outputs()[0]), type);
  expect_close(doubles(ab::interpret(graph, {})[0]), expected, tolerance, "interpreted");
  expect_close(doubles(ab::jit(function)()), expected, tolerance, "jitted");
  expect_close(doubles(function()), expected, tolerance, "recorded");
}
