// Random numbers.
#include "anabranch/bit_generator.h"
#include "anabranch/random.h"
#include "frontend/array/expression.h"
#include "frontend/ops/term.h"
#include "frontend/stablehlo/site.h"

namespace anabranch::stablehlo {
namespace {

// StableHLO leaves open what is drawn. Here it is the same in each run: the place of the op in the
// text is the key.
Results rng_op(const Site& site) {
  if (site.count() < 2) site.fail("takes two parameters of the distribution and a shape");
  const Type type = site.result_type();
  const List sizes(type.shape.begin(), type.shape.end());
  const std::string distribution = site.word("rng_distribution");
  const Dtype dtype = is_float(type.dtype) ? type.dtype : f64;
  const Operand key(random::key(site.op.at), site.where());
  const Term a = {site.converted(site.operand(0), dtype), site.where()};
  const Term b = {site.converted(site.operand(1), dtype), site.where()};
  if (distribution == "NORMAL") {
    const Term drawn = {random::normal(key, sizes, dtype), site.where()};
    return {site.converted(a + drawn * b, type.dtype)};
  }
  if (distribution != "UNIFORM") site.fail("there is no distribution " + distribution);
  const Term drawn = {random::uniform(key, sizes, dtype), site.where()};
  const Term scaled = a + drawn * (b - a);
  return {site.converted(is_float(type.dtype) ? scaled : floor(scaled), type.dtype)};
}

Results rng_bit_generator_op(const Site& site) {
  site.expect_operands(1);
  const std::string algorithm = site.word("rng_algorithm");
  RandomAlgorithm chosen = RandomAlgorithm::standard;
  if (algorithm == "PHILOX") {
    chosen = RandomAlgorithm::philox;
  } else if (algorithm == "THREE_FRY") {
    chosen = RandomAlgorithm::threefry;
  } else if (algorithm != "DEFAULT") {
    site.fail("there is no generator " + algorithm + "; DEFAULT, PHILOX and THREE_FRY are");
  }
  const Type type = site.result_type(1);
  const Shape& shape = type.shape;
  const RandomBits drawn = rng_bit_generator({site.operand(0), site.where()}, chosen,
                                             List(shape.begin(), shape.end()), type.dtype);
  return {drawn.state, drawn.bits};
}

constexpr Translation rows_of_random[] = {
    {"rng_bit_generator", rng_bit_generator_op},
    {"rng", rng_op},
};

}  // namespace

std::span<const Translation> random_translations() { return rows_of_random; }

}  // namespace anabranch::stablehlo
