#include "anabranch/arguments.h"

#include <algorithm>
#include <string>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "passes/transform/jvp.h"

namespace anabranch::detail {

std::vector<bool> marked(const char* transform, const std::vector<std::size_t>& indices,
                         const ArgumentLeaves& arguments, SourceLocation where) {
  const std::size_t count = arguments.first.size() - 1;
  std::vector<bool> marks(arguments.leaves.size());
  std::vector<bool> seen(count);
  for (std::size_t index : indices) {
    if (index >= count) fail_no_such_argument(transform, index, count, where);
    if (seen[index]) {
      fail(std::string(transform) + ": argument " + std::to_string(index) +
               " is named twice; name each once",
           where);
    }
    seen[index] = true;
    for (std::size_t i = arguments.first[index]; i < arguments.first[index + 1]; ++i) {
      const Type& type = type_of_leaf(transform, arguments.paths[i], arguments.leaves[i], where);
      if (!has_tangent(type.dtype)) {
        fail(std::string(transform) + ": " + arguments.paths[i] + " is " + to_string(type) +
                 ", and only floats and complex numbers have gradients; convert it with "
                 ".astype(ab::f32), or put it in an argument of its own",
             where);
      }
      marks[i] = true;
    }
  }
  return marks;
}

Leaves in_order_chosen(const std::vector<std::size_t>& indices, const ArgumentLeaves& arguments,
                       const Leaves& gradients, std::size_t first) {
  Leaves ordered(gradients.begin(), gradients.begin() + static_cast<std::ptrdiff_t>(first));
  std::vector<std::size_t> sorted = indices;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t index : indices) {
    std::size_t at = first;
    for (std::size_t before : sorted) {
      if (before < index) at += arguments.first[before + 1] - arguments.first[before];
    }
    for (std::size_t i = arguments.first[index]; i < arguments.first[index + 1]; ++i) {
      ordered.push_back(gradients[at++]);
    }
  }
  return ordered;
}

void fail_no_such_argument(const char* transform, std::size_t index, std::size_t count,
                           SourceLocation where) {
  // A negative number has become one beyond all.
  fail(std::string(transform) + ": there is no argument " +
           std::to_string(static_cast<std::ptrdiff_t>(index)) + "; the function is called with " +
           std::to_string(count) + (count == 1 ? " argument, number 0" : " arguments, from 0"),
       where);
}

void fail_not_an_array(const char* transform, std::size_t index, SourceLocation where) {
  fail(std::string(transform) + ": argument " + std::to_string(index) +
           " is no ab::Array, and arguments have different types; write ab::argument<" +
           std::to_string(index) + ">()",
       where);
}

}  // namespace anabranch::detail
