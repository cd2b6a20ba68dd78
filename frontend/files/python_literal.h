// Python literals, as the header of a .npy file is one: a parser for what NumPy's headers consist
// of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anabranch {

struct PythonLiteral {
  enum class Kind { boolean, integer, text, tuple, list, dictionary };
  Kind kind = Kind::boolean;
  std::int64_t number = 0;                ///< of a boolean (0 or 1), an integer
  std::string text = {};                  ///< of a string
  std::vector<PythonLiteral> items = {};  ///< of a tuple, a list; key, value, key, value ...
};

/// The one literal that `text` is: dictionaries, tuples, lists, strings, integers of 64 bits, True
/// and False, with Python's spacing, quotes, comments and joined strings; where `python2`, integers
/// may end in L. Throws Error that says what was expected at which character: also for floats,
/// bytes, None and sets, which no .npy header has.
PythonLiteral parse_python_literal(std::string_view text, bool python2);

}  // namespace anabranch
