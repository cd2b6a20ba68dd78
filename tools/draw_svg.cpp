#include "tools/draw_svg.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "anabranch/error.h"

namespace anabranch {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const std::string& what, int code) {
  throw Error("dump: " + what + ": " + std::strerror(code));
}

// A file without a name that holds `text`, to be read from its beginning.
Descriptor file_of(const std::string& text) {
  Descriptor file(::memfd_create("anabranch.dot", MFD_CLOEXEC));
  if (file.number() < 0) fail("no memory for the picture's text", errno);
  for (std::size_t written = 0; written < text.size();) {
    const auto count = ::write(file.number(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("no memory for the picture's text", errno);
    written += static_cast<std::size_t>(count);
  }
  ::lseek(file.number(), 0, SEEK_SET);
  return file;
}

// Starts "dot -Tsvg" between the two.
pid_t start_dot(const Descriptor& input, const Descriptor& output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.number(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.number(), STDOUT_FILENO);
  std::string program = "dot", option = "-Tsvg";
  std::array<char*, 3> arguments = {program.data(), option.data(), nullptr};
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, "dot", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fail(
        "Graphviz's program dot, which draws, cannot be started; install graphviz, or take "
        "--format dot and draw that elsewhere",
        error);
  }
  return process;
}

std::string read_to_the_end(const Descriptor& pipe) {
  std::string text;
  std::array<char, 65536> block;
  while (true) {
    const auto count = ::read(pipe.number(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;  // what is missing, the program's status tells
    text.append(block.data(), static_cast<std::size_t>(count));
  }
}

int status_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // namespace

std::string draw_svg(const std::string& text) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe for the picture", errno);
  const Descriptor output(ends[0]);
  Descriptor input(ends[1]);
  const pid_t process = start_dot(file_of(text), input);
  input = Descriptor();  // only the program writes, so that its end is the picture's
  std::string drawn = read_to_the_end(output);
  const int status = status_of(process);
  if (status == 0) return drawn;
  const std::string how = WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  throw Error("dump: Graphviz's program dot did not draw the picture and ended with " + how +
              "; take --format dot to see what it was given");
}

}  // namespace anabranch
