// Whether a step gets the buffers that its work takes.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/program/program.h"

namespace anabranch {

/// What is wrong with the buffers of a step whose slots exist ("has 2 buffers instead of 3");
/// nothing where all is right. `kernels` are the outermost program's; where there are none, what
/// runs one is not looked at.
std::optional<std::string> fault_of(const Program& program, const Step& step,
                                    std::span<const Kernel> kernels);

}  // namespace anabranch
