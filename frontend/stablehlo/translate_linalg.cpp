// Linear algebra: StableHLO's two operations, and the names that JAX calls LAPACK and XLA by.
#include <array>

#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"
#include "frontend/trace/record.h"

namespace anabranch::stablehlo {
namespace {

Results cholesky_op(const Site& site) {
  site.expect_operands(1);
  return {site.record(Op::cholesky, {site.operand(0)},
                      TriangleAttributes{site.boolean("lower", false)})};
}

Results triangular_solve_op(const Site& site) {
  site.expect_operands(2);
  TriangularSolveAttributes how{site.boolean("left_side", true), site.boolean("lower", false),
                                site.boolean("unit_diagonal", false), Transpose::no};
  const std::string turned = site.word("transpose_a", "NO_TRANSPOSE");
  if (turned == "TRANSPOSE") how.transpose_a = Transpose::transpose;
  if (turned == "ADJOINT") how.transpose_a = Transpose::adjoint;
  return {site.record(Op::triangular_solve, site.operands(), how)};
}

// The letter that an option of LAPACK is, in the dictionary of a custom_call.
char option(const Site& site, std::string_view name, char otherwise) {
  for (const char* config : {"mhlo.backend_config", "backend_config"}) {
    const Attribute* found = site.op.find(config);
    if (!found || found->kind != Attribute::Kind::dictionary) continue;
    for (const auto& [key, value] : found->entries) {
      if (key != name) continue;
      if (value.kind == Attribute::Kind::string && value.text.size() == 1) return value.text[0];
      const List list = site.integers_of(value);
      if (list.size() == 1) return static_cast<char>(list[0]);
    }
  }
  return otherwise;
}

std::vector<Array> all_results(const Site& site, Op op, const std::vector<Array>& operands,
                               Attributes attributes) {
  return record_all(op, operands, site.where(), std::move(attributes));
}

// What LAPACK says of failures comes last where it is asked for: there are none here, a matrix
// without such a factor has one of NaN.
Results with_status(const Site& site, Results results) {
  while (results.size() < site.op.result_types.size()) {
    const Type type = site.result_type(results.size());
    results.push_back(site.repeated(site.scalar(0, type.dtype), type.shape));
  }
  return results;
}

Results potrf(const Site& site) {
  const bool lower = option(site, "uplo", 'L') == 'L';
  return with_status(site,
                     {site.record(Op::cholesky, {site.operand(0)}, TriangleAttributes{lower})});
}

// LAPACK counts rows from 1, the op from 0.
Results getrf(const Site& site) {
  Results all = all_results(site, Op::lu, {site.operand(0)}, NoAttributes{});
  const Array one = site.repeated(site.scalar(1, i32), type_of(all[1]).shape);
  return with_status(site, {all[0], site.record(Op::add, {all[1], one})});
}

Results lu_decomposition(const Site& site) {
  return all_results(site, Op::lu, {site.operand(0)}, NoAttributes{});
}

Results geqrf(const Site& site) {
  return with_status(site, all_results(site, Op::qr, {site.operand(0)}, NoAttributes{}));
}

Results orgqr(const Site& site) {
  return with_status(site,
                     {site.record(Op::householder_product, {site.operand(0), site.operand(1)})});
}

Results trsm(const Site& site) {
  TriangularSolveAttributes how{option(site, "side", 'L') == 'L', option(site, "uplo", 'L') == 'L',
                                option(site, "diag", 'N') == 'U', Transpose::no};
  const char turned = option(site, "trans_x", option(site, "trans_a", 'N'));
  if (turned == 'T') how.transpose_a = Transpose::transpose;
  if (turned == 'C') how.transpose_a = Transpose::adjoint;
  return with_status(site,
                     {site.record(Op::triangular_solve, {site.operand(0), site.operand(1)}, how)});
}

// The matrix comes first, as LAPACK leaves it; nothing reads it.
Results gesdd(const Site& site) {
  const char mode = option(site, "mode", 'S');
  const SvdAttributes how{mode != 'N', mode == 'A'};
  const Array x = site.operand(0);
  Results all = all_results(site, Op::svd, {x}, how);
  all.insert(all.begin(), x);
  return with_status(site, std::move(all));
}

Results syevd(const Site& site) {
  const EighAttributes how{option(site, "mode", 'V') == 'V', option(site, "uplo", 'L') == 'L'};
  const Array x = site.operand(0);
  const Results all = all_results(site, Op::eigh, {x}, how);
  return with_status(site, {how.vectors ? all[1] : x, all[0]});
}

// XLA's for TPUs: "1,1,100,1e-6" is lower, sorted, and two limits.
Results eigh(const Site& site) {
  const std::string config = site.word("backend_config", "1");
  const EighAttributes how{true, !config.starts_with("0")};
  const Results all = all_results(site, Op::eigh, {site.operand(0)}, how);
  return {all[1], all[0]};
}

struct Factorisation {
  std::string_view name;  ///< of LAPACK's without the letter of the dtype; else XLA's own
  std::size_t operands;
  Results (*translate)(const Site& site);
};
constexpr Factorisation factorisations[] = {
    {"potrf", 1, potrf}, {"getrf", 1, getrf},
    {"geqrf", 1, geqrf}, {"orgqr", 2, orgqr},
    {"ungqr", 2, orgqr}, {"trsm", 2, trsm},
    {"gesdd", 1, gesdd}, {"syevd", 1, syevd},
    {"heevd", 1, syevd}, {"LuDecomposition", 1, lu_decomposition},
    {"Qr", 1, geqrf},    {"ProductOfElementaryHouseholderReflectors", 2, orgqr},
    {"Eigh", 1, eigh},
};

// "lapack_dpotrf_ffi" is potrf.
std::string_view lapack_name(std::string_view name) {
  for (std::string_view begin : {"lapack_", "blas_"}) {
    if (!name.starts_with(begin) || !name.ends_with("_ffi")) continue;
    name = name.substr(begin.size(), name.size() - begin.size() - 4);
    return name.empty() ? name : name.substr(1);
  }
  return name;
}

constexpr Translation rows_of_linalg[] = {
    {"cholesky", cholesky_op},
    {"triangular_solve", triangular_solve_op},
};

}  // namespace

std::span<const Translation> linalg_translations() { return rows_of_linalg; }

std::optional<Results> linear_algebra_call(const Site& site, std::string_view name) {
  for (const Factorisation& row : factorisations) {
    if (lapack_name(name) != row.name) continue;
    if (site.count() < row.operands) site.expect_operands(row.operands);
    return row.translate(site);
  }
  return {};
}

}  // namespace anabranch::stablehlo
