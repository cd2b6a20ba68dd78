#include "runtime/executor/loop_run.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/memory/staging.h"

namespace anabranch::executor {
namespace {

/// A program inside another: when a run of it ends, the loop or branch that it is part of
/// continues.
class Part final : public StreamRun {
 public:
  Part(const Program& program, const LinkedCode& code, InnerRun& whole, Strand& strand)
      : StreamRun(device_state(program.device()), program, code, frame_),
        data_(program.slots.size()),
        frame_(program, code, device(), data_),
        whole_(whole),
        strand_(strand) {
    begin_on(strand);
  }

  /// The first error among the outputs.
  Failure error() const {
    for (SlotId id : program().outputs) {
      if (const Failure error = frame_.error(id)) return error;
    }
    return {};
  }

  void* output(std::size_t index) const { return frame_.data(program().outputs[index]); }

 private:
  void ended() override {
    if (whole_.advance()) strand_.advance();
  }

  std::vector<void*> data_;
  Frame frame_;
  InnerRun& whole_;
  Strand& strand_;
};

// What is in a carry's place moves to where the carry was, unless it does not matter.
template <class Copy, class Swap>
void copy_back_by(const Carries& carries, void* const* base, void** places, Copy copy, Swap swap) {
  void** const end = places + carries.places;
  for (std::size_t i = 0; i < carries.bytes.size(); ++i) {
    if (places[i] == base[i]) continue;
    const std::size_t bytes = carries.bytes[i];
    void** there = std::find(places, end, base[i]);
    auto* from = static_cast<std::byte*>(places[i]);
    auto* to = static_cast<std::byte*>(base[i]);
    there < places + carries.bytes.size() ? swap(from, to, bytes) : copy(to, from, bytes);
    std::swap(places[i], *there);
  }
}

// Whether `value` is what is at `data`; if not, it will be by the time that `whole` continues.
template <class T>
bool read_scalar(Strand& strand, const void* data, T& value, InnerRun& whole) {
  if (!strand.device_stream()) {
    value = *static_cast<const T*>(data);
    return true;
  }
  const auto read = [&value](std::span<const std::byte> bytes) {
    std::memcpy(&value, bytes.data(), sizeof(T));
  };
  const auto then = [&strand, &value, &whole](const Failure& error) {
    if (error) {
      strand.owner().frame().fail_all(error);
      value = T();
    }
    if (whole.advance()) strand.advance();
  };
  strand.owner().note_read();
  DeviceState& device = strand.device();
  enqueue_to_host(device, *strand.device_stream(), to_host_ring(*device.stream_executor), data,
                  sizeof(T), read, then);
  return false;
}

class LoopRun final : public InnerRun {
 public:
  LoopRun(const Step& step, const LinkedStep& code, std::span<void* const> buffers, Strand& strand)
      : step_(step),
        loop_(std::get<LoopStep>(step.work)),
        carries_(loop_.carries()),
        sizes_(loop_),
        strand_(strand),
        outer_(strand.owner().frame()),
        buffers_(loop_, buffers),
        places_(buffers_.base.begin(), buffers_.base.end()),
        next_places_(places_.size()),
        inputs_(carries_ + buffers_.captures.size()),
        outputs_(carries_),
        condition_(loop_.condition(), code.regions[0], *this, strand),
        body_(loop_.body(), code.regions[1], *this, strand) {
    for (std::size_t i = 0; i < carries_; ++i) {
      if (buffers_.initial[i] == buffers_.base[i]) continue;
      copy_bytes(buffers_.base[i], buffers_.initial[i], bytes(i), strand.device_stream());
    }
    std::ranges::copy(buffers_.captures, inputs_.begin() + static_cast<long>(carries_));
  }

  bool advance() override {
    for (;;) {
      switch (std::exchange(at_, next(at_))) {
        case At::test:
          std::copy_n(places_.begin(), carries_, inputs_.begin());
          condition_.frame().bind(inputs_, std::span<void* const>(&flag_, 1), buffers_.arena);
          if (!condition_.start()) return false;
          break;
        case At::tested:
          if (const Failure error = condition_.error()) return fail(error);
          if (!read_scalar(strand_, condition_.output(0), continues_, *this)) return false;
          break;
        case At::known:
          if (!continues_) return finish();
          break;
        case At::step:
          for (std::size_t i = 0; i < carries_; ++i) outputs_[i] = places_[loop_.written[i]];
          body_.frame().bind(inputs_, outputs_, buffers_.arena);
          if (!body_.start()) return false;
          break;
        case At::stepped:
          if (const Failure error = body_.error()) return fail(error);
          for (std::size_t p = 0; p < places_.size(); ++p) {
            next_places_[p] = places_[loop_.rotation[p]];
          }
          std::swap(places_, next_places_);
          break;
      }
    }
  }

