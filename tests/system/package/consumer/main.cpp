// What a user writes, one feature after the other: exits with the number of the first that fails.
#include <iostream>
#include <sstream>

#include "codegen/compile.h"
#include "ir/error.h"
#include "model.h"
#include "runtime/device.h"

namespace ab = anabranch;

namespace {

bool near(float a, float b) { return a - b < user::tolerance && b - a < user::tolerance; }

int failure() {
  if (ab::devices().size() < 3) return 11;  // read from ANABRANCH_CPU_DEVICES

  const user::Device device;
  if (!near(plugin_total(device.slots, ANABRANCH_CONSUMER_COMPILE), 30)) return 1;

  const Params params = make_params();
  const auto model = ab::jit(apply);
  if (!near(model(params, ab::ones({2, 4})).to_vector<float>().at(7), 32)) return 2;
  if (model.traces() != 1) return 3;

  std::ostringstream text;
  const ab::Graph graph =
      ab::trace([](ab::Array x) { return ab::tanh(x); }, ab::spec(ab::f32, {3}));
  text << graph << graph.parameter_type(0);
  if (text.str().find("tanh") == std::string::npos || !(ab::parse(to_string(graph)) == graph))
    return 4;
  if (model.dump(ab::Stage::schedule, params, ab::ones({2, 4})).empty()) return 5;

  try {
    ab::matmul(ab::ones({2, 3}), ab::ones({2, 3})).wait();
    return 6;
  } catch (const ab::Error& error) {
    if (std::string(error.what()).find("main.cpp") == std::string::npos) return 7;
  }

  const auto [sum, steps] =
      ab::while_loop([](auto& state) { return std::get<0>(state) < 10.0f; },
                     [](auto& state) {
                       return std::tuple{std::get<0>(state) + 1.0f, std::get<1>(state) * 2.0f};
                     },
                     std::tuple{ab::scalar(0.0f), ab::scalar(1.0f)});
  if (!near(sum.template item<float>(), 10) || !near(steps.template item<float>(), 1024)) return 8;

  const ab::Array doubled = ab::custom_call(
      "doubled",
      [](const ab::CustomCall& call) {
        for (std::size_t i = 0; i < 3; ++i)
          call.result<float>(0)[i] = 2 * call.operand<float>(0)[i];
      },
      ab::spec(ab::f32, {3}), ab::array({1.0f, 2.0f, 3.0f}));
  if (!near(doubled.to_vector_async<float>().get()[2], 6)) return 9;
  try {
    ab::custom_call(
        "fails", [](const ab::CustomCall&) { throw ab::Error("no"); }, ab::spec(ab::f32, {}))
        .wait();
    return 10;
  } catch (const ab::Error&) {
  }
  ab::wait_all();
  return 0;
}

}  // namespace

int main() {
  const int failed = failure();
  std::cout << (failed == 0 ? "all is well" : "failed: ") << (failed == 0 ? 0 : failed) << "\n";
  return failed;
}
