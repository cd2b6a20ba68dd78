// Reads what print_kernel.cpp writes of an index: "%i * 64 + (1 + %j / 6) / 3".
#pragma once

#include <cstddef>
#include <functional>

#include "ir/index.h"
#include "ir/text/text_reader.h"

namespace anabranch {

class IndexReader {
 public:
  /// Where a name stands, `atom` reads it and says what it is. `depth` counts how deep readers
  /// within `atom` nest, too; 0 at first.
  IndexReader(TextReader& reader, IndexTable& table, std::size_t& depth,
              std::function<Index()> atom)
      : reader_(reader), table_(table), depth_(depth), atom_(std::move(atom)) {}

  /// Throws Error, with its place, where the text is no index or arithmetic leaves 64 bits.
  Index read() { return sum(); }

 private:
  Index sum();
  Index product();
  Index factor();
  bool at_remainder() const;
  std::int64_t divisor();
  Index bounded(std::size_t start, Index made) const;

  TextReader& reader_;
  IndexTable& table_;
  std::size_t& depth_;
  const std::function<Index()> atom_;
};

}  // namespace anabranch
