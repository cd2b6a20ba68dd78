// Nodes as operations of StableHLO: picks and replacements, orders, linear algebra.
#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/stablehlo/types.h"
#include "frontend/stablehlo/writer.h"

namespace anabranch::stablehlo {
namespace {

std::string axes_text(std::string_view name, const std::vector<std::int64_t>& axes) {
  std::string text;
  for (std::int64_t axis : axes) text += (text.empty() ? "" : ", ") + std::to_string(axis);
  return std::string(name) + " = [" + text + "], ";
}

std::string array_text(std::span<const std::int64_t> numbers) {
  std::string text;
  for (std::int64_t number : numbers) text += (text.empty() ? ": " : ", ") + std::to_string(number);
  return "array<i64" + text + ">";
}

/// The op of a combiner: null where the update takes the element's place.
const char* op_of(ScatterCombiner combiner) {
  switch (combiner) {
    case ScatterCombiner::replace:
      return nullptr;
    case ScatterCombiner::add:
      return "add";
    case ScatterCombiner::multiply:
      return "multiply";
    case ScatterCombiner::minimum:
      return "minimum";
    case ScatterCombiner::maximum:
      return "maximum";
    case ScatterCombiner::and_:
      return "and";
    case ScatterCombiner::or_:
      return "or";
    case ScatterCombiner::xor_:
      return "xor";
  }
  __builtin_unreachable();
}

std::string_view transpose_word(Transpose transpose) {
  switch (transpose) {
    case Transpose::no:
      return "NO_TRANSPOSE";
    case Transpose::transpose:
      return "TRANSPOSE";
    case Transpose::adjoint:
      return "ADJOINT";
  }
  __builtin_unreachable();
}

/// A call of LAPACK's: what it is told, what it gives, and which of that a node gives, in order.
struct Call {
  std::string routine, options;
  std::vector<Type> types;
  std::vector<std::size_t> wanted;
};

char lapack_letter(Dtype dtype) {
  if (is_complex(dtype)) return dtype == c64 ? 'c' : 'z';
  return dtype == f32 ? 's' : 'd';
}

std::string letter_option(std::string_view name, char letter) {
  return std::string(name) + " = " + std::to_string(int{letter}) + " : ui8";
}

/// Square matrices whose side is an axis of these, counted from the last.
Type square(const Type& matrices, int from_last) {
  std::vector<std::int64_t> sizes(matrices.shape.begin(), matrices.shape.end());
  const std::int64_t side = sizes[sizes.size() - static_cast<std::size_t>(from_last)];
  sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = side;
  return {matrices.dtype, Shape(std::move(sizes))};
}

Type one_for_each_matrix(const Type& matrices) {
  return {i32, Shape(std::vector<std::int64_t>(matrices.shape.begin(), matrices.shape.end() - 2))};
}

std::vector<Type> operand_types(const Graph& graph, const Node& node) {
  std::vector<Type> types;
  for (Value input : node.inputs) types.push_back(graph.type(input));
  return types;
}

std::string types_text(const Graph& graph, const Node& node) {
  return joined(operand_types(graph, node));
}

/// "[dense<[0, 1]> : tensor<2xindex>, ...]": axes from the one whose elements are next to each
/// other. LAPACK's matrices, whose rank is `matrix_rank`, have that of their columns first.
std::string layouts_text(std::span<const Type> types, int matrix_rank) {
  std::string text;
  for (const Type& type : types) {
    std::vector<std::string> axes;
    for (int axis = type.rank(); axis-- > 0;) axes.push_back(std::to_string(axis));
    if (type.rank() == matrix_rank) std::swap(axes[0], axes[1]);
    const std::string list = axes.empty() ? "" : "[" + joined(axes) + "]";
    text += (text.empty() ? "dense<" : ", dense<") + list + "> : tensor<" +
            std::to_string(axes.size()) + "xindex>";
  }
  return "[" + text + "]";
}

std::string types_of_node(const Graph& graph, const Node& node) {
  return "(" + types_text(graph, node) + ") -> (" + joined(node.types) + ")";
}

const char* word_of(bool value) { return value ? "true" : "false"; }

}  // namespace

bool Writer::calling(const Frame& frame, const Node& node, Names& results) {
  const Names given = operands(frame, node);
  const std::string types = types_of_node(frame.graph, node);
  switch (node.op) {
    case Op::gather: {
      const auto& form = node.as<GatherAttributes>();
      results = {define("\"stablehlo.gather\"(" + joined(given) +
                        ") <{dimension_numbers = #stablehlo.gather<" +
                        axes_text("offset_dims", form.offset_axes) +
                        axes_text("collapsed_slice_dims", form.collapsed_axes) +
                        axes_text("operand_batching_dims", form.operand_batch_axes) +
                        axes_text("start_indices_batching_dims", form.index_batch_axes) +
                        axes_text("start_index_map", form.start_axes) +
                        "index_vector_dim = " + std::to_string(form.index_vector_axis) +
                        ">, slice_sizes = " + array_text(form.sizes) + "}> : " + types)};
      return true;
    }
    case Op::scatter:
      scatter(node, given, types, results);
      return true;
    case Op::sort:
    case Op::argsort:
      order(frame, node, results);
      return true;
    case Op::cholesky:
      results = {define("stablehlo.cholesky " + given[0] +
                        ", lower = " + word_of(node.as<TriangleAttributes>().lower) + " : " +
                        type_text(node.types[0]))};
      return true;
    case Op::triangular_solve: {
      const auto& how = node.as<TriangularSolveAttributes>();
      results = {define(std::string("\"stablehlo.triangular_solve\"(") + joined(given) +
                        ") <{left_side = " + word_of(how.left_side) + ", lower = " +
                        word_of(how.lower) + ", unit_diagonal = " + word_of(how.unit_diagonal) +
                        ", transpose_a = #stablehlo<transpose " +
                        std::string(transpose_word(how.transpose_a)) + ">}> : " + types)};
      return true;
    }
    case Op::fft: {
      constexpr const char* kinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
      const auto& [kind, lengths] = node.as<FftAttributes>();
      std::string list;
      for (std::int64_t length : lengths)
        list += (list.empty() ? "" : ", ") + std::to_string(length);
      results = {define("stablehlo.fft " + given[0] +
                        ", type = " + kinds[static_cast<std::size_t>(kind)] + ", length = [" +
                        list + "] : " + types)};
      return true;
    }
    default:
      return library_call(frame, node, results);
  }
}

// What XLA and LAPACK call by name.
bool Writer::library_call(const Frame& frame, const Node& node, Names& results) {
  const char* target = node.op == Op::lu   ? "LuDecomposition"
                       : node.op == Op::qr ? "Qr"
                       : node.op == Op::householder_product
                           ? "ProductOfElementaryHouseholderReflectors"
                           : nullptr;
  if (!target) return lapack_call(frame, node, results);
  std::string definition;
  results = fresh_results(node, definition);
  line(definition + " = stablehlo.custom_call @" + target + "(" + joined(operands(frame, node)) +
       ") : " + types_of_node(frame.graph, node));
  return true;
}

// As JAX calls LAPACK: besides what a node gives, the operand as it is overwritten, and a number
// for each matrix that says what went wrong.
bool Writer::lapack_call(const Frame& frame, const Node& node, Names& results) {
  const Type& given = node.inputs.empty() ? Type() : frame.graph.type(node.inputs[0]);
  Call call;
  if (node.op == Op::tridiagonal_solve) {
    call = {"gtsv", "", {given, given, given, node.types[0]}, {3}};
  } else if (node.op == Op::svd) {
    const auto& [vectors, full] = node.as<SvdAttributes>();
    const Type left = vectors ? node.types[1] : square(given, 2);
    const Type right = vectors ? node.types[2] : square(given, 1);
    call = {"gesdd",
            letter_option("mode", !vectors ? 'N'
                                  : full   ? 'A'
                                           : 'S'),
            {given, node.types[0], left, right},
            {1, 2, 3}};
  } else if (node.op == Op::eigh) {
    const auto& [vectors, lower] = node.as<EighAttributes>();
    call = {is_complex(given.dtype) ? "heevd" : "syevd",
            letter_option("mode", vectors ? 'V' : 'N') + ", " +
                letter_option("uplo", lower ? 'L' : 'U'),
            {given, node.types[0]},
            {1, 0}};
  } else if (node.op == Op::eig) {
    const auto& [left, right] = node.as<EigAttributes>();
    const Type vectors{node.types[0].dtype, given.shape};
    call = {"geev",
            letter_option("compute_left", left ? 'V' : 'N') + ", " +
                letter_option("compute_right", right ? 'V' : 'N'),
            {node.types[0], vectors, vectors},
            {0}};
    if (left) call.wanted.push_back(1);
    if (right) call.wanted.push_back(2);
  } else if (node.op == Op::schur) {
    const bool vectors = node.as<SchurAttributes>().vectors;
    call = {"gees",
            letter_option("mode", vectors ? 'V' : 'N') + ", " + letter_option("sort", 'N'),
            {given, given},
            {0, 1}};
    const std::vector<std::int64_t> sizes(given.shape.begin(), given.shape.end() - 1);
    call.types.resize(is_complex(given.dtype) ? 3 : 4, Type{given.dtype, Shape(sizes)});
    call.types.push_back(one_for_each_matrix(given));
  } else if (node.op == Op::qr_pivoted) {
    call = {"geqp3", "", {given, node.types[2], node.types[1]}, {0, 2, 1}};
  } else {
    return false;
  }
  const bool in_parts = node.op == Op::eig && !is_complex(given.dtype);  // of the eigenvalues
  if (in_parts) {
    const Type part{given.dtype, node.types[0].shape};
    call.types[0] = part;
    call.types.insert(call.types.begin(), part);
    for (std::size_t& wanted : call.wanted) wanted += wanted > 0;
  }
  if (node.op != Op::qr_pivoted) {
    call.types.push_back(
        one_for_each_matrix(node.op == Op::tridiagonal_solve ? node.types[0] : given));
  }
  const std::vector<Type> given_types = operand_types(frame.graph, node);
  const int matrix_rank = std::ranges::max(given_types, {}, &Type::rank).rank();
  const std::string made = fresh();
  line(made + ":" + std::to_string(call.types.size()) + " = stablehlo.custom_call @lapack_" +
       lapack_letter(given.dtype) + call.routine + "_ffi(" + joined(operands(frame, node)) +
       ") {mhlo.backend_config = {" + call.options +
       "}, operand_layouts = " + layouts_text(given_types, matrix_rank) +
       ", result_layouts = " + layouts_text(call.types, matrix_rank) + "} : (" +
       joined(given_types) + ") -> (" + joined(call.types) + ")");
  call.wanted.resize(node.types.size());
  results.clear();
  for (std::size_t wanted : call.wanted) results.push_back(made + "#" + std::to_string(wanted));
  if (in_parts) {
    const std::string part = type_text(call.types[0]);
    results[0] = define("stablehlo.complex " + made + "#0, " + made + "#1 : (" + part + ", " +
                        part + ") -> " + type_text(node.types[0]));
  }
  if (node.op == Op::qr_pivoted) {  // which counts columns from 1
    const std::string type = type_text(node.types[2]);
    const std::string one = define("stablehlo.constant dense<1> : " + type);
    results[2] = define("stablehlo.subtract " + results[2] + ", " + one + " : " + type);
  }
  return true;
}

void Writer::scatter(const Node& node, const Names& given, const std::string& types,
                     Names& results) {
  const auto& form = node.as<ScatterAttributes>();
  const std::string result = fresh(), a = fresh(), b = fresh();
  const std::string scalar = type_text({node.types[0].dtype, {}});
  line(result + " = \"stablehlo.scatter\"(" + joined(given) +
       ") <{scatter_dimension_numbers = #stablehlo.scatter<" +
       axes_text("update_window_dims", form.window_axes) +
       axes_text("inserted_window_dims", form.inserted_axes) +
       axes_text("input_batching_dims", form.operand_batch_axes) +
       axes_text("scatter_indices_batching_dims", form.index_batch_axes) +
       axes_text("scatter_dims_to_operand_dims", form.start_axes) +
       "index_vector_dim = " + std::to_string(form.index_vector_axis) + ">}> ({");
  line("^bb0(" + a + ": " + scalar + ", " + b + ": " + scalar + "):");
  ++depth_;
  const char* op = op_of(form.combiner);
  const std::string gives =
      op ? define(std::string("stablehlo.") + op + " " + a + ", " + b + " : " + scalar) : b;
  line("stablehlo.return " + gives + " : " + scalar);
  --depth_;
  line("}) : " + types);
  results = {result};
}

// A stable sort, of positions beside the elements where those are asked for. A NaN is after, or in
// descending order before, any number; complex numbers have no order.
void Writer::order(const Frame& frame, const Node& node, Names& results) {
  const bool is_positions = node.op == Op::argsort;
  const std::int64_t axis =
      is_positions ? node.as<ArgsortAttributes>().axis : node.as<SortAttributes>().axis;
  const bool descending =
      is_positions ? node.as<ArgsortAttributes>().descending : node.as<SortAttributes>().descending;
  const Type& type = frame.graph.type(node.inputs[0]);
  const std::string scalar = type_text({type.dtype, {}}), whole = type_text(type);
  std::string operand = frame(node.inputs[0]), inputs = whole, arguments;
  const std::string a = fresh(), b = fresh();
  arguments = a + ": " + scalar + ", " + b + ": " + scalar;
  if (is_positions) {
    const std::string places = type_text(node.types[0]);
    operand += ", " + define("stablehlo.iota dim = " + std::to_string(axis) + " : " + places);
    inputs += ", " + places;
    const std::string place = type_text({node.types[0].dtype, {}});
    arguments += ", " + fresh() + ": " + place;
    arguments += ", " + fresh() + ": " + place;
  }
  const std::string result = fresh();
  line(result + (is_positions ? ":2" : "") + " = \"stablehlo.sort\"(" + operand +
       ") <{dimension = " + std::to_string(axis) + " : i64, is_stable = true}> ({");
  line("^bb0(" + arguments + "):");
  ++depth_;
  const auto compare = [&](const char* how, const std::string& l, const std::string& r) {
    return define(std::string("stablehlo.compare ") + how + ", " + l + ", " + r + " : (" + scalar +
                  ", " + scalar + ") -> tensor<i1>");
  };
  std::string before = compare(descending ? "GT" : "LT", a, b);
  if (is_float(type.dtype)) {
    const std::string& nan = descending ? a : b;
    const std::string& number = descending ? b : a;
    const std::string is_nan = compare("NE", nan, nan), is_number = compare("EQ", number, number);
    const std::string both = define("stablehlo.and " + is_nan + ", " + is_number + " : tensor<i1>");
    before = define("stablehlo.or " + before + ", " + both + " : tensor<i1>");
  }
  line("stablehlo.return " + before + " : tensor<i1>");
  --depth_;
  line("}) : (" + inputs + ") -> (" + inputs + ")");
  results = {is_positions ? result + "#1" : result};
}

}  // namespace anabranch::stablehlo
