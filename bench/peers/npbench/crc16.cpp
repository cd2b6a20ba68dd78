// The cyclic redundancy check of bytes with the polynomial 0x8408, bit after bit.
#include "bench/peers/benchmark.h"

namespace peers {

static ab::Array checksum(ab::Array data) {
  const auto [crc, none] = ab::scan(
      [](ab::Array& state, ab::Array& byte) {
        ab::Array value = state ^ byte;
        for (int bit = 0; bit < 8; ++bit)
          value = ab::where((value & 1) != 0, (value >> 1) ^ 0x8408, value >> 1);
        return std::pair{value, std::tuple<>()};
      },
      ab::scalar(0xFFFF, ab::i32), data.astype(ab::i32));
  const ab::Array inverted = ~crc & 0xFFFF;
  return ((inverted << 8) | (inverted >> 8)) & 0xFFFF;
}

Benchmark crc16() { return benchmark(checksum, {"data"}); }

}  // namespace peers
