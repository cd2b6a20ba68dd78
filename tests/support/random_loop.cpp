#include "tests/support/random_loop.h"

#include <algorithm>
#include <string>

#include "ir/graph/builder.h"
#include "ir/integer_constant.h"
#include "tests/support/random_literal.h"

namespace anabranch {
namespace {

constexpr std::int64_t most_places = 1500;
constexpr Dtype dtypes[] = {f32, f32, f64, f64, i32, i64, u8, i16, f16, bf16, bool_, c64, c128};

class LoopWriter {
 public:
  explicit LoopWriter(std::uint64_t seed) : random_(seed) {}

  GraphCase run() {
    choose();
    for (std::int64_t i = random_.below(3); i > 0; --i) captures_.push_back(array());
    if (by_condition_) {
      others_ = {{i32, domain_}, {dtype_, Shape{1 + random_.below(9)}}};
    } else {
      for (std::int64_t i = random_.below(3); i > 0; --i) rows_.push_back(stack());
    }
    GraphBuilder graph("loop");
    std::vector<Value> initial, captured;
    std::vector<Value> parameters;
    for (const Type& type : types_) {
      // What begins with one number is often computed inside.
      const bool is_input = random_.percent(60);
      initial.push_back(is_input ? graph.late_parameter(type) : filled(graph, type));
    }
    for (const auto* list : {&captures_, &rows_, &others_}) {
      for (const Type& type : *list) captured.push_back(graph.late_parameter(type));
    }
    std::vector<Value> operands = first_leads(graph);
    operands.insert(operands.end(), initial.begin(), initial.end());
    operands.insert(operands.end(), captured.begin(), captured.end());
    const std::vector<Graph> regions = {condition(), body()};
    const Value loop = graph.add(Op::while_, operands, WhileAttributes{}, std::nullopt, regions);
    std::vector<Value> outputs;
    for (std::uint32_t i = 0; i < types_.size(); ++i) {
      if (types_[i].rank() > 0 && (outputs.empty() || random_.percent(80))) {
        outputs.push_back({loop.node, static_cast<std::uint32_t>(leads_.size()) + i});
      }
    }
    for (std::uint32_t i = 0; i < leads_.size(); ++i) {
      if (random_.percent(20)) outputs.push_back({loop.node, i});
    }
    GraphCase made{graph.build(outputs), {}};
    for (std::size_t i = 0; i < made.graph.parameter_count(); ++i) {
      const Flavour flavour = random_.percent(85) ? Flavour::ordinary : Flavour::special;
      made.inputs.push_back(random_literal(random_, made.graph.parameter_type(i), flavour));
    }
    return made;
  }

 private:
  void choose() {
    static constexpr std::int64_t sizes[] = {0, 1, 1, 2, 3, 5, 8, 9, 16, 17, 31, 33, 64, 129};
    static constexpr std::int64_t counts[] = {1, 2, 3, 7, 16};
    static constexpr std::int64_t firsts[] = {0, 0, 0, 1, 5, -3};
    std::vector<std::int64_t> shape;
    std::int64_t places = 1;
    for (std::int64_t axis = 1 + random_.below(3); axis > 0; --axis) {
      const std::int64_t size = random_.of(sizes);
      if (size == 0 && random_.percent(70)) continue;
      if (places * size > most_places) break;
      places *= std::max<std::int64_t>(size, 1);
      shape.push_back(size);
    }
    if (shape.empty()) shape.push_back(7);
    domain_ = Shape(shape);
    dtype_ = random_.of(dtypes);
    counter_ = random_.percent(50) ? i32 : i64;
    turns_ = random_.of(counts);
    first_ = random_.of(firsts);
    for (std::int64_t i = 1 + random_.below(3); i > 0; --i) {
      types_.push_back(random_.percent(15) ? points() : array());
    }
    elements_ = types_.size();
    by_condition_ = random_.percent(35);
    if (by_condition_) {
      leads_ = {{bool_, domain_}, {i32, domain_}};
      return;
    }
    leads_ = {{counter_, {}}};
    if (random_.percent(40)) types_.push_back({dtype_, {}});
    for (std::int64_t i = random_.below(3); i > 0; --i) {
      stacks_.push_back(types_.size());
      types_.push_back(stack());
    }
  }

