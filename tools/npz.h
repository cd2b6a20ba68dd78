// NumPy's .npz files: zip archives of .npy files, stored (np.savez) or deflated
// (np.savez_compressed).
#pragma once

#include <string>

#include "ir/literal.h"

namespace anabranch {

/// The array in FILE.npy; the only one in FILE.npz; the one of that name in FILE.npz:NAME. Throws
/// Error that names the file and what is wrong with it.
Literal read_array(const std::string& path);

}  // namespace anabranch
