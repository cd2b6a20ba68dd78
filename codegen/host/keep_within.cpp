#include "codegen/host/keep_within.h"

// Highway compiles what is between its marks once for each kind of CPU: this file includes itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/host/keep_within.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace anabranch::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Without a branch: which of them are kept cannot be foretold. Those outside wrap around, and are
// no less than `some`.
std::size_t keep(const std::int32_t* numbers, std::size_t count, std::int32_t least,
                 std::uint32_t some, std::uint32_t* offsets, std::uint32_t* positions) {
  const hn::CappedTag<std::uint32_t, keep_within_overhang> d;
  const hn::RebindToSigned<decltype(d)> given;
  const std::size_t lanes = hn::Lanes(d);
  const auto first = hn::Set(d, static_cast<std::uint32_t>(least)), limit = hn::Set(d, some);
  const auto step = hn::Set(d, static_cast<std::uint32_t>(lanes));
  auto position = hn::Iota(d, 0);
  std::size_t kept = 0, i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto offset = hn::Sub(hn::BitCast(d, hn::LoadU(given, numbers + i)), first);
    const auto is_within = hn::Lt(offset, limit);
    hn::StoreU(hn::Compress(offset, is_within), d, offsets + kept);
    hn::StoreU(hn::Compress(position, is_within), d, positions + kept);
    kept += hn::CountTrue(d, is_within);
    position = hn::Add(position, step);
  }
  for (; i < count; ++i) {
    offsets[kept] = static_cast<std::uint32_t>(numbers[i]) - static_cast<std::uint32_t>(least);
    positions[kept] = static_cast<std::uint32_t>(i);
    kept += offsets[kept] < some ? 1 : 0;
  }
  return kept;
}

}  // namespace anabranch::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anabranch::host {

HWY_EXPORT(keep);

std::size_t keep_within(const std::int32_t* numbers, std::size_t count, std::int32_t least,
                        std::uint32_t some, std::uint32_t* offsets, std::uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(keep)(numbers, count, least, some, offsets, positions);
}

}  // namespace anabranch::host
#endif
