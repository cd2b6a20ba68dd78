// What the parts of a program say, by name: its text and its binary form are made of it.
#pragma once

#include <utility>

#include "ir/fields.h"
#include "ir/infer/infer.h"
#include "ir/program/program.h"

namespace anabranch {

template <MaybeConst<KernelStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("kernel", step.kernel);
}

template <MaybeConst<DotStep::Epilogue> E, class Visitor>
void fields(E& epilogue, Visitor&& visit) {
  visit("kernel", epilogue.kernel);
  visit("inputs", epilogue.inputs);
  visit("outputs", epilogue.outputs);
  visit("in_place", epilogue.in_place);
}

template <MaybeConst<DotStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("lhs", step.lhs);
  visit("rhs", step.rhs);
  visit("result", step.result);
  fields(step.attributes, visit);
  visit("epilogue", step.epilogue);
  visit("packed", step.packed);
  visit("has_bias", step.has_bias);
  visit("activation", step.activation);
  visit("tf32", step.tf32);
  visit("is_symmetric", step.is_symmetric);
}

template <MaybeConst<PackStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  fields(step.dot, visit);
}

template <MaybeConst<ConvolutionStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("lhs", step.lhs);
  visit("rhs", step.rhs);
  visit("result", step.result);
  fields(step.attributes, visit);
  visit("epilogue", step.epilogue);
  visit("packed", step.packed);
}

template <MaybeConst<PackFiltersStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  fields(step.convolution, visit);
}

template <MaybeConst<CopyStep> S, class Visitor>
void fields(S&, Visitor&&) {}

template <MaybeConst<TransferStep> S, class Visitor>
void fields(S&, Visitor&&) {}

// The op comes first: it says which attributes there are.
template <MaybeConst<CallStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("op", step.op);
  if constexpr (!std::is_const_v<S>) {
    Attributes wanted = default_attributes(step.op);
    if (step.attributes.index() != wanted.index()) step.attributes = std::move(wanted);
  }
  visit("operands", step.operands);
  std::visit([&](auto& attributes) { fields(attributes, visit); }, step.attributes);
}

template <MaybeConst<LoopStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("written", step.written);
  visit("rotation", step.rotation);
  visit("is_whole", step.is_whole);
}

template <MaybeConst<BranchStep> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("is_whole", step.is_whole);
}

/// All but which device it is, which stands before.
template <MaybeConst<ProgramDevice> D, class Visitor>
void fields(D& device, Visitor&& visit) {
  visit("arena_bytes", device.arena_bytes);
  visit("live_bytes", device.live_bytes);
}

/// All but its work, its name and its buffers, which stand before.
template <MaybeConst<Step> S, class Visitor>
void fields(S& step, Visitor&& visit) {
  visit("title", step.title);
  visit("in_place", step.in_place);
  visit("in_place_updates", step.in_place_updates);
  visit("finishes", step.finishes);
  visit("lets_go", step.lets_go);
  fields(step.cost, visit);
  visit("predicted_ns", step.predicted_ns);
  visit("parallelism", step.parallelism);
  visit("location", step.location);
}

/// The words of the kinds of steps, in the order of their variant.
inline constexpr std::array<std::string_view, std::variant_size_v<decltype(Step::work)>>
    step_words = {"kernel", "dot",      "pack", "convolution", "pack_filters",
                  "copy",   "transfer", "call", "loop",        "branch"};

}  // namespace anabranch
