#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "anabranch/error.h"
#include "ir/program/fields.h"
#include "ir/text/parse.h"
#include "ir/text/read_fields.h"

namespace anabranch {
namespace {

/// Names of one program, and their numbers.
class Names {
 public:
  void define(const TextReader& reader, std::size_t position, std::string name) {
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    if (!numbers_.emplace(name, number).second) {
      reader.fail_at(position, name + " is defined already");
    }
  }
  std::uint32_t find(const TextReader& reader, std::size_t position, const std::string& name,
                     const char* what) const {
    const auto known = numbers_.find(name);
    if (known == numbers_.end()) reader.fail_at(position, "there is no " + (what + (" " + name)));
    return known->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

class ProgramParser {
 public:
  /// Takes the bytes of constants that the text leaves out from the front of `values`.
  ProgramParser(TextReader& reader, std::span<const std::string_view>& values, std::size_t depth)
      : reader_(reader), values_(values), depth_(depth) {
    if (depth > most_nested) {
      reader.fail("programs are nested more than " + std::to_string(most_nested) + " deep");
    }
  }

  Program parse() {
    if (!reader_.accept_word("program")) reader_.fail_expected("'program'");
    if (reader_.at('"') || reader_.at_identifier()) program_.name = read_name(reader_, "a name");
    reader_.expect('{', "to open the program");
    program_.devices.clear();
    while (reader_.accept_word("device")) device();
    if (program_.devices.empty()) reader_.fail_expected("'device', the program's own first");
    while (reader_.at('%')) slot();
    while (reader_.accept_word("constant")) constant();
    while (at_step()) step();
    while (reader_.accept_word("stream")) stream();
    if (reader_.accept_word("events")) read_field(reader_, program_.event_count, "events");
    while (reader_.accept_word("output")) donation();
    if (reader_.accept_word("degradation"))
      read_field(reader_, program_.degradation, "degradation");
    prediction();
    if (!reader_.accept_word("return")) {
      reader_.fail_expected(
          "a device, a slot, a constant, a step, a stream or 'return', in this order");
    }
    if (reader_.at('%')) {
      do program_.outputs.push_back(slot_name());
      while (reader_.accept(','));
    }
    reader_.expect('}', "to close the program after its 'return'");
    return std::move(program_);
  }

 private:
  template <class Struct>
  void read_all(Struct& into, const std::string& whose) {
    read_fields(
        reader_, whose, [this] { return at_field(); }, [&](auto&& visit) { fields(into, visit); },
        [this](auto& field, std::string_view word) { read(field, word); });
  }

  // A field's name is followed by '=', a kind of step by a name.
  bool at_field() const {
    if (!reader_.at_identifier()) return false;
    TextReader ahead = reader_;
    ahead.identifier("a field");
    return ahead.at('=');
  }

  template <class Field>
  void read(Field& field, std::string_view word) {
    read_field(reader_, field, word);
  }
  template <class Field>
  void read(std::optional<Field>& field, std::string_view word) {
    Field value{};
    read(value, word);
    field = std::move(value);
  }
  void read(DotStep::Epilogue& field, std::string_view word) {
    reader_.expect('{', "to open the " + std::string(word));
    read_all(field, "an epilogue");
    reader_.expect('}', "to close the " + std::string(word));
  }
  void read(std::vector<std::pair<SlotId, SlotId>>& field, std::string_view) {
    read_list(reader_, [&] {
      const SlotId from = slot_name();
      reader_.expect('-', "and '> %written'");
      reader_.expect('>', "after '-'");
      field.emplace_back(from, slot_name());
    });
  }

  SlotId slot_name() {
    const std::size_t start = reader_.position();
    return slots_.find(reader_, start, std::string(reader_.value_name()), "slot");
  }
  StepId step_name() {
    const std::size_t start = reader_.position();
    return steps_.find(reader_, start, read_name(reader_, "a step's name"), "step");
  }

  void device() {
    ProgramDevice made;
    made.device = read_device(reader_);
    read_all(made, "a device");
    program_.devices.push_back(made);
  }

  DeviceIndex device_at_hand() {
    const std::size_t start = reader_.position();
    const Device device = read_device(reader_);
    const auto found = std::ranges::find(program_.devices, device, &ProgramDevice::device);
    if (found == program_.devices.end()) {
      reader_.fail_at(start, to_string(device) + " is no device of the program");
    }
    return static_cast<DeviceIndex>(found - program_.devices.begin());
  }

  void slot() {
    Slot made;
    const std::size_t start = reader_.position();
    made.name = reader_.value_name();
    slots_.define(reader_, start, made.name);
    reader_.expect(':', "and a type after " + made.name);
    made.type = read_type(reader_);
    reader_.expect('=', "and what kind of slot it is");
    read_field(reader_, made.kind, "slots");
    if (made.kind == Slot::Kind::temporary) {
      if (reader_.accept_word("at")) {
        read_field(reader_, made.offset, "offset");
      } else if (reader_.accept_word("in")) {
        if (!reader_.accept_word("output")) reader_.fail_expected("'output' and its number");
        read_field(reader_, made.output.emplace(), "number");
      }
    } else {
      read_field(reader_, made.index, "number");
    }
    if (reader_.accept_word("on")) made.device = device_at_hand();
    if (made.kind == Slot::Kind::input) input(made, start);
    program_.slots.push_back(std::move(made));
  }

  // Each has a slot, and their numbers are without gaps.
  void input(const Slot& slot, std::size_t position) {
    if (slot.index != program_.inputs.size()) {
      reader_.fail_at(position, "inputs stand in their order, and this one would be number " +
                                    std::to_string(program_.inputs.size()));
    }
    program_.inputs.push_back(slot.type);
  }

  void constant() {
    const std::size_t start = reader_.position();
    std::size_t number = 0;
    read_field(reader_, number, "constant's number");
    if (number != program_.constants.size()) {
      reader_.fail_at(start, "constants stand in their order");
    }
    reader_.expect(':', "and a type");
    const Type type = read_type(reader_);
    if (reader_.accept('=')) {
      program_.constants.push_back(read_literal(reader_, type));
    } else if (!values_.empty() && values_[0].size() == type.bytes()) {
      program_.constants.push_back(literal_of(type, values_[0]));
      values_ = values_.subspan(1);
    } else {
      reader_.fail_expected("'=' and what the constant holds");
    }
  }

  static Literal literal_of(const Type& type, std::string_view value) {
    std::vector<std::byte> bytes(value.size());
    if (!value.empty()) std::memcpy(bytes.data(), value.data(), value.size());
    return Literal(type, std::move(bytes));
  }

  bool at_step() const {
    return std::ranges::find(step_words, reader_.peek_identifier()) != step_words.end();
  }

  template <std::size_t kind = 0>
  static decltype(Step::work) work_of(std::size_t wanted) {
    if constexpr (kind + 1 < step_words.size()) {
      if (wanted != kind) return work_of<kind + 1>(wanted);
    }
    return decltype(Step::work)(std::in_place_index<kind>);
  }

  void step() {
    Step made;
    made.work = work_of(read_word(reader_, step_words, "steps"));
    const std::size_t start = reader_.position();
    made.name = read_name(reader_, "a name");
    steps_.define(reader_, start, made.name);
    buffers(made);
    // What a kind of step says stands with what every step says.
    std::visit(
        [&](auto& work) {
          read_fields(
              reader_, made.name, [this] { return at_field(); },
              [&](auto&& visit) {
                fields(work, visit);
                fields(made, visit);
              },
              [this](auto& field, std::string_view word) { read(field, word); });
        },
        made.work);
    if (auto* call = std::get_if<CallStep>(&made.work)) find_function(*call, start);
    regions(made, start);
    program_.steps.push_back(std::move(made));
  }

  void find_function(CallStep& call, std::size_t position) {
    auto* user = std::get_if<CustomCallAttributes>(&call.attributes);
    if (!user || user->function.empty()) return;
    user->function.function =
        located(reader_, position, [&] { return custom_function(user->name, user->function); });
  }

  // "(%0, %1, out %2)"
  void buffers(Step& step) {
    reader_.expect('(', "to open the buffers");
    if (reader_.accept(')')) return;
    do {
      const bool written = reader_.accept_word("out");
      const SlotId id = slot_name();
      step.buffers.push_back(id);
      if (written && std::ranges::find(step.writes, id) == step.writes.end()) {
        step.writes.push_back(id);
      }
    } while (reader_.accept(','));
    reader_.expect(')', "to close the buffers");
  }

  void regions(Step& step, std::size_t position) {
    std::vector<Program>* regions = nullptr;
    std::size_t least = 1;
    if (auto* loop = std::get_if<LoopStep>(&step.work)) {
      regions = &loop->regions;
      least = 2;
    } else if (auto* branch = std::get_if<BranchStep>(&step.work)) {
      regions = &branch->branches;
    }
    if (!regions) return;
    reader_.expect('{', "to open what " + step.name + " runs");
    while (!reader_.accept('}'))
      regions->push_back(ProgramParser(reader_, values_, depth_ + 1).parse());
    if (regions->size() < least || (least == 2 && regions->size() > 2)) {
      reader_.fail_at(position, least == 2 ? "a loop runs a condition and a body"
                                           : "a branch runs at least one program");
    }
  }

  void stream() {
    const std::size_t start = reader_.position();
    Stream made;
    std::size_t number = 0;
    read_field(reader_, number, "stream's number");
    if (number != program_.streams.size()) reader_.fail_at(start, "streams stand in their order");
    if (!reader_.accept_word("on")) reader_.fail_expected("'on' and the stream's device");
    made.device = device_at_hand();
    if (reader_.accept_word("copy")) made.kind = Stream::Kind::copy;
    reader_.expect('{', "to open the stream");
    while (!reader_.accept('}')) made.commands.push_back(command());
    program_.streams.push_back(std::move(made));
  }

  Command command() {
    if (reader_.accept_word("launch")) return Launch{step_name()};
    if (reader_.accept_word("record")) return Record{event()};
    if (reader_.accept_word("wait")) return Wait{event()};
    reader_.fail_expected("launch, record, wait or '}'");
  }

  // "e2"
  EventId event() {
    const std::size_t start = reader_.position();
    const std::string_view word = reader_.identifier("an event, such as e0");
    TextReader number(word.substr(1));
    EventId id = 0;
    if (word[0] == 'e' && !number.at_end()) {
      read_field(number, id, "event");
      if (number.at_end()) return id;
    }
    reader_.fail_at(start, std::string(word) + " is no event; write e0");
  }

  void donation() {
    std::uint32_t output = 0, input = 0;
    read_field(reader_, output, "output");
    if (!reader_.accept_word("over") || !reader_.accept_word("input")) {
      reader_.fail_expected("'over input' and a number");
    }
    read_field(reader_, input, "input");
    program_.donations.emplace_back(input, output);
  }

  void prediction() {
    Prediction& prediction = program_.prediction;
    prediction.measured = reader_.accept_word("measured");
    if (!prediction.measured && !reader_.accept_word("predicted")) return;
    read_field(reader_, prediction.ns, "prediction");
    if (!reader_.accept_word("ns")) reader_.fail_expected("'ns'");
    read_list(reader_, [&] {
      Prediction::Timed& timed = prediction.critical_path.emplace_back();
      timed.step = step_name();
      read_field(reader_, timed.ns, "time");
    });
  }

  TextReader& reader_;
  std::span<const std::string_view>& values_;
  const std::size_t depth_;
  Program program_;
  Names slots_, steps_;
};

}  // namespace

Program parse_program(std::string_view text, std::span<const std::string_view> values) {
  TextReader reader(text);
  std::vector<Kernel> kernels;
  while (reader.peek_identifier() == "kernel") kernels.push_back(read_kernel(reader));
  const std::size_t start = reader.position();
  Program program = ProgramParser(reader, values, 0).parse();
  program.kernels = std::move(kernels);
  if (!reader.at_end()) reader.fail_expected("the end of the text after the program");
  try {
    verify(program);
  } catch (const InternalError& broken) {
    reader.fail_at(start, broken.what());
  }
  return program;
}

}  // namespace anabranch