  // Of the domain, with one more axis of size 1 now and then.
  Type array() {
    std::vector<std::int64_t> sizes(domain_.begin(), domain_.end());
    if (random_.percent(15)) sizes.insert(sizes.begin() + random_.below(domain_.rank() + 1), 1);
    return {dtype_, Shape(sizes)};
  }

  // Of the domain, with a few elements for each place.
  Type points() {
    std::vector<std::int64_t> sizes(domain_.begin(), domain_.end());
    sizes.push_back(2 + random_.below(2));
    return {dtype_, Shape(sizes)};
  }
  bool is_of_points(const Shape& shape) const {
    return shape.rank() == domain_.rank() + 1 && shape.size() > domain_.size();
  }

  // An array of the domain for each turn, or for some more, along an axis anywhere.
  Type stack() {
    std::vector<std::int64_t> sizes(domain_.begin(), domain_.end());
    const std::int64_t axis = random_.percent(70) ? 0 : random_.below(domain_.rank() + 1);
    sizes.insert(sizes.begin() + axis, turns_ + (random_.percent(25) ? 2 : 0));
    return {dtype_, Shape(sizes)};
  }

  Value number(GraphBuilder& graph, double value) {
    return graph.constant(Literal::scalar(dtype_, value));
  }
  Value filled(GraphBuilder& graph, const Type& type) {
    const Value one = number(graph, static_cast<double>(random_.below(2)));
    return type.rank() == 0 ? one
                            : graph.add(Op::broadcast_in_dim, {one}, AxesAttributes{{}}, type);
  }

  // The counter; or whether each place goes on, and how many turns it has taken.
  std::vector<Value> first_leads(GraphBuilder& graph) {
    if (!by_condition_) return {graph.constant(integer_literal(counter_, first_))};
    const Value yes = graph.constant(Literal::scalar(bool_, 1.0));
    const Value zero = graph.constant(integer_literal(i32, 0));
    const Value on =
        random_.percent(50) ? graph.late_parameter(leads_[0]) : over_domain(graph, yes);
    return {on, over_domain(graph, zero)};
  }

  Graph condition() {
    GraphBuilder graph("condition");
    const std::vector<Value> given = parameters(graph);
    if (by_condition_) {
      std::vector<std::int64_t> axes;
      for (int axis = 0; axis < domain_.rank(); ++axis) axes.push_back(axis);
      return graph.build({graph.add(Op::reduce_any, {given[0]}, AxesAttributes{axes})});
    }
    const Value bound = graph.constant(integer_literal(counter_, first_ + turns_));
    return graph.build(
        {graph.add(Op::compare, {given[0], bound}, CompareAttributes{Comparison::lt})});
  }

  std::vector<Value> parameters(GraphBuilder& graph) {
    std::vector<Value> given;
    for (const auto* list : {&leads_, &types_, &captures_, &rows_, &others_}) {
      for (const Type& type : *list) given.push_back(graph.parameter(type));
    }
    return given;
  }

