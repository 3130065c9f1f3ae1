// C: loops over contiguous floats whose vectors are written out, for what gcc would take long to find them in.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/c/render.h"
#include "codegen/ir/usual.h"

namespace tarry::codegen {

namespace {

bool is_comparison(const Instr& instr) {
  return instr.op == Op::Less || instr.op == Op::LessEqual || instr.op == Op::Greater || instr.op == Op::GreaterEqual;
}

bool is_arithmetic(const Instr& instr) {
  return instr.op == Op::Add || instr.op == Op::Subtract || instr.op == Op::Multiply || instr.op == Op::Divide;
}

bool is_single(const Instr& instr) { return instr.op == Op::Negative || instr.op == Op::Abs || instr.op == Op::Square; }

/// True if an operation's vectors are also looked at as whole numbers.
bool has_places(const Instr& instr) { return instr.kind == InstrKind::Compute && instr.op == Op::Abs; }

constexpr int kMasked = 64;  // bytes of vectors that x86 compares into a bit for each element

/// The number of a comparison in x86's instructions, where NaNs raise nothing.
int predicate(Op op) { return op == Op::Less ? 17 : op == Op::LessEqual ? 18 : op == Op::GreaterEqual ? 29 : 30; }

/// The vector that begins at an array's element.
std::string vector_from(const std::string& element, std::string_view type = "const vector") {
  const std::size_t index = element.rfind('[');
  return fmt::format("*({}*)({} + {})", type, element.substr(0, index),
                     element.substr(index + 1, element.size() - index - 2));
}

}  // namespace

/// The values of a loop that are vectors where it is written out.
struct CWriter::Vectors {
  Dtype dtype = Dtype::Bool;  ///< of their elements; Bool: the loop cannot be written out
  std::set<Value> whole, masks;
  std::set<Value> alike;  ///< scalars that vectors meet: all elements are the same
};

CWriter::Vectors CWriter::vectors_of(const Loop& l) const {
  Vectors found;
  const auto fits = [&](Dtype d) {
    if (found.dtype == Dtype::Bool) found.dtype = d;
    return found.dtype == d && (d == Dtype::Float32 || d == Dtype::Float64);
  };
  const auto is_vector = [&](Value v) { return found.whole.contains(v) || is_element(l.operand(v)); };
  const auto is_number = [&](Value v) {
    if (!is_vector(v)) found.alike.insert(v);
    return !found.masks.contains(v) && fits(ir.instrs[v].dtype);
  };
  const bool is_cut = is_decided(l.values) || guards_of(l.values).size() == 1 || is_ladder(l);
  const auto one = [&](Value v) {
    const Instr& instr = ir.instrs[v];
    if ((instr.guard != kNone && !is_cut) || instr.loop != kNone) return false;
    switch (instr.kind) {
      case InstrKind::Scalar: return true;
      case InstrKind::Load:
      case InstrKind::Store: {
        const Access& a = ir.accesses[instr.index];
        const StrideClass along = stride_class(instr.index, l.axis);
        if (a.buffer == kNone || a.loop != kNone || !fits(ir.buffers[a.buffer])) return false;
        if (instr.kind == InstrKind::Store) return along == StrideClass::One && is_number(instr.args[0]);
        if (along == StrideClass::One) found.whole.insert(v);
        return along != StrideClass::Any && fits(instr.dtype);
      }
      case InstrKind::Result: found.whole.insert(v); return fits(instr.dtype) && is_element(l.operand(v));
      case InstrKind::Inside: return is_cut;
      case InstrKind::Compute: {
        if (is_choice(ir, instr)) {
          found.whole.insert(v);
          const bool is_own = std::ranges::find(l.values, instr.args[0]) != l.values.end();
          return (is_own || chosen(instr) != kNone) && is_number(instr.args[1]) && is_number(instr.args[2]);
        }
        if (instr.op == Op::Where) {
          found.whole.insert(v);
          return found.masks.contains(instr.args[0]) && is_number(instr.args[1]) && is_number(instr.args[2]);
        }
        if (is_single(instr)) {
          found.whole.insert(v);
          return is_number(instr.args[0]) && is_vector(instr.args[0]);
        }
        if (!(is_arithmetic(instr) || is_comparison(instr)) || !is_number(instr.args[0]) || !is_number(instr.args[1]))
          return false;
        const bool is_whole = is_vector(instr.args[0]) || is_vector(instr.args[1]);
        (is_comparison(instr) ? found.masks : found.whole).insert(v);
        return is_whole;
      }
      default: return false;
    }
  };
  const bool all = vector_bytes_ > 0 && !gathers(ir) && l.steps.empty() &&
                   std::all_of(l.values.begin(), l.values.end(), one) &&
                   std::all_of(l.kept.begin(), l.kept.end(), [&](const auto& k) { return is_number(k.second); });
  if (!all) found.dtype = Dtype::Bool;
  return found;
}

bool CWriter::is_vector_loop(const Loop& l) const { return vectors_of(l).dtype != Dtype::Bool; }

/// Vectors as wide as they are, then of 16 bytes, then single elements; of long loops no narrow ones.
void CWriter::run_vectors(const Loop& all) {
  Loop l = all;
  Vectors vectors = vectors_of(all);
  const auto is_idle = [used = needed(all)](Value v) { return !used.contains(v); };
  std::erase_if(l.values, is_idle);
  std::erase_if(vectors.alike, is_idle);
  for (const Value v : l.values)
    if (is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, "0", l.operand);
  line(fmt::format("tarry_i64 {} = {};", l.i, l.from));
  for (int bytes = vector_bytes_; bytes >= 16; bytes = bytes > 16 && !l.is_long ? 16 : 0) {
    open("");
    vector_loop(l, vectors, bytes);
    close();
  }
  open(fmt::format("for (; {0} < {1}; ++{0})", l.i, l.to));
  line("TARRY_SCALAR;");
  for (const Value v : l.values)
    if (!is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, l.i, l.operand);
  for (const auto& [to, v] : l.kept) line(fmt::format("{} = {};", to, l.operand(v)));
  close();
}

void CWriter::vector_loop(const Loop& l, const Vectors& vectors, int bytes) {
  const int size = static_cast<int>(itemsize(vectors.dtype));
  const auto operand = [&](Value v) {
    const std::string text = l.operand(v);
    if (vectors.alike.contains(v)) return "all_" + text;
    return is_element(text) ? vector_from(text) : text;
  };
  const bool needs_places =
      !vectors.masks.empty() || std::ranges::any_of(l.values, [&](Value v) { return has_places(ir.instrs[v]); });
  needs_places ? vector_types(vectors.dtype, bytes) : vector_type(vectors.dtype, bytes);
  // -0 + x is x for every x.
  for (const Value v : vectors.alike)
    line(fmt::format("const vector {} = -(vector){{}} + {};", operand(v), l.operand(v)));
  open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", l.i, bytes / size, l.to));
  for (const Value v : l.values) {
    const Instr& instr = ir.instrs[v];
    if (instr.kind == InstrKind::Scalar || instr.kind == InstrKind::Inside || is_invariant(instr, l.axis)) continue;
    if (instr.kind == InstrKind::Store) {
      line(fmt::format("{} = {};", vector_from(element(instr.index, l.axis, l.i), "vector"), operand(instr.args[0])));
      continue;
    }
    const std::string_view type = !vectors.masks.contains(v) ? "vector"
                                  : bytes < kMasked          ? "places"
                                  : size == 8                ? "tarry_u8"
                                                             : "tarry_u16";
    line(fmt::format("const {} {} = {};", type, value_name(v), vector_value(v, l, bytes, operand)));
  }
  for (const auto& [to, v] : l.kept) line(fmt::format("{} = {};", vector_from(to, "vector"), operand(v)));
  close();
}

std::string CWriter::vector_value(Value v, const Loop& l, int bytes, const Operand& operand) {
  const Instr& instr = ir.instrs[v];
  if (instr.kind == InstrKind::Load)
    return instr.guard != kNone && holds_.at(instr.guard) == "0" ? "(vector){}"
                                                                 : vector_from(element(instr.index, l.axis, l.i));
  if (instr.kind == InstrKind::Result) return operand(v);
  if (instr.op == Op::Where) {
    if (const Value known = chosen(instr); known != kNone) return operand(known);
    const std::string mask = operand(instr.args[0]), a = operand(instr.args[1]), b = operand(instr.args[2]);
    if (bytes == kMasked)
      return fmt::format("TARRY_CHOOSE({}, {}, {}, {})", instr.dtype == Dtype::Float64 ? "pd" : "ps", mask, a, b);
    return fmt::format("(vector)(((places){1} & {0}) | ((places){2} & ~{0}))", mask, a, b);
  }
  std::vector<std::string> operands;
  for (int k = 0; k < arity(instr); ++k) operands.push_back(operand(instr.args[static_cast<std::size_t>(k)]));
  if (!is_comparison(instr)) return vector_arithmetic(v, operands);
  if (bytes < kMasked) return fmt::format("(places)({})", expressions.compute(v, operands));
  return fmt::format("__builtin_ia32_cmp{}512_mask({}, {}, {}, -1, 4)",
                     ir.instrs[instr.args[0]].dtype == Dtype::Float64 ? "pd" : "ps", operands[0], operands[1],
                     predicate(instr.op));
}

bool CWriter::is_vector_arithmetic(const Instr& instr) {
  return instr.kind == InstrKind::Compute && (is_arithmetic(instr) || is_single(instr));
}

std::string CWriter::vector_arithmetic(Value v, std::span<const std::string> operands) {
  const Instr& instr = ir.instrs[v];
  const std::string& x = operands[0];
  if (instr.op == Op::Square) return fmt::format("{0} * {0}", x);
  if (instr.op == Op::Negative) return "-" + x;
  if (instr.op == Op::Abs)
    return fmt::format("(vector)((places){} & {})", x,
                       instr.dtype == Dtype::Float64 ? "0x7fffffffffffffff" : "0x7fffffff");
  return expressions.compute(v, operands);
}

void CWriter::vector_type(Dtype dtype, int bytes) {
  line(fmt::format("typedef {} vector __attribute__((vector_size({}), aligned({}), may_alias));", c_type(dtype), bytes,
                   itemsize(dtype)));
}

void CWriter::vector_types(Dtype dtype, int bytes) {
  vector_type(dtype, bytes);
  line(fmt::format("typedef {} places __attribute__((vector_size({}), aligned({}), may_alias));",
                   itemsize(dtype) == 8 ? "tarry_i64" : "tarry_i32", bytes, itemsize(dtype)));
}

}  // namespace tarry::codegen
