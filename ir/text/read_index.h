// Reads what print_kernel.cpp writes of an index: "%i * 64 + (1 + %j / 6) / 3".
#pragma once

#include <cstddef>
#include <functional>

#include "ir/index.h"
#include "ir/text/text_reader.h"

namespace anabranch {

class IndexReader {
 public:
  /// Where a name stands, `atom` reads it and says what it is.
  IndexReader(TextReader& reader, IndexTable& table, std::function<Index()> atom)
      : reader_(reader), table_(table), atom_(std::move(atom)) {}

  /// Throws Error, with its place, where the text is no index or arithmetic leaves 64 bits.
  Index read() { return sum(); }

 private:
  Index sum();
  Index product();
  Index factor();
  bool at_remainder() const;
  std::int64_t divisor();

  TextReader& reader_;
  IndexTable& table_;
  const std::function<Index()> atom_;
  std::size_t depth_ = 0;
};

}  // namespace anabranch
