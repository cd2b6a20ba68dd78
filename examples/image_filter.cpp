// The edges of a picture: a blur, then Sobel's two filters as one convolution of two outputs.
//
//   image --> conv 5x5 (blur) --> conv 3x3 --> d/dx, d/dy --> length --> 8-bit image
#include <anabranch/anabranch.h>

#include <fstream>
#include <iostream>
#include <string>

namespace ab = anabranch;

namespace {

ab::Array edges(ab::Array image) {  // u8[height, width]
  const ab::Array binomial = ab::array({1.0f, 4.0f, 6.0f, 4.0f, 1.0f}) / 16;
  const ab::Array blur = ab::reshape(ab::outer(binomial, binomial), {1, 1, 5, 5});
  const ab::Array dx = ab::array({{-1.0f, 0.0f, 1.0f}, {-2.0f, 0.0f, 2.0f}, {-1.0f, 0.0f, 1.0f}});
  const ab::Array sobel = ab::expand_dims(ab::stack({dx, ab::matrix_transpose(dx)}), 1);

  const ab::Array grey =
      ab::reshape(image.astype(ab::f32), {1, 1, image.shape()[0], image.shape()[1]});
  const ab::Array smooth = ab::conv(grey, blur, {.padding_low = {2, 2}, .padding_high = {2, 2}});
  const ab::Array slopes = ab::conv(smooth, sobel, {.padding_low = {1, 1}, .padding_high = {1, 1}});
  const ab::Array length = ab::norm(slopes, 1);
  return ab::reshape(ab::clip(length, 0, 255).astype(ab::u8), image.shape());
}

ab::Array read_pgm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  std::size_t width = 0, height = 0, most = 0;
  file >> magic >> width >> height >> most;
  file.get();
  if (!file || magic != "P5" || most != 255)
    throw std::runtime_error(path + ": not an 8-bit binary PGM");
  std::vector<std::uint8_t> pixels(width * height);
  file.read(reinterpret_cast<char*>(pixels.data()), static_cast<std::streamsize>(pixels.size()));
  if (!file) throw std::runtime_error(path + ": ends too early");
  return ab::array(pixels, {height, width});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: image_filter IN.pgm OUT.pgm");
  const ab::Array image = read_pgm(argv[1]);
  const auto pixels = ab::jit(edges)(image).to_vector<std::uint8_t>();

  std::ofstream file(argv[2], std::ios::binary);
  file << "P5\n" << image.shape()[1] << " " << image.shape()[0] << "\n255\n";
  file.write(reinterpret_cast<const char*>(pixels.data()),
             static_cast<std::streamsize>(pixels.size()));
  file.close();
  if (!file) throw std::runtime_error(std::string(argv[2]) + ": cannot be written");
  std::cout << "wrote " << argv[2] << "\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
