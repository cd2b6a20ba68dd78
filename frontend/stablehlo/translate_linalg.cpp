// Linear algebra and fft: StableHLO's operations, and the names that JAX calls LAPACK and XLA by.
#include "frontend/array/expression.h"
#include "frontend/ops/lapack_entries.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"

namespace anabranch::stablehlo {
namespace {

// LAPACK's dtypes: f16 and bf16 are computed in f32, and the result rounded.
Results computed_wide(const Site& site, Op op, Attributes attributes) {
  std::vector<Array> operands = site.operands();
  const Dtype dtype = type_of(operands[0]).dtype;
  for (Array& operand : operands) operand = site.converted(operand, computes_in(dtype));
  return {site.converted(site.record(op, operands, std::move(attributes)), dtype)};
}

Results cholesky_op(const Site& site) {
  site.expect_operands(1);
  return computed_wide(site, Op::cholesky, TriangleAttributes{site.boolean("lower", false)});
}

Results triangular_solve_op(const Site& site) {
  site.expect_operands(2);
  TriangularSolveAttributes how{site.boolean("left_side", true), site.boolean("lower", false),
                                site.boolean("unit_diagonal", false), Transpose::no};
  const std::string turned = site.word("transpose_a", "NO_TRANSPOSE");
  if (turned == "TRANSPOSE") how.transpose_a = Transpose::transpose;
  if (turned == "ADJOINT") how.transpose_a = Transpose::adjoint;
  if (turned != "NO_TRANSPOSE" && how.transpose_a == Transpose::no) {
    site.fail("there is no transpose_a " + turned + "; NO_TRANSPOSE, TRANSPOSE and ADJOINT are");
  }
  return computed_wide(site, Op::triangular_solve, how);
}

Results fft_op(const Site& site) {
  site.expect_operands(1);
  constexpr std::pair<std::string_view, FftKind> kinds[] = {{"FFT", FftKind::fft},
                                                            {"IFFT", FftKind::ifft},
                                                            {"RFFT", FftKind::rfft},
                                                            {"IRFFT", FftKind::irfft}};
  const std::string word = site.word("fft_type");
  for (const auto& [name, kind] : kinds) {
    if (word != name) continue;
    return {
        site.record(Op::fft, {site.operand(0)}, FftAttributes{kind, site.integers("fft_length")})};
  }
  site.fail("there is no transform " + word + "; FFT, IFFT, RFFT and IRFFT are");
}

// An option of LAPACK, in the dictionary of a custom_call; null where it is not given.
const Attribute* find_option(const Site& site, std::string_view name) {
  for (const char* config : {"mhlo.backend_config", "backend_config"}) {
    const Attribute* found = site.op.find(config);
    if (!found || found->kind != Attribute::Kind::dictionary) continue;
    for (const NamedAttribute& entry : found->entries) {
      if (entry.name == name) return &entry.value;
    }
  }
  return nullptr;
}

// The letter that it is; the first of `letters` where it is not given.
char option(const Site& site, std::string_view name, std::string_view letters) {
  const Attribute* given = find_option(site, name);
  if (!given) return letters[0];
  for (char letter : letters) {
    const bool is_it = given->kind == Attribute::Kind::string
                           ? given->text == std::string_view(&letter, 1)
                           : site.integer_of(*given, name) == letter;
    if (is_it) return letter;
  }
  site.fail("its option " + std::string(name) + " is none of the letters " + std::string(letters));
}

bool bool_option(const Site& site, std::string_view name) {
  const Attribute* given = find_option(site, name);
  if (given) return site.integer_of(*given, name) != 0;
  site.fail("needs the option " + std::string(name) + " = true or false in mhlo.backend_config");
}

// Trailing results that the program does not ask for are dropped.
Results asked_for(const Site& site, Results results) {
  if (results.size() > site.op.result_types.size()) results.resize(site.op.result_types.size());
  return results;
}

Results potrf(const Site& site) {
  const bool lower = option(site, "uplo", "LU") == 'L';
  return lapack_entries::potrf(site.operand(0), lower, site.where());
}

Results getrf(const Site& site) { return lapack_entries::getrf(site.operand(0), site.where()); }

Results lu_decomposition(const Site& site) {
  return lapack_entries::lu_decomposition(site.operand(0), site.where());
}

Results geqrf(const Site& site) { return lapack_entries::geqrf(site.operand(0), site.where()); }

Results geqp3(const Site& site) {
  return lapack_entries::geqp3(site.operand(0), site.operand(1), site.where());
}

Results orgqr(const Site& site) {
  return lapack_entries::orgqr(site.operand(0), site.operand(1), site.where());
}

Results ormqr(const Site& site) {
  return lapack_entries::ormqr(site.operand(0), site.operand(1), site.operand(2),
                               bool_option(site, "left"), bool_option(site, "transpose"),
                               site.where());
}

Results trsm(const Site& site) {
  TriangularSolveAttributes how{option(site, "side", "LR") == 'L',
                                option(site, "uplo", "LU") == 'L',
                                option(site, "diag", "NU") == 'U', Transpose::no};
  char turned = option(site, "trans_x", "NTC");
  if (turned == 'N') turned = option(site, "trans_a", "NTC");
  if (turned == 'T') how.transpose_a = Transpose::transpose;
  if (turned == 'C') how.transpose_a = Transpose::adjoint;
  return lapack_entries::trsm(site.operand(0), site.operand(1), how, site.where());
}

Results gesdd(const Site& site) {
  using lapack_entries::SvdMode;
  const char mode = option(site, "mode", "SAN");
  const Array x = site.operand(0);
  const Shape& shape = type_of(x).shape;
  // Without vectors their arrays are there all the same, of the sizes of all or of some.
  bool full = true;
  if (shape.rank() >= 2 && site.op.result_types.size() > 3) {
    const Shape left = site.result_type(2).shape, right = site.result_type(3).shape;
    full = left.rank() > 1 && left[left.rank() - 1] == shape[shape.rank() - 2] &&
           right.rank() > 1 && right[right.rank() - 2] == shape[shape.rank() - 1];
  }
  const SvdMode how = mode == 'A' ? SvdMode::all : mode == 'N' ? SvdMode::none : SvdMode::some;
  return lapack_entries::gesdd(x, how, site.where(), full);
}

Results syevd(const Site& site) {
  return lapack_entries::syevd(site.operand(0), option(site, "uplo", "LU") == 'L',
                               option(site, "mode", "VN") == 'V', site.where());
}

Results geev(const Site& site) {
  return lapack_entries::geev(site.operand(0), option(site, "compute_left", "VN") == 'V',
                              option(site, "compute_right", "VN") == 'V', site.where());
}

Results gees(const Site& site) {
  if (option(site, "sort", "NS") != 'N') {
    site.fail("gees with sort = 'S' is not read; the eigenvalues of a Schur form are not sorted");
  }
  return lapack_entries::gees(site.operand(0), option(site, "mode", "VN") == 'V', site.where());
}

Results gehrd(const Site& site) { return lapack_entries::gehrd(site.operand(0), site.where()); }

Results sytrd(const Site& site) {
  return lapack_entries::sytrd(site.operand(0), option(site, "uplo", "LU") == 'L', site.where());
}

Results gtsv(const Site& site) { return lapack_entries::gtsv(site.operands(), site.where()); }

// XLA's for TPUs: "1,1,100,1e-6" is lower, sorted, and two limits.
Results eigh(const Site& site) {
  const bool lower = !site.word("backend_config", "1").starts_with("0");
  return lapack_entries::syevd(site.operand(0), lower, true, site.where());
}

// What the first operand holds.
enum First : std::uint8_t { of_matrices, of_square_matrices, of_diagonals };

struct Factorisation {
  std::string_view name;  ///< of LAPACK's without the letter of the dtype; else XLA's own
  std::size_t operands;
  First first;
  Results (*translate)(const Site& site);
};
constexpr Factorisation factorisations[] = {
    {"potrf", 1, of_square_matrices, potrf},
    {"getrf", 1, of_matrices, getrf},
    {"geqrf", 1, of_matrices, geqrf},
    {"orgqr", 2, of_matrices, orgqr},
    {"ungqr", 2, of_matrices, orgqr},
    {"ormqr", 3, of_matrices, ormqr},
    {"unmqr", 3, of_matrices, ormqr},
    {"trsm", 2, of_square_matrices, trsm},
    {"gesdd", 1, of_matrices, gesdd},
    {"gesvd", 1, of_matrices, gesdd},
    {"syevd", 1, of_square_matrices, syevd},
    {"heevd", 1, of_square_matrices, syevd},
    {"LuDecomposition", 1, of_matrices, lu_decomposition},
    {"Qr", 1, of_matrices, geqrf},
    {"ProductOfElementaryHouseholderReflectors", 2, of_matrices, orgqr},
    {"Eigh", 1, of_square_matrices, eigh},
    {"geev", 1, of_square_matrices, geev},
    {"gtsv", 4, of_diagonals, gtsv},
    {"gehrd", 1, of_square_matrices, gehrd},
    {"sytrd", 1, of_square_matrices, sytrd},
    {"hetrd", 1, of_square_matrices, sytrd},
    {"gees", 1, of_square_matrices, gees},
    {"geqp3", 2, of_matrices, geqp3},
};

// Some translations read the sizes of its matrices before an op refuses them.
void demand_matrices(const Site& site, std::string_view name, First first) {
  const Type type = type_of(site.operand(0));
  const Shape& shape = type.shape;
  const int rank = shape.rank();
  const auto refuse = [&](const std::string& what) {
    site.fail("@" + std::string(name) + " takes " + what + ", and has " + type_text(type));
  };
  if (first == of_diagonals) return;
  if (rank < 2) refuse("matrices, of at least two axes");
  if (first == of_square_matrices && shape[rank - 1] != shape[rank - 2]) refuse("square matrices");
}

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
    {"fft", fft_op},
};

}  // namespace

std::span<const Translation> linalg_translations() { return rows_of_linalg; }

std::optional<Results> linear_algebra_call(const Site& site, std::string_view name) {
  for (const Factorisation& row : factorisations) {
    if (lapack_name(name) != row.name) continue;
    if (site.count() < row.operands) site.expect_operands(row.operands);
    demand_matrices(site, name, row.first);
    return asked_for(site, row.translate(site));
  }
  return {};
}

}  // namespace anabranch::stablehlo