  Graph body() {
    GraphBuilder graph("body");
    const std::vector<Value> given = parameters(graph);
    turn_ = given[0];
    std::vector<Value> elements;
    const auto carried = given.begin() + std::ssize(leads_);
    for (std::size_t i = 0; i < elements_; ++i) {
      if (!is_of_points(types_[i].shape)) {
        elements.push_back(of_domain(graph, carried[i]));
        continue;
      }
      const std::int64_t count = types_[i].shape[domain_.rank()];
      for (std::int64_t k = 0; k < count; ++k) {
        elements.push_back(part(graph, carried[i], domain_.rank(), k));
      }
    }
    std::vector<Value> uniforms;
    if (elements_ < types_.size() && types_[elements_].rank() == 0) {
      uniforms.push_back(carried[elements_]);
      elements.push_back(over_domain(graph, uniforms[0]));
    }
    auto capture = carried + std::ssize(types_);
    for (std::size_t i = 0; i < captures_.size(); ++i) {
      elements.push_back(moved(graph, of_domain(graph, *capture++)));
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) elements.push_back(row(graph, *capture++));
    if (by_condition_) elements.push_back(looked_up(graph, capture[1], given[1]));
    for (std::int64_t i = random_.below(7); i > 0; --i) {
      const Value x = random_.of(elements), y = random_.of(elements);
      elements.push_back(random_.percent(15) ? of_few(graph, x, y) : step(graph, x, y));
    }
    if (by_condition_) return graph.build(kept(graph, given, capture[0], elements));
    std::vector<Value> outputs = {
        graph.add(Op::add, {turn_, graph.constant(integer_literal(counter_, 1))})};
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const Value own = carried[i];
      if (std::ranges::find(stacks_, i) != stacks_.end()) {
        outputs.push_back(stored(graph, own, random_.of(elements)));
      } else if (types_[i].rank() == 0) {
        outputs.push_back(step(graph, own, own));
      } else {
        const Value next = random_.percent(80) ? elements.back() : random_.of(elements);
        outputs.push_back(in_shape(graph, next, own, elements));
      }
    }
    return graph.build(outputs);
  }

  // Of a few elements for each place, one number.
  Value of_few(GraphBuilder& graph, Value x, Value y) {
    std::vector<std::int64_t> sizes(domain_.begin(), domain_.end());
    const std::int64_t axis = random_.below(domain_.rank() + 1);
    sizes.insert(sizes.begin() + axis, 1);
    const Shape one(sizes);
    const std::vector<Value> parts = {reshaped(graph, x, one), reshaped(graph, y, one),
                                      reshaped(graph, step(graph, x, y), one)};
    Value few = graph.add(Op::concatenate, parts, AxisAttributes{axis});
    if (random_.percent(40)) few = graph.add(Op::reverse, {few}, AxesAttributes{{axis}});
    const Type& type = graph.type(few);
    if (random_.percent(60)) {
      std::vector<std::int64_t> axes;
      for (std::int64_t i = 0; i <= domain_.rank(); ++i) {
        if (i != axis) axes.push_back(i);
      }
      few = step(graph, few, graph.add(Op::broadcast_in_dim, {y}, AxesAttributes{axes}, type));
    }
    if (!is_complex(dtype_) && random_.percent(70)) {
      static constexpr Op ops[] = {Op::reduce_max, Op::reduce_min, Op::reduce_sum};
      static constexpr Op of_bools[] = {Op::reduce_any, Op::reduce_all};
      const Op op = dtype_ == bool_ ? random_.of(of_bools) : random_.of(ops);
      return graph.add(op, {few}, AxesAttributes{{axis}});
    }
    return part(graph, few, axis, 1);
  }

  // Element `k` along an axis that the domain has not.
  Value part(GraphBuilder& graph, Value few, std::int64_t axis, std::int64_t k) {
    const Shape shape = graph.type(few).shape;
    SliceAttributes part;
    for (std::int64_t i = 0; i <= domain_.rank(); ++i) {
      part.start.push_back(i == axis ? k : 0);
      part.limit.push_back(i == axis ? k + 1 : shape[static_cast<int>(i)]);
      part.stride.push_back(1);
    }
    return reshaped(graph, graph.add(Op::slice, {few}, part), domain_);
  }

  // Over the points of each place.
  Value spread(GraphBuilder& graph, Value value, const Shape& shape) {
    std::vector<std::int64_t> axes;
    for (int axis = 0; axis < domain_.rank(); ++axis) axes.push_back(axis);
    const Dtype dtype = graph.type(value).dtype;
    return graph.add(Op::broadcast_in_dim, {value}, AxesAttributes{axes}, Type{dtype, shape});
  }

