// Reads what print_fields.h writes. Every failure is an Error with the place in the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "anabranch/device.h"
#include "anabranch/error.h"
#include "anabranch/source_location.h"
#include "anabranch/type.h"
#include "ir/custom_call.h"
#include "ir/fields.h"
#include "ir/op.h"
#include "ir/text/print_fields.h"
#include "ir/text/text_reader.h"

namespace anabranch {

/// Calls `call`; errors of its own get the place in the text.
template <class Call>
std::invoke_result_t<Call> located(const TextReader& reader, std::size_t position, Call call) {
  try {
    return call();
  } catch (const Error& error) {
    reader.fail_at(position, error.what());
  }
}

/// "f32[64,128]"
Type read_type(TextReader& reader);
/// "reduce_sum"
Op read_op(TextReader& reader);
/// "cpu:1"
Device read_device(TextReader& reader);
/// A name as `quoted_name` writes it; `what` says whose it is.
std::string read_name(TextReader& reader, const std::string& what);
/// The position among `names` of the word that comes next; `what` is what the words are of.
std::size_t read_word(TextReader& reader, std::span<const std::string_view> names,
                      std::string_view what);
/// Calls `element()` for each element of "[a, b]".
template <class Element>
void read_list(TextReader& reader, Element element) {
  reader.expect('[', "to open a list");
  if (reader.accept(']')) return;
  do element();
  while (reader.accept(','));
  reader.expect(']', "to close the list");
}

// A field by its type; `word` is its name.
void read_field(TextReader& reader, std::string& field, std::string_view word);
void read_field(TextReader& reader, double& field, std::string_view word);
void read_field(TextReader& reader, bool& field, std::string_view word);
void read_field(TextReader& reader, CustomFunctionHandle& field, std::string_view word);
void read_field(TextReader& reader, SourceLocation& field, std::string_view word);
inline void read_field(TextReader& reader, Type& field, std::string_view) {
  field = read_type(reader);
}
inline void read_field(TextReader& reader, Op& field, std::string_view) { field = read_op(reader); }
inline void read_field(TextReader& reader, Device& field, std::string_view) {
  field = read_device(reader);
}

template <class Integer>
requires std::is_integral_v<Integer>
void read_field(TextReader& reader, Integer& field, std::string_view word) {
  const std::size_t start = reader.position();
  const std::int64_t number = reader.integer("the integer " + std::string(word));
  if (!std::in_range<Integer>(number)) {
    reader.fail_at(start, std::string(word) + " is from " +
                              std::to_string(std::numeric_limits<Integer>::min()) + " to " +
                              std::to_string(std::numeric_limits<Integer>::max()));
  }
  field = static_cast<Integer>(number);
}

inline void read_field(TextReader& reader, std::optional<std::int64_t>& field,
                       std::string_view word) {
  read_field(reader, field.emplace(), word);
}

template <HasWords Enum>
void read_field(TextReader& reader, Enum& field, std::string_view word) {
  field = static_cast<Enum>(read_word(reader, words<Enum>, word));
}

template <class T>
void read_field(TextReader& reader, std::vector<T>& field, std::string_view word) {
  field.clear();
  read_list(reader, [&] { read_field(reader, field.emplace_back(), "of " + std::string(word)); });
}

/// Reads "name=VALUE" as long as `at_field()`. `all_fields(visit)` calls visit("name", member) for
/// each field that there is, and `read(member, name)` reads one; `whose` says whose they are. What
/// the text must not leave out (see `is_left_out`) must be there.
template <class AtField, class AllFields, class Read>
void read_fields(TextReader& reader, const std::string& whose, AtField at_field,
                 AllFields all_fields, Read read) {
  std::vector<std::string_view> seen;
  while (at_field()) {
    const std::size_t start = reader.position();
    const std::string_view word = reader.identifier("an attribute");
    if (std::ranges::find(seen, word) != seen.end()) {
      reader.fail_at(start, std::string(word) + " is given twice");
    }
    seen.push_back(word);
    bool known = false;
    std::string names;
    all_fields([&](std::string_view name, auto& member) {
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (word != name) return;
      known = true;
      reader.expect('=', "after " + std::string(word));
      read(member, name);
    });
    if (known) continue;
    reader.fail_at(start, "unknown attribute '" + std::string(word) + "'; " + whose +
                              (names.empty() ? " takes no attributes" : " takes " + names));
  }
  all_fields([&](std::string_view name, auto& member) {
    if (std::ranges::find(seen, name) != seen.end()) return;
    if (!is_left_out(std::remove_cvref_t<decltype(member)>())) {
      reader.fail_expected(std::string(name) + "=... after " + whose);
    }
  });
}

}  // namespace anabranch
