#include "anabranch/control_flow.h"

#include <memory>

#include "anabranch/detail/traced_function.h"
#include "anabranch/dynamic.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/ops/promote.h"
#include "frontend/trace/record.h"
#include "frontend/trace/region.h"

namespace anabranch::detail {
namespace {

// bool < integer < float
int kind_of(Dtype dtype) {
  return dtype == bool_ ? 0 : is_integer(dtype) ? 1 : is_float(dtype) ? 2 : 3;
}

bool is_same_kind(const Type& a, const Type& b) { return kind_of(a.dtype) == kind_of(b.dtype); }

Array converted(const Array& array, Dtype dtype, SourceLocation where) {
  if (type_of(array).dtype == dtype) return array;
  return record(Op::convert, {array}, where, NoAttributes{}, Type{dtype, type_of(array).shape});
}

void demand_arrays(const char* function, const Tree& tree, SourceLocation where) {
  auto leaf = tree.leaves.begin();
  for (const auto& [path, part] : tree.form.lines()) {
    if (!part.empty() || (leaf++)->expression()) continue;
    fail(std::string(function) + ": " + path + " is an empty Array; give it a value", where);
  }
}

// Of a carry that begins with the loop's index.
Form after_index(const Form& rest) {
  Form form;
  form.add("the index", "");
  form.add(rest);
  return form;
}

// "carry.layers.size(): 2 goes in and 3 comes back"
void demand_same_form(const char* function, const Form& form_before, const Form& form_after,
                      const std::string& first, const std::string& second, SourceLocation where) {
  if (form_before == form_after) return;
  const std::vector<Form::Line>&before = form_before.lines(), &after = form_after.lines();
  std::size_t at = 0;
  while (at < before.size() && at < after.size() && before[at] == after[at]) ++at;
  auto describe = [&](const std::vector<Form::Line>& form) {
    if (at >= form.size()) return std::string("nothing more");
    const auto& [path, part] = form[at];
    return path + (part.empty() ? " (an array)" : ": " + part);
  };
  fail(std::string(function) + ": " + describe(before) + first + ", and " + describe(after) +
           second + "; lists, keys and static values must be the same",
       where);
}

std::string remedy(const Type& wanted, const Type& found) {
  if (wanted.shape != found.shape) return "reshape or broadcast one of them to the other's shape";
  return "convert it with " + astype_call(wanted.dtype);
}

// Makes what comes back in the body of the type that goes in. Where a number went in, it takes the
// dtype that comes back instead: then `carry` changes and the body has to be traced again.
bool unify_carry(const char* function, SourceLocation where, const Form& form, Leaves& carry,
                 Leaves& next) {
  const std::vector<std::string> path = paths_of(form);
  bool changed = false;
  for (std::size_t i = 0; i < carry.size(); ++i) {
    const Type in = type_of(carry[i]), out = type_of(next[i]);
    const bool weak = is_weak(next[i]);
    const bool grows = kind_of(in.dtype) < kind_of(out.dtype);
    const bool follows = is_weak(carry[i]) && (grows || (!weak && is_same_kind(in, out)));
    if (in.shape == out.shape && follows) {
      // A copy, since others may hold the number.
      carry[i] = record(Op::convert, {carry[i]}, where, NoAttributes{}, out);
      carry[i].expression()->weak = weak;
      changed = true;
    } else if (in.shape == out.shape && weak && !grows) {
      next[i] = converted(next[i], in.dtype, where);
    } else if (in != out) {
      fail(std::string(function) + ": " + path[i] + " changes its type: " + to_string(in) +
               " goes in and " + to_string(out) + " comes back; " + remedy(in, out),
           where);
    }
  }
  return changed;
}

Leaves parameters_like(Region& region, const Leaves& arrays) {
  Leaves parameters;
  for (const Array& array : arrays) {
    parameters.push_back(region.parameter(type_of(array), is_weak(array)));
  }
  return parameters;
}

void check_condition(const char* function, const Array& holds, SourceLocation where) {
  if (type_of(holds) == Type{bool_, {}}) return;
  fail(std::string(function) + ": the condition gives " + to_string(type_of(holds)) +
           ", and not bool[]; compare, or reduce with all() or any()",
       where);
}

Leaves with(Leaves list, const Leaves& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

Leaves part(const Leaves& list, std::size_t first, std::size_t count) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Leaves since(const Leaves& list, std::size_t first) {
  return part(list, first, list.size() - first);
}

}  // namespace

Leaves run_while(const Loop& loop) {
  const std::size_t count = loop.init.leaves.size();
  if (count == 0) fail(std::string(loop.function) + ": nothing is carried", loop.where);
  if (const auto states = loop.options.kept_states; states && *states < 1) {
    fail(std::string(loop.function) + ": kept_states is " + std::to_string(*states) +
             "; a loop is taken backwards from at least 1 kept state",
         loop.where);
  }
  demand_arrays(loop.function, loop.init, loop.where);
  Leaves carry = loop.init.leaves;
  std::optional<Region> body;
  while (true) {
    body.emplace("body", TraceKind::body);
    const Leaves carried = parameters_like(*body, carry);
    Tree next = loop.body(carried, parameters_like(*body, loop.invariants));
    demand_same_form(loop.function, loop.init.form, next.form, " goes in", " comes back",
                     loop.where);
    demand_arrays(loop.function, next, loop.where);
    if (unify_carry(loop.function, loop.where, loop.init.form, carry, next.leaves)) continue;
    body->finish(next.leaves);
    break;
  }
  Region condition("condition", TraceKind::loop);
  const Leaves carried = parameters_like(condition, carry);
  const Array holds = loop.condition(carried, parameters_like(condition, loop.invariants));
  check_condition(loop.function, holds, loop.where);
  condition.finish({holds});

  const Region* regions[] = {&condition, &*body};
  JoinedRegions joined = join(regions);
  const Leaves operands = with(with(carry, loop.invariants), joined.captures);
  Leaves results =
      record_all_as(loop.function, Op::while_, operands, loop.where,
                    WhileAttributes{loop.options.kept_states}, std::move(joined.graphs));
  for (std::size_t i = 0; i < count; ++i) results[i].expression()->weak = is_weak(carry[i]);
  return results;
}

Leaves run_fori(const Operand& lower, const Operand& upper, Tree init,
                const AnyFunction<Tree(const Array& index, const Leaves& carry)>& body,
                const WhileOptions& options) {
  constexpr const char* function = "fori_loop";
  const SourceLocation where = lower.where();
  const std::vector<Array> bounds = promote(function, {&lower, &upper}, Takes::integers);
  for (const Array& bound : bounds) {
    if (type_of(bound).rank() == 0) continue;
    fail(std::string(function) + ": a bound is " + to_string(type_of(bound)) +
             ", and not a scalar; pick one element",
         where);
  }
  Loop loop{function, where, std::move(init), options};
  loop.init.leaves.insert(loop.init.leaves.begin(), bounds[0]);
  loop.init.form = after_index(loop.init.form);
  loop.invariants = {bounds[1]};
  loop.condition = [&](const Leaves& carry, const Leaves& invariants) {
    return record(Op::compare, {carry[0], invariants[0]}, where, CompareAttributes{Comparison::lt});
  };
  loop.body = [&](const Leaves& carry, const Leaves&) {
    Tree next = body(carry[0], since(carry, 1));
    const Array one = number_as(function, Number(1), type_of(carry[0]).dtype, where);
    Array following = record(Op::add, {carry[0], one}, where);
    following.expression()->weak = is_weak(carry[0]);
    next.leaves.insert(next.leaves.begin(), following);
    next.form = after_index(next.form);
    return next;
  };
  return since(run_while(loop), 1);
}

// --- scan ----------------------------------------------------------------------------------------

namespace {

std::int64_t length_of(const Scan& scan) {
  if (scan.length) {
    if (*scan.length >= 0) return *scan.length;
    fail("scan: the length is " + std::to_string(*scan.length) + "; it counts steps", scan.where);
  }
  // A map is a scan that carries nothing.
  const std::string function = scan.init.leaves.empty() ? "map or scan" : "scan";
  if (scan.xs.leaves.empty()) {
    fail(function + ": xs has no arrays to step along; say how many steps: scan(step, init, 10)",
         scan.where);
  }
  demand_arrays(function.c_str(), scan.xs, scan.where);
  const std::vector<std::string> path = paths_of(scan.xs.form);
  const Type& first = type_of(scan.xs.leaves[0]);
  for (std::size_t i = 0; i < scan.xs.leaves.size(); ++i) {
    const Type& type = type_of(scan.xs.leaves[i]);
    if (type.rank() > 0 && type.shape[0] == first.shape[0]) continue;
    const std::string problem = type.rank() == 0
                                    ? "has no axis to step along"
                                    : "has " + std::to_string(type.shape[0]) + " slabs, and " +
                                          path[0] + " has " + std::to_string(first.shape[0]);
    fail(function + ": " + path[i] + ", " + to_string(type) + ", " + problem, scan.where);
  }
  return first.shape[0];
}

Type slab_type(const Type& type) {
  return {type.dtype, Shape(std::vector<std::int64_t>(type.shape.begin() + 1, type.shape.end()))};
}

Type stacked_type(std::int64_t length, const Type& type) {
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  sizes.insert(sizes.begin(), length);
  return {type.dtype, Shape(std::move(sizes))};
}

void append(Leaves& list, const Leaves& more) { list.insert(list.end(), more.begin(), more.end()); }

// A step as a graph: from the index, the carry, the slabs and what it captures to the next index,
// which a check guards where there is nothing else, the next carry and what it collects, whose
// trees these are. The user's function is called for it alone: tracing is linear in how deep scans
// are nested.
struct TracedStep {
  std::unique_ptr<Region> region;
  Tree next, ys;
};

// Numbers of `carry` take the dtypes that come back.
TracedStep traced_step(const Scan& scan, Leaves& carry) {
  while (true) {
    auto region = std::make_unique<Region>("step", TraceKind::body);
    const Array index = region->parameter({i64, {}}, false);
    const Leaves carried = parameters_like(*region, carry);
    Leaves slabs;
    for (const Array& x : scan.xs.leaves) {
      slabs.push_back(region->parameter(slab_type(type_of(x)), false));
    }
    auto [next, ys] = scan.step(carried, slabs);
    demand_same_form("scan", scan.init.form, next.form, " goes in", " comes back", scan.where);
    demand_arrays("scan", next, scan.where);
    demand_arrays("scan", ys, scan.where);
    if (unify_carry("scan", scan.where, next.form, carry, next.leaves)) continue;
    const Array one = array_of(i64, 1, scan.where);
    const Leaves following = {record(Op::add, {index, one}, scan.where)};
    region->finish(with(with(following, next.leaves), ys.leaves));
    return {std::move(region), std::move(next), std::move(ys)};
  }
}

// One turn: index, carry and what is collected so far, to the next of each.
Tree scan_turn(const Scan& scan, const TracedStep& step, const Leaves& carry, const Leaves& xs) {
  const std::size_t count = step.next.leaves.size();
  const Operand index(carry[0], scan.where);
  Leaves operands = part(carry, 0, 1 + count);
  for (const Array& x : xs) operands.push_back(dynamic_index_in_dim({x, scan.where}, index));
  append(operands, step.region->captures());
  const Leaves given = call_graph("scan", step.region->graph(), operands, scan.where);
  Tree all{part(given, 0, 1 + count), after_index(step.next.form)};
  for (std::size_t i = 0; i < count; ++i) {
    set_weak(all.leaves[1 + i], is_weak(step.next.leaves[i]));
  }
  for (std::size_t i = 1 + count; i < given.size(); ++i) {
    const Operand so_far(carry[i], scan.where), y(given[i], scan.where);
    all.leaves.push_back(dynamic_update_index_in_dim(so_far, y, index));
  }
  all.form.add(step.ys.form);
  return all;
}

}  // namespace

std::pair<Leaves, Leaves> run_scan(const Scan& scan) {
  const std::int64_t length = length_of(scan);
  const std::size_t count = scan.init.leaves.size();
  demand_arrays("scan", scan.init, scan.where);
  Leaves carry = scan.init.leaves;
  const TracedStep step = traced_step(scan, carry);
  Leaves stacked;
  for (const Array& y : step.ys.leaves) {
    stacked.push_back(zeros_of(stacked_type(length, type_of(y)), scan.where));
  }
  if (length == 0) return {carry, stacked};

  Loop loop{"scan", scan.where, {{array_of(i64, 0, scan.where)}, {{"the index", ""}}}};
  append(loop.init.leaves, carry);
  append(loop.init.leaves, stacked);
  loop.init.form.add(scan.init.form);
  loop.init.form.add(step.ys.form);
  loop.invariants = scan.xs.leaves;
  loop.condition = [&](const Leaves& leaves, const Leaves&) {
    const Array end = array_of(i64, static_cast<std::uint64_t>(length), scan.where);
    return record(Op::compare, {leaves[0], end}, scan.where, CompareAttributes{Comparison::lt});
  };
  loop.body = [&](const Leaves& leaves, const Leaves& xs) {
    return scan_turn(scan, step, leaves, xs);
  };
  const Leaves results = run_while(loop);
  return {part(results, 1, count), since(results, 1 + count)};
}

// --- branches ------------------------------------------------------------------------------------

Array branch_of(const char* function, const Operand& predicate) {
  const Array array = as_array(function, predicate);
  if (type_of(array) != Type{bool_, {}}) {
    fail(std::string(function) + ": the predicate is " + to_string(type_of(array)) +
             ", and not bool[]; compare, or reduce with all() or any()",
         predicate.where());
  }
  return converted(array, i32, predicate.where());
}

Array branch_of(const char* function, const Operand& index, std::size_t branches) {
  const SourceLocation where = index.where();
  const Array array = as_array(function, index, Takes::integers);
  const Type type = type_of(array);
  if (type.rank() != 0) {
    fail(std::string(function) + ": the index is " + to_string(type) +
             ", and not a scalar; pick one element",
         where);
  }
  const Array first = number_as(function, Number(0), type.dtype, where);
  const Array last = number_as(function, Number(branches - 1), type.dtype, where);
  return converted(record(Op::clamp, {first, array, last}, where), i32, where);
}

namespace {

// Makes result `at` of all branches of one type: that of arrays, where some are numbers.
void unify_branches(const Branches& branches, std::vector<Tree>& results, std::size_t at,
                    const std::string& path) {
  std::size_t wanted = 0;
  for (std::size_t i = 1; i < results.size(); ++i) {
    const Array &best = results[wanted].leaves[at], &next = results[i].leaves[at];
    const bool is_stronger = is_weak(best) && !is_weak(next);
    const bool is_float_number = is_weak(best) && is_weak(next) &&
                                 kind_of(type_of(best).dtype) < kind_of(type_of(next).dtype);
    if (is_stronger || is_float_number) wanted = i;
  }
  const Type type = type_of(results[wanted].leaves[at]);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Array& leaf = results[i].leaves[at];
    const Type own = type_of(leaf);
    if (own == type) continue;
    if (own.shape == type.shape && is_weak(leaf) && kind_of(own.dtype) <= kind_of(type.dtype)) {
      leaf = converted(leaf, type.dtype, branches.where);
      continue;
    }
    fail(std::string(branches.function) + ": " + path + " is " + to_string(type) + " in " +
             branches.names[wanted] + " and " + to_string(own) + " in " + branches.names[i] + "; " +
             remedy(type, own),
         branches.where);
  }
}

}  // namespace

Leaves run_branches(const Array& index, const Branches& branches) {
  std::vector<std::unique_ptr<Region>> regions;
  std::vector<Tree> results;
  for (std::size_t i = 0; i < branches.functions.size(); ++i) {
    regions.push_back(std::make_unique<Region>("branch" + std::to_string(i), TraceKind::branch));
    results.push_back(branches.functions[i](parameters_like(*regions[i], branches.arguments)));
    demand_arrays(branches.function, results[i], branches.where);
    demand_same_form(branches.function, results[0].form, results[i].form,
                     " in " + branches.names[0], " in " + branches.names[i], branches.where);
  }
  const std::vector<std::string> path = paths_of(results[0].form);
  if (path.empty()) {
    fail(std::string(branches.function) + ": the branches return no arrays", branches.where);
  }
  std::vector<bool> weak(path.size(), true);
  for (std::size_t at = 0; at < path.size(); ++at) {
    unify_branches(branches, results, at, path[at]);
    for (const Tree& result : results) weak[at] = weak[at] && is_weak(result.leaves[at]);
  }
  std::vector<const Region*> finished;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    regions[i]->finish(results[i].leaves);
    finished.push_back(regions[i].get());
  }
  JoinedRegions joined = join(finished);
  const Leaves operands = with(with({index}, branches.arguments), joined.captures);
  Leaves given = record_all_as(branches.function, Op::case_, operands, branches.where,
                               NoAttributes{}, std::move(joined.graphs));
  for (std::size_t at = 0; at < given.size(); ++at) given[at].expression()->weak = weak[at];
  return given;
}

}  // namespace anabranch::detail
