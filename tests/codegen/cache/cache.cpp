// The code cache as a store: what it finds, refuses, removes and forgets.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <thread>

#include "anabranch/code_cache.h"
#include "anabranch/error.h"
#include "tests/support/log_lines.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

namespace fs = std::filesystem;
using testing::LogLines;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

const std::string key = "the key, with a zero \0 in it and a line\n";
const std::string code = "code of some length, " + std::string(200, '\xc3');

std::string error_of(const fs::path& directory) {
  try {
    CodeCache cache(directory);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CodeCache, FindsWhatAnotherKeptUnderTheSameKey) {
  TemporaryFolder folder;
  CodeCache first(folder.path()), second(folder.path());
  EXPECT_EQ(first.find(key), std::nullopt);
  first.keep(key, code);
  EXPECT_EQ(first.find(key), code);
  EXPECT_EQ(second.find(key), code);
  EXPECT_EQ(second.find(key + " "), std::nullopt);
  EXPECT_EQ(second.find(""), std::nullopt);
  EXPECT_EQ(first.use().hits, 1u);
  EXPECT_EQ(first.use().misses, 1u);
  EXPECT_EQ(second.use().hits, 1u);
  EXPECT_EQ(second.use().misses, 2u);
}

TEST(CodeCache, MakesADirectoryForItsOwnerAlone) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "some" / "where" / "";
  CodeCache cache(path);
  cache.keep(key, code);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(path)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(cache.find(key), code);
}

TEST(CodeCache, RefusesADirectoryThatOthersMayWrite) {
  TemporaryFolder folder;
  for (fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder.path(), fs::perms::owner_all | others);
    EXPECT_EQ(error_of(folder.path()),
              "cache: " + folder.path().string() +
                  " may be written by others, who could put code there; chmod 700 it, or choose "
                  "another");
  }
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_read);
  EXPECT_EQ(error_of(folder.path()), "no error");
}

TEST(CodeCache, RefusesWhatIsNotADirectoryOfOurs) {
  TemporaryFolder folder;
  write_file(folder.path() / "file", "");
  EXPECT_NE(error_of(folder.path() / "file").find("file is not a directory"), std::string::npos);
  EXPECT_NE(error_of("").find("needs a directory"), std::string::npos);
  // Root may give its own away; for others the root directory is another's.
  fs::path foreign = "/";
  if (::geteuid() == 0) {
    foreign = folder.path() / "foreign";
    fs::create_directory(foreign);
    ASSERT_EQ(::chown(foreign.c_str(), 1, 1), 0);
  }
  EXPECT_NE(error_of(foreign).find("belongs to another user"), std::string::npos);
}

/// A directory with one entry, to be damaged.
class CodeCacheDamage : public ::testing::Test {
 protected:
  CodeCacheDamage() {
    cache_.keep(key, code);
    entry_ = folder_.files().at(0);
    sound_ = read_file(entry_);
  }

  // It is not found, is gone, and is made anew; gives the one line that says so.
  std::string expect_replaced(const std::string& damaged) {
    LogLines log;
    write_file(entry_, damaged);
    EXPECT_EQ(cache_.find(key), std::nullopt);
    EXPECT_FALSE(fs::exists(entry_));
    cache_.keep(key, code);
    EXPECT_EQ(cache_.find(key), code);
    EXPECT_EQ(read_file(entry_), sound_);
    EXPECT_EQ(log.lines().size(), 1u);
    return log.lines().empty() ? "" : log.lines()[0];
  }

  TemporaryFolder folder_;
  CodeCache cache_{folder_.path()};
  fs::path entry_;
  std::string sound_;
};

TEST_F(CodeCacheDamage, TruncationAtAnyByteIsFound) {
  for (std::size_t length = 0; length < sound_.size(); ++length) {
    SCOPED_TRACE(length);
    expect_replaced(sound_.substr(0, length));
  }
  EXPECT_EQ(cache_.use().rejected, sound_.size());
}

TEST_F(CodeCacheDamage, AFlipOfAnyBitIsFound) {
  for (std::size_t bit = 0; bit < 8 * sound_.size(); ++bit) {
    SCOPED_TRACE(bit);
    std::string damaged = sound_;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_replaced(damaged);
  }
}

TEST_F(CodeCacheDamage, SoAreBytesMoreAndStrangers) {
  EXPECT_NE(expect_replaced(sound_ + '\0').find("is not as long as it says; removed, and compiled"),
            std::string::npos);
  EXPECT_NE(
      expect_replaced("a letter to somebody else, longer than a header is").find("of another kind"),
      std::string::npos);
  EXPECT_NE(expect_replaced("").find("is truncated"), std::string::npos);
}

TEST_F(CodeCacheDamage, AnotherFormatIsReplaced) {
  std::string other = sound_;
  other[8] = 1;  // the version follows eight letters
  EXPECT_NE(expect_replaced(other).find("has format 1, not 2"), std::string::npos);
}

TEST_F(CodeCacheDamage, AnEntryOfAnotherKeyIsReplaced) {
  TemporaryFolder elsewhere;
  CodeCache(elsewhere.path()).keep("another key", code);
  EXPECT_NE(expect_replaced(read_file(elsewhere.files().at(0))).find("made for another key"),
            std::string::npos);
}

