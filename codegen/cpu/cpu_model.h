// The CPU that code is made for, in LLVM's words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace anabranch::cpu {

/// A page, which no processor fetches ahead across.
constexpr std::int64_t page_bytes = 4096;

struct CpuModel {
  std::string name;      ///< "znver5"
  std::string features;  ///< "+avx2,-avx512f,": what the name leaves open

  bool has(std::string_view feature) const {
    return features.find("+" + std::string(feature) + ",") != std::string::npos;
  }
};

/// Whether it is one of AMD's Zen: gathers are slow there, square roots fast.
inline bool is_zen(std::string_view cpu) { return cpu.starts_with("znver"); }

/// Of this machine; the first thing that anyone asks LLVM.
const CpuModel& host_cpu();

}  // namespace anabranch::cpu
