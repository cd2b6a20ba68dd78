// NumPy's .npz files: zip archives of .npy files, stored (np.savez) or deflated
// (np.savez_compressed).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "ir/literal.h"

namespace anabranch {

/// The array in FILE.npy; the only one in FILE.npz; the one of that name in FILE.npz:NAME. Throws
/// Error that names the file and what is wrong with it.
Literal read_array(const std::string& path);

/// The arrays of a .npz file that stand for numbered values, by their numbers: those named arr_0,
/// arr_1 ... (np.savez without keywords), arg0, arg1 ..., or 0, 1 ... Throws as read_array, and
/// where an array has another name or two have one number.
std::map<std::size_t, Literal> read_numbered(const std::string& path);

/// All arrays of a .npz file by their names. Throws as read_array, and where two have one name.
std::map<std::string, Literal> read_named(const std::string& path);

/// Writes arrays as arr_0, arr_1 ..., under a temporary name that is then changed: never half a
/// file. Throws Error that names the file.
void write_npz(const std::string& path, std::span<const Literal> arrays);
/// The same of arrays with names, each once.
void write_npz(const std::string& path, const std::map<std::string, Literal>& arrays);

}  // namespace anabranch
