#include "data.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>

Digits Digits::at(const std::vector<int>& rows) const {
  Digits chosen;
  for (int row : rows) {
    chosen.pixels.insert(chosen.pixels.end(), pixels.begin() + row * 64,
                         pixels.begin() + row * 64 + 64);
    chosen.labels.push_back(labels[static_cast<std::size_t>(row)]);
  }
  return chosen;
}

Digits read_digits(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  Digits digits;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    for (int i = 0; i < 64; ++i) {
      float pixel = -1;
      fields >> pixel;
      digits.pixels.push_back(pixel / 16);
    }
    std::int32_t label = -1;
    if (!(fields >> label) || label < 0 || label > 9) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": not 64 pixels and a digit");
    }
    digits.labels.push_back(label);
  }
  return digits;
}

std::vector<int> shuffled(int count, unsigned seed) {
  std::vector<int> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  std::shuffle(rows.begin(), rows.end(), std::mt19937(seed));
  return rows;
}
