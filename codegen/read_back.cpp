#include "codegen/read_back.h"

#include "anabranch/error.h"
#include "ir/program/binary.h"
#include "ir/text/parse.h"

namespace anabranch {
namespace {

// Puts the literals of `from` in the place of equal ones: code reads those where they are.
bool share_constants(const Program& from, Program& to) {
  if (to.constants != from.constants || to.steps.size() != from.steps.size()) return false;
  to.constants = from.constants;
  for (StepId i = 0; i < to.steps.size(); ++i) {
    const std::span<const Program> inner = inner_programs(from.steps[i]);
    const std::span<Program> copies = inner_programs(to.steps[i]);
    for (std::size_t k = 0; k < inner.size(); ++k) {
      if (k == copies.size() || !share_constants(inner[k], copies[k])) return false;
    }
  }
  return true;
}

}  // namespace

Program read_back(const Program& program) {
  constexpr std::size_t short_values = 1 << 16;  // longer constants take their time as text
  std::size_t bytes = 0;
  for (const Literal& constant : program.constants) bytes += constant.bytes().size();
  const ProgramText plain{.comments = false, .values = bytes < short_values};
  const std::string text = to_string(program, plain);
  try {
    const Program& written = plain.values ? parse_program(text) : program;
    Program again = program_from_binary(to_binary(written));
    if (to_string(again, plain) == text && share_constants(program, again)) return again;
  } catch (const Error& refused) {
    throw InternalError("compile", std::string("its own text is refused: ") + refused.what(), text);
  }
  throw InternalError("compile", "a program is another one once it was written down", text);
}

}  // namespace anabranch
