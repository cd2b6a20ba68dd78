#include "anabranch/device.h"

#include <charconv>

namespace anabranch {

std::string to_string(const Device& device) {
  return std::string(device_kind_names[static_cast<std::size_t>(device.kind())]) + ":" +
         std::to_string(device.index());
}

std::optional<Device> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  int index = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, index);
  if (error != std::errc{} || rest != end || index < 0) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  if (kind == "cpu") return Device::cpu(index);
  if (kind == "cuda") return Device::cuda(index);
  if (kind == "null") return Device::null(index);
  return std::nullopt;
}

}  // namespace anabranch
