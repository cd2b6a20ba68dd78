// The Mandelbrot set as a picture: 64 steps of z = z^2 + c unrolled, 700 operations in four
// kernels.
//
//   linspace (re) --.
//                   c --> 64 x (z = z*z + c, count += |z| < 2) --> grey 8-bit image
//   linspace (im) --'
#include <anabranch/anabranch.h>

#include <fstream>
#include <iostream>

namespace ab = anabranch;

namespace {

constexpr std::int64_t height = 400, width = 600;

ab::Array mandelbrot(ab::Array re, ab::Array im) {
  ab::Array x = ab::zeros(ab::f32, {height, width}), y = x, steps = x;
  for (int i = 0; i < 64; ++i) {
    ab::Array inside = x * x + y * y < 4.0f;
    ab::Array next = ab::where(inside, x * x - y * y + re, x);
    y = ab::where(inside, 2.0f * x * y + im, y);
    x = next;
    steps = steps + inside.astype(ab::f32);
  }
  return (steps * (255.0f / 64)).astype(ab::u8);
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "mandelbrot.pgm";
  ab::Array re = ab::linspace(-2.2f, 0.8f, width);
  ab::Array im = ab::reshape(ab::linspace(-1.0f, 1.0f, height), {height, 1});
  auto pixels = ab::jit(mandelbrot)(re, im).to_vector<std::uint8_t>();

  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << width << " " << height << "\n255\n";
  file.write(reinterpret_cast<const char*>(pixels.data()),
             static_cast<std::streamsize>(pixels.size()));
  file.close();
  if (!file) {
    std::cerr << path << ": cannot be written\n";
    return 1;
  }
  std::cout << "wrote " << path << "\n";

  for (std::int64_t row = 0; row < height; row += 16) {  // and a rough view of it here
    for (std::int64_t column = 0; column < width; column += 8) {
      std::cout << " .:-=+*#%@"[pixels[static_cast<std::size_t>(row * width + column)] * 9 / 255];
    }
    std::cout << "\n";
  }
}
