// What is said of a misuse of each transform: what is wrong, where, and what to do instead.
#include <functional>
#include <string>

#include "tests/support/values.h"

namespace {

using ab::Array;

Array f32s(std::vector<float> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return ab::array(values, ab::Shape{size});
}

struct Params {
  Array w, b;
};

Array i32s(std::vector<std::int32_t> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return ab::array(values, ab::Shape{size});
}

struct Misuse {
  const char* name;
  std::function<void()> act;
  const char* message;  // all but the place, which follows
};

using One = std::tuple<Array>;

const auto total = [](Array x) { return ab::sum(x); };
const auto same = [](Array x) { return x; };
const auto with_vjp = ab::custom_vjp(
    same, [](Array x) { return std::pair(x, x); }, [](const Array&, Array dy) { return dy; });

const Misuse misuses[] = {
    {"grad of an array",
     [] {
       ab::grad(same)(f32s({1, 2}));
     },
     "grad: the function gives f32[2], and not a scalar of floats; reduce it with sum() or mean(), "
     "or use vjp or jacobian"},
    {"grad of an integer",
     [] { ab::grad([](Array x) { return ab::sum(x).astype(ab::i32); })(f32s({1})); },
     "grad: the function gives i32[], and not a scalar of floats; reduce it with sum() or mean(), "
     "or use vjp or jacobian"},
    {"value_and_grad of an array",
     [] {
       ab::value_and_grad(same)(f32s({1, 2}));
     },
     "value_and_grad: the function gives f32[2], and not a scalar of floats; reduce it with sum() "
     "or mean(), or use vjp or jacobian"},
    {"grad by integers", [] { ab::grad(total)(i32s({1})); },
     "grad: argument 0 is i32[1], and only floats and complex numbers have gradients; convert it "
     "with .astype(ab::f32), or put it in an argument of its own"},
    {"grad by integers in a struct",
     [] {
       ab::grad([](Params p) { return ab::sum(p.w); })(Params{f32s({1}), i32s({2})});
     },
     "grad: argument 0.b is i32[1], and only floats and complex numbers have gradients; convert it "
     "with .astype(ab::f32), or put it in an argument of its own"},
    {"grad by an argument that is none", [] { ab::grad(total, ab::argument(1))(f32s({1})); },
     "grad: there is no argument 1; the function is called with 1 argument, number 0"},
    {"grad by an argument from the end",
     [] { ab::grad(total, ab::argument(static_cast<std::size_t>(-1)))(f32s({1})); },
     "grad: there is no argument -1; the function is called with 1 argument, number 0"},
    {"grad by one of several that is none",
     [] {
       ab::grad([](Array x, Array y) { return ab::sum(x * y); }, ab::arguments(0, 2))(f32s({1}),
                                                                                      f32s({1}));
     },
     "grad: there is no argument 2; the function is called with 2 arguments, from 0"},
    {"grad twice by the same", [] { ab::grad(total, ab::arguments(0, 0))(f32s({1})); },
     "grad: argument 0 is named twice; name each once"},
    {"grad by a struct, named by number",
     [] {
       ab::grad([](Params p, Array x) { return ab::sum(p.w * x); }, ab::argument(0))(
           Params{f32s({1}), f32s({1})}, f32s({2}));
     },
     "grad: argument 0 is no ab::Array, and arguments have different types; write "
     "ab::argument<0>()"},
    {"grad of an empty argument", [] { ab::grad(total)(Array()); },
     "grad: argument 0 is an empty Array; give it a value first"},
    {"grad of an empty part",
     [] {
       ab::grad([](Params p) { return ab::sum(p.w); })(Params{f32s({1}), {}});
     },
     "grad: argument 0.b is an empty Array; give it a value first"},
    {"grad of an empty result", [] { ab::grad([](Array) { return Array(); })(f32s({1})); },
     "grad: the result is an empty Array; give it a value first"},
    {"grad through a custom_call",
     [] {
       ab::grad([](Array x) {
         return ab::custom_call(
             "twice",
             [](const ab::CustomCall& call) {
               call.result<float>(0)[0] = 2 * call.operand<float>(0)[0];
             },
             ab::spec(ab::f32, {}), x);
       })(ab::scalar(1.0f));
     },
     "custom_call has no derivative; give it one by custom_jvp or custom_vjp, or make it a "
     "constant "
     "by stop_gradient"},
    {"jacobian of integers",
     [] { ab::jacobian([](Array x) { return x.astype(ab::i32); })(f32s({1})); },
     "jacobian: the function gives i32[1], and only floats and complex numbers have derivatives; "
     "convert it with .astype(ab::f32)"},
    {"jacobian_forward by integers", [] { ab::jacobian_forward(same)(i32s({1})); },
     "jacobian_forward: argument 0 is i32[1], and only floats and complex numbers have gradients; "
     "convert it with .astype(ab::f32), or put it in an argument of its own"},
    {"hessian of an array",
     [] {
       ab::hessian(same)(f32s({1, 2}));
     },
     "hessian: the function gives f32[2], and not a scalar of floats; reduce it with sum() or "
     "mean(), or use vjp or jacobian"},
    {"hessian by an argument that is none", [] { ab::hessian(total, ab::argument(1))(f32s({1})); },
     "hessian: there is no argument 1; the function is called with 1 argument, number 0"},
    {"a cotangent of another shape",
     [] {
       ab::vjp(same, f32s({1, 2})).second(f32s({1}));
     },
     "vjp: the cotangent is f32[1], and not f32[2], the type of what it belongs to; reshape or "
     "convert it"},
    {"a cotangent of another dtype",
     [] { ab::vjp(same, f32s({1})).second(f32s({1}).astype(ab::f64)); },
     "vjp: the cotangent is f64[1], and not f32[1], the type of what it belongs to; reshape or "
     "convert it"},
    {"fewer cotangents than results",
     [] {
       const auto f = [](Array x) { return std::vector<Array>{x, x}; };
       ab::vjp(f, f32s({1})).second(std::vector<Array>{f32s({1})});
     },
     "vjp: 1 arrays are given, and not 2; lists and maps must be of one length"},
    {"an empty cotangent", [] { ab::vjp(same, f32s({1})).second(Array()); },
     "vjp: the cotangent is an empty Array; give it a value first"},
    {"a tangent of another shape",
     [] {
       ab::jvp(same, std::tuple{f32s({1, 2})}, std::tuple{f32s({1})});
     },
     "jvp: the tangent of argument 0 is f32[1], and not f32[2], the type of the argument; reshape "
     "or convert it"},
    {"fewer tangents than arguments",
     [] {
       const auto f = [](const std::vector<Array>& xs) { return xs[0]; };
       ab::jvp(f, std::tuple{std::vector<Array>{f32s({1}), f32s({2})}},
               std::tuple{std::vector<Array>{f32s({1})}});
     },
     "jvp: the arguments have 2 arrays, and the tangents 1; lists and maps must be of one length"},
    {"a push of another shape",
     [] {
       ab::linearize(same, f32s({1, 2})).second(f32s({1}));
     },
     "linearize: the tangent of argument 0 is f32[1], and not f32[2], the type of what it belongs "
     "to; reshape or convert it"},
    {"jvp of a custom_vjp",
     [] { ab::jvp(with_vjp, std::tuple{f32s({1})}, std::tuple{f32s({1})}).second.wait(); },
     "a function with a custom_vjp has no forward derivative; give it a custom_jvp"},
    {"a custom_jvp of another result",
     [] {
       const auto f = ab::custom_jvp(same, [](const One& x, const One&) {
         return std::pair(std::get<0>(x), ab::sum(std::get<0>(x)));
       });
       ab::jit(f)(f32s({1, 2}));
     },
     "custom_jvp: the rule's tangent is f32[], and not f32[2]; reshape or convert it in the rule"},
    {"a custom_vjp of another gradient",
     [] {
       const auto f = ab::custom_vjp(
           same, [](Array x) { return std::pair(x, x); },
           [](const Array& x, Array) { return ab::sum(x); });
       ab::jit(f)(f32s({1, 2}));
     },
     "custom_vjp: the gradient is f32[], and not f32[2]; reshape or convert it in the rule"},
    {"a custom_vjp that captures what is differentiated by",
     [] {
       ab::grad([](Array w) {
         const auto f = ab::custom_vjp([&](Array x) { return x * w; },
                                       [&](Array x) { return std::pair(x * w, x); },
                                       [&](const Array&, Array dy) { return dy * w; });
         return ab::sum(f(w));
       })(f32s({1, 2}));
     },
     "custom_vjp: the function captures an array that is differentiated by; pass it as an "
     "argument"},
    {"a custom_jvp that only captures what is differentiated by",
     [] {
       ab::grad([](Array w) {
         const auto f = ab::custom_jvp([&](Array x) { return x * w; },
                                       [&](std::tuple<Array>& xs, std::tuple<Array>& dxs) {
                                         const auto& [x] = xs;
                                         const auto& [dx] = dxs;
                                         return std::pair(x * w, dx * w);
                                       });
         return ab::sum(f(f32s({3, 4})));
       })(f32s({1, 2}));
     },
     "custom_jvp: the function captures an array that is differentiated by; pass it as an "
     "argument"},
    {"an empty array kept constant", [] { ab::stop_gradient(Array()); },
     "stop_gradient: x is an empty Array; give it a value first"},
};

using TangentRule = Array (*)(Array x, Array dx);

struct BentRule {
  const char* op;
  TangentRule tangent;
};

const BentRule bent_rules[] = {
    {"multiply", [](Array, Array dx) { return ab::sum(dx * dx); }},
    {"divide", [](Array x, Array dx) { return ab::sum(x / dx); }},
    {"convert", [](Array, Array dx) { return ab::sum(dx.astype(ab::i32).astype(ab::f32)); }},
    {"abs", [](Array, Array dx) { return ab::sum(ab::abs(dx)); }},
    {"exponential", [](Array, Array dx) { return ab::sum(ab::exp(dx)); }},
    {"reduce_max", [](Array, Array dx) { return ab::max(dx); }},
    {"sort", [](Array, Array dx) { return ab::sum(ab::sort(dx)); }},
    {"select", [](Array, Array dx) { return ab::sum(ab::where(dx > 0, dx, 0)); }},
    {"dot", [](Array, Array dx) { return ab::dot(dx, dx); }},
    {"cumulative", [](Array, Array dx) { return ab::sum(ab::cummax(dx)); }},
    {"while",
     [](Array, Array dx) {
       return ab::sum(ab::while_loop([](Array y) { return ab::sum(y) < 9; },
                                     [](Array y) { return y + y; }, dx));
     }},
    {"case",
     [](Array, Array dx) {
       return ab::cond(
           ab::sum(dx) > 0, [&] { return ab::sum(dx); }, [&] { return -ab::sum(dx); });
     }},
    {"triangular_solve",
     [](Array x, Array dx) { return ab::sum(ab::linalg::solve_triangular(ab::diag(dx), x)); }},
};

TEST(TransformErrors, NameWhatIsNotLinearInTangents) {
  for (const BentRule& rule : bent_rules) {
    const auto f = ab::custom_jvp(total, [&](const One& x, const One& dx) {
      return std::pair(ab::sum(std::get<0>(x)), rule.tangent(std::get<0>(x), std::get<0>(dx)));
    });
    try {
      ab::grad(f)(f32s({1, 2})).wait();
      ADD_FAILURE() << rule.op << ": no error";
    } catch (const ab::Error& error) {
      const std::string text = error.what();
      const std::string wanted =
          "custom_jvp: the rule's tangent is not linear in those of the arguments: " +
          std::string(rule.op) + "; ";
      EXPECT_EQ(text.substr(0, wanted.size()), wanted);
      EXPECT_NE(text.find(", at errors.cpp:"), std::string::npos) << text;
    }
  }
}

TEST(TransformErrors, NameWhatIsWrongAndTheRemedy) {
  for (const Misuse& misuse : misuses) {
    try {
      misuse.act();
      ADD_FAILURE() << misuse.name << ": no error";
    } catch (const ab::Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.substr(0, text.find(", at errors.cpp:")), misuse.message) << misuse.name;
      EXPECT_NE(text.find(", at errors.cpp:"), std::string::npos) << misuse.name << ": " << text;
    }
  }
  EXPECT_GE(std::size(misuses), 25u);
}

}  // namespace
