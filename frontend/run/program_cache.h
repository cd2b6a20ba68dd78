// Compiled programs by graph, shared by everything in the process that compiles.
#pragma once

#include <memory>

#include "codegen/compile.h"

namespace anabranch {

/// The compilation of `graph`, kept: an equal graph with equal options compiles once, whichever
/// threads and jitted functions ask. The least recently used go when there are more than
/// `program_cache_limit`, or when they hold more than `program_cache_bytes` of code and constants.
std::shared_ptr<const Compilation> compile_once(const Graph& graph, const Options& options);

inline constexpr std::size_t program_cache_limit = 512;
inline constexpr std::size_t program_cache_bytes = std::size_t{256} << 20;

/// Since the process began: how often `compile_once` found a program and how often it made one.
struct ProgramCacheUse {
  std::uint64_t hits = 0, misses = 0;
  std::size_t programs = 0;
  std::size_t bytes = 0;  ///< of their code and constants
};
ProgramCacheUse program_cache_use();

}  // namespace anabranch