TEST_F(CodeCacheDamage, LinksAndPipesAreNotRead) {
  const fs::path target = folder_.path() / "target";
  fs::rename(entry_, target);
  fs::create_symlink(target, entry_);
  EXPECT_EQ(cache_.find(key), std::nullopt);
  cache_.keep(key, code);
  EXPECT_FALSE(fs::is_symlink(entry_));
  EXPECT_EQ(cache_.find(key), code);
  fs::remove(entry_);
  ASSERT_EQ(::mkfifo(entry_.c_str(), 0600), 0);
  EXPECT_EQ(cache_.find(key), std::nullopt);
  cache_.keep(key, code);
  EXPECT_EQ(cache_.find(key), code);
}

// The directory may have been open to others when they came.
TEST_F(CodeCacheDamage, EntriesThatOthersMayHaveWrittenAreReplaced) {
  const auto expect_refused = [&](const char* why) {
    LogLines log;
    EXPECT_EQ(cache_.find(key), std::nullopt);
    ASSERT_EQ(log.lines().size(), 1u);
    EXPECT_NE(log.lines()[0].find(why), std::string::npos) << log.lines()[0];
    cache_.keep(key, code);
    EXPECT_EQ(cache_.find(key), code);
  };
  for (fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(entry_, fs::perms::owner_read | fs::perms::owner_write | others);
    expect_refused("may be written by others, who could put code there; removed, and compiled");
  }
  if (::geteuid() != 0) return;  // only root can give its own away
  ASSERT_EQ(::chown(entry_.c_str(), 1, 1), 0);
  expect_refused("belongs to another user, who could put code there; removed, and compiled");
}

TEST_F(CodeCacheDamage, AFolderInPlaceOfAnEntryIsReplaced) {
  for (bool is_empty : {true, false}) {
    fs::remove(entry_);
    fs::create_directory(entry_);
    if (!is_empty) write_file(entry_ / "file", "text");
    EXPECT_EQ(cache_.find(key), std::nullopt);
    cache_.keep(key, code);
    EXPECT_EQ(cache_.find(key), code);
    EXPECT_EQ(folder_.files().size(), 1u);
  }
}

TEST(CodeCache, ForgetsTheLeastRecentlyUsed) {
  TemporaryFolder folder;
  const std::string kilobyte(1000, 'x');
  CodeCache cache(folder.path(), 4000);
  auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  for (const char* name : {"a", "b", "c"}) {
    cache.keep(name, kilobyte);
    pause();
  }
  EXPECT_TRUE(cache.find("a"));  // now the most recent
  pause();
  cache.keep("d", kilobyte);  // the fourth, with its header, is too much
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("d"));
  EXPECT_GE(cache.use().evicted, 1u);
  std::int64_t bytes = 0;
  for (const fs::path& file : folder.files())
    bytes += static_cast<std::int64_t>(fs::file_size(file));
  EXPECT_LE(bytes, 4000);
  cache.keep("too large", std::string(5000, 'x'));
  EXPECT_FALSE(cache.find("too large"));
}

TEST(CodeCache, TheLimitHoldsForWhatOthersKeptToo) {
  TemporaryFolder folder;
  for (int i = 0; i < 20; ++i) {
    CodeCache(folder.path(), 4000).keep(std::to_string(i), std::string(500, 'x'));
  }
  std::uintmax_t bytes = 0;
  for (const fs::path& file : folder.files()) bytes += fs::file_size(file);
  EXPECT_LE(bytes, 4000u);
  EXPECT_GE(bytes, 2000u);
}

TEST(CodeCache, ClearsAwayWhatDeadWritersLeft) {
  TemporaryFolder folder;
  const fs::path old = folder.path() / ".new-1-2", young = folder.path() / ".new-3-4";
  write_file(old, "half");
  write_file(young, "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CodeCache(folder.path()).keep(key, code);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST(CodeCache, GoesOnWhereNothingCanBeWritten) {
  LogLines log;
  fs::path gone;
  std::optional<CodeCache> cache;
  {
    TemporaryFolder folder;
    gone = folder.path();
    cache.emplace(gone);
  }
  for (int i = 0; i < 3; ++i) {
    cache->keep(key, code);
    EXPECT_EQ(cache->find(key), std::nullopt);
  }
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_EQ(log.lines()[0], "cache: " + gone.string() +
                                " cannot be written to: No such file or directory; compiling goes "
                                "on without it");
}

TEST(CodeCache, GoesOnWhereNoDirectoryCanBeMade) {
  LogLines log;
  CodeCache cache("/proc/anabranch");
  cache.keep(key, code);
  EXPECT_EQ(cache.find(key), std::nullopt);
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_NE(log.lines()[0].find("cache: /proc/anabranch cannot be opened"), std::string::npos);
}

// As on a full disk: the first bytes can be written and the rest cannot.
TEST(CodeCache, LeavesNothingHalfWritten) {
  TemporaryFolder folder;
  LogLines log;
  CodeCache cache(folder.path());
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  cache.keep(key, code);
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(folder.files().empty());
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_NE(log.lines()[0].find("cannot be written to: File too large"), std::string::npos);
  cache.keep(key, code);
  EXPECT_EQ(cache.find(key), code);
}

TEST(CodeCache, ManyThreadsMayShareADirectory) {
  TemporaryFolder folder;
  CodeCache shared(folder.path(), 3000);  // tight, so that entries go while others read them
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      CodeCache own(folder.path(), 3000);
      std::mt19937 random(t);
      for (int i = 0; i < 200; ++i) {
        CodeCache& cache = i % 2 ? own : shared;
        const std::string name = std::to_string(random() % 8), text(400, name[0]);
        const auto found = cache.find(name);
        wrong += found && *found != text;
        if (!found) cache.keep(name, text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared.use().rejected, 0u);
}

}  // namespace
}  // namespace anabranch
