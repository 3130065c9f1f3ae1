// C: loops over contiguous floats whose vectors are written out, for what gcc would take long to find them in.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/render_c.h"

namespace tarry::codegen {

namespace {

bool is_comparison(const Instr& instr) {
  return instr.op == Op::Less || instr.op == Op::LessEqual || instr.op == Op::Greater || instr.op == Op::GreaterEqual;
}

bool is_arithmetic(const Instr& instr) {
  return instr.op == Op::Add || instr.op == Op::Subtract || instr.op == Op::Multiply || instr.op == Op::Divide;
}

bool is_single(const Instr& instr) { return instr.op == Op::Negative || instr.op == Op::Abs || instr.op == Op::Square; }

bool is_element(const std::string& text) { return text.ends_with("]"); }

/// The vector that begins at an array's element.
std::string vector_from(const std::string& element, std::string_view type = "const vector") {
  const std::size_t index = element.find('[');
  return fmt::format("*({}*)({} + {})", type, element.substr(0, index), element.substr(index + 1, element.size() - index - 2));
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
  // Where a loop has one guard, it is cut to pieces in which that is a constant.
  const bool is_cut = guards_of(l.values).size() == 1;
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
      case InstrKind::Result:
        found.whole.insert(v);
        return fits(instr.dtype) && is_element(l.operand(v));
      case InstrKind::Inside: return is_cut;
      case InstrKind::Compute: {
        if (instr.op == Op::Where && ir.instrs[instr.args[0]].kind == InstrKind::Inside) {
          found.whole.insert(v);
          return is_number(instr.args[1]) && is_number(instr.args[2]);
        }
        if (instr.op == Op::Where) {
          found.whole.insert(v);
          return found.masks.contains(instr.args[0]) && is_number(instr.args[1]) && is_number(instr.args[2]);
        }
        if (is_single(instr)) {
          found.whole.insert(v);
          return is_number(instr.args[0]) && is_vector(instr.args[0]);
        }
        if (!(is_arithmetic(instr) || is_comparison(instr)) || !is_number(instr.args[0]) || !is_number(instr.args[1])) return false;
        const bool is_whole = is_vector(instr.args[0]) || is_vector(instr.args[1]);
        (is_comparison(instr) ? found.masks : found.whole).insert(v);
        return is_whole;
      }
      default: return false;
    }
  };
  const bool all = vector_bytes_ > 0 && std::all_of(l.values.begin(), l.values.end(), one) &&
                   std::all_of(l.kept.begin(), l.kept.end(), [&](const auto& k) { return is_number(k.second); });
  if (!all) found.dtype = Dtype::Bool;
  return found;
}

bool CWriter::is_vector_loop(const Loop& l) const { return vectors_of(l).dtype != Dtype::Bool; }

/// Vectors as wide as they are, then of 16 bytes, then single elements; where a loop is a piece of a part, which is a multiple of any
/// vector but for the last one, no narrow ones.
void CWriter::run_vectors(const Loop& l) {
  const Vectors vectors = vectors_of(l);
  for (const Value v : l.values)
    if (is_invariant(ir.instrs[v], l.axis)) statement(v, l.axis, "0", l.operand);
  line(fmt::format("tarry_i64 {} = {};", l.i, l.from));
  for (int bytes = vector_bytes_; bytes >= 16; bytes = bytes > 16 && !l.is_piece ? 16 : 0) {
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
  line(fmt::format("typedef {} vector __attribute__((vector_size({}), aligned({}), may_alias));", c_type(vectors.dtype), bytes, size));
  const bool has_places = !vectors.masks.empty() || std::ranges::any_of(l.values, [&](Value v) { return ir.instrs[v].kind == InstrKind::Compute && ir.instrs[v].op == Op::Abs; });
  if (has_places) line(fmt::format("typedef {} places __attribute__((vector_size({})));", size == 8 ? "tarry_i64" : "tarry_i32", bytes));
  // -0 + x is x for every x.
  for (const Value v : vectors.alike) line(fmt::format("const vector {} = -(vector){{}} + {};", operand(v), l.operand(v)));
  open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", l.i, bytes / size, l.to));
  for (const Value v : l.values) {
    const Instr& instr = ir.instrs[v];
    const bool is_mask = vectors.masks.contains(v);
    if (instr.kind == InstrKind::Scalar || instr.kind == InstrKind::Inside || is_invariant(instr, l.axis)) continue;
    if (instr.kind == InstrKind::Store) {
      line(fmt::format("{} = {};", vector_from(element(instr.index, l.axis, l.i), "vector"), operand(instr.args[0])));
      continue;
    }
    std::string text;
    if (instr.kind == InstrKind::Load) {
      text = instr.guard != kNone && holds_.at(instr.guard) == "0" ? "(vector){}" : vector_from(element(instr.index, l.axis, l.i));
    } else if (instr.kind == InstrKind::Result) {
      text = operand(v);
    } else if (instr.op == Op::Where && ir.instrs[instr.args[0]].kind == InstrKind::Inside) {
      text = operand(instr.args[holds_.at(ir.instrs[instr.args[0]].index) == "1" ? 1 : 2]);
    } else if (instr.op == Op::Where) {
      text = fmt::format("(vector)(((places){1} & {0}) | ((places){2} & ~{0}))", operand(instr.args[0]), operand(instr.args[1]), operand(instr.args[2]));
    } else if (is_single(instr)) {
      const std::string x = operand(instr.args[0]);
      text = instr.op == Op::Square ? fmt::format("{0} * {0}", x) : instr.op == Op::Negative ? "-" + x : fmt::format("(vector)((places){} & {})", x, size == 8 ? "0x7fffffffffffffff" : "0x7fffffff");
    } else {
      const std::string operands[] = {operand(instr.args[0]), operand(instr.args[1])};
      text = expressions.compute(v, operands);
      if (is_mask) text = fmt::format("(places)({})", text);
    }
    line(fmt::format("const {} {} = {};", is_mask ? "places" : "vector", value_name(v), text));
  }
  for (const auto& [to, v] : l.kept) line(fmt::format("{} = {};", vector_from(to, "vector"), operand(v)));
  close();
}

}  // namespace tarry::codegen
