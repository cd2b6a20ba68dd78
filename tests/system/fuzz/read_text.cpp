// libFuzzer's target for the readers of text: whatever the bytes are, a reader gives an Error or
// something that prints as text which reads back to the same text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "anabranch/error.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

namespace {

// Printed forms beyond this say no more than shorter ones, and take the time of many.
constexpr std::size_t longest = 1 << 20;

void demand_equal(const char* form, const std::string& text, const std::string& again) {
  if (text == again) return;
  std::fprintf(stderr, "%s: the printed text reads back as another:\n%s\n----\n%s\n", form,
               text.c_str(), again.c_str());
  std::abort();
}

template <class Read>
void attempt(Read&& read) {
  try {
    read();
  } catch (const anabranch::Error&) {
    // What is wrong with the text is the user's to mend. Anything else is a fault of ours.
  }
}

// What was read has to print and be read again; an Error from there is a fault.
template <class Read>
void demand_readable(const char* form, const std::string& text, Read&& read) {
  if (text.size() > longest) return;
  try {
    demand_equal(form, text, read(text));
  } catch (const anabranch::Error& error) {
    std::fprintf(stderr, "%s: the printed text does not read back: %s\n%s\n", form, error.what(),
                 text.c_str());
    std::abort();
  }
}

void read_graphs(std::string_view text) {
  for (const anabranch::Graph& graph : anabranch::parse_all(text)) {
    demand_readable("graph", to_string(graph), [](const std::string& printed) {
      return to_string(anabranch::parse(printed));
    });
  }
}

void read_kernels(std::string_view text) {
  for (const anabranch::Kernel& kernel : anabranch::parse_kernels(text)) {
    demand_readable("kernel", to_string(kernel), [](const std::string& printed) {
      return to_string(anabranch::parse_kernels(printed).at(0));
    });
  }
}

void read_program(std::string_view text) {
  const anabranch::Program program = anabranch::parse_program(text);
  demand_readable("program", to_string(program), [](const std::string& printed) {
    return to_string(anabranch::parse_program(printed));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { read_graphs(text); });
  attempt([&] { read_kernels(text); });
  attempt([&] { read_program(text); });
  return 0;
}
