#include "frontend/array/expression.h"

#include <string>

#include "anabranch/devices.h"
#include "frontend/array/fail.h"

namespace anabranch {

Array array_of(Type type, Buffer memory) {
  return Array(std::make_shared<Expression>(std::move(type), std::move(memory)));
}

Array array_of(Dtype dtype, ElementBits bits, SourceLocation where) {
  auto expression = std::make_shared<Expression>(Type{dtype, {}}, bits);
  expression->location = where;
  return Array(std::move(expression));
}

void fail_donated(const std::string& function, const Expression& donated, SourceLocation where) {
  std::string text = function + ": " + to_string(donated.type) + " was given away by donate";
  if (donated.location) text += " at " + to_string(donated.location);
  fail(text + "; use the result of that call, or keep the array and do not donate it", where);
}

Expression& Array::get(const char* function, const std::source_location& where) const {
  if (!expression_) {
    fail(std::string(function) + ": the Array is empty; give it a value first", where);
  }
  if (expression_->kind == Expression::Kind::donated) fail_donated(function, *expression_, where);
  return *expression_;
}

const Type& Array::type(std::source_location where) const { return get("type", where).type; }
const Shape& Array::shape(std::source_location where) const {
  return get("shape", where).type.shape;
}
Dtype Array::dtype(std::source_location where) const { return get("dtype", where).type.dtype; }
std::int64_t Array::size(std::source_location where) const {
  return get("size", where).type.size();
}
int Array::rank(std::source_location where) const { return get("rank", where).type.rank(); }

Device Array::device(std::source_location where) const {
  return get("device", where).device_or_default();
}

void Array::check_read(const char* function, Dtype as, std::int64_t count,
                       const std::source_location& where) const {
  const Expression& expression = get(function, where);
  const Type& type = expression.type;
  if (expression.kind == Expression::Kind::traced) {
    fail(std::string(function) + ": " + to_string(type) +
             " is being traced and has no value yet; return it from the traced function and read "
             "the result",
         where);
  }
  if (type.dtype != as) {
    fail(std::string(function) + ": " + to_string(type) + " read as " + std::string(name(as)) +
             "; convert it with " + astype_call(as) + " first",
         where);
  }
  if (count != any_count && count != type.size()) {
    fail(std::string(function) + ": " + to_string(type) + " has " + std::to_string(type.size()) +
             " elements, not " + std::to_string(count),
         where);
  }
}

}  // namespace anabranch
