#include "anabranch/optim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "anabranch/creation.h"
#include "anabranch/dtype_info.h"
#include "anabranch/reduce.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/ops/special_terms.h"
#include "frontend/ops/term.h"
#include "frontend/ops/tree_paths.h"

namespace anabranch::optim::detail {
namespace {

// A tree beside its paths, as a function was given it. `root` begins the paths.
struct Given {
  std::string_view root;
  const Tree& tree;
  std::vector<std::string> paths;

  Given(std::string_view name, const Tree& apart)
      : root(name), tree(apart), paths(anabranch::detail::array_paths(apart.form)) {}

  std::string_view place(std::size_t at) const {
    return at < paths.size() ? std::string_view(paths[at]).substr(root.size()) : "nothing more";
  }
  std::string named(std::size_t at) const {
    return at < paths.size() ? paths[at] : "nothing more in " + std::string(root);
  }
};

void demand_float(const char* function, const Given& given, std::size_t at, SourceLocation where) {
  const Array& array = given.tree.leaves[at];
  if (!array.expression()) {
    fail(std::string(function) + ": " + given.paths[at] + " is an empty Array; give it a value",
         where);
  }
  if (is_float(type_of(array).dtype)) return;
  fail(std::string(function) + ": " + given.paths[at] + " is " + to_string(type_of(array)) +
           ", and only floats are optimised; keep it outside of the parameters, or convert it with "
           ".astype(ab::f32)",
       where);
}

void demand_floats(const char* function, const Given& given, SourceLocation where) {
  for (std::size_t at = 0; at < given.paths.size(); ++at) demand_float(function, given, at, where);
}

// Throws Error unless `others` have floats of the shapes of the parameters, at the same places.
void demand_like(const char* function, const Given& params, const Given& others,
                 SourceLocation where) {
  const std::size_t count = std::max(params.paths.size(), others.paths.size());
  for (std::size_t at = 0; at < count; ++at) {
    if (params.place(at) != others.place(at)) {
      fail(std::string(function) + ": " + params.named(at) + " is beside " + others.named(at) +
               "; give trees of the same lists, keys and structs",
           where);
    }
    demand_float(function, others, at, where);
    const Type &wanted = type_of(params.tree.leaves[at]), &found = type_of(others.tree.leaves[at]);
    if (wanted.shape == found.shape) continue;
    fail(std::string(function) + ": " + others.paths[at] + " is " + to_string(found) + ", and " +
             params.paths[at] + " is " + to_string(wanted) + "; give the same shape",
         where);
  }
}

void demand_share(const char* function, const char* what, double value, SourceLocation where) {
  if (value >= 0 && value < 1) return;
  fail(std::string(function) + ": " + what + " is " + to_string(Number(value)) +
           "; give at least 0 and less than 1",
       where);
}

// A scalar float, or a number, for what is computed in a dtype.
class Rate {
 public:
  Rate(const char* function, const char* what, const Operand& given, SourceLocation where)
      : given_(given), where_(where) {
    if (given.is_number()) return;
    const Type& type = type_of(as_array(function, given));
    if (type.rank() == 0 && is_float(type.dtype)) return;
    fail(std::string(function) + ": the " + what + " is " + to_string(type) +
             ", and has to be a number or a scalar float",
         where);
  }
  Term in(Dtype dtype) const {
    return given_.is_number() ? Term(given_) : Term(astype(given_, dtype), where_);
  }

 private:
  Operand given_;
  SourceLocation where_;
};

// The arrays at one place in the dtype that the parameter's is computed in.
struct Place {
  SourceLocation where;
  Dtype dtype;