 private:
  enum class At : std::uint8_t { test, tested, known, step, stepped };
  static At next(At at) { return static_cast<At>((static_cast<int>(at) + 1) % 5); }

  std::size_t bytes(std::size_t carry) const { return sizes_.bytes[carry]; }

  bool fail(const Failure& error) {
    outer_.fail(step_.writes, error);
    return true;
  }

  bool finish() {
    DeviceStream* stream = strand_.device_stream();
    if (!stream) {
      copy_back(sizes_, buffers_.base.data(), places_.data());
      return true;
    }
    // The arena is in use no more, and takes a carry: see `loop_workspace`.
    strand_.owner().guard([&] {
      enqueue_copy_back(*stream, sizes_, buffers_.base.data(), places_.data(), buffers_.arena);
    });
    return true;
  }

  const Step& step_;
  const LoopStep& loop_;
  const std::size_t carries_;
  const Carries sizes_;
  Strand& strand_;
  Frame& outer_;
  const LoopBuffers buffers_;
  std::vector<void*> places_, next_places_, inputs_, outputs_;
  void* const flag_ = buffers_.flag;
  Part condition_, body_;
  bool continues_ = false;
  At at_ = At::test;
};

class BranchRun final : public InnerRun {
 public:
  BranchRun(const Step& step, const LinkedStep& code, std::span<void* const> buffers,
            Strand& strand)
      : step_(step), code_(code), buffers_(buffers), strand_(strand) {}

  bool advance() override {
    if (!std::exchange(looked_, true)) {
      if (!read_scalar(strand_, buffers_[0], number_, *this)) return false;
    }
    if (!chosen_) {
      choose();
      if (!chosen_->start()) return false;
    }
    if (const Failure error = chosen_->error()) {
      strand_.owner().frame().fail(step_.writes, error);
    }
    return true;
  }

 private:
  void choose() {
    const std::vector<Program>& branches = std::get<BranchStep>(step_.work).branches;
    const std::size_t last = branches.size() - 1;
    const std::size_t index = std::min<std::size_t>(static_cast<std::uint32_t>(number_), last);
    const BranchBuffers buffers(branches[index], buffers_);
    chosen_.emplace(branches[index], code_.regions[index], *this, strand_);
    chosen_->frame().bind(buffers.operands, buffers.results, buffers.arena);
  }

  const Step& step_;
  const LinkedStep& code_;
  const std::span<void* const> buffers_;
  Strand& strand_;
  std::int32_t number_ = 0;
  bool looked_ = false;
  std::optional<Part> chosen_;
};

}  // namespace

std::unique_ptr<InnerRun> make_inner_run(const Step& step, const LinkedStep& code,
                                         std::span<void* const> buffers, Strand& strand) {
  if (std::holds_alternative<LoopStep>(step.work)) {
    return std::make_unique<LoopRun>(step, code, buffers, strand);
  }
  return std::make_unique<BranchRun>(step, code, buffers, strand);
}

Carries::Carries(const LoopStep& loop) : places(loop.rotation.size()) {
  for (std::size_t i = 0; i < loop.carries(); ++i) {
    bytes.push_back(loop.body().inputs[i].bytes());
  }
}

void copy_back(const Carries& carries, void* const* base, void** places) {
  const auto copy = [](std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  };
  const auto swap = [](std::byte* a, std::byte* b, std::size_t bytes) {
    std::swap_ranges(a, a + bytes, b);
  };
  copy_back_by(carries, base, places, copy, swap);
}

void enqueue_copy_back(DeviceStream& stream, const Carries& carries, void* const* base,
                       void** places, std::byte* workspace) {
  const auto copy = [&](std::byte* to, const std::byte* from, std::size_t bytes) {
    stream.copy(to, from, bytes);
  };
  const auto swap = [&](std::byte* a, std::byte* b, std::size_t bytes) {
    copy(workspace, a, bytes);
    copy(a, b, bytes);
    copy(b, workspace, bytes);
  };
  copy_back_by(carries, base, places, copy, swap);
}

}  // namespace anabranch::executor
