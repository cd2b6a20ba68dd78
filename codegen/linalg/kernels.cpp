#include "codegen/linalg/kernels.h"

#include <cblas.h>
#include <unistd.h>

#include <string_view>
#include <vector>

// OpenBLAS's own, which no header declares; not there where it is built for one CPU alone.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace anabranch::lapack {
namespace {

constexpr std::string_view oldest = "Prescott";
constexpr std::string_view variable = "OPENBLAS_CORETYPE=";  // which says what is to be taken

char* setting_of_this_cpu() {
  static char skylake[] = "OPENBLAS_CORETYPE=SkylakeX", haswell[] = "OPENBLAS_CORETYPE=Haswell";
#if defined(__x86_64__)
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return skylake;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return haswell;
#endif
  return nullptr;
}

}  // namespace

const char* kernels_in_use() { return openblas_get_corename(); }

// OpenBLAS is told by its environment alone. Other threads may be reading that: the variable stands
// in an array beside the one that is there, which nobody changes.
void choose_kernels() {
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || kernels_in_use() != oldest) return;
  char* const setting = setting_of_this_cpu();
  if (!setting) return;
  static auto& with_setting = *new std::vector<char*>;  // for as long as the process runs
  for (char** entry = environ; entry && *entry; ++entry) {
    if (std::string_view(*entry).starts_with(variable)) return;
    with_setting.push_back(*entry);
  }
  with_setting.insert(with_setting.end(), {setting, nullptr});
  char** const before = environ;
  environ = with_setting.data();
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  environ = before;
}

}  // namespace anabranch::lapack