  // `next` as what `own` becomes: points of it and of others, or those that there were, moved.
  Value in_shape(GraphBuilder& graph, Value next, Value own, const std::vector<Value>& elements) {
    const Shape shape = graph.type(own).shape;
    if (!is_of_points(shape)) return reshaped(graph, next, shape);
    if (random_.percent(40)) return step(graph, own, spread(graph, next, shape));
    std::vector<std::int64_t> sizes(domain_.begin(), domain_.end());
    sizes.push_back(1);
    std::vector<Value> parts = {reshaped(graph, next, Shape(sizes))};
    while (std::ssize(parts) < shape[domain_.rank()]) {
      parts.push_back(reshaped(graph, random_.of(elements), Shape(sizes)));
    }
    return graph.add(Op::concatenate, parts, AxisAttributes{domain_.rank()});
  }

  // What a place hands on: the next values as long as it goes on, which is 9 turns at most.
  std::vector<Value> kept(GraphBuilder& graph, const std::vector<Value>& given, Value limits,
                          const std::vector<Value>& elements) {
    const Value on = given[0], taken = given[1];
    const auto all = [&](std::int64_t value) {
      return over_domain(graph, graph.constant(integer_literal(i32, value)));
    };
    const Value next = graph.add(Op::select, {on, graph.add(Op::add, {taken, all(1)}), taken});
    const Value limit = graph.add(Op::and_, {limits, all(7)});
    Value wants = graph.add(Op::compare, {next, limit}, CompareAttributes{Comparison::lt});
    if (random_.percent(40)) {
      const std::vector<Value> both = {random_.of(elements), random_.of(elements)};
      wants = graph.add(random_.percent(50) ? Op::and_ : Op::or_,
                        {wants, graph.add(Op::compare, both, CompareAttributes{Comparison::ne})});
      wants = graph.add(Op::and_, {wants, graph.add(Op::compare, {next, all(9)},
                                                    CompareAttributes{Comparison::lt})});
    }
    std::vector<Value> outputs = {graph.add(Op::and_, {on, wants}), next};
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const Shape& shape = types_[i].shape;
      const Value own = given[leads_.size() + i];
      const Value made = in_shape(graph, random_.of(elements), own, elements);
      const Value goes_on =
          is_of_points(shape) ? spread(graph, on, shape) : reshaped(graph, on, shape);
      outputs.push_back(graph.add(Op::select, {goes_on, made, own}));
    }
    return outputs;
  }

  // The element of `table` that a place's number says, held inside.
  Value looked_up(GraphBuilder& graph, Value table, Value numbers) {
    GatherAttributes attributes;
    attributes.collapsed_axes = attributes.start_axes = {0};
    attributes.index_vector_axis = domain_.rank();
    attributes.sizes = {1};
    return graph.add(Op::gather, {table, numbers}, attributes);
  }

  Value over_domain(GraphBuilder& graph, Value scalar) {
    const Dtype dtype = graph.type(scalar).dtype;
    return graph.add(Op::broadcast_in_dim, {scalar}, AxesAttributes{{}}, Type{dtype, domain_});
  }

  Value reshaped(GraphBuilder& graph, Value value, const Shape& shape) {
    if (graph.type(value).shape == shape) return value;
    return graph.add(Op::reshape, {value}, NoAttributes{}, Type{graph.type(value).dtype, shape});
  }
  Value of_domain(GraphBuilder& graph, Value value) { return reshaped(graph, value, domain_); }
  // What does not change may be read from anywhere.
  Value moved(GraphBuilder& graph, Value value) {
    if (random_.percent(60)) return value;
    return graph.add(Op::reverse, {value}, AxesAttributes{{random_.below(domain_.rank())}});
  }

  // Which of `room + 1` places this turn is for.
  Value place(GraphBuilder& graph) {
    const auto integer = [&](std::int64_t value) {
      return graph.constant(integer_literal(counter_, value));
    };
    const Value from_first = graph.add(Op::subtract, {turn_, integer(first_)});
    switch (random_.below(6)) {
      case 0:
        return graph.add(Op::subtract, {integer(turns_ - 1), from_first});
      case 1: {  // as JAX counts negative places from the end
        const Value is_negative =
            graph.add(Op::compare, {from_first, integer(0)}, CompareAttributes{Comparison::lt});
        const Value from_end = graph.add(Op::add, {from_first, integer(turns_)});
        return graph.add(Op::select, {is_negative, from_end, from_first});
      }
      case 2:
        return turn_;  // which may be outside
      case 3:
        return random_.percent(50) ? integer(random_.below(3))
                                   : graph.add(Op::multiply, {from_first, integer(2)});
      default:
        return from_first;
    }
  }

