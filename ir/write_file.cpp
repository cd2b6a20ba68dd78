#include "ir/write_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "ir/error.h"

namespace anabranch {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::function<void(std::ostream& file)>& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(path.string() +
                ": is no regular file, and a file would take its place; give the path of a file, "
                "or one where nothing is yet");
  }
  const fs::path temporary = path.string() + "." + std::to_string(::getpid()) + ".tmp";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  write(file);
  file.close();
  error.clear();
  if (file) fs::rename(temporary, path, error);
  if (file && !error) return;
  const std::string reason = error ? error.message() : std::strerror(errno);
  fs::remove(temporary, error);
  throw Error(path.string() + ": cannot be written: " + reason +
              "; choose a folder that is there and may be written to");
}

}  // namespace anabranch
