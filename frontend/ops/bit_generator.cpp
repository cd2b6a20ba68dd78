#include "anabranch/bit_generator.h"

#include <algorithm>
#include <array>

#include "anabranch/bits.h"
#include "anabranch/creation.h"
#include "anabranch/manipulate.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/philox.h"
#include "frontend/ops/special_terms.h"
#include "frontend/trace/record.h"

namespace anabranch {
namespace {

using Sizes64 = std::vector<std::int64_t>;

Term positions(const Shape& shape, SourceLocation where) {
  const Term flat = {
      record(Op::iota, {}, where, AxisAttributes{0}, Type{u64, Shape({shape.size()})}), where};
  return {reshape(flat, shape), where};
}

Term low_word(const Term& x) { return converted(x & 0xffffffffu, u32); }
Term high_word(const Term& x) { return converted(x >> 32, u32); }
Term double_word(const Term& low, const Term& high) {
  return converted(low, u64) | (converted(high, u64) << 32);
}

Term turned_left(const Term& x, int by) { return (x << by) | (x >> (32 - by)); }

// Threefry 2x32 of 20 rounds: both words of each counter.
std::array<Term, 2> threefry(const Term& key, const Term& counter) {
  constexpr int rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  const Term first = low_word(key), second = high_word(key);
  const Term keys[] = {first, second, (first ^ second) ^ 0x1BD11BDAu};
  Term x = low_word(counter) + keys[0], y = high_word(counter) + keys[1];
  for (int round = 0; round < 20; ++round) {
    x = x + y;
    y = turned_left(y, rotations[round % 8]) ^ x;
    if (round % 4 != 3) continue;
    const int group = round / 4 + 1;
    x = x + keys[group % 3];
    y = y + (keys[(group + 1) % 3] + group);
  }
  return {x, y};
}

// Philox 4x32 of 10 rounds: the four words of each counter.
std::array<Term, 4> philox(const Term& key, const Term& low, const Term& high) {
  Term first = low_word(key), second = high_word(key);
  std::array<Term, 4> x = {low_word(low), high_word(low), low_word(high), high_word(high)};
  for (int round = 0; round < 10; ++round) {
    const Term left = converted(x[0], u64) * 0xD2511F53u,
               right = converted(x[2], u64) * 0xCD9E8D57u;
    x = {high_word(right) ^ x[1] ^ first, low_word(right), high_word(left) ^ x[3] ^ second,
         low_word(left)};
    first = first + 0x9E3779B9u;
    second = second + 0xBB67AE85u;
  }
  return x;
}

// The terms of one shape as one array that takes an element of each in turn, cut to `count`.
Term in_turn(const std::vector<Term>& terms, std::int64_t count, SourceLocation where) {
  std::vector<Operand> parts;
  for (const Term& term : terms) parts.push_back(expand_dims(term, -1));
  const Term all = {ravel({concat(Operands(parts), -1), where}), where};
  return {slice(all, {0}, {count}), where};
}

struct Drawn {
  Term counter;  // the next one: its numbers along an axis
  Term bits;     // u32 or u64
};

// XLA splits the shape in halves along the first even axis, or else along the largest: the first
// words of the counters are one half, the second words the other, one beside the other.
Drawn draw_threefry(const Term& key, const Term& counter, const Shape& shape, bool wide) {
  const SourceLocation at = key.where();
  if (wide) {
    const auto [low, high] = threefry(key, counter + positions(shape, at));
    return {counter + static_cast<std::uint64_t>(shape.size()), double_word(low, high)};
  }
  Sizes64 sizes(shape.begin(), shape.end());
  if (sizes.empty()) sizes.push_back(1);
  auto axis = std::ranges::find_if(sizes, [](std::int64_t size) { return size % 2 == 0; });
  if (axis == sizes.end()) axis = std::ranges::max_element(sizes);
  const auto split = axis - sizes.begin();
  Sizes64 half = sizes, joined = sizes;
  half[static_cast<std::size_t>(split)] = (sizes[static_cast<std::size_t>(split)] + 1) / 2;
  joined[static_cast<std::size_t>(split)] = 2 * half[static_cast<std::size_t>(split)];
  const auto [low, high] = threefry(key, counter + positions(Shape(half), at));
  const Operand parts[] = {expand_dims(low, split + 1), expand_dims(high, split + 1)};
  const Term both = {concat({parts[0], parts[1]}, split + 1), at};
  const Term whole = {reshape(both, Sizes(joined, at)), at};
  const Term cut = {slice(whole, Sizes(Sizes64(sizes.size(), 0), at), Sizes(sizes, at)), at};
  return {counter + static_cast<std::uint64_t>(Shape(half).size()),
          {reshape(cut, Sizes(Sizes64(shape.begin(), shape.end()), at)), at}};
}

Drawn draw_philox(const Term& key, const Term& low, const Term& high, const Shape& shape,
                  bool wide) {
  const SourceLocation at = key.where();
  const std::int64_t count = shape.size(), words = wide ? 2 * count : count,
                     blocks = (words + 3) / 4;
  const auto moved = [&](const Term& by) {
    const Term sum = low + by;
    return std::pair(sum, where(sum < low, high + 1, high));
  };
  const auto [from_low, from_high] = moved(positions(Shape({blocks}), at));
  const std::array<Term, 4> x = philox(key, from_low, from_high);
  const Term bits = wide ? in_turn({double_word(x[0], x[1]), double_word(x[2], x[3])}, count, at)
                         : in_turn({x[0], x[1], x[2], x[3]}, count, at);
  const auto [next_low, next_high] = moved({full({1}, static_cast<std::uint64_t>(blocks)), at});
  return {{concat({next_low, next_high}), at},
          {reshape(bits, Sizes(Sizes64(shape.begin(), shape.end()), at)), at}};
}

}  // namespace

Array philox_word(const Operand& key, const Operand& counter) {
  const Term number(counter), place = number & 3u, none = number ^ number;
  const std::array<Term, 4> x = philox(Term(key), number >> 2, none);
  const auto chosen = [&](int which, const Term& otherwise) {
    return where(place == which, x[static_cast<std::size_t>(which)], otherwise);
  };
  return chosen(0, chosen(1, chosen(2, x[3])));
}

RandomBits rng_bit_generator(const Operand& state, RandomAlgorithm algorithm, const Sizes& sizes,
                             Dtype dtype) {
  const SourceLocation at = state.where();
  const Term given = {as_array("rng_bit_generator", state), at};
  const Type& type = type_of(given.array());
  const bool is_threefry = algorithm == RandomAlgorithm::threefry;
  const std::int64_t count = type.rank() == 1 ? type.shape[0] : 0;
  if (type.dtype != u64 || (count != 2 && (is_threefry || count != 3))) {
    fail("rng_bit_generator: the state is " + describe(state) + "; give u64[2]" +
             (is_threefry ? "" : " or u64[3]"),
         at);
  }
  if (dtype == bool_) fail("rng_bit_generator: draws integers and floats, not bool", at);
  const Shape shape = sizes.shape("rng_bit_generator");
  const int width = info(dtype).bits;
  const auto part = [&](std::int64_t from) { return Term(slice(given, {from}, {from + 1}), at); };
  const Term key = part(0);
  Drawn drawn = is_threefry  ? draw_threefry(key, part(1), shape, width == 64)
                : count == 3 ? draw_philox(key, part(1), part(2), shape, width == 64)
                             : draw_philox(key, part(1), key, shape, width == 64);
  Term bits = drawn.bits;
  if (width < 32) {
    const Dtype narrow = width == 8 ? u8 : u16;
    bits = converted(bits & ((1u << width) - 1), narrow);
  }
  const std::int64_t kept = count - 1;
  const Term counter = {slice(drawn.counter, {0}, {kept}), at};
  return {concat({key, counter}), reshape(bitcast(bits, dtype), sizes)};
}

}  // namespace anabranch
