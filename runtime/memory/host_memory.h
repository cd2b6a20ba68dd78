// How much memory this process may have.
#pragma once

#include <cstddef>

namespace anabranch {

/// The machine's memory and swap, or what the control groups of this process allow, if that is
/// less. What is asked for beyond it is granted by a system that overcommits, and the process is
/// killed when it is used.
std::size_t host_memory();

}  // namespace anabranch
