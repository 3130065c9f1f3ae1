// C: nodes of segments whose vectors are written out, for what gcc would take long to find them in.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "codegen/render_c_states.h"

namespace tarry::codegen {

/// Sums and products of floats: their vectors are written out.
bool StateWriter::has_vectors(std::uint32_t r) const {
  const Reduction& reduction = ir.reductions[r];
  return (reduction.op == Op::Sum || reduction.op == Op::Prod) && (reduction.dtype == Dtype::Float32 || reduction.dtype == Dtype::Float64);
}

std::string StateWriter::vector_name(std::uint32_t r) const {
  const Reduction& reduction = ir.reductions[r];
  return fmt::format("{}_{}_{}", kEntryName, reduction.op == Op::Sum ? "sum" : "product", info(reduction.dtype).suffix);
}

/// plain_node() of vectors, at most eight lanes: each combines all lanes that end in it, then its upper half with its lower one.
/// All reductions of one operation and type share the function.
void StateWriter::vector_function(std::uint32_t r) {
  if (!written_.insert(vector_name(r)).second) return;
  const Reduction& reduction = ir.reductions[r];
  const std::string type = accumulator(r);
  const int size = static_cast<int>(itemsize(reduction.dtype)), lanes = std::min(8, vector_bytes_ / size);
  const auto combine = [&](const std::string& a, const std::string& b) { return fmt::format("({})", expressions.combine(reduction, a, b)); };
  const std::function<std::string(int, int)> tree = [&](int l, int step) {
    if (step < 32) return combine(tree(l, 2 * step), tree(l + step, 2 * step));
    std::string lane = fmt::format("*(const vector*)(y0 + {})", l);
    for (int k = 1; k < 4; ++k) lane = combine(lane, fmt::format("*(const vector*)(y{} + {})", k, l));
    return lane;
  };
  open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) {0} {1}(tarry_i64 n, tarry_i64 length, const {0}* x)", type, vector_name(r)));
  line(fmt::format("typedef {} vector __attribute__((vector_size({}), aligned({}), may_alias));", type, lanes * size, size));
  line(fmt::format("typedef {} places __attribute__((vector_size({})));", size == 8 ? "tarry_i64" : "tarry_i32", lanes * size));
  open(fmt::format("if (n <= {})", kSerial));
  line(fmt::format("{} value = x[0];", type));
  line(fmt::format("for (tarry_i64 k = 1; k < length; ++k) value = {};", expressions.combine(reduction, "value", "x[k]")));
  line("return value;");
  close();
  line(fmt::format("{} node[{}];", type, segment_blocks()));
  line(fmt::format("{} none_y[32] __attribute__((aligned(64))), rest_y[32] __attribute__((aligned(64)));", type));
  line("const tarry_i64 blocks = (length + 127) >> 7;");
  open("if (length & 127)");
  line(fmt::format("const vector none = {};", reduction.op == Op::Sum ? "-(vector){}" : "(vector){} + 1"));
  for (int l = 0; l < 32; l += lanes) line(fmt::format("*(vector*)(none_y + {0}) = *(vector*)(rest_y + {0}) = none;", l));
  line("const tarry_i64 whole = length & -32, rest = length & 31;");
  line("tarry_i64 k = 0;");
  line(fmt::format("for (; k + {0} <= rest; k += {0}) *(vector*)(rest_y + k) = *(const vector*)(x + whole + k);", lanes));
  line("for (; k < rest; ++k) { TARRY_SCALAR; rest_y[k] = x[whole + k]; }");
  close();
  open("for (tarry_i64 q = 0; q < blocks; ++q)");
  line("const tarry_i64 m = length - q * 128;");
  quarters(r, 'y', "x + q * 128");
  line(fmt::format("const vector s{} = {};", lanes, tree(0, lanes)));
  for (int l = lanes; l > 2; l /= 2) {
    std::string places;
    for (int k = 0; k < lanes; ++k) places += fmt::format(", {}", k < l / 2 ? k + l / 2 : k);
    const std::string s = fmt::format("s{}", l);
    line(fmt::format("const vector s{} = {};", l / 2, combine(s, fmt::format("TARRY_SHUFFLE(places, {0}, {0}{1})", s, places))));
  }
  line(fmt::format("node[q] = {};", combine("s2[0]", "s2[1]")));
  line(fmt::format("if (q & 1) node[q - 1] = {};", combine("node[q - 1]", "node[q]")));
  close();
  line("for (tarry_i64 step = 2; step < blocks; step *= 2)");
  line(fmt::format("  for (tarry_i64 at = 0; at + step < blocks; at += 2 * step) node[at] = {};", combine("node[at]", "node[at + step]")));
  line("return node[0];");
  close();
}

}  // namespace tarry::codegen
