// NumPy's .npy files (format versions 1 to 3): how the command reads inputs and writes outputs.
#pragma once

#include <string>

#include "ir/literal.h"

namespace anabranch {

/// The array in a .npy file: any dtype of ours but bf16, little-endian, C or Fortran order. Throws
/// Error that names the file and what is wrong with it.
Literal read_npy(const std::string& path);

/// Writes `literal` (bf16 as f32, which NumPy has) under a temporary name, then renames it: never
/// half a file. Throws Error that names the file.
void write_npy(const std::string& path, const Literal& literal);

}  // namespace anabranch
