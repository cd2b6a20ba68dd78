// A call of an op that the host computes as a whole, of one operand and one result, by its task.
#pragma once

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/steps.h"
#include "runtime/device/task.h"

namespace anabranch {

struct HostCall {
  CallStep step;
  Literal operand;

  HostCall(Op op, Attributes attributes, Literal given)
      : step{op, {given.type()}, std::move(attributes)}, operand(std::move(given)) {}

  Node node() const {
    Node node;
    node.op = step.op;
    node.types = result_types(step);
    node.attributes = step.attributes;
    return node;
  }

  /// What `run(buffers)` leaves in the result.
  template <class Run>
  Literal result(Run run) const {
    const Type type = result_types(step)[0];
    std::vector<std::byte> from(operand.bytes().begin(), operand.bytes().end());
    std::vector<std::byte> to(type.bytes(), std::byte{0xab});
    void* const buffers[] = {from.data(), to.data()};
    run(buffers);
    return Literal(type, std::move(to));
  }

  /// By one thread.
  Literal alone(const HostTask& task) const {
    return result(
        [&](void* const* buffers) { task.function(task.context.get(), buffers, 0, task.extent); });
  }

  /// Of a task whose ranges work together: each on a thread of its own.
  static void run_together(const HostTask& task, void* const* buffers) {
    const auto shared = task.share(task.context.get(), buffers);
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < task.extent; ++i) {
      threads.emplace_back([&, i] { task.function(shared.get(), buffers, i, i + 1); });
    }
  }
};

}  // namespace anabranch
