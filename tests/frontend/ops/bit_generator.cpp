// rng_bit_generator against the known answers of Random123, and against XLA's layout.
#include <array>

#include "tests/support/values.h"

namespace {

using ab::RandomAlgorithm;
using Words = std::vector<std::uint32_t>;
using Doubles = std::vector<std::uint64_t>;

// Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC 2011, as plain loops.
std::array<std::uint32_t, 2> threefry(std::uint64_t key, std::uint64_t counter) {
  const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  std::uint32_t keys[3] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32),
                           0x1BD11BDA};
  keys[2] ^= keys[0] ^ keys[1];
  auto x = static_cast<std::uint32_t>(counter) + keys[0],
       y = static_cast<std::uint32_t>(counter >> 32) + keys[1];
  for (std::uint32_t round = 0; round < 20; ++round) {
    x += y;
    const int by = rotations[round % 8];
    y = (y << by | y >> (32 - by)) ^ x;
    if (round % 4 == 3) {
      const std::uint32_t group = round / 4 + 1;
      x += keys[group % 3];
      y += keys[(group + 1) % 3] + group;
    }
  }
  return {x, y};
}

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t low, std::uint64_t high) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  std::array<std::uint32_t, 4> x = {
      static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
      static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<std::uint32_t>(a)};
  }
  return x;
}

ab::RandomBits draw(const Doubles& state, RandomAlgorithm algorithm, const ab::Sizes& sizes,
                    ab::Dtype dtype = ab::u32) {
  return ab::jit(
      [&] { return ab::rng_bit_generator(ab::array(state), algorithm, sizes, dtype); })();
}

TEST(BitGenerator, ThreefryGivesTheKnownAnswers) {
  const auto bits = [](std::uint64_t key, std::uint64_t counter) {
    return draw({key, counter}, RandomAlgorithm::threefry, {1}, ab::u64)
        .bits.to_vector<std::uint64_t>()[0];
  };
  EXPECT_EQ(bits(0, 0), 0x99ba4efe6b200159u);
  EXPECT_EQ(bits(~0ull, ~0ull), 0xbb002be71cb996fcu);
  EXPECT_EQ(bits(0x0370734413198a2e, 0x85a308d3243f6a88), 0x483df7a0c4923a9cu);
}

