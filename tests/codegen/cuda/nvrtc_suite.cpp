// What the rest of the suite compiles, for real GPUs: the programs of every test that traces
// functions, every example and every graph of the golden files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <regex>
#include <set>
#include <vector>

#include "codegen/cuda/emit/kernel.h"
#include "codegen/cuda/nvrtc.h"
#include "ir/text/parse.h"
#include "program.h"
#include "resources.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace anabranch::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t programs_at_once = 24;

/// Texts of programs, each once, as parts of one source.
class Programs {
 public:
  void add(const std::string& text) {
    static const std::regex comment("(^|\n)//[^\n]*"), c_name("extern \"C\" __global__");
    std::string bare = std::regex_replace(text, comment, "");
    if (bare.find("__global__") == std::string::npos) return;
    texts_.insert(std::regex_replace(bare, c_name, "__global__"));
  }

  void compile(int architecture) const {
    Resources resources;
    for (auto next = texts_.begin(); next != texts_.end();) {
      std::string source = cuda::device_text();
      for (std::size_t i = 0; i < programs_at_once && next != texts_.end(); ++i, ++next) {
        source += "namespace program" + std::to_string(i) + " {\n" + *next + "\n}\n";
      }
      const std::size_t known = resources.spills.size();
      resources.add(cuda::compile_cubin(source, architecture).log);
      for (std::size_t i = known; i < resources.spills.size(); ++i) {
        ADD_FAILURE() << resources.spills[i] << " spills on sm_" << architecture << ":\n" << source;
      }
    }
    EXPECT_LE(resources.most_stack_bytes, allowed_stack_bytes) << "on sm_" << architecture;
    resources.report(architecture, texts_.size(), "programs of the suite");
    EXPECT_GE(static_cast<std::size_t>(resources.kernels), texts_.size());
  }

  std::size_t size() const { return texts_.size(); }

 private:
  std::set<std::string> texts_;
};

void add_graphs(Programs& programs, const fs::path& folder) {
  for (const std::string& file : golden_files(folder, ".abir")) {
    programs.add(cuda_text_of(parse(GoldenText(folder / file).input)));
  }
}

/// What test_frontend's tests compile, whatever it is for: all but the death tests, which are
/// processes of their own and would write over the files of others, and the derivatives of special
/// functions: a second one has a thousand f64 operations in a row, more than registers hold.
void add_traced(Programs& programs) {
  const TemporaryFolder folder, dumps;
  const fs::path said = folder.path() / "said";
  const std::string command = "ANABRANCH_DUMP=cuda ANABRANCH_DUMP_DIR='" + dumps.path().string() +
                              "' '" TEST_FRONTEND
                              "' --gtest_filter=-*DeathTest.*:GradOfBranches.* > '" +
                              said.string() + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(said);
  for (const fs::path& file : dumps.files()) {
    if (file.string().ends_with(".cuda.txt")) programs.add(read_file(file));
  }
}

TEST(NvrtcSuite, CompilesForGpus) {
  Programs programs;
  add_graphs(programs, EXAMPLE_GRAPHS);
  add_graphs(programs, TEST_DATA "/golden");
  const std::size_t graphs = programs.size();
  EXPECT_GT(graphs, 0u);
  add_traced(programs);
  EXPECT_GT(programs.size(), graphs);
  std::vector<std::future<void>> compiled;
  for (int architecture : tested_architectures) {
    compiled.push_back(std::async(std::launch::async, &Programs::compile, &programs, architecture));
  }
  for (std::future<void>& architecture : compiled) architecture.get();
}

}  // namespace
}  // namespace anabranch::testing
