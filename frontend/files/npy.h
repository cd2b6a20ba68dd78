// NumPy's .npy files (format versions 1 to 3).
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <new>
#include <span>
#include <string>

#include "ir/literal.h"
#include "ir/most_axes.h"

namespace anabranch {

/// Throws Error that names the file.
[[noreturn]] inline void fail_reading(const std::string& path, const std::string& what) {
  throw Error(path + ": " + what);
}

/// What `read` gives. Throws Error that names the file where memory ends.
template <class Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    fail_reading(path, "holds more than there is memory for");
  }
}

/// Throws Error that names the file where an array of it has too many axes.
inline void check_axes(const std::string& path, std::size_t axes) {
  if (axes <= most_axes) return;
  fail_reading(path, "an array of " + std::to_string(axes) + " axes; at most " +
                         std::to_string(most_axes) + " are read");
}

/// The bytes of one .npy file, wherever they are.
struct NpySource {
  std::string name;                                ///< for messages
  std::uint64_t size;                              ///< in bytes, from its first on
  std::function<void(std::span<std::byte>)> read;  ///< fills with the next bytes, or throws Error
};

/// The array in a .npy file that any version of NumPy wrote: of any dtype of ours but bf16, in
/// either byte order, in C or Fortran order. Throws Error that names the file and what is wrong
/// with it, also where fewer or more bytes follow the header than the array takes.
Literal read_npy(const std::string& path);
Literal read_npy(const NpySource& source);

/// Writes `literal` (bf16 as f32, which NumPy has) under a temporary name, then renames it: never
/// half a file. Throws Error that names the file.
void write_npy(const std::string& path, const Literal& literal);
/// The bytes of such a file.
void write_npy(std::ostream& file, const Literal& literal);

}  // namespace anabranch