TEST(BitGenerator, PhiloxGivesTheKnownAnswers) {
  const auto bits = [](std::uint64_t key, std::uint64_t low, std::uint64_t high) {
    return draw({key, low, high}, RandomAlgorithm::philox, {4}).bits.to_vector<std::uint32_t>();
  };
  EXPECT_EQ(bits(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(bits(~0ull, ~0ull, ~0ull), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(bits(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Word `at` of an array of 32-bit words, by XLA's halves along one axis.
std::uint32_t threefry_word(const Doubles& state, const std::vector<std::int64_t>& sizes,
                            std::size_t axis, std::int64_t at) {
  std::vector<std::int64_t> place(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0; at /= sizes[i]) place[i] = at % sizes[i];
  const auto word = static_cast<std::size_t>(place[axis] % 2);
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = i == axis ? (sizes[i] + 1) / 2 : sizes[i];
    position = position * static_cast<std::uint64_t>(size) +
               static_cast<std::uint64_t>(i == axis ? place[i] / 2 : place[i]);
  }
  return threefry(state[0], state[1] + position)[word];
}

TEST(BitGenerator, ThreefrySplitsAnEvenAxisOrTheLargest) {
  const Doubles state = {0x123456789abcdef, 0xfffffffffffffffe};
  for (auto [sizes, axis, half] : {std::tuple(std::vector<std::int64_t>{6}, 0, 3),
                                   {{5}, 0, 3},
                                   {{3, 4}, 1, 6},
                                   {{2, 4}, 0, 4},
                                   {{3, 5, 5}, 1, 45},
                                   {{1}, 0, 1},
                                   {{0, 3}, 0, 0}}) {
    const auto drawn = draw(state, RandomAlgorithm::threefry, sizes);
    const Words bits = drawn.bits.to_vector<std::uint32_t>();
    for (std::size_t i = 0; i < bits.size(); ++i) {
      ASSERT_EQ(bits[i], threefry_word(state, sizes, axis, static_cast<std::int64_t>(i))) << i;
    }
    EXPECT_EQ(drawn.state.to_vector<std::uint64_t>(), (Doubles{state[0], state[1] + half}));
  }
  const auto scalar = draw(state, RandomAlgorithm::threefry, {});
  EXPECT_EQ(scalar.bits.item<std::uint32_t>(), threefry(state[0], state[1])[0]);
  EXPECT_EQ(scalar.state.to_vector<std::uint64_t>(), (Doubles{state[0], state[1] + 1}));
  const auto wide = draw(state, RandomAlgorithm::threefry, {2, 2}, ab::i64);
  EXPECT_EQ(wide.state.to_vector<std::uint64_t>(), (Doubles{state[0], 2}));
}

TEST(BitGenerator, PhiloxTakesWordsInTurnAndCarries) {
  const Doubles state = {77, 0xffffffffffffffff, 41};
  const auto drawn = draw(state, RandomAlgorithm::philox, {3, 3});
  const Words bits = drawn.bits.to_vector<std::uint32_t>();
  const Doubles low = {~0ull, 0, 1}, high = {41, 42, 42};
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_EQ(bits[i], philox(77, low[i / 4], high[i / 4])[i % 4]);
  EXPECT_EQ(drawn.state.to_vector<std::uint64_t>(), (Doubles{77, 2, 42}));
  const auto wide = draw(state, RandomAlgorithm::standard, {3}, ab::u64);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto words = philox(77, low[i / 2], high[i / 2]);
    EXPECT_EQ(wide.bits.to_vector<std::uint64_t>()[i],
              words[i % 2 * 2] | std::uint64_t{words[i % 2 * 2 + 1]} << 32);
  }
  EXPECT_EQ(wide.state.to_vector<std::uint64_t>(), (Doubles{77, 1, 42}));
}

// XLA reads a state of two numbers with the key as the upper half of the counter.
TEST(BitGenerator, PhiloxWithAShortState) {
  const auto drawn = draw({77, 5}, RandomAlgorithm::philox, {6});
  const Words bits = drawn.bits.to_vector<std::uint32_t>();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(bits[i], philox(77, 5 + i / 4, 77)[i % 4]);
  EXPECT_EQ(drawn.state.to_vector<std::uint64_t>(), (Doubles{77, 7}));
}

TEST(BitGenerator, NarrowBitsAreTheLowerPartsOfWords) {
  for (RandomAlgorithm algorithm : {RandomAlgorithm::philox, RandomAlgorithm::threefry}) {
    const Words words = draw({1, 2}, algorithm, {7}).bits.to_vector<std::uint32_t>();
    const auto bytes = draw({1, 2}, algorithm, {7}, ab::u8).bits.to_vector<std::uint8_t>();
    const auto halves = draw({1, 2}, algorithm, {7}, ab::i16).bits.to_vector<std::int16_t>();
    const auto floats = draw({1, 2}, algorithm, {7}, ab::f32).bits;
    EXPECT_EQ(floats.dtype(), ab::f32);
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(bytes[i], static_cast<std::uint8_t>(words[i]));
      EXPECT_EQ(halves[i], static_cast<std::int16_t>(words[i]));
    }
  }
}

TEST(BitGenerator, RefusesOtherStates) {
  const auto state = [](std::int64_t count, ab::Dtype dtype = ab::u64) {
    return ab::zeros({count}, dtype);
  };
  EXPECT_THROW(ab::rng_bit_generator(state(3), RandomAlgorithm::threefry, {2}), ab::Error);
  EXPECT_THROW(ab::rng_bit_generator(state(4), RandomAlgorithm::philox, {2}), ab::Error);
  EXPECT_THROW(ab::rng_bit_generator(state(2, ab::u32), RandomAlgorithm::philox, {2}), ab::Error);
  EXPECT_THROW(ab::rng_bit_generator(state(2), RandomAlgorithm::philox, {2}, ab::bool_), ab::Error);
}

}  // namespace
