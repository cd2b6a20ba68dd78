// Safetensors files (https://github.com/huggingface/safetensors#format): the length of a header in
// eight bytes, the lowest first; the header, a JSON object of names to dtype, shape and place; the
// elements, row-major, in little-endian order.
#pragma once

#include <map>
#include <string>

#include "ir/literal.h"

namespace anabranch {

/// All arrays of a file by their names; its metadata is passed over. Throws Error that names the
/// file, the array and what is wrong with it: also where elements overlap, are missing or are in
/// excess, and for a dtype that is not one of ours.
std::map<std::string, Literal> read_safetensors(const std::string& path);

/// Writes arrays under a temporary name that is then changed: never half a file. The widest dtypes
/// come first, so that each array is aligned. Throws Error that names the file, also for c128,
/// which the format has not, and for names that are no UTF-8.
void write_safetensors(const std::string& path, const std::map<std::string, Literal>& arrays);

}  // namespace anabranch
