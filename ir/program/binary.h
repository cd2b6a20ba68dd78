// The binary form of a program, for files and other processes of a machine.
#pragma once

#include <string>
#include <string_view>

#include "ir/program/program.h"

namespace anabranch {

/// The program's text, with the bytes of its constants and the graphs that its kernels came from
/// beside it, behind a checksum.
std::string to_binary(const Program& program);

/// Reads it back. All of it is checked: throws Error where the bytes are damaged, of another
/// version or no program, and where `verify` refuses what they say.
Program program_from_binary(std::string_view bytes);

}  // namespace anabranch
