#include "ir/write_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <thread>

#include "anabranch/error.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(WriteFile, LeavesNothingWhereTheWriterThrows) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "a.txt";
  write_file(path, [](std::ostream& file) { file << "whole"; });
  const auto half = [](std::ostream& file) {
    file << "half";
    throw std::runtime_error("no more");
  };
  EXPECT_THROW(write_file(path, half), std::runtime_error);
  EXPECT_EQ(text_of(path), "whole");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WriteFile, FollowsNoLinkThatIsInItsWay) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "a.txt", other = folder.path() / "other.txt";
  std::ofstream(other) << "kept";
  const std::string base = path.string() + "." + std::to_string(::getpid());
  fs::create_symlink(other, base + ".tmp");
  for (int i = 0; i < 50; ++i) fs::create_symlink(other, base + "." + std::to_string(i) + ".tmp");
  write_file(path, [](std::ostream& file) { file << "whole"; });
  EXPECT_EQ(text_of(other), "kept");
  EXPECT_EQ(text_of(path), "whole");
  EXPECT_FALSE(fs::is_symlink(path));
}

TEST(WriteFile, ThreadsThatWriteOneFileLeaveOneOfTheirs) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "a.txt";
  std::vector<std::thread> threads;
  for (char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i) {
        write_file(path, [&](std::ostream& file) { file << std::string(5000, letter); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = text_of(path);
  EXPECT_EQ(text, std::string(5000, text[0]));
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WriteFile, TellsBeforehandWhatItWouldRefuse) {
  const testing::TemporaryFolder folder;
  check_writable(folder.path() / "a.txt");
  EXPECT_EQ(files_in(folder.path()), 0);
  EXPECT_THROW(check_writable(folder.path()), Error);
  EXPECT_THROW(check_writable(folder.path() / "no" / "a.txt"), Error);
}

}  // namespace
}  // namespace anabranch
