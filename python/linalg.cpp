// Linear algebra.
#include <vector>

#include "python/module.h"
#include "python/values.h"

namespace tarry::python {
namespace {

/// Axes as a number of them, or as a pair of lists.
Array contracted(Value& a, Value& b, nb::handle axes) {
  if (PyLong_Check(axes.ptr())) return tensordot(a.array(), b.array(), nb::cast<int>(axes), here());
  const nb::tuple pair(nb::borrow(axes));
  if (pair.size() != 2) refuse_value("tensordot", "axes is a number, or a pair of axes of both arrays");
  return tensordot(a.array(), b.array(), nb::cast<Axes>(pair[0]), nb::cast<Axes>(pair[1]), here());
}

/// The functions that are in the namespace of the standard and in its extension.
void bind_products(nb::module_& m) {
  m.def(
      "matmul",
      [](Value x1, Value x2) {
        convert_both(x1, x2);
        return matmul(x1.array(), x2.array(), here());
      },
      "x1"_a, "x2"_a, document("matmul"));
  m.def(
      "vecdot", [](Value x1, Value x2, int axis) { return vecdot(x1.array(), x2.array(), axis, here()); }, "x1"_a,
      "x2"_a, nb::kw_only(), "axis"_a = -1, document("vecdot"));
  m.def(
      "tensordot", [](Value x1, Value x2, nb::handle axes) { return contracted(x1, x2, axes); }, "x1"_a, "x2"_a,
      "axes"_a = 2, document("tensordot"));
  m.def(
      "matrix_transpose", [](Value x) { return matrix_transpose(x.array(), here()); }, "x"_a,
      document("matrix_transpose"));
}

/// A type of named tuples, an attribute of the module so that they can be pickled.
nb::object result_type_of(nb::module_& linalg, const char* name, const char* fields) {
  const nb::object made =
      nb::module_::import_("collections").attr("namedtuple")(name, fields, "module"_a = "tarry.linalg");
  linalg.attr(name) = made;
  return made;
}

/// Systems and factors of square matrices.
void bind_factors(nb::module_& linalg) {
  linalg.def(
      "solve", [](Value x1, Value x2) { return tarry::linalg::solve(x1.array(), x2.array(), here()); }, "x1"_a, "x2"_a,
      document("solve"));
  linalg.def("inv", [](Value x) { return tarry::linalg::inv(x.array(), here()); }, "x"_a, document("inv"));
  linalg.def("det", [](Value x) { return tarry::linalg::det(x.array(), here()); }, "x"_a, document("det"));
  linalg.def(
      "cholesky", [](Value x, bool upper) { return tarry::linalg::cholesky(x.array(), {upper}, here()); }, "x"_a,
      nb::kw_only(), "upper"_a = false, document("cholesky"));
  linalg.def(
      "eigvalsh", [](Value x) { return tarry::linalg::eigvalsh(x.array(), here()); }, "x"_a, document("eigvalsh"));
  const nb::object of_slogdet = result_type_of(linalg, "SlogdetResult", "sign logabsdet");
  const nb::object of_eigh = result_type_of(linalg, "EighResult", "eigenvalues eigenvectors");
  linalg.def(
      "slogdet",
      [of_slogdet](Value x) {
        const tarry::linalg::Slogdet r = tarry::linalg::slogdet(x.array(), here());
        return of_slogdet(object(r.sign), object(r.logabsdet));
      },
      "x"_a, document("slogdet"));
  linalg.def(
      "eigh",
      [of_eigh](Value x) {
        const tarry::linalg::Eigh r = tarry::linalg::eigh(x.array(), here());
        return of_eigh(object(r.eigenvalues), object(r.eigenvectors));
      },
      "x"_a, document("eigh"));
  const nb::object of_qr = result_type_of(linalg, "QRResult", "Q R");
  linalg.def(
      "qr",
      [of_qr](Value x, const std::string& mode) {
        if (mode != "reduced" && mode != "complete")
          refuse_value("qr", "the mode of qr is 'reduced' or 'complete', not '" + mode + "'");
        using Mode = tarry::linalg::QrMode;
        const auto r = tarry::linalg::qr(x.array(), mode == "reduced" ? Mode::Reduced : Mode::Complete, here());
        return of_qr(object(r.q), object(r.r));
      },
      "x"_a, nb::kw_only(), "mode"_a = "reduced", nb::sig("def qr(x: Array, *, mode: str = 'reduced') -> object"),
      document("qr"));
}

}  // namespace

namespace {

/// Options of a tolerance: a number, or one of each matrix.
linalg::RankOptions rank_options(nb::handle rtol) {
  if (rtol.is_none()) return {};
  if (PyFloat_Check(rtol.ptr()) || PyLong_Check(rtol.ptr())) return {.rtol = nb::cast<double>(rtol)};
  return {.rtols = Value(rtol).array()};
}

Array norm_of_matrices(const Array& x, bool keepdims, nb::handle ord) {
  const bool text = PyUnicode_Check(ord.ptr()) != 0;
  const auto value = text ? std::optional<Scalar>() : number(ord.ptr());
  const auto is = [&](double wanted) { return value && value->to_double() == wanted; };
  MatrixNorm norm = MatrixNorm::Frobenius;
  if (is(1)) {
    norm = MatrixNorm::Columns;
  } else if (is(-1)) {
    norm = MatrixNorm::SmallestColumn;
  } else if (is(inf)) {
    norm = MatrixNorm::Rows;
  } else if (is(-inf)) {
    norm = MatrixNorm::SmallestRow;
  } else if (is(2)) {
    norm = MatrixNorm::Spectral;
  } else if (is(-2)) {
    norm = MatrixNorm::SmallestSingular;
  } else if (text && nb::cast<std::string_view>(ord) == "nuc") {
    norm = MatrixNorm::Nuclear;
  } else if (!text || nb::cast<std::string_view>(ord) != "fro") {
    refuse_value("norm", "ord of matrices is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf");
  }
  return matrix_norm(x, {keepdims, norm}, here());
}

Array norm(const Array& x, nb::handle ord, const Axes& axis, bool keepdims) {
  const bool named = !axis.all();
  if (ord.is_none()) return vector_norm(x, axis, {keepdims, 2}, here());
  if (named ? axis.vector().size() == 1 : x.ndim() == 1) {
    const auto value = number(ord.ptr());
    if (!value) refuse_value("norm", "ord of vectors is a number, not " + class_name(ord));
    return vector_norm(x, axis, {keepdims, value->to_double()}, here());
  }
  if (named ? axis.vector().size() != 2 : x.ndim() != 2) refuse_value("norm", "a norm is of one axis, or of two");
  if (!named) return norm_of_matrices(x, keepdims, ord);
  const Array last = moveaxis(x, axis, {-2, -1}, here());
  const Array found = norm_of_matrices(last, keepdims, ord);
  return keepdims ? moveaxis(found, {-2, -1}, axis, here()) : found;
}

}  // namespace

void bind_linalg(nb::module_& m, ArrayClass&) {
  nb::module_ linalg = m.def_submodule("linalg", "Linear algebra, by its names in the array API standard.");
  bind_products(m);
  bind_products(linalg);
  bind_factors(linalg);
  linalg.def(
      "cross", [](Value x1, Value x2, int axis) { return cross(x1.array(), x2.array(), axis, here()); }, "x1"_a, "x2"_a,
      nb::kw_only(), "axis"_a = -1, document("cross"));
  linalg.def(
      "diagonal", [](Value x, std::int64_t offset) { return diagonal(x.array(), offset, -2, -1, here()); }, "x"_a,
      nb::kw_only(), "offset"_a = 0, document("diagonal"));
  linalg.def(
      "matrix_power", [](Value x, std::int64_t n) { return matrix_power(x.array(), n, here()); }, "x"_a, "n"_a,
      document("matrix_power"));
  linalg.def(
      "matrix_norm", [](Value x, bool keepdims, nb::handle ord) { return norm_of_matrices(x.array(), keepdims, ord); },
      "x"_a, nb::kw_only(), "keepdims"_a = false, "ord"_a = "fro",
      nb::sig("def matrix_norm(x: Array, *, keepdims: bool = False, ord: float | str = 'fro') -> Array"),
      document("matrix_norm"));
  linalg.def(
      "norm",
      [](Value x, nb::handle ord, const Axes& axis, bool keepdims) { return norm(x.array(), ord, axis, keepdims); },
      "x"_a, "ord"_a = nb::none(), "axis"_a = nb::none(), "keepdims"_a = false,
      nb::sig("def norm(x: Array, ord: float | str | None = None, axis: int | Sequence[int] | None = None, "
              "keepdims: bool = False) -> Array"),
      "The norm of a vector, or of a matrix where two axes are named or x has two and ord is given.\n\n"
      "Without ord the square root of the sum of squares, of all elements where no axis is named. Of matrices ord is "
      "'fro', 'nuc', 1, -1, 2, -2, inf or -inf.\n\nShapes: the axes are removed, or kept with extent 1.\n\nDtypes: as "
      "vector_norm.");
  linalg.def("svdvals", [](Value x) { return tarry::linalg::svdvals(x.array(), here()); }, "x"_a, document("svdvals"));
  linalg.def(
      "matrix_rank",
      [](Value x, nb::handle rtol) { return tarry::linalg::matrix_rank(x.array(), rank_options(rtol), here()); }, "x"_a,
      nb::kw_only(), "rtol"_a = nb::none(),
      nb::sig("def matrix_rank(x: Array, *, rtol: float | Array | None = None) -> Array"), document("matrix_rank"));
  linalg.def(
      "pinv", [](Value x, nb::handle rtol) { return tarry::linalg::pinv(x.array(), rank_options(rtol), here()); },
      "x"_a, nb::kw_only(), "rtol"_a = nb::none(),
      nb::sig("def pinv(x: Array, *, rtol: float | Array | None = None) -> Array"), document("pinv"));
  const nb::object of_svd = result_type_of(linalg, "SVDResult", "U S Vh");
  linalg.def(
      "svd",
      [of_svd](Value x, bool full_matrices) {
        const auto r = tarry::linalg::svd(x.array(), {full_matrices}, here());
        return of_svd(object(r.u), object(r.s), object(r.vh));
      },
      "x"_a, nb::kw_only(), "full_matrices"_a = true,
      nb::sig("def svd(x: Array, *, full_matrices: bool = True) -> object"), document("svd"));
  const nb::object of_lstsq = result_type_of(linalg, "LstsqResult", "x residuals rank singular_values");
  linalg.def(
      "lstsq",
      [of_lstsq](Value a, Value b, nb::handle rcond) {
        const auto r = tarry::linalg::lstsq(a.array(), b.array(), rank_options(rcond), here());
        return of_lstsq(object(r.x), object(r.residuals), object(r.rank), object(r.singular_values));
      },
      "a"_a, "b"_a, "rcond"_a = nb::none(),
      nb::sig("def lstsq(a: Array, b: Array, rcond: float | None = None) -> object"), document("lstsq"));
  linalg.def(
      "cond",
      [](Value x) {
        const Array values = tarry::linalg::svdvals(x.array(), here());
        const Array most = max(values, -1, {}, here()), least = min(values, -1, {}, here());
        return divide({most, here()}, {least, here()});
      },
      "x"_a, "The largest singular value over the smallest.\n\nShapes: (..., m, n) -> (...).");
  linalg.def(
      "multi_dot",
      [](nb::handle arrays) {
        const std::vector<Array> factors = arrays_of(arrays);
        if (factors.empty()) refuse_value("multi_dot", "multi_dot takes one array or more");
        Array product = factors[0];
        for (std::size_t i = 1; i < factors.size(); ++i) product = matmul(product, factors[i], here());
        return product;
      },
      "arrays"_a, "The product of matrices, from left to right; the first and the last may be vectors.");
  linalg.def(
      "outer", [](Value x1, Value x2) { return outer(x1.array(), x2.array(), here()); }, "x1"_a, "x2"_a,
      document("outer"));
  linalg.def(
      "trace",
      [](Value x, std::int64_t offset, std::optional<Dtype> dtype) {
        return trace(x.array(), {offset, dtype}, here());
      },
      "x"_a, nb::kw_only(), "offset"_a = 0, "dtype"_a = nb::none(), document("trace"));
  linalg.def(
      "vector_norm",
      [](Value x, const Axes& axis, bool keepdims, double ord) {
        return vector_norm(x.array(), axis, {keepdims, ord}, here());
      },
      "x"_a, nb::kw_only(), "axis"_a = nb::none(), "keepdims"_a = false, "ord"_a = 2.0, document("vector_norm"));
  m.def(
      "inner",
      [](Value a, Value b) {
        convert_both(a, b);
        return inner(a.array(), b.array(), here());
      },
      "a"_a, "b"_a, document("inner"));
  m.def("kron", [](Value a, Value b) { return kron(a.array(), b.array(), here()); }, "a"_a, "b"_a, document("kron"));
  m.def(
      "_einsum",
      [](std::string_view subscripts, const nb::args& arrays) { return einsum(subscripts, arrays_of(arrays), here()); },
      "subscripts"_a, "arrays"_a, document("einsum"));
}

}  // namespace tarry::python
