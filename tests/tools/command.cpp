// The command as a person runs it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/places.h"

namespace {

namespace fs = std::filesystem;

const std::string command = anabranch::testing::place("bin/anabranch", ANABRANCH_COMMAND).string();
const std::string example_graphs =
    anabranch::testing::place("examples/graphs", EXAMPLE_GRAPHS).string();

struct Outcome {
  int status;
  std::string text;  // standard output and standard error
};

class Command : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("command." + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "layer.abir") << R"(graph layer(%0: f32[2,3], %1: f32[3]) {
  %2: f32[2,3] = broadcast_in_dim %1 axes=[1]
  %3: f32[2,3] = multiply %0, %2
  %4: f32[2,3] = add %3, %2
  %5: f32[2] = reduce_sum %4 axes=[1]
  return %5, %4
}
)";
  }
  void TearDown() override { fs::remove_all(folder_); }

  Outcome run(const std::string& arguments, const std::string& environment = "") {
    return run_line("cd " + folder_.string() + " && " + environment + " " + command + " " +
                    arguments);
  }

  static Outcome run_line(const std::string& line) {
    FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
    Outcome outcome{-1, {}};
    std::array<char, 4096> block;
    for (std::size_t read; (read = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
      outcome.text.append(block.data(), read);
    }
    outcome.status = WEXITSTATUS(::pclose(pipe));
    return outcome;
  }

  // A graph that gives the operands of layer.abir.
  void write_ones() {
    std::ofstream(folder_ / "ones.abir") << R"(graph ones() {
  %0: f32[2,3] = constant [[1, 1, 1], [2, 2, 2]]
  %1: f32[3] = constant [1, 2, 3]
  return %0, %1
}
)";
  }

  std::string text_of(const char* file) {
    std::ifstream stream(folder_ / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

using testing::Test;

void expect_contains(const Outcome& outcome, int status, const std::string& part) {
  EXPECT_EQ(outcome.status, status) << outcome.text;
  EXPECT_NE(outcome.text.find(part), std::string::npos) << "no '" << part << "' in:\n"
                                                        << outcome.text;
}

TEST_F(Command, RunsAGraphOnFilesItWroteItself) {
  write_ones();
  EXPECT_EQ(run("run ones.abir --output 0=x.npy --output 1=w.npy").status, 0);
  expect_contains(run("run layer.abir --input %0=x.npy --input 1=w.npy"), 0,
                  "output 0: f32[2] = [12, 18]\noutput 1: f32[2,3] = [[2, 4, 6], [3, 6, 9]]");
}

TEST_F(Command, ReadsAllInputsFromAnArchiveAndWritesAllOutputsToOne) {
  write_ones();
  const Outcome wrote = run("run ones.abir --output ones.npz");
  EXPECT_EQ(wrote.status, 0);
  EXPECT_EQ(wrote.text, "");
  expect_contains(run("run layer.abir --input ones.npz"), 0,
                  "output 0: f32[2] = [12, 18]\noutput 1: f32[2,3] = [[2, 4, 6], [3, 6, 9]]");
  expect_contains(run("run layer.abir --input %arg0=ones.npz:arr_0 --input arg1=ones.npz:arr_1"), 0,
                  "output 0: f32[2] = [12, 18]");
  expect_contains(run("run ones.abir --input ones.npz"), 1,
                  "--input ones.npz: it holds array 0, and the graph has 0 parameters");
  expect_contains(run("run ones.abir --output nowhere/y.npz"), 1,
                  "nowhere/y.npz: cannot be written: No such file or directory");
}

TEST_F(Command, NamesTheParameterThatHasNoValue) {
  expect_contains(run("run layer.abir"), 1,
                  "parameter %0: f32[2,3] has no value; give --input %0=FILE.npy");
}

TEST_F(Command, LeavesPipesAndFoldersInTheirPlaces) {
  ASSERT_EQ(run_line("mkfifo " + (folder_ / "pipe").string()).status, 0);
  fs::create_directory(folder_ / "folder");
  for (const std::string target : {"pipe", "folder"}) {
    const std::string wanted = target +
                               ": is no regular file, and a file would take its place; "
                               "give the path of a file, or one where nothing is yet";
    expect_contains(run("run layer.abir --random --output 0=" + target), 1, wanted);
    expect_contains(run("run layer.abir --random --timeline " + target), 1, wanted);
    expect_contains(run("dump layer.abir --output " + target), 1, wanted);
  }
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  EXPECT_TRUE(fs::is_directory(folder_ / "folder"));
  EXPECT_EQ(run("dump layer.abir --output text").status, 0);
  EXPECT_EQ(run("dump layer.abir --output text").status, 0);  // a file is replaced
  expect_contains(run("dump layer.abir --output nowhere/text"), 1,
                  "nowhere/text: cannot be written: No such file or directory");
}

TEST_F(Command, TimesARunOnRandomInputs) {
  expect_contains(run("run layer.abir --random --time"), 0, "median of a run: ");
}

TEST_F(Command, WritesATimelineWithTheLinesOfTheGraph) {
  EXPECT_EQ(run("run layer.abir --random --timeline t.json").status, 0);
  EXPECT_NE(text_of("t.json").find("\"traceEvents\""), std::string::npos);
  EXPECT_NE(text_of("t.json").find("(layer.abir:5)"), std::string::npos) << text_of("t.json");
  EXPECT_EQ(run("run layer.abir --random", "ANABRANCH_TIMELINE=e.json").status, 0);
  EXPECT_NE(text_of("e.json").find("(layer.abir:5)"), std::string::npos) << text_of("e.json");
}

TEST_F(Command, DrawsATimelineOfStreams) {
  const std::string branches = example_graphs + "/branches.abir";
  const std::string cpu = "ANABRANCH_DEVICE=cpu:0";
  const Outcome schedule = run("dump " + branches + " --stage schedule", cpu);
  EXPECT_NE(schedule.text.find("\n  stream 1 on "), std::string::npos) << schedule.text;
  EXPECT_EQ(run("run " + branches + " --random --timeline t.svg", cpu).status, 0);
  const std::string picture = text_of("t.svg");
  EXPECT_EQ(picture.rfind("<svg", 0), 0u);
  for (const char* row : {"cpu:0 stream 0", "cpu:0 stream 1", ">worker "}) {
    EXPECT_NE(picture.find(row), std::string::npos) << row;
  }
}

TEST_F(Command, PrintsATableOfWhatRan) {
  const Outcome outcome = run("run layer.abir --random --time --summary");
  expect_contains(outcome, 0, "GFLOP/s");
  expect_contains(outcome, 0, "(layer.abir:5)");
  expect_contains(outcome, 0, "best, as measured on all cores: ");
}

TEST_F(Command, RunsThePassesItIsGiven) {
  expect_contains(run("opt layer.abir --passes dce,fuse"), 0, "kind=reduction");
  expect_contains(run("opt layer.abir --passes nonsense"), 1, "nonsense");
  expect_contains(run("opt --list"), 0, "fuse: ");
  expect_contains(run("opt --list"), 0, "# kernels on cpu:0\nunroll_columns: ");
  expect_contains(run("opt --list"), 0, "# programs\nkernels: ");
}

TEST_F(Command, RunsPassesOnKernelsAndOnPrograms) {
  const std::string cpu = "ANABRANCH_DEVICE=cpu:0";
  std::ofstream(folder_ / "kernels.txt") << run("dump layer.abir --after interchange", cpu).text;
  const Outcome vectorised = run("opt kernels.txt --passes vectorise,parallelise");
  expect_contains(vectorised, 0, " parallel {");
  expect_contains(vectorised, 0, " vector(");
  expect_contains(run("opt kernels.txt --device cuda:0 --passes map_threads,keep_rows"), 0,
                  " threads(groups=");
  expect_contains(run("opt kernels.txt --device gpu"), 1, "--device gpu: no device");
  expect_contains(run("opt kernels.txt --passes fuse"), 1,
                  "there is no pass fuse for this text; there are unroll_columns, interchange, ");
  std::ofstream(folder_ / "program.txt") << run("dump layer.abir --after costs", cpu).text;
  const Outcome scheduled = run("opt program.txt --passes schedule,memory");
  expect_contains(scheduled, 0, "\n  stream 0 on cpu:0 {\n");
  expect_contains(scheduled, 0, "kernel ");
  expect_contains(run("opt program.txt --passes memory"), 1, "run the pass schedule before");
  for (const char* name : {"recurrent", "branches"}) {
    std::ofstream(folder_ / "finished.txt")
        << run("dump " + example_graphs + "/" + name + ".abir --after memory", cpu).text;
    const Outcome again = run("opt finished.txt");
    expect_contains(again, 0, "\nprogram ");
    std::ofstream(folder_ / "again.txt") << again.text;
    EXPECT_EQ(run("opt again.txt").text, again.text) << name;
  }
  std::ofstream(folder_ / "outline.txt") << run("dump layer.abir --stage schedule", cpu).text;
  expect_contains(run("opt outline.txt"), 1, "it runs kernels, and has none");
  std::ofstream(folder_ / "program.txt") << "program {\n  %0: f32[2] = inputs 0\n}\n";
  expect_contains(run("opt program.txt"), 1, "program.txt: line 2, column 3: expected 'device'");
  expect_contains(run("dump layer.abir --after nothing"), 1,
                  "there is no pass nothing; 'opt --list'");
}

TEST_F(Command, WritesTheDumpsThatTheEnvironmentAsksFor) {
  expect_contains(run("run layer.abir --random", "ANABRANCH_DUMP=trace"), 0,
                  "# layer.0, stage trace\ngraph layer(");
  expect_contains(run("run layer.abir --random", "ANABRANCH_DUMP=fuse"), 0,
                  "# layer.0, after fuse\ngraph layer(");
  EXPECT_EQ(run("run layer.abir --random", "ANABRANCH_DUMP=trace,fuse ANABRANCH_DUMP_DIR=dumps")
                .text.find('#'),
            std::string::npos);
  EXPECT_NE(text_of("dumps/layer.0.trace.txt").find("reduce_sum"), std::string::npos);
  EXPECT_EQ(
      run("dump layer.abir --after fuse", "ANABRANCH_DUMP=fuse ANABRANCH_DUMP_DIR=more").status, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "more"), fs::directory_iterator()), 1);
}

