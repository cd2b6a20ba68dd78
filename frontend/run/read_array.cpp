// Reading arrays: what is recorded runs first.
#include <cstring>
#include <ostream>
#include <string>

#include "anabranch/array.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/array/format_array.h"
#include "frontend/run/evaluate.h"
#include "frontend/trace/tracer.h"
#include "runtime/memory/read.h"

namespace anabranch {
namespace {

std::span<const std::byte> scalar_bytes(const Expression& expression) {
  return expression.scalar.bytes().first(expression.type.bytes());
}

}  // namespace

void Array::wait(std::source_location where) const {
  Expression& expression = get("wait", where);
  if (expression.kind == Expression::Kind::scalar) return;
  if (expression.kind == Expression::Kind::traced) {
    fail("wait: " + to_string(expression.type) + " is being traced and has no value yet", where);
  }
  memory_of(*this).ready().wait(where);
}

bool Array::ready() const {
  if (!expression_ || expression_->kind == Expression::Kind::traced) return false;
  if (expression_->kind == Expression::Kind::donated) return false;
  if (expression_->kind == Expression::Kind::scalar) return true;
  return expression_->is_concrete() && expression_->buffer().ready().ready();
}

void Array::read_async(const char* function, ReadPiece read,
                       detail::AnyFunction<void(Failure failure)> done,
                       const std::source_location& where) const {
  const Expression& expression = get(function, where);
  if (expression.kind == Expression::Kind::scalar) {
    read(scalar_bytes(expression));
    return done({});
  }
  read_when_ready(memory_of(*this), std::move(read), std::move(done));
}

std::span<const std::byte> Array::bytes_in_place(const char* function,
                                                 const std::source_location& where) const {
  const Expression& expression = get(function, where);
  if (expression.kind == Expression::Kind::scalar) return scalar_bytes(expression);
  const Buffer memory = memory_of(*this);
  if (memory.device().kind() != DeviceKind::cpu) {
    fail(std::string(function) + ": " + to_string(expression.type) + " is on " +
             to_string(memory.device()) +
             ", whose memory is not read in place; use to_vector, or move it with "
             ".to(ab::Device::cpu())",
         where);
  }
  memory.ready().wait(where);
  return {static_cast<const std::byte*>(memory.data()), expression.type.bytes()};
}

void Array::copy_bytes(std::span<std::byte> to, const std::source_location& where) const {
  const auto copy = [rest = to](std::span<const std::byte> piece) mutable {
    if (!piece.empty()) std::memcpy(rest.data(), piece.data(), piece.size());
    rest = rest.subspan(piece.size());
  };
  read("copy_to", copy, where);
}

void Array::read(const char* function, const ReadPiece& read,
                 const std::source_location& where) const {
  const Expression& expression = get(function, where);
  if (expression.kind == Expression::Kind::scalar) return read(scalar_bytes(expression));
  const Buffer memory = memory_of(*this);
  memory.ready().wait(where);
  read_in_pieces(memory, [&read](std::span<const std::byte> piece) { read(piece); });
}

std::string to_string(const Array& array) {
  if (!array.expression()) return "<empty>";
  const Expression& expression = *array.expression();
  if (expression.kind == Expression::Kind::traced) {
    return expression.traced.tracer->describe(expression);
  }
  if (expression.kind == Expression::Kind::scalar) {
    return format_array(expression.type, &expression.scalar);
  }
  Buffer memory = memory_of(array);
  memory.ready().wait();
  std::string text;
  read_now(memory, [&](const void* data) { text = format_array(expression.type, data); });
  return text;
}

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << to_string(array); }

}  // namespace anabranch
