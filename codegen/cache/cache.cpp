#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "anabranch/code_cache.h"
#include "anabranch/error.h"
#include "codegen/cache/entry.h"
#include "ir/log.h"

namespace anabranch {
namespace {

constexpr std::string_view unfinished_prefix = ".new-";
constexpr std::time_t unfinished_seconds = 3600;  // then its writer is taken for dead

/// An open file.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// Whether all that was written has been taken over.
  bool close() {
    if (descriptor_ < 0) return true;
    return ::close(std::exchange(descriptor_, -1)) == 0;
  }

 private:
  int descriptor_;
};

// Why another user may have written what is there; empty where none may. A directory that is
// private now may have been open to others when its entries came.
std::string foreign(const struct stat& status) {
  if (status.st_uid != ::geteuid()) return "belongs to another user, who could put code there";
  if (status.st_mode & (S_IWGRP | S_IWOTH)) {
    return "may be written by others, who could put code there";
  }
  return {};
}

// Why what is there is not read; empty where it can be.
std::string refusal(const struct stat& status, std::int64_t limit) {
  if (!S_ISREG(status.st_mode)) return "is no file";
  if (status.st_size > limit) return "is larger than the cache";
  return foreign(status);
}

// Nothing where it cannot be read.
std::optional<std::string> read_all(const File& file, const struct stat& status) {
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t count = ::read(file.descriptor(), content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return content;
}

bool write_all(const File& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file.descriptor(), content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// That no other has.
std::string unfinished_name() {
  std::random_device random;
  return std::string(unfinished_prefix) + std::to_string(random()) + "-" + std::to_string(random());
}

struct Listed {
  std::string name;
  std::int64_t bytes;
  timespec used;
};

bool used_before(const Listed& a, const Listed& b) {
  return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
}

// The files of a directory, in no order.
std::vector<Listed> list(int directory) {
  std::vector<Listed> files;
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(again < 0 ? nullptr : ::fdopendir(again), &::closedir);
  if (!stream) return files;
  while (const dirent* entry = ::readdir(stream.get())) {
    struct stat status;
    if (::fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode)) files.push_back({entry->d_name, status.st_size, status.st_mtim});
  }
  return files;
}

// For its owner alone, folders above it as the system makes them.
void make_private_directory(const std::filesystem::path& path) {
  std::error_code ignored;  // opening it will say what is wrong
  std::filesystem::create_directories(path.parent_path(), ignored);
  ::mkdir(path.c_str(), S_IRWXU);
}

// Without a slash at its end.
std::filesystem::path named(const std::filesystem::path& directory) {
  if (directory.empty()) throw Error("cache: needs a directory, and was given an empty name");
  return std::filesystem::absolute(directory / "").parent_path();
}

// The code of the entry for `key`, or what is wrong with it.
std::optional<std::string> code_of(const File& file, const struct stat& status,
                                   std::string_view key, std::string& fault) {
  const std::optional<std::string> content = read_all(file, status);
  fault = "cannot be read";
  if (!content) return std::nullopt;
  const auto found = cache_entry::code(*content, key);
  if (const auto* code = std::get_if<std::string_view>(&found)) return std::string(*code);
  fault = std::get<SectionsFault>(found).what;
  return std::nullopt;
}

}  // namespace

CodeCache::CodeCache(const std::string& directory, std::int64_t limit)
    : path_(named(directory).string()), limit_(limit) {
  make_private_directory(path_);
  File opened(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name = "cache: " + path_;
  struct stat status;
  if (!opened || ::fstat(opened.descriptor(), &status) != 0) {
    if (errno == ENOTDIR) throw Error(name + " is not a directory");
    report_trouble("opened");
    return;
  }
  if (const std::string why = foreign(status); !why.empty()) {
    const bool own = status.st_uid == ::geteuid();
    throw Error(name + " " + why +
                (own ? "; chmod 700 it, or choose another" : "; choose a directory of your own"));
  }
  directory_ = ::fcntl(opened.descriptor(), F_DUPFD_CLOEXEC, 0);
}

CodeCache::~CodeCache() { File(directory_).close(); }

std::optional<std::string> CodeCache::find(std::string_view key) {
  const std::string entry = cache_entry::name(key);
  // Whatever is there: no link is followed and no pipe waited for.
  const File file(
      ::openat(directory_, entry.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    ++misses_;
    return std::nullopt;
  }
  struct stat status;
  std::string fault =
      ::fstat(file.descriptor(), &status) == 0 ? refusal(status, limit_) : "cannot be looked at";
  std::optional<std::string> code;
  if (fault.empty()) code = code_of(file, status, key, fault);
  if (!code) {
    ++misses_;
    reject(entry, fault);
    return std::nullopt;
  }
  ++hits_;
  ::futimens(file.descriptor(), nullptr);  // was used now; where that fails it is evicted earlier
  return code;
}

void CodeCache::reject(const std::string& entry, const std::string& why) {
  ++rejected_;
  if (::unlinkat(directory_, entry.c_str(), 0) != 0) put_aside(entry);
  log_line("cache: " + path_ + "/" + entry + " " + why + "; removed, and compiled again");
}

// A folder: what is in it may be another user's, but the name is ours to give.
void CodeCache::put_aside(const std::string& entry) {
  const std::string aside = unfinished_name();
  if (::renameat(directory_, entry.c_str(), directory_, aside.c_str()) != 0) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_ + "/" + aside, ignored);
}

void CodeCache::keep(std::string_view key, std::string_view code) {
  const std::string content = cache_entry::encode(key, code);
  const auto bytes = static_cast<std::int64_t>(content.size());
  if (directory_ < 0 || bytes > limit_) return;
  if (!publish(cache_entry::name(key), content)) return report_trouble("written to");
  std::lock_guard lock(mutex_);
  if (bytes_) *bytes_ += bytes;
  if (!bytes_ || *bytes_ > limit_) evict();
}

// Others see the whole entry or none. What a power cut leaves of it is found by the checksum, so
// no thread has to wait for the disk.
bool CodeCache::publish(const std::string& entry, const std::string& content) {
  const std::string unfinished = unfinished_name();
  File file(::openat(directory_, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
  if (!file) return false;
  if (write_all(file, content) && file.close() &&
      ::renameat(directory_, unfinished.c_str(), directory_, entry.c_str()) == 0) {
    return true;
  }
  const int why = errno;
  ::unlinkat(directory_, unfinished.c_str(), 0);
  errno = why;
  return false;
}

// Looks at the directory, since other processes write there too, and makes room for a while.
void CodeCache::evict() {
  std::vector<Listed> entries;
  std::int64_t total = 0;
  for (Listed& file : list(directory_)) {
    if (file.name.ends_with(cache_entry::suffix)) {
      total += file.bytes;
      entries.push_back(std::move(file));
    } else if (file.name.starts_with(unfinished_prefix) &&
               file.used.tv_sec + unfinished_seconds < std::time(nullptr)) {
      ::unlinkat(directory_, file.name.c_str(), 0);
    }
  }
  if (total > limit_) {
    std::sort(entries.begin(), entries.end(), used_before);
    entries.pop_back();  // the newest stays
    for (const Listed& oldest : entries) {
      if (total <= limit_ / 10 * 9) break;
      total -= oldest.bytes;
      if (::unlinkat(directory_, oldest.name.c_str(), 0) == 0) ++evicted_;
    }
  }
  bytes_ = total;
}

void CodeCache::report_trouble(const std::string& doing) {
  const std::string why = std::strerror(errno);
  if (reported_.exchange(true)) return;
  log_line("cache: " + path_ + " cannot be " + doing + ": " + why +
           "; compiling goes on without it");
}

CodeCache::Use CodeCache::use() const { return {hits_, misses_, rejected_, evicted_}; }

}  // namespace anabranch