  // The one axis whose size is not the domain's, and the starts of a block there.
  std::vector<Value> starts(GraphBuilder& graph, const Shape& stack,
                            std::vector<std::int64_t>& block) {
    std::vector<Value> made;
    int axis = 0;
    while (axis < domain_.rank() && stack[axis] == domain_[axis]) ++axis;
    block.assign(domain_.begin(), domain_.end());
    block.insert(block.begin() + axis, 1);
    const Value zero = graph.constant(integer_literal(counter_, 0));
    for (int i = 0; i < stack.rank(); ++i) made.push_back(i == axis ? place(graph) : zero);
    return made;
  }

  Value row(GraphBuilder& graph, Value stack) {
    std::vector<std::int64_t> block;
    std::vector<Value> operands = starts(graph, graph.type(stack).shape, block);
    operands.insert(operands.begin(), stack);
    return reshaped(graph, graph.add(Op::dynamic_slice, operands, SizesAttributes{block}), domain_);
  }

  Value stored(GraphBuilder& graph, Value stack, Value value) {
    std::vector<std::int64_t> block;
    std::vector<Value> operands = starts(graph, graph.type(stack).shape, block);
    operands.insert(operands.begin(), {stack, reshaped(graph, value, Shape(block))});
    return graph.add(Op::dynamic_update_slice, operands);
  }

  Value step(GraphBuilder& graph, Value x, Value y) {
    if (dtype_ == bool_) {
      static constexpr Op ops[] = {Op::and_, Op::or_, Op::xor_};
      return random_.percent(30) ? graph.add(Op::not_, {x}) : graph.add(random_.of(ops), {x, y});
    }
    if (is_complex(dtype_)) {
      static constexpr Op ops[] = {Op::add, Op::subtract};
      if (random_.percent(50)) return graph.add(random_.of(ops), {x, y});
      if (random_.percent(40)) return graph.add(Op::negate, {x});
      if (random_.percent(50)) {
        return graph.add(Op::complex, {graph.add(Op::imag, {x}), graph.add(Op::real, {y})});
      }
      return chosen(graph, x, y);
    }
    static constexpr Op binary[] = {Op::add, Op::subtract, Op::maximum, Op::minimum};
    switch (random_.below(5)) {
      case 0:
        return chosen(graph, x, y);
      case 1:
        return graph.add(is_unsigned_integer(dtype_) ? Op::not_
                         : random_.percent(50)       ? Op::negate
                                                     : Op::abs,
                         {x});
      case 2: {
        const Value half = number(graph, is_integer(dtype_) ? 3 : 0.5);
        const Type type = graph.type(x);
        const Value halves =
            type.rank() == 0 ? half
                             : graph.add(Op::broadcast_in_dim, {half}, AxesAttributes{{}}, type);
        return graph.add(Op::multiply, {x, halves});
      }
      default:
        return graph.add(random_.of(binary), {x, y});
    }
  }

  Value chosen(GraphBuilder& graph, Value x, Value y) {
    const Comparison direction = is_complex(dtype_) ? Comparison::ne : Comparison::lt;
    const Value condition = graph.add(Op::compare, {x, y}, CompareAttributes{direction});
    return graph.add(Op::select, {condition, y, x});
  }

  Random random_;
  Shape domain_;
  Dtype dtype_ = f32, counter_ = i64;
  std::int64_t turns_ = 1, first_ = 0;
  bool by_condition_ = false;        // each place has one, instead of a counter of all
  std::size_t elements_ = 0;         // of `types_`, the first
  std::vector<Type> leads_, types_;  // of what is carried: what says how often it turns, the rest
  std::vector<std::size_t> stacks_;  // which of them
  std::vector<Type> captures_, rows_, others_;
  Value turn_;
};

}  // namespace

GraphCase random_pointwise_loop(std::uint64_t seed) { return LoopWriter(seed).run(); }

}  // namespace anabranch
