// A GPU: kernels beside a copy of the same bytes, products beside cuBLASLt, what a call costs,
// loops, graphs on one stream and on several, a training step, and what compiling takes.
//
//   bench_gpu [--quick] [--json FILE] [--only GROUP]... [--rounds N]
//
// GROUP: memory, products, calls, loops, branches, training, compile. --quick takes tiny sizes, to
// see that the program works. Ends with 0; with 1 where something could not be measured, which it
// names; with 2 for arguments that it does not know; with 3 where there is no GPU.
#include <anabranch/anabranch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/async_graphs.h"
#include "bench/gpu_blaslt.h"
#include "bench/gpu_driver.h"
#include "bench/gpu_kernels.h"
#include "bench/gpu_report.h"
#include "bench/gpu_session.h"
#include "bench/rounds.h"

namespace {

using bench::Each, bench::each_of_ours, bench::on_gpu, bench::random_array, bench::Session;
using bench::Settings, bench::size_text, bench::wanted_seconds;

// --- memory-bound kernels

struct MemoryKernel {
  const char* name;
  double passes;  // over the array: 2 to read and to write as much
  std::function<ab::Array()> call;
};

std::vector<MemoryKernel> memory_kernels(const ab::Array& x, const ab::Array& scale,
                                         const ab::Array& shift) {
  const auto of = [&](auto function, const auto&... arguments) -> std::function<ab::Array()> {
    return
        [compiled = ab::jit(function, on_gpu()), arguments...] { return compiled(arguments...); };
  };
  return {
      {"chain", 2, of(kernels::chain, x)},
      {"softmax", 2, of(kernels::softmax, x)},
      {"layer_norm", 2, of(kernels::layer_norm, x, scale, shift)},
      {"rms_norm", 2, of(kernels::rms_norm, x, scale)},
      {"row_sum", 1, of(kernels::row_sum, x)},
      {"column_sum", 1, of(kernels::column_sum, x)},
      {"full_sum", 1, of(kernels::full_sum, x)},
  };
}

/// All kernels over one array, in the same rounds as a copy of it.
void memory_of(const Session& session, ab::Dtype dtype, std::uint64_t bytes) {
  constexpr std::int64_t row = 1024;
  const auto rows = static_cast<std::int64_t>(bytes) / row / (dtype == ab::f32 ? 4 : 2);
  const std::string of =
      std::string("/") + (dtype == ab::f32 ? "f32/" : "bf16/") + size_text(bytes);
  const ab::Array x = random_array({rows, row}, dtype);
  const ab::Array scale = random_array({row}, dtype), shift = random_array({row}, dtype, 2);

  const bench::GpuMemory from(session.gpu, bytes), to(session.gpu, bytes);
  std::vector<std::function<double()>> each = {
      Each([&] { session.gpu.copy(to.data(), from.data(), bytes); }, [&] { session.gpu.wait(); },
           wanted_seconds(session.settings))};
  std::vector<MemoryKernel> measured;
  for (const MemoryKernel& kernel : memory_kernels(x, scale, shift)) {
    session.attempt(kernel.name + of, [&] {
      each.push_back(each_of_ours(session, kernel.call));
      measured.push_back(kernel);
    });
  }
  const std::vector<double> seconds = bench::medians(session.settings.rounds, each);
  const double once = static_cast<double>(bytes);
  session.report.add({.name = "copy" + of, .seconds = seconds[0], .bytes = 2 * once});
  for (std::size_t i = 0; i < measured.size(); ++i) {
    session.report.add({.name = measured[i].name + of,
                        .seconds = seconds[i + 1],
                        .bytes = measured[i].passes * once,
                        .beside = "device copy",
                        .beside_seconds = seconds[0],
                        .beside_bytes = 2 * once});
  }
}

void memory(const Session& session) {
  session.report.title("memory-bound kernels beside a device copy (bandwidth over the copy's)");
  std::vector<std::uint64_t> sizes;
  if (session.settings.quick) sizes.push_back(std::uint64_t{64} << 10);
  for (std::uint64_t mib = 1; mib <= 4096 && !session.settings.quick; mib *= 4) {
    sizes.push_back(mib << 20);
  }
  for (const ab::Dtype dtype : {ab::f32, ab::bf16}) {
    for (const std::uint64_t bytes : sizes) {
      const std::string name =
          (dtype == ab::f32 ? "memory/f32/" : "memory/bf16/") + size_text(bytes);
      // An input, the copy's two, and results of those calls that may be in flight.
      if (8 * bytes > session.gpu.memory_bytes()) {
        session.report.fail(name, "too large for this GPU's memory");
        continue;
      }
      session.attempt(name, [&] { memory_of(session, dtype, bytes); });
    }
  }
}

// --- products

ab::Array product(bench::Epilogue epilogue, ab::Array x, ab::Array w, ab::Array bias) {
  const ab::Array y = ab::matmul(x, w);
  if (epilogue == bench::Epilogue::none) return y;
  if (epilogue == bench::Epilogue::bias_relu) return ab::relu(y + bias);
  return ab::gelu(y + bias, ab::Gelu::tanh);
}

/// Beside cuBLASLt, or alone where there is none.
void product_of(const Session& session, bench::BlasLt* library, bench::Epilogue epilogue,
                ab::Dtype dtype, std::int64_t size, const std::string& name) {
  const ab::Array x = random_array({size, size}, dtype), w = random_array({size, size}, dtype, 2);
  const ab::Array bias = random_array({size}, dtype, 3);
  auto compiled = ab::jit(
      [=](ab::Array x, ab::Array w, ab::Array bias) { return product(epilogue, x, w, bias); },
      on_gpu());
  std::vector<std::function<double()>> each = {
      each_of_ours(session, [&] { return compiled(x, w, bias); })};
  std::unique_ptr<bench::BlasLtProduct> peer;
  if (library) {
    peer = std::make_unique<bench::BlasLtProduct>(*library, session.gpu, dtype == ab::bf16,
                                                  static_cast<std::uint64_t>(size), epilogue);
    each.push_back(
        Each([&] { peer->run(); }, [&] { session.gpu.wait(); }, wanted_seconds(session.settings)));
  }
  const std::vector<double> seconds = bench::medians(session.settings.rounds, each);
  const auto side = static_cast<double>(size);
  session.report.add({.name = name,
                      .seconds = seconds[0],
                      .operations = 2 * side * side * side,
                      .beside = library ? "cuBLASLt" : "",
                      .beside_seconds = library ? seconds[1] : 0});
}

void products(const Session& session) {
  session.report.title("products with their epilogues beside cuBLASLt (its time over ours)");
  std::unique_ptr<bench::BlasLt> library;
  session.attempt("cuBLASLt", [&] { library = std::make_unique<bench::BlasLt>(); });
  struct Form {
    const char* name;
    bench::Epilogue epilogue;
  };
  const Form forms[] = {{"matmul", bench::Epilogue::none},
                        {"bias_relu", bench::Epilogue::bias_relu},
                        {"bias_gelu", bench::Epilogue::bias_gelu}};
  for (const ab::Dtype dtype : {ab::f32, ab::bf16}) {
    const std::int64_t largest = session.settings.quick ? 64 : dtype == ab::f32 ? 4096 : 8192;
    for (std::int64_t size = session.settings.quick ? 64 : 512; size <= largest; size *= 2) {
      for (const Form& form : forms) {
        const std::string name =
            std::string(form.name) + (dtype == ab::f32 ? "/f32/" : "/bf16/") + std::to_string(size);
        session.attempt(
            name, [&] { product_of(session, library.get(), form.epilogue, dtype, size, name); });
      }
    }
  }
}

// --- what a call costs

void calls_of(const Session& session, int count) {
  ab::Options options = on_gpu();
  options.disabled.push_back("fuse");
  auto compiled = ab::jit([count](ab::Array x) { return kernels::many_tanh(x, count); }, options);
  const ab::Array x = random_array({1024});
  const std::string note = std::to_string(compiled.cost(x).kernels) + " kernels";
  // Fewer than may be in flight, so that no submission waits for an earlier one.
  const int at_once = 16;
  const auto submit = [&] {
    const double seconds = bench::time_of([&] {
      for (int i = 0; i < at_once; ++i) compiled(x);
    });
    ab::wait_all();
    return seconds / at_once;
  };
  const auto alone = [&] { return bench::time_of([&] { compiled(x).wait(); }); };
  compiled(x).wait();  // throws what is wrong
  for (int i = 0; i < 20 && !session.settings.quick; ++i) submit();
  const auto seconds = bench::medians(session.settings.rounds * 5, {submit, alone});
  const std::string of = std::to_string(count);
  session.report.add({.name = "submit/" + of, .seconds = seconds[0], .note = note});
  session.report.add({.name = "call/" + of, .seconds = seconds[1], .note = note});
}

void calls(const Session& session) {
  session.report.title(
      "small kernels of 1,024 elements: submitting a call, and a call with its wait");
  for (const int count : {1, 10, 100}) {
    session.attempt("calls/" + std::to_string(count), [&] { calls_of(session, count); });
  }
}

// --- loops

/// Beside the same loop in a program that the CPU has a part in, which is never captured: there the
/// host looks at the condition before each step.
void loop_of(const Session& session, int steps, std::uint64_t bytes) {
  const auto loop = [steps](ab::Array x) {
    return ab::fori_loop(
        0, steps, [](ab::Array, ab::Array y) { return y * 0.5f + 1; }, x);
  };
  const auto captured = ab::jit(loop, on_gpu());
  const auto stepwise = ab::jit(
      [loop](ab::Array x) {
        const ab::Array y = loop(x);
        return std::pair{y, ab::sum(y).to(ab::Device::cpu())};
      },
      on_gpu());
  const ab::Array x = random_array({static_cast<std::int64_t>(bytes / sizeof(float))});
  const auto submit = [&] {
    const double seconds = bench::time_of([&] { captured(x); });
    ab::wait_all();
    return seconds;
  };
  const auto a_step = [&] { return bench::time_of([&] { captured(x).wait(); }) / steps; };
  const auto a_step_beside = [&] {
    return bench::time_of([&] { stepwise(x).second.wait(); }) / steps;
  };
  for (int i = 0; i < 3; ++i) {  // compiled, looked at, captured
    captured(x).wait();
    stepwise(x).second.wait();
  }
  const auto seconds = bench::medians(session.settings.rounds, {submit, a_step, a_step_beside});
  const std::string of = std::to_string(steps) + "/" + size_text(bytes);
  session.report.add({.name = "loop_submit/" + of, .seconds = seconds[0]});
  session.report.add({.name = "loop_step/" + of,
                      .seconds = seconds[1],
                      .bytes = 2 * static_cast<double>(bytes),
                      .beside = "step by step",
                      .beside_seconds = seconds[2]});
}

void loops(const Session& session) {
  session.report.title(
      "a loop over an array as one graph: submitting it, and a step beside one that the host looks "
      "at");
  const bool quick = session.settings.quick;
  const std::vector<std::uint64_t> sizes =
      quick ? std::vector<std::uint64_t>{1 << 20} : std::vector<std::uint64_t>{1 << 20, 64 << 20};
  for (const std::uint64_t bytes : sizes) {
    session.attempt("loops/" + size_text(bytes),
                    [&] { loop_of(session, quick ? 10 : 1000, bytes); });
  }
}

// --- many small branches

template <class Function, class... Args>
void branchy_of(const Session& session, const std::string& name, Function function,
                const Args&... args) {
  auto on_one = ab::jit(function, on_gpu(1)), on_many = ab::jit(function, on_gpu(8));
  // Each call waits, so that nothing overlaps but the branches of one call.
  const auto waited = [&](auto& compiled) {
    return each_of_ours(session, [&] {
      auto results = compiled(args...);
      ab::wait_all();
      return results;
    });
  };
  const auto got = bench::rounds(session.settings.rounds, {waited(on_one), waited(on_many)});
  session.report.add({.name = "branches/" + name,
                      .seconds = bench::median(got[1]),
                      .beside = "one stream",
                      .beside_seconds = bench::median(got[0]),
                      .note = std::to_string(on_many.cost(args...).streams) + " streams"});
}

void branches(const Session& session) {
  session.report.title(
      "many small branches on at most eight streams beside one (its time over ours)");
  const auto measure = [&](const std::string& name, auto function, const auto&... args) {
    session.attempt("branches/" + name, [&] { branchy_of(session, name, function, args...); });
  };
  if (session.settings.quick) {
    measure("cell/2x16", branchy::cell, random_array({2, 16}), random_array({16, 16}));
    return;
  }
  measure("cell/8x128", branchy::cell, random_array({8, 128}), random_array({128, 128}));
  for (const std::int64_t size : {64, 256, 512}) {
    measure("products/" + std::to_string(size), branchy::products, random_array({size, size}));
  }
  for (const std::int64_t size : {1'000, 30'000, 1 << 20}) {
    measure("means/" + std::to_string(size), branchy::means, random_array({size}));
  }
}

// --- a training step

void training(const Session& session) {
  session.report.title("a training step: minibatches of 1,024 through 512-2048-512-1, and SGD");
  session.attempt("training_step", [&] {
    const bool quick = session.settings.quick;
    const std::int64_t batch = quick ? 8 : 1024, inputs = quick ? 8 : 512, wide = quick ? 16 : 2048,
                       narrow = quick ? 8 : 512;
    auto step = ab::jit(mlp::step, on_gpu());
    mlp::Params p = ab::jit([&] { return mlp::first_params(inputs, wide, narrow); }, on_gpu())();
    const ab::Array x = random_array({batch, inputs});
    const ab::Array target = random_array({batch, 1}, ab::f32, 2);
    const Each each = each_of_ours(session, [&] {
      ab::Array loss;
      std::tie(p, loss) = step(p, x, target);
      return loss;
    });
    const std::vector<double> seconds = bench::medians(session.settings.rounds, {each});
    // Forward and twice as much backward, less the input's gradient.
    const auto first = static_cast<double>(inputs * wide);
    const auto weights = static_cast<double>(inputs * wide + wide * narrow + narrow);
    const double operations = 2 * static_cast<double>(batch) * (3 * weights - first);
    session.report.add({.name = "training_step", .seconds = seconds[0], .operations = operations});
  });
}

// --- compiling

/// `make(i)` gives a program that was never compiled before.
void compile_of(const Session& session, const std::string& name,
                const std::function<void(int)>& compile) {
  session.attempt("compile/" + name, [&] {
    const int most = session.settings.quick ? 1 : 5;
    std::vector<double> seconds;
    for (int i = 0; i < most; ++i) {
      seconds.push_back(bench::time_of([&] { compile(i + 1); }));
    }
    session.report.add({.name = "compile/" + name, .seconds = bench::median(seconds)});
  });
}

void compile(const Session& session) {
  session.report.title("compiling what was never compiled before, trace included");
  ab::Options options = on_gpu();
  options.cache = nullptr;
  const ab::Array vector = random_array({1 << 16}), matrix = random_array({64, 1024});
  compile_of(session, "chain_of_32", [&](int i) {
    const float number = 0.001f * static_cast<float>(i);
    ab::jit([=](ab::Array x) { return kernels::chain_of_32(x, number); }, options)
        .compilation(vector);
  });
  compile_of(session, "softmax", [&](int i) {
    const float number = 1 + 0.001f * static_cast<float>(i);
    ab::jit([=](ab::Array x) { return ab::softmax(x * number); }, options).compilation(matrix);
  });
  const mlp::Params p = ab::jit([] { return mlp::first_params(); }, on_gpu())();
  compile_of(session, "training_step", [&](int i) {
    const float number = 1 + 0.001f * static_cast<float>(i);
    const ab::Array x = random_array({32, 512}), target = random_array({32, 1});
    ab::jit([=](mlp::Params p, ab::Array x,
                ab::Array target) { return mlp::step(p, x * number, target); },
            options)
        .compilation(p, x, target);
  });
}

// --- the command line

struct Group {
  const char* name;
  void (*run)(const Session&);
};
constexpr Group groups[] = {
    {"memory", memory},     {"products", products}, {"calls", calls},     {"loops", loops},
    {"branches", branches}, {"training", training}, {"compile", compile},
};

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr,
               "bench_gpu: %s; bench_gpu [--quick] [--json FILE] [--only GROUP]... [--rounds N], "
               "GROUP one of:",
               what.c_str());
  for (const Group& group : groups) std::fprintf(stderr, " %s", group.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&] {
      if (++i == argc) refuse(argument + " needs a value");
      return std::string(argv[i]);
    };
    if (argument == "--quick") {
      settings.quick = true;
      settings.rounds = 1;
    } else if (argument == "--gpu") {
      settings.name_only = true;
    } else if (argument == "--json") {
      settings.json = value();
    } else if (argument == "--rounds") {
      settings.rounds = std::atoi(value().c_str());
      if (settings.rounds < 1) refuse("--rounds needs a number from 1");
    } else if (argument == "--only") {
      settings.only.push_back(value());
      const bool known = std::any_of(std::begin(groups), std::end(groups), [&](const Group& group) {
        return group.name == settings.only.back();
      });
      if (!known) refuse("there is no group " + settings.only.back());
    } else {
      refuse("unknown argument " + argument);
    }
  }
  return settings;
}

