// A model that JAX exported as StableHLO text, compiled and run without JAX: what each of a hundred
// handwritten digits is, and how sure of it the network is. export.py made model.mlir and
// images.npy; the command runs the same:
//
//   anabranch run model.mlir --input %0=images.npy
//
//   images [100,8,8,1] -- convolution, relu, max_pool -- twice -- dense -- argmax -- digits [100]
//                                                                      '-- max ---- sureness [100]
#include <anabranch/anabranch.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace ab = anabranch;

struct Digit {
  std::vector<float> pixels;  // 64 of them
  int label = 0;
};

std::vector<Digit> read_digits(const char* path) {
  std::vector<Digit> digits;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream numbers(line);
    Digit& digit = digits.emplace_back();
    for (std::string text; std::getline(numbers, text, ',');) {
      if (digit.pixels.size() < 64)
        digit.pixels.push_back(std::stof(text) / 16);
      else
        digit.label = std::stoi(text);
    }
  }
  return digits;
}

int main(int, char** arguments) {
  const auto module = ab::stablehlo::read(arguments[1]);
  auto classify = ab::jit(module.function("main"));

  // The model was exported for a hundred images at a time; it has not seen these.
  const std::vector<Digit> digits = read_digits(arguments[2]);
  const std::size_t first = digits.size() - 100;
  std::vector<float> pixels;
  for (std::size_t i = first; i < digits.size(); ++i)
    pixels.insert(pixels.end(), digits[i].pixels.begin(), digits[i].pixels.end());

  const auto results = classify(std::vector{ab::array(pixels, {100, 8, 8, 1})});
  const auto found = results[0].to_vector<std::int32_t>();
  int correct = 0;
  for (std::size_t i = 0; i < 100; ++i) correct += found[i] == digits[first + i].label;
  std::cout << "the model's first ten: " << ab::slice(results[0], {0}, {10}) << "\n"
            << correct << " of 100 correct, on average " << 100 * ab::mean(results[1]).item<float>()
            << "% sure\n";
  return correct >= 90 ? 0 : 1;
}