TEST_F(Command, DumpsEveryStage) {
  const std::pair<const char*, const char*> rows[] = {
      {"trace", "reduce_sum"},   {"optimized", "fusion"},    {"kernels", "kernel "},
      {"llvm", "define "},       {"assembly", ".text"},      {"schedule", "stream 0"},
      {"memory", "temporaries"}, {"cuda", "__global__ void"}};
  for (const auto& [stage, part] : rows) {
    expect_contains(run("dump layer.abir --stage " + std::string(stage)), 0, part);
  }
  expect_contains(run("dump layer.abir --stage schedule --format dot"), 0, "digraph");
  expect_contains(run("dump layer.abir --stage trace --format svg"), 0, "<svg");
  expect_contains(run("dump layer.abir --stage nowhere"), 1, "the stages are trace, optimized");
}

TEST_F(Command, DrawsWithoutAShellOrANamedFile) {
  fs::create_directory(folder_ / "a; touch ran;");
  EXPECT_EQ(run("dump layer.abir --format svg", "TMPDIR=\"$PWD/a; touch ran;\"").status, 0);
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
  expect_contains(run("dump layer.abir --format svg", "TMPDIR=/nowhere"), 0, "</svg>");
  expect_contains(run("dump layer.abir --format svg", "PATH=/nowhere"), 1,
                  "dot, which draws, cannot be started; install graphviz, or take --format dot");
  std::ofstream(folder_ / "dot") << "#!/bin/sh\nexit 7\n";
  fs::permissions(folder_ / "dot", fs::perms::owner_all);
  expect_contains(run("dump layer.abir --format svg", "PATH=$PWD"), 1, "ended with status 7");
}