  Place(const Array& param, SourceLocation written)
      : where(written), dtype(computes_in(type_of(param).dtype)) {}
  Term wide(const Array& array) const {
    const Term own = with_own_dtype({array, where});
    return type_of(array).dtype == dtype ? own : converted(own, dtype);
  }
  Array rounded(const Term& value, const Array& like) const {
    const Dtype wanted = type_of(like).dtype;
    return wanted == dtype ? value.array() : converted(value, wanted).array();
  }
};

Term decayed(const Term& gradient, const Term& param, double weight_decay) {
  return weight_decay == 0 ? gradient : gradient + weight_decay * param;
}

// A running mean: without this it would never end where nothing is added any more. Multiplied by
// 0.9, the smallest subnormal numbers round to themselves, and arithmetic with these takes CPUs a
// hundred cycles. What is below the smallest normal number is zero; all else keeps its bits.
Term without_subnormals(const Term& x) {
  const double smallest = finfo(x.array().dtype()).smallest_normal;
  return where(abs(x) < smallest, 0, x);
}

Term norm(const Term& x) { return sqrt(sum_in_own_dtype(square(x), {})); }

// 1 / (1 - beta^t): exact where beta^t is near 1.
Term correction(double beta, const Term& t) { return reciprocal(-expm1(t * std::log(beta))); }

struct Corrections {
  Term first, second_root;
};

}  // namespace

namespace {

// The norm is `scaled` / scale, in f64, where no square of an f32 overflows. That of an f64 could,
// and a power of 2 keeps it from that.
struct ScaledNorm {
  Term scaled, scale;
};

ScaledNorm scaled_norm(const Leaves& leaves, SourceLocation where) {
  Term is_large = {zeros({}, bool_), where}, squares = {zeros({}, f64), where};
  for (const Array& x : leaves) {
    if (type_of(x).dtype != f64) continue;
    is_large = is_large | Term(any({abs(Term(x, where)) > 0x1p500, where}), where);
  }
  const Term scale = anabranch::where(is_large, Term(0x1p-600), Term(1.0));
  for (const Array& x : leaves) {
    const Term y = in_f64(with_own_dtype({x, where})) * scale;
    squares = squares + sum_in_own_dtype(square(y), {});
  }
  return {sqrt(squares), scale};
}

}  // namespace

Array norm_of(const Tree& tree, SourceLocation where) {
  demand_floats("optim::global_norm", {"tree", tree}, where);
  const auto is_f64 = [](const Array& x) { return type_of(x).dtype == f64; };
  const auto [scaled, scale] = scaled_norm(tree.leaves, where);
  return converted(scaled / scale, std::ranges::any_of(tree.leaves, is_f64) ? f64 : f32);
}

Leaves clipped_by_value(const Tree& gradients, const Operand& low, const Operand& high) {
  constexpr const char* function = "optim::clip_by_value";
  const SourceLocation where = low.where();
  demand_floats(function, {"gradients", gradients}, where);
  const Rate bottom(function, "low bound", low, where), top(function, "high bound", high, where);
  Leaves clipped;
  for (const Array& x : gradients.leaves) {
    const Term y = with_own_dtype({x, where});
    const Dtype dtype = type_of(x).dtype;
    clipped.push_back(minimum(maximum(y, bottom.in(dtype)), top.in(dtype)));
  }
  return clipped;
}

Leaves clipped_by_norm(const Tree& gradients, const Operand& max_norm) {
  constexpr const char* function = "optim::clip_by_global_norm";
  const SourceLocation where = max_norm.where();
  demand_floats(function, {"gradients", gradients}, where);
  const Rate limit(function, "greatest norm", max_norm, where);
  const auto [scaled, scale_of_norm] = scaled_norm(gradients.leaves, where);
  const Term most = limit.in(f64), share = minimum(most * scale_of_norm / scaled, 1);
  const Term scale = anabranch::where(isfinite(scaled), share, not_a_number);
  Leaves clipped;
  for (const Array& x : gradients.leaves) {
    const Place place(x, where);
    clipped.push_back(place.rounded(place.wide(x) * place.wide(scale), x));
  }
  return clipped;
}

Leaves state_zeros(const char* function, const Tree& params, SourceLocation where) {
  demand_floats(function, {"params", params}, where);
  Leaves zeros;
  for (const Array& x : params.leaves) {
    zeros.push_back(zeros_like({x, where}, computes_in(type_of(x).dtype)));
  }
  return zeros;
}

Array no_steps(SourceLocation where) {
  return zeros(Sizes(std::vector<std::int64_t>{}, where), i64);
}

Leaves sgd_step(const Tree& params, const Tree& gradients, const SgdOptions& options,
                SourceLocation where) {
  constexpr const char* function = "optim::sgd";
  const Given given("params", params);
  demand_floats(function, given, where);
  demand_like(function, given, {"gradients", gradients}, where);
  const Rate rate(function, "learning rate", options.learning_rate, where);
  Leaves next;
  for (std::size_t i = 0; i < params.leaves.size(); ++i) {
    const Place place(params.leaves[i], where);
    const Term p = place.wide(params.leaves[i]);
    const Term g = decayed(place.wide(gradients.leaves[i]), p, options.weight_decay);
    next.push_back(place.rounded(p - rate.in(place.dtype) * g, params.leaves[i]));
  }
  return next;
}

Stepped momentum_step(const Tree& params, const Tree& gradients, const Tree& velocity,
                      const MomentumOptions& options, SourceLocation where) {
  constexpr const char* function = "optim::momentum";
  const Given given("params", params);
  demand_floats(function, given, where);
  demand_like(function, given, {"gradients", gradients}, where);
  demand_like(function, given, {"velocity", velocity}, where);
  demand_share(function, "momentum", options.momentum, where);
  const Rate rate(function, "learning rate", options.learning_rate, where);
  Stepped next;
  for (std::size_t i = 0; i < params.leaves.size(); ++i) {
    const Place place(params.leaves[i], where);
    const Term p = place.wide(params.leaves[i]);
    const Term g = decayed(place.wide(gradients.leaves[i]), p, options.weight_decay);
    const Term v = without_subnormals(options.momentum * place.wide(velocity.leaves[i]) + g);
    const Term along = options.nesterov ? g + options.momentum * v : v;
    next.params.push_back(place.rounded(p - rate.in(place.dtype) * along, params.leaves[i]));
    next.first.push_back(place.rounded(v, velocity.leaves[i]));
  }
  return next;
}

namespace {

Array next_step(const char* function, const Array& step, SourceLocation where) {
  if (!step.expression() || type_of(step).rank() != 0 || !is_integer(type_of(step).dtype)) {
    fail(std::string(function) + ": the state's step is " +
             (step.expression() ? to_string(type_of(step)) : "an empty Array") +
             ", and has to be an integer scalar; begin with optim::adam_init(params)",
         where);
  }
  return with_own_dtype({step, where}) + 1;
}

// What the learning rate scales, before the trust ratio.
Term direction(const Term& m, const Term& v, const Term& p, const AdamStep& how,
               const Corrections& corrections) {
  const Term r = m * corrections.first / (sqrt(v) * corrections.second_root + how.epsilon);
  return decayed(r, p, how.weight_decay);
}

Term trust_ratio(const Term& p, const Term& u) {
  const Term of_p = norm(p), of_u = norm(u), both = (of_p > 0) & (of_u > 0);
  return where(both, of_p / where(both, of_u, 1), 1);
}

}  // namespace

Stepped adam_step(const Tree& params, const Tree& gradients, const Tree& m, const Tree& v,
                  const Array& step, const AdamStep& how, SourceLocation where) {
  const Given given("params", params);
  demand_floats(how.function, given, where);
  demand_like(how.function, given, {"gradients", gradients}, where);
  demand_like(how.function, given, {"m", m}, where);
  demand_like(how.function, given, {"v", v}, where);
  demand_share(how.function, "beta1", how.beta1, where);
  demand_share(how.function, "beta2", how.beta2, where);
  const Rate rate(how.function, "learning rate", how.learning_rate, where);
  Stepped next;
  next.step = next_step(how.function, step, where);
  const auto corrections = [&](Dtype dtype) -> Corrections {
    const Term t = converted({next.step, where}, dtype);
    return {correction(how.beta1, t), sqrt(correction(how.beta2, t))};
  };
  const Corrections narrow = corrections(f32), wide = corrections(f64);  // unused ones never run
  for (std::size_t i = 0; i < params.leaves.size(); ++i) {
    const Place place(params.leaves[i], where);
    const Term p = place.wide(params.leaves[i]), g = place.wide(gradients.leaves[i]);
    const Term m1 = without_subnormals(how.beta1 * place.wide(m.leaves[i]) + (1 - how.beta1) * g);
    const Term v1 =
        without_subnormals(how.beta2 * place.wide(v.leaves[i]) + (1 - how.beta2) * square(g));
    const Term u = direction(m1, v1, p, how, place.dtype == f64 ? wide : narrow);
    const Term scale =
        how.scales_by_trust ? rate.in(place.dtype) * trust_ratio(p, u) : rate.in(place.dtype);
    next.params.push_back(place.rounded(p - scale * u, params.leaves[i]));
    next.first.push_back(place.rounded(m1, m.leaves[i]));
    next.second.push_back(place.rounded(v1, v.leaves[i]));
  }
  return next;
}

}  // namespace anabranch::optim::detail
