// Linear algebra, by its names in the Python array API standard. Calls record and check; nothing is computed.
#pragma once

#include <tarry/array.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>

namespace tarry {
inline namespace v0 {

/// Matrix product.  Shapes: (..., m, k) and (..., k, n) give (..., m, n), the dimensions in front broadcast; a 1-d a is
/// a row and a 1-d b a column, and that axis is not in the result.  Dtypes: numbers, promoted; the result has that
/// dtype. float16 and bfloat16 sum in float32 and round once; integers wrap. Throws InvalidArgument where an array is
/// 0-d, inner extents differ, dimensions in front do not broadcast, or for bool. Algorithm: matrices of floats go to
/// cuBLASLt, oneDNN or OpenBLAS, large ones of float32 on a GPU to a kernel that sums products of TF32 halves with the
/// errors of float32; relaxed scopes round operands to TF32; products with a vector and products of integers are sum(a
/// * b), fused like it (docs/reference/numerics.md, "Matrix products").
/// Example: `ta::matmul(ta::array({{1, 2}, {3, 4}}), ta::array({5, 6}))` is `[17 39]`.
[[nodiscard]] TARRY_EXPORT Array matmul(const Array& a, const Array& b, Where where = std::source_location::current());

// ---- Products along axes ----
// Sums of products of floats that are products of matrices go the way of matmul, others are sum(a * b), fused like it.
// Dtypes: numbers, promoted; the result has that dtype. float16 and bfloat16 sum in float32 and round once per product;
// integers wrap.
// Throws InvalidArgument, with the caller's file and line, where extents differ, the result has more than 16 axes, an
// axis is out of range or named twice, dtypes do not promote, for bool, or where an array is undefined.

/// Sums of products of the vectors along an axis of both.  Shapes: as many elements along the axis; the other axes
/// broadcast, and the axis is not in the result.
/// Example: `ta::vecdot(ta::array({{1, 2}, {3, 4}}), ta::array({5, 6}))` is `[17 39]`.
[[nodiscard]] TARRY_EXPORT Array vecdot(const Array& a, const Array& b, int axis = -1,
                                        Where where = std::source_location::current());
/// Sums of products over the last axis of both.  Shapes: (..., k) and (***, k) give (..., ***); 0-d: the product.
/// Example: `ta::inner(ta::array({1, 2}), ta::array({{3, 4}, {5, 6}}))` is `[11 17]`.
[[nodiscard]] TARRY_EXPORT Array inner(const Array& a, const Array& b, Where where = std::source_location::current());
/// Every element of a times every element of b.  Shapes: (m,) and (n,) give (m, n); others are flattened first.
/// Example: `ta::outer(ta::array({1, 2}), ta::array({3, 4}))` is `[[3 4] [6 8]]`.
[[nodiscard]] TARRY_EXPORT Array outer(const Array& a, const Array& b, Where where = std::source_location::current());
/// Sums of products over the last `axes` axes of a and the first of b.
/// Shapes: for 2 axes (..., k, l) and (k, l, ***) give (..., ***); for 0 every element meets every other one.
/// Example: `ta::tensordot(ta::array({{1, 2}, {3, 4}}), ta::array({{5, 6}, {7, 8}}))` is `70`.
[[nodiscard]] TARRY_EXPORT Array tensordot(const Array& a, const Array& b, int axes = 2,
                                           Where where = std::source_location::current());
/// Sums of products over axis a_axes[i] of a and axis b_axes[i] of b.
/// Shapes: the other axes of a, then those of b.
/// Throws InvalidArgument unless both name as many axes, each once and of equal extents.
/// Example: `ta::tensordot(ta::array({{1, 2}, {3, 4}}), ta::array({1, 10}), 0, 0)` is `[31 42]`.
[[nodiscard]] TARRY_EXPORT Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes,
                                           Where where = std::source_location::current());
/// Sums of products by subscripts: a letter names an axis of each operand, and a letter that the result leaves out is
/// summed over. `ij,jk->ik` is the product of matrices, `ii->i` a diagonal, `...ij->...ji` a transpose. Without `->`
/// the result has the letters that stand once, in alphabetical order, behind the axes of the ellipsis. Shapes: by the
/// subscripts; axes of one letter have equal extents or 1, the axes of an ellipsis broadcast. Throws InvalidArgument
/// where the subscripts do not name every axis of every operand, the result has a letter twice or one that no operand
/// has, or extents differ.  Algorithm: operands from left to right, each sum as early as nothing that follows needs its
/// letter. Example: `ta::einsum("ij,j->i", {ta::array({{1, 2}, {3, 4}}), ta::array({5, 6})})` is `[17 39]`.
[[nodiscard]] TARRY_EXPORT Array einsum(std::string_view subscripts, std::span<const Array> arrays,
                                        Where where = std::source_location::current());
[[nodiscard]] inline Array einsum(std::string_view subscripts, std::initializer_list<Array> arrays,
                                  Where where = std::source_location::current()) {
  return einsum(subscripts, std::span<const Array>(arrays.begin(), arrays.size()), where);
}
/// Every element of a times all of b, block by block.
/// Shapes: (m, n) and (p, q) give (m * p, n * q); the shorter shape is filled up with ones in front.
/// Example: `ta::kron(ta::array({1, 10}), ta::array({1, 2}))` is `[ 1 2 10 20]`.
[[nodiscard]] TARRY_EXPORT Array kron(const Array& a, const Array& b, Where where = std::source_location::current());
/// Vector products of the vectors of three elements along an axis.  Shapes: 3 along the axis; the other axes broadcast.
/// Example: `ta::cross(ta::array({1, 0, 0}), ta::array({0, 1, 0}))` is `[0 0 1]`.
[[nodiscard]] TARRY_EXPORT Array cross(const Array& a, const Array& b, int axis = -1,
                                       Where where = std::source_location::current());
/// x times itself, n - 1 times: by squares; the unit matrix for n = 0, and powers of linalg::inv(x) for negative n.
/// Shapes: (..., m, m), kept.  Dtypes: numbers, kept; integers give float64 for negative n.
/// Throws InvalidArgument where the matrices are not square, for bool, or where x is undefined.
/// Example: `ta::matrix_power(ta::array({{1, 1}, {0, 1}}), 5)` is `[[1 5] [0 1]]`.
[[nodiscard]] TARRY_EXPORT Array matrix_power(const Array& x, std::int64_t n,
                                              Where where = std::source_location::current());

// ---- Diagonals and norms ----
// Throws InvalidArgument, with the caller's file and line, where x has fewer axes than are named, an axis is out of
// range or named twice, or x is undefined.

/// The elements (i, i + offset) of two axes: a view.  Shapes: (..., m, n) -> (..., k), whichever the two axes are.
/// Dtypes: any, kept.  Example: `ta::diagonal(ta::array({{1, 2}, {3, 4}}))` is `[1 4]`.
[[nodiscard]] TARRY_EXPORT Array diagonal(const Array& x, std::int64_t offset = 0, int axis1 = -2, int axis2 = -1,
                                          Where where = std::source_location::current());
/// Options of trace.
struct TraceOptions {
  std::int64_t offset = 0;
  std::optional<Dtype> dtype = {};  ///< convert to this first and compute in it
};
/// Sum of the elements (i, i + offset) of the last two axes.  Shapes: (..., m, n) -> (...).  Dtypes: as sum.
/// Example: `ta::trace(ta::array({{1, 2}, {3, 4}}))` is `5`.
[[nodiscard]] TARRY_EXPORT Array trace(const Array& x, TraceOptions options = {},
                                       Where where = std::source_location::current());
/// Options of vector_norm.
struct NormOptions {
  bool keepdims = false;
  double ord = 2;  ///< inf: the largest absolute value; -inf: the smallest; 0: how many are not 0
};
/// (sum |x|^ord)^(1 / ord) over the axes, which are one vector; `{}`: all.  Shapes: the axes are removed, or kept with
/// extent 1.  Dtypes: floats, kept; integers become floats first; bool throws.
/// Throws InvalidArgument also where ord is NaN, or infinite with an axis that is empty.
/// Example: `ta::vector_norm(ta::array({3.0, 4.0}))` is `5.`.
[[nodiscard]] TARRY_EXPORT Array vector_norm(const Array& x, const Axes& axes = {}, NormOptions options = {},
                                             Where where = std::source_location::current());

/// Norms of matrices: the square root of the sum of squares; the largest sum of absolute values of a column, of a row;
/// the smallest of these; the largest singular value, the smallest, the sum of all.
enum class MatrixNorm : std::uint8_t {
  Frobenius,
  Columns,
  Rows,
  SmallestColumn,
  SmallestRow,
  Spectral,
  SmallestSingular,
  Nuclear
};
/// Options of matrix_norm.
struct MatrixNormOptions {
  bool keepdims = false;
  MatrixNorm ord = MatrixNorm::Frobenius;
};
/// A norm of the matrices in the last two axes.  Shapes: (..., m, n) -> (...), or (..., 1, 1).
/// Dtypes: floats, kept; integers become floats first; bool throws.  Algorithm: of the last three norms svdvals.
/// Throws InvalidArgument also where the smallest or largest of no rows or columns is asked for.
/// Example: `ta::matrix_norm(ta::array({{3.0, 0.0}, {0.0, 4.0}}))` is `5.`.
[[nodiscard]] TARRY_EXPORT Array matrix_norm(const Array& x, MatrixNormOptions options = {},
                                             Where where = std::source_location::current());

namespace linalg {

// ---- Systems and factors ----
// Functions of square matrices, as many as the dimensions in front say. Shapes: (..., n, n). Dtypes: floats, kept;
// float16 and bfloat16 are computed in float32; float64 for integers and bool. Throws InvalidArgument where an array
// has fewer than two dimensions, matrices are not square, or shapes do not fit. A matrix that has no such result gives
// infinities or NaN: whether it has one is known only when it is computed. Each matrix is worked on by one thread, or
// by one group of threads of a GPU, which is meant for many small ones; every device gives the same bits.

/// x of a x = b.  Shapes: b is (n), or (..., n, m) whose dimensions in front broadcast with those of a.
/// Algorithm: Gaussian elimination with partial pivoting; a singular matrix gives infinities or NaN.
/// Example: `ta::linalg::solve(ta::array({{2.0, 1.0}, {1.0, 3.0}}), ta::array({3.0, 4.0}))` is `[1. 1.]`.
[[nodiscard]] TARRY_EXPORT Array solve(const Array& a, const Array& b, Where where = std::source_location::current());
/// The inverse.  Shapes: that of x.  Algorithm: as solve, for the identity.
/// Example: `ta::linalg::inv(ta::array({{2.0, 0.0}, {0.0, 4.0}}))` is `[[0.5 0. ] [0. 0.25]]`.
[[nodiscard]] TARRY_EXPORT Array inv(const Array& x, Where where = std::source_location::current());
/// The determinant.  Shapes: (...).  Algorithm: the product of the pivots of Gaussian elimination, by the tree of prod.
/// Example: `ta::linalg::det(ta::array({{1.0, 2.0}, {3.0, 5.0}}))` is `-1.`.
[[nodiscard]] TARRY_EXPORT Array det(const Array& x, Where where = std::source_location::current());
/// A result of slogdet: the determinant is sign * exp(logabsdet).
struct Slogdet {
  Array sign, logabsdet;
};
/// Sign and logarithm of the determinant's absolute value; 0 and -inf where it is 0.  Shapes: (...).
/// Example: `ta::linalg::slogdet(ta::array({{0.0, 1.0}, {1.0, 0.0}})).sign` is `-1.`.
[[nodiscard]] TARRY_EXPORT Slogdet slogdet(const Array& x, Where where = std::source_location::current());
/// Options of cholesky.
struct CholeskyOptions {
  bool upper = false;  ///< u of x = u^T u instead
};
/// The lower triangular l of x = l l^T, from x's lower triangle (its upper one where the factor is the upper).
/// Shapes: that of x.  Algorithm: Golub, Van Loan, Matrix Computations, 4.2; NaN in the triangle of a matrix that is
/// not positive definite. Example: `ta::linalg::cholesky(ta::array({{4.0, 2.0}, {2.0, 5.0}}))` is `[[2. 0.] [1. 2.]]`.
[[nodiscard]] TARRY_EXPORT Array cholesky(const Array& x, CholeskyOptions options = {},
                                          Where where = std::source_location::current());
/// A result of eigh.
struct Eigh {
  Array eigenvalues, eigenvectors;
};
/// Eigenvalues (..., n), ascending, and eigenvectors (..., n, n), as columns of length 1, of symmetric matrices, of
/// which the lower triangle is read.  Algorithm: Jacobi's rotations, of disjoint pairs at a time (Golub, Van
/// Loan, 8.5), until what is beside the diagonal is below a 16th of a rounding error of the largest element. The sign
/// of an eigenvector is as the rotations leave it. Example: `ta::linalg::eigh(ta::array({{2.0, 1.0},
/// {1.0, 2.0}})).eigenvalues` is `[1. 3.]`.
[[nodiscard]] TARRY_EXPORT Eigh eigh(const Array& x, Where where = std::source_location::current());
/// The eigenvalues alone.  Shapes: (..., n).
/// Example: `ta::linalg::eigvalsh(ta::array({{2.0, 0.0}, {0.0, 1.0}}))` is `[1. 2.]`.
[[nodiscard]] TARRY_EXPORT Array eigvalsh(const Array& x, Where where = std::source_location::current());

/// Which columns of q: as many as x has rows or columns, whichever are fewer, or all of them, a square q.
enum class QrMode : std::uint8_t { Reduced, Complete };
/// A result of qr.
struct Qr {
  Array q, r;
};
/// q of orthogonal columns of length 1 and an upper triangular r, so that x = q r.  Shapes: (..., m, n) -> (..., m, k)
/// and (..., k, n), where k is min(m, n), or m where all columns are asked for.  Algorithm: Householder's reflections
/// (Golub, Van Loan, Matrix Computations, 5.2), each an update of the whole matrix: meant for few columns or few rows.
/// Throws InvalidArgument where x has fewer than two dimensions.
/// Example: `ta::linalg::qr(ta::array({{3.0, 1.0}, {4.0, 2.0}})).r` is `[[-5. -2.2] [ 0. 0.4]]`.
[[nodiscard]] TARRY_EXPORT Qr qr(const Array& x, QrMode mode = QrMode::Reduced,
                                 Where where = std::source_location::current());

// ---- Singular values ----
// Functions of the matrices in the last two axes. Dtypes: floats, kept; float16 and bfloat16 are computed in float32;
// float64 for integers and bool. Throws InvalidArgument where x has fewer than two dimensions. Algorithm: eigh of the
// symmetric matrix [[0, x], [x^T, 0]], or that of r where x is more than twice as long one way as the other: each value
// is within a rounding error of the largest. Meant for few rows or few columns: an (m, n) matrix takes (m + n)^2
// numbers, a long one as many as it has and (2 min(m, n))^2.

/// Singular values, descending.  Shapes: (..., m, n) -> (..., min(m, n)).
/// Example: `ta::linalg::svdvals(ta::array({{3.0, 0.0}, {0.0, -4.0}}))` is `[4. 3.]`.
[[nodiscard]] TARRY_EXPORT Array svdvals(const Array& x, Where where = std::source_location::current());
/// Options of svd.
struct SvdOptions {
  bool full_matrices = true;  ///< square u and vh; else only the columns and rows that singular values belong to
};
/// A result of svd.
struct Svd {
  Array u, s, vh;
};
/// x as u times the matrix with the singular values s, descending, on its diagonal, times vh; columns of u and rows of
/// vh are orthogonal and of length 1.  Shapes: (..., m, n) -> (..., m, m), (..., k) and (..., n, n), where k is min(m,
/// n); (..., m, k), (..., k) and (..., k, n) without full matrices.
/// Example: `ta::linalg::svd(ta::array({{3.0, 0.0}, {0.0, -4.0}})).s` is `[4. 3.]`.
[[nodiscard]] TARRY_EXPORT Svd svd(const Array& x, SvdOptions options = {},
                                   Where where = std::source_location::current());
/// Options of matrix_rank and pinv.
struct RankOptions {
  std::optional<double> rtol = {};  ///< what is below it times the largest counts as 0; max(m, n) * eps without it
  Array rtols = {};                 ///< one of each matrix instead, of shape (...) or one that broadcasts to it
};
/// The number of singular values that do not count as 0.  Shapes: (..., m, n) -> (...).  Dtypes: int64 results.
/// Example: `ta::linalg::matrix_rank(ta::array({{1.0, 2.0}, {2.0, 4.0}}))` is `1`.
[[nodiscard]] TARRY_EXPORT Array matrix_rank(const Array& x, const RankOptions& options = {},
                                             Where where = std::source_location::current());
/// The inverse of Moore and Penrose: pinv(x) b is the shortest y for which x y is nearest to b.
/// Shapes: (..., m, n) -> (..., n, m).
/// Example: `ta::linalg::pinv(ta::array({{2.0, 0.0}, {0.0, 0.0}}))` is `[[0.5 0. ] [0. 0. ]]`.
[[nodiscard]] TARRY_EXPORT Array pinv(const Array& x, const RankOptions& options = {},
                                      Where where = std::source_location::current());
/// A result of lstsq: the solution, the sum of squares of b - a x for each column, of shape (1) of a vector, and the
/// rank and the singular values of a.
struct Lstsq {
  Array x, residuals, rank, singular_values;
};
/// The shortest x for which a x is nearest to b.  Shapes: a is (..., m, n); b is (m), for a of two dimensions, or
/// (..., m, k).  Algorithm: pinv.  Throws InvalidArgument where b has other rows than a.
/// Example: `ta::linalg::lstsq(ta::array({{1.0}, {1.0}}), ta::array({1.0, 3.0})).x` is `[2.]`.
[[nodiscard]] TARRY_EXPORT Lstsq lstsq(const Array& a, const Array& b, const RankOptions& options = {},
                                       Where where = std::source_location::current());

}  // namespace linalg
}  // namespace v0
}  // namespace tarry