TEST_F(Command, EndsWithAnErrorWhereTheDiskIsFull) {
  const std::string on_cpu = "ANABRANCH_DEVICE=cpu:0 ";  // a GPU's code has no assembly to dump
  for (const char* arguments :
       {"run layer.abir --random", "opt layer.abir", "opt --list", "dump layer.abir",
        "dump layer.abir --stage assembly", "devices", "--help", "dump --help"}) {
    const Outcome outcome = run_line("cd " + folder_.string() + " && (" + on_cpu + command + " " +
                                     arguments + " > /dev/full)");
    expect_contains(outcome, 1, "standard output: cannot be written: No space left on device");
  }
#ifndef __SANITIZE_THREAD__  // it keeps what it knows in files beyond any limit
  // A limit on the sizes of files stands for a disk that becomes full.
  const Outcome outcome =
      run_line("cd " + folder_.string() + " && trap '' XFSZ && ulimit -f 1 && " + on_cpu + command +
               " dump layer.abir --stage assembly --output big");
  expect_contains(outcome, 1, "big: cannot be written: File too large");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename().string().find("big"), std::string::npos) << entry.path();
  }
#endif
}

TEST_F(Command, NamesWhatIsWrongAndTheRemedy) {
  for (const char* streams : {"0", "-1", "many"}) {
    for (const char* arguments :
         {"run layer.abir --random --streams ", "dump layer.abir --streams "}) {
      const Outcome outcome = run(std::string(arguments) + streams);
      EXPECT_NE(outcome.status, 0) << outcome.text;
      EXPECT_NE(outcome.text.find("--streams"), std::string::npos) << outcome.text;
    }
  }
  for (const char* subcommand : {"run", "opt", "dump"}) {
    expect_contains(run(std::string(subcommand) + " ."), 1,
                    ".: is a folder; give the path of a graph's text, or - for standard input");
  }
  expect_contains(run("run layer.abir --input 0=."), 1, ".: is no regular file");
  std::ofstream(folder_ / "away.abir")
      << "graph main(%0: f32[3]) {\n  %1: f32[3] = transfer %0 device=cpu:9\n  return %1\n}\n";
  const Outcome away = run("run away.abir --random", "ANABRANCH_DEVICE=cpu:0");
  expect_contains(away, 1, "anabranch: compile: there is no device cpu:9; there is cpu:0");
  expect_contains(away, 1, ", at away.abir:2\n");
  const std::string output = "write POSITION=FILE.npy, as in 0=y.npy; or FILE.npz for all outputs";
  for (const char* binding : {"0=y.npz", "x=y.npy", "%0=y.npy", "0=", "y.npy"}) {
    expect_contains(run("run layer.abir --random --output " + std::string(binding)), 1,
                    "--output " + std::string(binding) + ": " + output);
  }
  const std::string input =
      "write NAME=FILE.npy, as in %0=x.npy, or NAME=FILE.npz:ARRAY; or FILE.npz for all parameters";
  for (const char* binding : {"foo", "%0=", "=x.npy", "%x=x.npy"}) {
    expect_contains(run("run layer.abir --input " + std::string(binding)), 1,
                    "--input " + std::string(binding) + ": " + input);
  }
  expect_contains(run("run layer.abir --random --output 0=y.npy --output 1=z.npy 0=z.npy"), 1,
                  "--output 0=y.npy and --output 0=z.npy: both are for output 0; give one of them");
  EXPECT_FALSE(fs::exists(folder_ / "y.npy"));
  write_ones();
  EXPECT_EQ(run("run ones.abir --output ones.npz --output 0=x.npy").status, 0);
  EXPECT_EQ(text_of("x.npy").substr(1, 5), "NUMPY");
  for (const auto& [first, second] :
       {std::pair{"%0=x.npy", "arg0=x.npy"}, std::pair{"ones.npz", "0=x.npy"}}) {
    expect_contains(
        run(std::string("run layer.abir --random --input ") + first + " " + second), 1,
        std::string("--input ") + first + " and --input " + second + ": both are for parameter 0");
  }
  const Outcome bogus = run("bogus layer.abir");
  EXPECT_NE(bogus.status, 0);
  expect_contains(bogus, bogus.status,
                  "there is no subcommand bogus; there are run, check, opt, dump, devices");
  expect_contains(run(""), bogus.status, "A subcommand is required");
  expect_contains(run("dump layer.abir", "ANABRANCH_DISABLE=foo"), 1,
                  "ANABRANCH_DISABLE=foo: there is no pass foo; there are inline, checks, expand, "
                  "canonicalize");
  expect_contains(run("dump layer.abir", "ANABRANCH_TIMELINE=/proc/no/t"), 1,
                  "ANABRANCH_TIMELINE=/proc/no/t: /proc/no/t: cannot be written: No such file");
}

