// The handwritten digits: read from text, split into what is learnt from and what is tested on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Images of 64 pixels in [0, 1], one after the other, and the digit that each shows.
struct Digits {
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;

  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
  /// The images at `rows`, in that order.
  Digits at(const std::vector<int>& rows) const;
};

/// Reads lines of 64 pixels from 0 to 16 and a digit; throws std::runtime_error naming file and
/// line.
Digits read_digits(const std::string& path);

/// 0 to count - 1, shuffled by `seed`.
std::vector<int> shuffled(int count, unsigned seed);
