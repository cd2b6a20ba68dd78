#include "anabranch/donate.h"

#include <algorithm>
#include <memory>

#include "frontend/array/expression.h"
#include "frontend/array/fail.h"

namespace anabranch {

void consume(std::span<const Donation> donations) {
  std::vector<const Array*> arrays;
  for (const Donation& donation : donations) arrays.push_back(donation.array);
  std::sort(arrays.begin(), arrays.end());
  if (std::adjacent_find(arrays.begin(), arrays.end()) != arrays.end()) {
    fail("donate: one array is donated twice to the same call", donations.back().where);
  }
  for (const Donation& donation : donations) {
    if (!donation.array->expression()) continue;
    auto gone = std::make_shared<Expression>(donation.array->expression()->type, GivenAway{});
    gone->location = donation.where;
    *donation.array = Array(std::move(gone));
  }
}

}  // namespace anabranch
