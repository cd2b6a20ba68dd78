#include "ir/text/read_fields.h"

#include <charconv>

#include "ir/most_axes.h"

namespace anabranch {
namespace {

std::string list_of_dtypes() {
  std::string text;
  for (int i = 0; i < dtype_count; ++i) {
    text += (i ? ", " : "") + std::string(name(static_cast<Dtype>(i)));
  }
  return text;
}

}  // namespace

Type read_type(TextReader& reader) {
  const std::size_t start = reader.position();
  const std::string_view word = reader.identifier("a type, such as f32[3]");
  const auto dtype = parse_dtype(word);
  if (!dtype) {
    reader.fail_at(start,
                   "unknown dtype '" + std::string(word) + "'; there are " + list_of_dtypes());
  }
  if (!reader.at('[')) reader.fail_expected("the sizes, such as [3,4], after " + std::string(word));
  std::vector<std::int64_t> sizes;
  read_list(reader, [&] { sizes.push_back(reader.integer("a size")); });
  if (sizes.size() > most_axes) {
    reader.fail_at(start, "a type has at most " + std::to_string(most_axes) + " axes");
  }
  return located(reader, start, [&] { return Type{*dtype, Shape(std::move(sizes))}; });
}

Op read_op(TextReader& reader) {
  const std::size_t start = reader.position();
  const std::string_view word = reader.identifier("an op");
  if (const auto op = parse_op(word)) return *op;
  reader.fail_at(start, "unknown op '" + std::string(word) + "'; docs/ir.md lists the ops");
}

Device read_device(TextReader& reader) {
  const std::size_t start = reader.position();
  std::string text(reader.identifier("a device, such as cpu:1"));
  reader.expect(':', "and a number after " + text);
  text += ":" + std::to_string(reader.integer("the number of the device"));
  if (const auto device = parse_device(text)) return *device;
  reader.fail_at(start, "there is no device '" + text + "'; write cpu:0, cuda:0 or null:0");
}

std::string read_name(TextReader& reader, const std::string& what) {
  return reader.at('"') ? reader.quoted() : std::string(reader.identifier(what));
}

std::size_t read_word(TextReader& reader, std::span<const std::string_view> names,
                      std::string_view what) {
  const std::size_t start = reader.position();
  const std::string_view word = reader.identifier("a word for " + std::string(what));
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  reader.fail_at(
      start, "unknown " + std::string(what) + " '" + std::string(word) + "'; there are " + text);
}

void read_field(TextReader& reader, std::string& field, std::string_view word) {
  field = read_name(reader, "the word " + std::string(word));
}

void read_field(TextReader& reader, double& field, std::string_view word) {
  const std::size_t start = reader.position();
  const std::string_view text = reader.number();
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, field);
  if (error != std::errc{} || end != last) {
    reader.fail_at(start, std::string(word) + " is a number, not '" + std::string(text) + "'");
  }
}

// "model.cpp:12 in encoder/layer1", the file without its folders.
void read_field(TextReader& reader, SourceLocation& field, std::string_view word) {
  const std::size_t start = reader.position();
  const std::string text = read_name(reader, "a place, such as \"model.cpp:12\"");
  const std::string_view place = std::string_view(text).substr(0, text.find(" in "));
  const std::size_t colon = place.rfind(':');
  std::uint32_t line = 0;
  const char* const last = place.data() + place.size();
  const bool is_line = colon != place.npos && [&] {
    const auto read = std::from_chars(place.data() + colon + 1, last, line);
    return read.ec == std::errc{} && read.ptr == last;
  }();
  if (!is_line) {
    reader.fail_at(start, std::string(word) + " is a file and a line, not '" + text + "'");
  }
  field = SourceLocation(kept_text(place.substr(0, colon)), line);
  if (place.size() < text.size()) field.scope = kept_text(text.substr(place.size() + 4));
}

void read_field(TextReader& reader, bool& field, std::string_view word) {
  constexpr std::string_view values[] = {"false", "true"};
  field = read_word(reader, values, word) == 1;
}

void read_field(TextReader& reader, CustomFunctionHandle& field, std::string_view word) {
  read_field(reader, field.number, word);
}

}  // namespace anabranch
