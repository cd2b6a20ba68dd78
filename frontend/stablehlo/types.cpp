#include "frontend/stablehlo/types.h"

#include "frontend/stablehlo/narrow_format.h"
#include "ir/most_axes.h"

namespace anabranch::stablehlo {

std::optional<Dtype> dtype_of_element(std::string_view element) {
  if (element == "i1") return bool_;
  if (const NarrowFormat* narrow = narrow_format(element)) return narrow->carrier;
  if (element == "complex<f32>") return parse_dtype("c64");
  if (element == "complex<f64>") return parse_dtype("c128");
  if (element.starts_with("ui") || element.starts_with("si")) {
    std::string own(element.substr(element[0] == 'u' ? 2 : 1));
    if (element[0] == 'u') own.insert(0, "u");
    return parse_dtype(own);
  }
  if (element == "bool" || element.starts_with("u") || element.starts_with("c")) return {};
  return parse_dtype(element);
}

std::string element_of_dtype(Dtype dtype) {
  if (dtype == bool_) return "i1";
  const std::string own(name(dtype));
  if (own == "c64") return "complex<f32>";
  if (own == "c128") return "complex<f64>";
  return is_unsigned_integer(dtype) ? "ui" + own.substr(1) : own;
}

std::string type_text(const Type& type) {
  std::string text = "tensor<";
  for (std::int64_t size : type.shape) text += std::to_string(size) + "x";
  return text + element_of_dtype(type.dtype) + ">";
}

Type to_type(const SourceText& source, const TypeSyntax& type) {
  const std::string text = to_string(type);
  if (type.kind != TypeSyntax::Kind::tensor) {
    source.fail(type.at, text + " is no tensor; operations here work on tensors of static sizes");
  }
  bool is_dynamic = type.unranked;
  for (std::int64_t size : type.sizes) is_dynamic = is_dynamic || size == dynamic_size;
  if (is_dynamic) {
    source.fail(type.at, text +
                             " has a dynamic size; export the program for static shapes, one for "
                             "each that is needed");
  }
  if (type.element.find("quant.") != std::string::npos) {
    source.fail(type.at, text +
                             " is quantized, and quantized types are not read; dequantize the "
                             "program (stablehlo-opt --stablehlo-legalize-quant-to-math)");
  }
  const std::optional<Dtype> dtype = dtype_of_element(type.element);
  if (!dtype) source.fail(type.at, text + ": there is no element type " + type.element + " here");
  if (type.sizes.size() > most_axes) {
    source.fail(type.at, "a tensor of " + std::to_string(type.sizes.size()) + " axes; at most " +
                             std::to_string(most_axes) + " are read");
  }
  try {
    return {*dtype, Shape(type.sizes)};
  } catch (const Error& error) {
    source.fail_again(type.at, error);
  }
}

}  // namespace anabranch::stablehlo
