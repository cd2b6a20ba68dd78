#include "frontend/files/npz.h"

#include <zip.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "frontend/files/npy.h"
#include "ir/write_file.h"

namespace anabranch {
namespace {

constexpr std::string_view extension = ".npz";

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using ArchiveFile = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

Archive open_archive(const std::string& path) {
  std::error_code unknown;  // left to zip_open
  if (std::filesystem::is_directory(path, unknown))
    fail_reading(path, "is a folder; give the path of a file");
  int code = 0;
  if (zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, &code)) return {archive, zip_discard};
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  const bool unopened = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ;
  zip_error_fini(&error);
  fail_reading(path, (unopened ? "cannot be opened: " : "is no .npz file: ") + reason);
}

struct Entry {
  std::string name;  // without .npy
  zip_stat_t status;
};

// Entries that share their bytes could come to any size.
std::vector<Entry> arrays_in(const std::string& path, zip_t* archive) {
  std::vector<Entry> arrays;
  std::error_code unknown;
  std::uint64_t left = std::filesystem::file_size(path, unknown);
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    if (zip_stat_index(archive, i, 0, &status) != 0 || !(status.valid & ZIP_STAT_NAME)) continue;
    const std::string_view name = status.name;
    if (!name.ends_with(".npy")) continue;
    if (status.comp_size > left) fail_reading(path, "has entries that lie one over the other");
    left -= status.comp_size;
    arrays.push_back({std::string(name.substr(0, name.size() - 4)), status});
  }
  return arrays;
}

std::string names_of(const std::vector<Entry>& arrays) {
  std::string names;
  for (const Entry& entry : arrays) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

// The size that an entry claims, where its bytes can be that many.
std::uint64_t size_of(const std::string& name, const zip_stat_t& status) {
  constexpr zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((status.valid & wanted) != wanted) fail_reading(name, "is no .npz file: its size is missing");
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
    fail_reading(name,
                 "is neither stored nor deflated; save it with np.savez or np.savez_compressed");
  }
  // A deflated byte stands for at most 1032 (zlib, "Maximum Compression Factor").
  if (status.size / 1032 > status.comp_size) {
    fail_reading(name, "claims " + std::to_string(status.size) + " bytes, more than " +
                           std::to_string(status.comp_size) + " compressed ones can hold");
  }
  return status.size;
}

Literal read_entry(const std::string& name, zip_t* archive, const zip_stat_t& status) {
  const ArchiveFile file(zip_fopen_index(archive, status.index, 0), zip_fclose);
  if (!file) fail_reading(name, std::string("cannot be opened: ") + zip_strerror(archive));
  const auto read = [&](std::span<std::byte> bytes) {
    const auto count = zip_fread(file.get(), bytes.data(), bytes.size());
    if (count == static_cast<zip_int64_t>(bytes.size())) return;
    const std::string reason = count < 0 ? zip_file_strerror(file.get()) : "it is cut short";
    fail_reading(name, "cannot be read to its end: " + reason);
  };
  Literal literal = reading(name, [&] {
    return read_npy(NpySource{name, size_of(name, status), read});
  });
  std::byte more;  // the checksum is compared where nothing is left
  if (zip_fread(file.get(), &more, 1) != 0) {
    fail_reading(name, std::string("cannot be read to its end: ") + zip_file_strerror(file.get()));
  }
  return literal;
}

// An empty key means the only array.
Literal read_npz(const std::string& path, std::string_view key) {
  const Archive archive = open_archive(path);
  const std::vector<Entry> arrays = arrays_in(path, archive.get());
  if (arrays.empty()) fail_reading(path, "holds no arrays: no entry ends in .npy");
  const std::string names = names_of(arrays);
  if (key.empty() && arrays.size() > 1) {
    fail_reading(path, "holds the arrays " + names + "; write " + path + ":" + arrays[0].name +
                           " for one of them");
  }
  const auto named = [&](const Entry& entry) {
    return key.empty() || key == entry.name || key == entry.name + ".npy";
  };
  const auto found = std::find_if(arrays.begin(), arrays.end(), named);
  if (found == arrays.end()) {
    fail_reading(path, "holds no array '" + std::string(key) + "'; it holds " + names);
  }
  return read_entry(path + ":" + found->name, archive.get(), found->status);
}

