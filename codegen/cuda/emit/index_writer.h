// IndexWriter: a kernel's index expressions as C++.
//
//   in0[i * 64 + j / 8]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/index.h"
#include "ir/kernel/kernel.h"

namespace anabranch::cuda {

class IndexWriter {
 public:
  /// `scalars`: what each of the kernel's instructions is called so far; it outlives this.
  IndexWriter(const Kernel& kernel, const std::vector<std::string>& scalars);

  /// The name of a loop's index: a letter, by its depth.
  const std::string& name(Ref loop) const { return names_[loop.index]; }
  /// Gives the loop's index another name, and returns the old one.
  std::string rename(Ref loop, std::string name);

  std::string operator()(Index index) const { return text(index); }

  /// Whether some index, or a part of one, needs 64 bits.
  bool needs_64_bits() const;

  /// Whether `width` consecutive iterations of the loop, the first a multiple of `width`, touch as
  /// many consecutive elements, the first a multiple of `width`; and whether their place can be
  /// written out now, with the scalars that have names.
  bool is_pack(Index index, Ref loop, int width) const;
  /// Whether each iteration of the loop touches the element after the one before, and where it
  /// begins can be written out now.
  bool is_row(Index index, Ref loop) const { return is_pack(index, loop, 1); }

 private:
  void declare(const Block& block, std::size_t depth);
  std::string text(Index index) const;
  std::string text(const IndexTable::Atom& atom) const;
  bool is_wide(Index index) const;
  bool can_be_written(std::uint32_t atom) const;

  const Kernel& kernel_;
  const std::vector<std::string>& scalars_;
  const IndexTable& table_;
  std::vector<std::string> names_;  // by loop
};

}  // namespace anabranch::cuda
