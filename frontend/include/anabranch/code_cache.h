// CodeCache: native code kept in a directory, so that a later process starts without compiling.
//
// An entry is a file named after a hash of its key. It holds the key in full and a checksum over
// all of it, and appears whole or not at all. One that is not what it should be, or that another
// user may have written, is removed, with a line in the log, and made again. Where the disk is full
// or may not be written, compiling continues without the cache, with one line in the log. Any
// number of threads and processes may share a directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "anabranch/export.h"

namespace ANABRANCH_API anabranch {

class CodeCache {
 public:
  static constexpr std::int64_t default_limit = std::int64_t{1} << 30;

  /// Keeps at most about `limit` bytes there; the least recently used entries go first. Makes a
  /// missing directory, for its owner alone. Throws Error where the directory is another user's,
  /// where others may write to it (they could plant code), or where it is no directory.
  explicit CodeCache(const std::string& directory, std::int64_t limit = default_limit);
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  /// The code kept under exactly this key, or nothing.
  std::optional<std::string> find(std::string_view key);

  /// Keeps `code`, which must follow from `key`: everything that the code depends on, in full.
  void keep(std::string_view key, std::string_view code);

  /// Of this object, since it was made.
  struct Use {
    std::uint64_t hits = 0, misses = 0;
    std::uint64_t rejected = 0;  ///< of the misses, entries that were not what they should be
    std::uint64_t evicted = 0;   ///< removed to keep the limit
  };
  Use use() const;

 private:
  void reject(const std::string& entry, const std::string& why);
  void put_aside(const std::string& entry);
  bool publish(const std::string& entry, const std::string& content);
  void evict();
  void report_trouble(const std::string& doing);

  const std::string path_;
  const std::int64_t limit_;
  int directory_ = -1;  // all else is relative to it; -1: there is no cache
  std::atomic<std::uint64_t> hits_ = 0, misses_ = 0, rejected_ = 0, evicted_ = 0;
  std::atomic<bool> reported_ = false;
  std::mutex mutex_;                   // of bytes_
  std::optional<std::int64_t> bytes_;  // in the directory, as far as we know
};

}  // namespace anabranch