// "arr_3", "arg3" and "3" are 3.
std::optional<std::size_t> number_of(std::string_view name) {
  for (const std::string_view prefix : {"arr_", "arg"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// An archive that is made in memory.
class ArchiveInMemory {
 public:
  ArchiveInMemory() {
    zip_error_init(&error_);
    source_ = zip_source_buffer_create(nullptr, 0, 0, &error_);
    if (!source_) fail();
    zip_source_keep(source_);  // for the bytes; the archive lets go of it when it is closed
    archive_ = zip_open_from_source(source_, ZIP_TRUNCATE, &error_);
    if (!archive_) {
      zip_source_free(source_);
      fail();
    }
  }
  ~ArchiveInMemory() {
    if (archive_) zip_discard(archive_);
    zip_source_free(source_);
    zip_error_fini(&error_);
  }
  ArchiveInMemory(const ArchiveInMemory&) = delete;
  ArchiveInMemory& operator=(const ArchiveInMemory&) = delete;

  // `bytes` stay until the archive is closed.
  void add(const std::string& name, std::string_view bytes) {
    zip_source_t* entry = zip_source_buffer(archive_, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = entry ? zip_file_add(archive_, name.c_str(), entry, 0) : -1;
    if (index < 0) {
      zip_source_free(entry);
      throw Error(name + ": cannot be put into an archive: " + zip_strerror(archive_));
    }
    zip_set_file_compression(archive_, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  void write_to(std::ostream& file) {
    if (zip_close(archive_) != 0) throw Error(std::string("an archive: ") + zip_strerror(archive_));
    archive_ = nullptr;
    if (zip_source_open(source_) != 0) fail();
    std::vector<char> piece(1 << 20);
    while (true) {
      const zip_int64_t size = zip_source_read(source_, piece.data(), piece.size());
      if (size <= 0) break;
      file.write(piece.data(), size);
    }
    zip_source_close(source_);
  }

 private:
  [[noreturn]] void fail() {
    throw Error(std::string("an archive in memory: ") + zip_error_strerror(&error_));
  }

  zip_error_t error_;
  zip_source_t* source_ = nullptr;
  zip_t* archive_ = nullptr;
};

}  // namespace

std::map<std::size_t, Literal> read_numbered(const std::string& path) {
  const Archive archive = open_archive(path);
  const std::vector<Entry> arrays = arrays_in(path, archive.get());
  std::map<std::size_t, Literal> numbered;
  for (const Entry& entry : arrays) {
    const std::optional<std::size_t> number = number_of(entry.name);
    if (!number || numbered.contains(*number)) {
      fail_reading(path, "holds the arrays " + names_of(arrays) +
                             "; name them arr_0, arr_1 ..., as np.savez(file, a, b) does, or give "
                             "each by itself: NAME=" +
                             path + ":" + entry.name);
    }
    numbered.emplace(*number, read_entry(path + ":" + entry.name, archive.get(), entry.status));
  }
  return numbered;
}

std::map<std::string, Literal> read_named(const std::string& path) {
  const Archive archive = open_archive(path);
  std::map<std::string, Literal> named;
  for (const Entry& entry : arrays_in(path, archive.get())) {
    if (named.contains(entry.name)) fail_reading(path, "holds two arrays '" + entry.name + "'");
    named.emplace(entry.name, read_entry(path + ":" + entry.name, archive.get(), entry.status));
  }
  return named;
}

namespace {

void write_in_order(const std::string& path,
                    const std::vector<std::pair<std::string, const Literal*>>& arrays) {
  std::vector<std::string> files;  // of the entries, which the archive reads when it is closed
  ArchiveInMemory archive;
  files.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    std::ostringstream file;
    write_npy(file, *array);
    archive.add(name + ".npy", files.emplace_back(std::move(file).str()));
  }
  write_file(path, [&](std::ostream& file) {
    if (arrays.empty()) {  // libzip writes none of these: the end of a directory of no entries
      file << "PK\5\6" << std::string(18, '\0');
    } else {
      archive.write_to(file);
    }
  });
}

}  // namespace

void write_npz(const std::string& path, const std::map<std::string, Literal>& arrays) {
  std::vector<std::pair<std::string, const Literal*>> named;
  for (const auto& [name, array] : arrays) named.emplace_back(name, &array);
  write_in_order(path, named);
}

void write_npz(const std::string& path, std::span<const Literal> arrays) {
  std::vector<std::pair<std::string, const Literal*>> numbered;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    numbered.emplace_back("arr_" + std::to_string(i), &arrays[i]);
  }
  write_in_order(path, numbered);
}

Literal read_array(const std::string& path) {
  if (path.ends_with(extension)) return read_npz(path, "");
  const auto colon = path.rfind(std::string(extension) + ":");
  std::error_code unknown;
  if (colon == path.npos || std::filesystem::exists(path, unknown)) return read_npy(path);
  const std::size_t end = colon + extension.size();
  return read_npz(path.substr(0, end), std::string_view(path).substr(end + 1));
}

}  // namespace anabranch
