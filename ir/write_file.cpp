#include "ir/write_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "anabranch/error.h"

namespace anabranch {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw Error(path.string() + ": cannot be written: " + reason +
              "; choose a folder that is there, may be written to and has room");
}

/// A new file beside `path`, removed again unless it is renamed. It is made here or not at all: a
/// file or link of that name that another process put there is passed over.
class Temporary {
 public:
  explicit Temporary(const fs::path& path) {
    static std::atomic<unsigned> made = 0;
    for (int tries = 0; tries < 1000; ++tries) {
      path_ =
          path.string() + "." + std::to_string(::getpid()) + "." + std::to_string(made++) + ".tmp";
      const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file >= 0) {
        ::close(file);
        return;
      }
      if (errno != EEXIST) fail(path, std::strerror(errno));
    }
    fail(path, "files of other writers are in the way, like " + path_.string());
  }
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const fs::path& path() const { return path_; }

  void rename_to(const fs::path& path) {
    std::error_code error;
    fs::rename(path_, path, error);
    if (error) fail(path, error.message());
    path_.clear();
  }

 private:
  fs::path path_;
};

void check_kind(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(path.string() +
                ": is no regular file, and a file would take its place; give the path of a file, "
                "or one where nothing is yet");
  }
}

}  // namespace

void write_file(const fs::path& path, const std::function<void(std::ostream& file)>& write) {
  check_kind(path);
  Temporary temporary(path);
  errno = 0;
  std::ofstream file(temporary.path(), std::ios::binary);
  write(file);
  file.close();
  if (!file) fail(path, std::strerror(errno));
  temporary.rename_to(path);
}

void check_writable(const fs::path& path) {
  check_kind(path);
  Temporary temporary(path);
}

}  // namespace anabranch
