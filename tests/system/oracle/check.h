// One graph held against the interpreter, and in words where something is wrong.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tests/support/error_bounds.h"
#include "ways.h"

namespace anabranch {

/// What is wrong with what this way gives; nothing where it is within `expected`.
std::optional<std::string> problem(const Way& way, const GraphCase& tested,
                                   std::span<const Bounded> expected);
std::optional<std::string> problem(const Way& way, const GraphCase& tested);

/// The graph's text, and its small inputs as comments.
std::string describe(const GraphCase& tested);

}  // namespace anabranch