int measure(const Settings& settings) {
  bench::Gpu gpu;
  const std::string version = std::to_string(gpu.driver_version() / 1000) + "." +
                              std::to_string(gpu.driver_version() % 1000 / 10);
  std::printf("%s, driver for CUDA %s, %.0f GiB\n", gpu.name().c_str(), version.c_str(),
              static_cast<double>(gpu.memory_bytes() >> 20) / 1024);
  if (settings.name_only) return 0;
  bench::Report report({{"program", "bench_gpu"},
                        {"gpu", gpu.name()},
                        {"driver_cuda", version},
                        {"memory_bytes", gpu.memory_bytes()},
                        {"quick", settings.quick},
                        {"rounds", settings.rounds}});
  const Session session{settings, gpu, report};
  for (const Group& group : groups) {
    const auto& only = settings.only;
    if (!only.empty() && std::find(only.begin(), only.end(), group.name) == only.end()) continue;
    session.attempt(group.name, [&] { group.run(session); });
    // After each, so that what is stopped leaves what it had.
    if (!settings.json.empty()) report.write(settings.json);
  }
  return report.any_failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Settings settings = settings_of(argc, argv);
  try {
    return measure(settings);
  } catch (const bench::NoGpu& none) {
    std::fprintf(stderr, "bench_gpu: nothing to measure: %s\n", none.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu: %s\n", error.what());
    return 1;
  }
}
