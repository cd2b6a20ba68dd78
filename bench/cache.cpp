// What a start costs with native code on disk and without: the two programs of examples/digits, and
// that example as a process from its first line to its last.
#include <anabranch/anabranch.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/compare.h"
#include "codegen/compile.h"
#include "examples/digits/network.h"

namespace {

namespace fs = std::filesystem;

/// A folder of this process, empty at first and removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() / (name + "." + std::to_string(::getpid()))) {
    empty();
  }
  ~Folder() { fs::remove_all(path_); }
  void empty() const {
    fs::remove_all(path_);
    fs::create_directory(path_);
    fs::permissions(path_, fs::perms::owner_all);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Params specs() {
  auto of = [](std::vector<std::int64_t> sizes) { return ab::zeros(ab::f32, sizes); };
  return {of({64, 128}), of({128}), of({128, 10}), of({10})};
}

ab::Graph training_step() {
  const State state = {specs(), {specs(), specs(), ab::zeros(ab::i64, {})}};
  return ab::trace(train_step, state, ab::spec(ab::f32, {32, 64}), ab::spec(ab::i32, {32}));
}

ab::Graph prediction() { return ab::trace(predict, specs(), ab::spec(ab::f32, {360, 64})); }

void without_cache(benchmark::State& state, const ab::Graph& graph) {
  for (auto _ : state) benchmark::DoNotOptimize(ab::compile(graph));
}

void from_disk(benchmark::State& state, const ab::Graph& graph) {
  Folder folder("bench_cache");
  ab::Options options;
  options.cache = std::make_shared<ab::CodeCache>(folder.path());
  ab::compile(graph, options);
  for (auto _ : state) benchmark::DoNotOptimize(ab::compile(graph, options));
}

void run_example(benchmark::State& state, const Folder& cache, const Folder& out) {
  const std::string line = "ANABRANCH_CACHE_DIR=" + cache.path().string() +
                           " " EXAMPLE_DIGITS " " EXAMPLE_DIGITS_DATA " " + out.path().string() +
                           " > " + (out.path() / "text").string();
  if (std::system(line.c_str()) != 0) state.SkipWithError("the example failed");
}

void cold_process(benchmark::State& state) {
  Folder cache("bench_cache"), out("bench_cache_out");
  for (auto _ : state) {
    state.PauseTiming();
    cache.empty();
    state.ResumeTiming();
    run_example(state, cache, out);
  }
}

void warm_process(benchmark::State& state) {
  Folder cache("bench_cache"), out("bench_cache_out");
  run_example(state, cache, out);
  for (auto _ : state) run_example(state, cache, out);
}

benchmark::internal::Benchmark* in_ms(benchmark::internal::Benchmark* registered) {
  return registered->UseRealTime()->Unit(benchmark::kMillisecond);
}

void register_program(const std::string& name, const ab::Graph& graph) {
  in_ms(benchmark::RegisterBenchmark((name + "/ours").c_str(),
                                     [graph](auto& state) { from_disk(state, graph); }));
  in_ms(benchmark::RegisterBenchmark((name + "/peer: compiled by LLVM").c_str(),
                                     [graph](auto& state) { without_cache(state, graph); }));
}

}  // namespace

int main(int argc, char** argv) {
  register_program("training step, from disk", training_step());
  register_program("prediction, from disk", prediction());
  in_ms(benchmark::RegisterBenchmark("digits, second process/ours", warm_process));
  in_ms(benchmark::RegisterBenchmark("digits, second process/peer: first process", cold_process));
  return bench::run(argc, argv);
}