// How often `part` stands in a schedule.
int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_F(Command, ShowsOneKernelForEachOfTheExampleGraphs) {
  for (const char* name : {"diamond", "softmax", "layer_norm", "mean_and_variance"}) {
    const Outcome outcome = run("dump " + example_graphs + "/" + name + ".abir --stage schedule");
    EXPECT_EQ(count(outcome.text, " kernel kernel"), 1) << outcome.text;
    EXPECT_EQ(count(outcome.text, " dot dot"), 0) << outcome.text;
  }
  const Outcome gelu = run("dump " + example_graphs + "/gelu_layer.abir --stage schedule");
  EXPECT_EQ(count(gelu.text, " kernel kernel"), 0) << gelu.text;
  EXPECT_EQ(count(gelu.text, " dot dot"), 1) << gelu.text;
}

TEST_F(Command, RunsTheLoopAmongTheExampleGraphs) {
  const Outcome outcome = run("run " + example_graphs + "/recurrent.abir --random");
  expect_contains(outcome, 0, "f32[64]");
  expect_contains(outcome, 0, "f32[100,64]");
}

TEST_F(Command, NamesTheFileAndLineOfWrongText) {
  std::ofstream(folder_ / "bad.abir") << "graph bad(%0: f32[2]) {\n  return %7\n}\n";
  expect_contains(run("run bad.abir"), 1, "bad.abir: line 2");
  expect_contains(run("run missing.abir"), 1, "missing.abir: cannot be opened");
}

TEST_F(Command, ManyAtOnceKeepOneEntryAndAllAreRight) {
  // The last starts when the others are done, and only loads.
  std::ofstream(folder_ / "many.sh")
      << R"(export ANABRANCH_CACHE_DIR=$PWD/cache ANABRANCH_LOG=$PWD/log
for i in 1 2 3 4 5 6 7 8; do "$1" run layer.abir --random > out.$i 2>&1 & done
wait
"$1" run layer.abir --random > out.9 2>&1
unset ANABRANCH_CACHE_DIR
"$1" run layer.abir --random > expected 2>&1
for i in 1 2 3 4 5 6 7 8 9; do cmp out.$i expected || exit 1; done
ls -A cache | wc -l
cat log
)";
  const std::string line = "cd " + folder_.string() + " && sh many.sh " + command;
  const Outcome outcome = run_line(line);
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "1\n");
}

TEST_F(Command, ListsDevices) { expect_contains(run("devices"), 0, "cpu:0"); }

}  // namespace
