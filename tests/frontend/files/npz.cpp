#include "frontend/files/npz.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <fstream>

#include "frontend/files/npy.h"
#include "tests/support/temporary_folder.h"

namespace anabranch {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name, bytes;
  int compression = ZIP_CM_STORE;
};

class Npz : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("npz." + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string npy(const std::string& values, const std::string& shape) {
    const std::string header =
        "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
    return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
           values;
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  std::string zipped(const std::string& name, const std::vector<Entry>& entries) {
    zip_t* archive = zip_open(path(name).c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const Entry& entry : entries) {
      zip_source_t* source = zip_source_buffer(archive, entry.bytes.data(), entry.bytes.size(), 0);
      const auto index = zip_file_add(archive, entry.name.c_str(), source, 0);
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), entry.compression, 0);
    }
    EXPECT_EQ(zip_close(archive), 0);
    return path(name);
  }

  static std::string error_of(const std::string& file) {
    try {
      read_array(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

Literal row(const std::string& values) {
  return Literal::of(std::span(reinterpret_cast<const std::uint8_t*>(values.data()), values.size()),
                     {static_cast<std::int64_t>(values.size())});
}

TEST_F(Npz, ReadsStoredAndDeflatedArraysByTheirNames) {
  const std::string many(100000, 'x');
  const std::string file = zipped("two.npz", {{"a.npy", npy("abc", "(3,)"), ZIP_CM_STORE},
                                              {"b.npy", npy(many, "(100000,)"), ZIP_CM_DEFLATE}});
  EXPECT_EQ(read_array(file + ":a"), row("abc"));
  EXPECT_EQ(read_array(file + ":b.npy"), row(many));
  EXPECT_EQ(read_array(zipped("one.npz", {{"arr_0.npy", npy("z", "(1,)")}})), row("z"));
}

TEST_F(Npz, ReadsAFileOfEitherKind) {
  write_npy(path("a.npy"), row("abc"));
  EXPECT_EQ(read_array(path("a.npy")), row("abc"));
  // A file by the whole name comes first.
  write_npy(path("b.npz:c"), row("abc"));
  EXPECT_EQ(read_array(path("b.npz:c")), row("abc"));
}

TEST_F(Npz, NamesTheFileAndWhatIsWrongWithIt) {
  const std::string two =
      zipped("two.npz", {{"a.npy", npy("a", "(1,)")}, {"b.npy", npy("b", "()")}});
  EXPECT_EQ(error_of(two), two + ": holds the arrays a, b; write " + two + ":a for one of them");
  EXPECT_EQ(error_of(two + ":c"), two + ": holds no array 'c'; it holds a, b");
  EXPECT_NE(error_of(path("none.npz")).find("none.npz: cannot be opened"), std::string::npos);
  std::ofstream(path("text.npz")) << "hello, this is no archive";
  EXPECT_NE(error_of(path("text.npz")).find("text.npz: is no .npz file"), std::string::npos);
  EXPECT_NE(error_of(zipped("other.npz", {{"a.txt", "hello"}})).find("holds no arrays"),
            std::string::npos);
  const std::string bad = zipped("bad.npz", {{"long.npy", npy("abcd", "(3,)")},
                                             {"short.npy", npy("ab", "(3,)"), ZIP_CM_DEFLATE},
                                             {"no.npy", "hello"}});
  EXPECT_NE(error_of(bad + ":long").find("bad.npz:long: u8[3] takes 3 bytes, and 4 follow"),
            std::string::npos)
      << error_of(bad + ":long");
  EXPECT_NE(error_of(bad + ":short").find("takes 3 bytes, and 2 follow"), std::string::npos);
  EXPECT_NE(error_of(bad + ":no").find("is not a .npy file"), std::string::npos);
}

TEST_F(Npz, RefusesAPathThatIsTooLong) {
  std::string file(5000, 'a');
  file.append(".npz");
  EXPECT_NE(error_of(file).find(".npz: cannot be opened: "), std::string::npos);
  EXPECT_NE(error_of(file + ":a").find(".npz: cannot be opened: "), std::string::npos);
}

// A directory of many entries that are one.
TEST_F(Npz, RefusesEntriesThatShareTheirBytes) {
  const std::string file = zipped("shared.npz", {{"a.npy", npy(std::string(500, 'q'), "(500,)")}});
  std::string bytes = testing::read_file(file);
  const std::size_t directory = bytes.find("PK\1\2"), end = bytes.rfind("PK\5\6");
  const std::string one = bytes.substr(directory, end - directory);
  for (const char name : {'b', 'c'}) {
    std::string more = one;
    more[more.find("a.npy")] = name;
    bytes.insert(bytes.rfind("PK\5\6"), more);
  }
  const std::size_t last = bytes.rfind("PK\5\6");
  bytes[last + 8] = bytes[last + 10] = 3;
  const std::size_t size = 3 * one.size();
  bytes[last + 12] = static_cast<char>(size % 256);
  bytes[last + 13] = static_cast<char>(size / 256);
  testing::write_file(file, bytes);
  EXPECT_NE(error_of(file + ":a").find("entries that lie one over the other"), std::string::npos)
      << error_of(file + ":a");
}

TEST_F(Npz, RefusesDamage) {
  const std::string values(64, 'q');
  const std::string file = zipped("stored.npz", {{"a.npy", npy(values, "(64,)")}});
  std::string bytes = testing::read_file(file);
  std::string flipped = bytes;
  flipped[flipped.find(values) + 7] = 'p';  // the checksum tells
  std::ofstream(file, std::ios::binary) << flipped;
  EXPECT_NE(error_of(file).find("stored.npz:a: cannot be read to its end"), std::string::npos)
      << error_of(file);
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_NE(error_of(file).find("is no .npz file"), std::string::npos) << error_of(file);
}

TEST_F(Npz, WritesArraysByTheirNames) {
  const std::map<std::string, Literal> arrays = {{"layers.0.w", row("abc")}, {"b/c", row("z")}};
  write_npz(path("named.npz"), arrays);
  EXPECT_EQ(read_named(path("named.npz")), arrays);
  EXPECT_EQ(read_array(path("named.npz") + ":b/c"), row("z"));
  write_npz(path("none.npz"), std::map<std::string, Literal>());
  EXPECT_TRUE(read_named(path("none.npz")).empty());
}

// As numpy.savez: who reads them in the file's order has them in theirs.
TEST_F(Npz, WritesNumberedArraysInTheirOrder) {
  std::vector<Literal> arrays;
  for (int i = 0; i < 12; ++i) arrays.push_back(row(std::string(1, static_cast<char>('a' + i))));
  write_npz(path("many.npz"), arrays);
  const std::string bytes = testing::read_file(path("many.npz"));
  std::size_t at = 0;
  for (int i = 0; i < 12; ++i) {
    at = bytes.find("arr_" + std::to_string(i) + ".npy", at);
    ASSERT_NE(at, bytes.npos) << i;
  }
  EXPECT_EQ(read_numbered(path("many.npz")).at(10), arrays[10]);
}

TEST_F(Npz, ReadsNumberedArraysByTheirNumbers) {
  const std::string one = npy("\1\2", "(2,)"), two = npy("\3", "(1,)");
  for (const char* name : {"arr_1.npy", "arg1.npy", "1.npy"}) {
    const auto found = read_numbered(zipped("n.npz", {{name, two}, {"arr_0.npy", one}}));
    ASSERT_EQ(found.size(), 2u) << name;
    EXPECT_EQ(found.at(0).type().size(), 2) << name;
    EXPECT_EQ(found.at(1).type().size(), 1) << name;
  }
  for (const char* name : {"weights.npy", "0.npy", "arr_.npy", "arr_1x.npy"}) {
    try {
      read_numbered(zipped("n.npz", {{"arr_0.npy", one}, {name, two}}));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("name them arr_0, arr_1 ..."), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace anabranch
