// Text to graphs, kernels and programs: reads what `to_string` writes;
// `parse` of one graph is public.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/kernel/kernel.h"
#include "ir/program/program.h"

namespace anabranch {

/// Every graph in `text`, in order (a golden file may hold several).
std::vector<Graph> parse_all(std::string_view text);

/// The kernels in `text`, as `to_string` writes them; what is in comments is lost. Throws Error as
/// `parse` does, and where `verify` refuses one.
std::vector<Kernel> parse_kernels(std::string_view text);

/// The program in `text`, as `to_string` writes it; what is in comments is lost. Where the text
/// leaves out what constants hold, `values` are their bytes, in their order. Throws Error as
/// `parse` does, and where `verify` refuses it.
Program parse_program(std::string_view text, std::span<const std::string_view> values = {});

}  // namespace anabranch
