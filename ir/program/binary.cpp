#include "ir/program/binary.h"

#include "anabranch/error.h"
#include "ir/sections.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

constexpr SectionsFormat format = {{'a', 'n', 'a', 'p', 'r', 'o', 'g', '\n'}, 1};

// Those of a program in the order of its text: its own, then those inside its steps.
void add_constants(const Program& program, std::vector<std::string_view>& to) {
  for (const Literal& constant : program.constants) {
    const std::span<const std::byte> bytes = constant.bytes();
    to.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  for (const Step& step : program.steps) {
    for (const Program& inner : inner_programs(step)) add_constants(inner, to);
  }
}

}  // namespace

std::string to_binary(const Program& program) {
  const std::string text = to_string(program, {.comments = false, .values = false});
  std::vector<std::string_view> sections = {text};
  add_constants(program, sections);
  for (const Kernel& kernel : program.kernels) sections.push_back(kernel.graph_text);
  return pack_sections(format, sections);
}

Program program_from_binary(std::string_view bytes) {
  const auto read = unpack_sections(format, bytes);
  if (const auto* fault = std::get_if<SectionsFault>(&read)) {
    throw Error("a program's binary form " + fault->what);
  }
  const std::span<const std::string_view> sections = std::get<0>(read);
  if (sections.empty()) throw Error("a program's binary form has no text");
  Program program = parse_program(sections[0], sections.subspan(1));
  std::vector<std::string_view> constants;
  add_constants(program, constants);
  if (sections.size() != 1 + constants.size() + program.kernels.size()) {
    throw Error("a program's binary form has other constants or graphs than its text says");
  }
  const std::span graphs = sections.last(program.kernels.size());
  for (std::size_t i = 0; i < graphs.size(); ++i) program.kernels[i].graph_text = graphs[i];
  return program;
}

}  // namespace anabranch
