// Random numbers.
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

constexpr Translation rows_of_random[] = {
    {"rng", rng_op},
};

}  // namespace

std::span<const Translation> random_translations() { return rows_of_random; }

}  // namespace anabranch::stablehlo
