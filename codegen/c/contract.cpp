// C kernels of contractions. A work item is a few rows of a run of columns. What its columns' operands are is laid out
// step by step, in blocks of `vector` columns, once for all items of the run that a thread takes in turn. The folds of
// a few rows of a block are local arrays whose constant size lets compilers keep them in vector registers; their steps
// go from left to right. Contract goes on with a loop over the columns of a row, ContractReduce reduces the run by tree
// R.
#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>

#include "codegen/c/states.h"
#include "codegen/ir/contract.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

/// The value that gives x when combined with any x, bit for bit: with it a fold's steps are all alike.
std::string neutral(const Fold& fold) {
  if (fold.op == Op::Sum || fold.op == Op::Prod) return fold_start(fold);
  const bool max = fold.op == Op::Max;
  const std::string type = c_type(fold.dtype);
  const std::size_t bits = 8 * itemsize(fold.dtype);
  switch (fold.dtype) {
    case Dtype::Float32: return max ? "-__builtin_inff()" : "__builtin_inff()";
    case Dtype::Float64: return max ? "-__builtin_inf()" : "__builtin_inf()";
    case Dtype::Float16: return max ? "0xfc00" : "0x7c00";
    case Dtype::BFloat16: return max ? "0xff80" : "0x7f80";
    case Dtype::Bool: return max ? "0" : "1";
    default: break;
  }
  if (info(fold.dtype).kind == DtypeKind::UInt) return max ? "0" : fmt::format("({})-1", type);
  return fmt::format("({})({}(1ull << {}))", type, max ? "" : "~", bits - 1);
}

class ContractWriter {
 public:
  ContractWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        map_(ir.is_map()),
        planes_(ir.rank - (map_ ? 2 : 1)),
        run_(contract_run(ir, target)),
        staged_(staged(ir)),
        parameters_(map_ ? make_parameters(ir, {SlotKind::Extent})
                         : make_parameters(ir, {SlotKind::Extent, SlotKind::OuterCount, SlotKind::Reduced,
                                                SlotKind::Chunks, SlotKind::ChunkBlocks, SlotKind::Scratch})),
        w_(ir, parameters_, target, 1, run_.columns / 128),
        vector_bytes_(target.vector_bytes) {
    find_varying();
  }

  KernelSource render();

 private:
  /// Along which side of the tile a value of a loop varies.
  struct Varies {
    bool rows = false, columns = false;
  };

  void find_varying();
  [[nodiscard]] bool in_columns(std::uint32_t access) const;
  [[nodiscard]] std::string name(Value v, int row) const;
  [[nodiscard]] std::string buffer_type(std::uint32_t access) const {
    return c_type(ir_.buffers[ir_.accesses[access].buffer]);
  }
  /// The address, or an iota's sum, of an access at a row and the column k.
  [[nodiscard]] std::string start(std::uint32_t access, std::string_view row) const;
  /// The part that a column adds to it.
  [[nodiscard]] std::string column_offset(std::uint32_t access, std::string_view column) const;
  [[nodiscard]] std::string row_extent() const { return fmt::format("e{}", planes_); }
  [[nodiscard]] std::string column_extent() const { return map_ ? fmt::format("e{}", planes_ + 1) : "n"; }
  /// The place of a plane as the end of a list of parameters or arguments: ", i0, i1".
  [[nodiscard]] std::string plane(bool declare) const;

  // Functions of the kernel.
  void arrays();
  void stage();
  void accumulate();
  void points();
  void finish();
  void entry();
  void fold();

  // Pieces of them.
  void steps(std::uint32_t loop);
  [[nodiscard]] bool has_vectors(std::uint32_t loop) const;
  void block(std::uint32_t loop);
  void block_of_vectors(std::uint32_t loop);
  void open_steps(std::uint32_t loop, std::string_view column);
  void statement(Value v, int row);
  /// Instructions of a loop that vary along columns, or that do not, each for each row that it varies along.
  template <typename Visit>
  void each_value(std::uint32_t loop, bool columns, const Visit& visit) const {
    for (Value v = 0; v < ir_.instrs.size(); ++v)
      if (ir_.instrs[v].loop == loop && ir_.instrs[v].kind != InstrKind::Scalar && varies_[v].columns == columns)
        for (int row = 0; row < (varies_[v].rows ? run_.rows : 1); ++row) visit(v, row);
  }
  template <typename Visit>
  void each_fold(std::uint32_t loop, const Visit& visit) const {
    for (std::uint32_t f = 0; f < ir_.folds.size(); ++f)
      for (int row = 0; ir_.folds[f].loop == loop && row < run_.rows; ++row) visit(f, row);
  }
  void open_line(std::string_view lines);
  void decode_plane();
  void bases(std::initializer_list<Region> regions);
  [[nodiscard]] std::string operand(Value v) const;

  const KernelIr& ir_;
  const bool map_;
  const int planes_;  ///< dimensions before the rows
  const ContractRun run_;
  const std::vector<Staged> staged_;
  const Parameters parameters_;
  StateWriter w_;
  const int vector_bytes_;
  std::vector<Varies> varies_;  ///< by value
};

void ContractWriter::find_varying() {
  varies_.resize(ir_.instrs.size());
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const Instr& in = ir_.instrs[v];
    if (in.loop == kNone) continue;
    if (in.kind == InstrKind::Load) {
      const Access& a = ir_.accesses[in.index];
      varies_[v] = {a.strides[static_cast<std::size_t>(planes_)] != StrideClass::Zero,
                    (map_ ? a.strides.back() : a.reduced) != StrideClass::Zero};
    }
    for (int k = 0; k < arity(in); ++k) {
      const Varies& of = varies_[in.args[static_cast<std::size_t>(k)]];
      varies_[v].rows |= of.rows;
      varies_[v].columns |= of.columns;
    }
  }
}

bool ContractWriter::in_columns(std::uint32_t access) const {
  return std::any_of(staged_.begin(), staged_.end(), [&](const Staged& s) { return s.access == access && !s.rows; });
}

std::string ContractWriter::name(Value v, int row) const {
  return varies_[v].rows ? fmt::format("v{}_{}", v, row) : value_name(v);
}

std::string ContractWriter::column_offset(std::uint32_t access, std::string_view column) const {
  if (!map_) return reduced_offset(ir_, access, column, "");
  std::vector<std::string> indices(static_cast<std::size_t>(planes_) + 1, "0");
  indices.emplace_back(column);
  return outer_offset(ir_, access, indices, "");
}

std::string ContractWriter::start(std::uint32_t access, std::string_view row) const {
  const SlotKind kind = ir_.accesses[access].buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer;
  std::vector<std::string> indices;
  for (int d = 0; d < planes_; ++d) indices.push_back(fmt::format("i{}", d));
  indices.emplace_back(row);
  return sum_text("p->" + slot_name({kind, access}),
                  sum_text(outer_offset(ir_, access, indices, ""), column_offset(access, "k")));
}

std::string ContractWriter::plane(bool declare) const {
  std::string text;
  for (int d = 0; d < planes_; ++d) text += fmt::format(", {}i{}", declare ? "tarry_i64 " : "", d);
  return text;
}

// ---------------------------------------------------------------- operands and folds

void ContractWriter::arrays() {
  w_.open(fmt::format("struct {}_columns", kEntryName));
  for (const Staged& s : staged_)
    if (!s.rows)
      w_.line(fmt::format("{} x{}[{}][{}][{}];", buffer_type(s.access), s.access, run_.columns / run_.vector,
                          kLongestLoop, run_.vector));
  w_.close(";");
  w_.open(fmt::format("struct {}_folds", kEntryName));
  for (std::size_t f = 0; f < ir_.folds.size(); ++f)
    w_.line(fmt::format("{} f{}[{}][{}];", c_type(ir_.folds[f].dtype), f, run_.rows, run_.columns));
  w_.close(";");
}

/// Columns k to k + m - 1; what a block has beyond the last one are copies of that.
void ContractWriter::stage() {
  w_.open(
      fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}_stage(const struct {0}_params* p{1}, "
                  "tarry_i64 k, tarry_i64 m, struct {0}_columns* s)",
                  kEntryName, plane(true)));
  w_.locals();
  w_.open(fmt::format("for (tarry_i64 j = 0, b = 0; j < m; j += {}, ++b)", run_.vector));
  w_.line(fmt::format("const tarry_i64 there = m - j < {0} ? m - j : {0};", run_.vector));
  for (const Staged& s : staged_) {
    if (s.rows) continue;
    const std::uint32_t a = s.access, loop = ir_.accesses[a].loop;
    const std::string step = fmt::format("for (tarry_i64 u{0} = 0; u{0} < p->{1}; ++u{0})", loop,
                                         slot_name({SlotKind::Scalar, ir_.loops[loop]}));
    w_.open("");
    if (s.side == StrideClass::One) {
      w_.line(fmt::format("const {}* const at = {} + j;", buffer_type(a), start(a, "0")));
      w_.open(step);
      w_.line(fmt::format("{}* const to = s->x{}[b][u{}];", buffer_type(a), a, loop));
      w_.line(fmt::format("const {}* const from = at + {};", buffer_type(a), loop_offset(ir_, a, "")));
      w_.line("tarry_i64 l = 0;");
      if (const int size = static_cast<int>(itemsize(ir_.buffers[ir_.accesses[a].buffer])),
          bytes = std::min(vector_bytes_, run_.vector * size);
          bytes >= 16) {
        w_.vector_type(ir_.buffers[ir_.accesses[a].buffer], bytes);
        w_.line(fmt::format("for (; l + {0} <= there; l += {0}) *(vector*)(to + l) = *(const vector*)(from + l);",
                            bytes / size));
      }
      w_.line(
          fmt::format("for (; l < {}; ++l) {{ TARRY_SCALAR; to[l] = from[l < there ? l : there - 1]; }}", run_.vector));
      w_.close();
    } else {
      w_.open(fmt::format("for (tarry_i64 l = 0; l < {}; ++l)", run_.vector));
      w_.line("const tarry_i64 c = j + (l < there ? l : there - 1);");
      w_.line(fmt::format("const {}* const at = {} + {};", buffer_type(a), start(a, "0"), column_offset(a, "c")));
      w_.line(fmt::format("{} s->x{}[b][u{}][l] = at[{}];", step, a, loop, loop_offset(ir_, a, "")));
      w_.close();
    }
    w_.close();
  }
  w_.close();
  w_.close();
}

/// An instruction of a loop for a row of the block, where it varies along columns at column l.
void ContractWriter::statement(Value v, int row) {
  const Instr& in = ir_.instrs[v];
  std::string text;
  if (in.kind == InstrKind::Load) {
    const std::uint32_t a = in.index;
    const std::string base = varies_[v].rows ? fmt::format("a{}_{}", a, row) : fmt::format("a{}", a),
                      step = loop_offset(ir_, a, "");
    if (in_columns(a))
      text = fmt::format("c{}[l]", a);
    else if (ir_.accesses[a].buffer == kNone)
      text = sum_text(sum_text(base, column_offset(a, "(j + l)")), step);
    else
      text = fmt::format("{}[{}]", base, step);
  } else {
    std::vector<std::string> operands;
    for (int k = 0; k < arity(in); ++k) operands.push_back(name(in.args[static_cast<std::size_t>(k)], row));
    text = w_.expressions.compute(v, operands);
  }
  w_.line(fmt::format("const {} {} = {};", c_type(in.dtype), name(v, row), text));
}

/// True if gcc need not look for the vectors of a loop: sums and products of plain arithmetic on floats.
bool ContractWriter::has_vectors(std::uint32_t loop) const {
  Dtype dtype = Dtype::Bool;
  const auto fits = [&](Dtype d) {
    if (dtype == Dtype::Bool) dtype = d;
    return dtype == d && (d == Dtype::Float32 || d == Dtype::Float64);
  };
  bool all = vector_bytes_ > 0;
  each_value(loop, true, [&](Value v, int) {
    const Instr& in = ir_.instrs[v];
    all = all && fits(in.dtype) &&
          (in.kind == InstrKind::Load ? in_columns(in.index) && fits(ir_.buffers[ir_.accesses[in.index].buffer])
                                      : CWriter::is_vector_arithmetic(in));
    for (int k = 0; all && k < arity(in); ++k) all = fits(ir_.instrs[in.args[static_cast<std::size_t>(k)]].dtype);
  });
  each_fold(loop, [&](std::uint32_t f, int) {
    const Fold& fold = ir_.folds[f];
    all = all && fits(fold.dtype) && fits(ir_.instrs[fold.arg].dtype) && (fold.op == Op::Sum || fold.op == Op::Prod);
  });
  return all;
}

/// The steps of a block's folds, `column` the place of its first column that is asked for; values that all columns
/// share.
void ContractWriter::open_steps(std::uint32_t loop, std::string_view column) {
  w_.open(fmt::format("for (tarry_i64 u{0} = 0; u{0} < p->{1}; ++u{0})", loop,
                      slot_name({SlotKind::Scalar, ir_.loops[loop]})));
  for (const Staged& s : staged_)
    if (!s.rows && ir_.accesses[s.access].loop == loop)
      w_.line(fmt::format("const {0}* const c{1} = {2};", buffer_type(s.access), s.access,
                          sum_text(fmt::format("s->x{}[b][u{}]", s.access, loop), std::string(column))));
  each_value(loop, false, [&](Value v, int row) { statement(v, row); });
}

/// Folds as arrays of a block's columns.
void ContractWriter::block(std::uint32_t loop) {
  const std::string all = fmt::format("for (int l = 0; l < {}; ++l)", run_.vector);
  each_fold(loop, [&](std::uint32_t f, int row) {
    w_.line(fmt::format("{} f{}_{}[{}];", c_type(ir_.folds[f].dtype), f, row, run_.vector));
  });
  w_.open(all);
  each_fold(loop,
            [&](std::uint32_t f, int row) { w_.line(fmt::format("f{}_{}[l] = {};", f, row, neutral(ir_.folds[f]))); });
  w_.close();
  open_steps(loop, "0");
  w_.open(all);
  each_value(loop, true, [&](Value v, int row) { statement(v, row); });
  each_fold(loop, [&](std::uint32_t f, int row) {
    const Fold& fold = ir_.folds[f];
    const std::string value = fmt::format("f{}_{}[l]", f, row);
    w_.line(fmt::format("{} = {};", value, w_.expressions.combine(fold.op, fold.dtype, value, name(fold.arg, row))));
  });
  w_.close();
  w_.close();
  w_.open(all);
  each_fold(loop,
            [&](std::uint32_t f, int row) { w_.line(fmt::format("f->f{0}[{1}][j + l] = f{0}_{1}[l];", f, row)); });
  w_.close();
}

/// Folds as vectors, two of a block's at a time for each row: with four rows registers of all levels hold them.
void ContractWriter::block_of_vectors(std::uint32_t loop) {
  constexpr int kVectors = 2;
  std::vector<std::uint32_t> folds;
  each_fold(loop, [&](std::uint32_t f, int row) {
    if (row == 0) folds.push_back(f);
  });
  const Dtype dtype = ir_.folds[folds.at(0)].dtype;
  const int lanes = vector_bytes_ / static_cast<int>(itemsize(dtype));
  const auto varies = [&](Value v) { return ir_.instrs[v].loop == loop && varies_[v].columns; };
  const auto operand = [&](Value v, int row, int q) {
    return varies(v) ? fmt::format("{}_{}", name(v, row), static_cast<char>('a' + q)) : "all_" + name(v, row);
  };
  std::set<std::string> inside, outside;  // names of what all columns share; -0 + x is x for every x
  const auto share = [&](Value v, int row) {
    if (!varies(v)) (ir_.instrs[v].loop == loop ? inside : outside).insert(name(v, row));
  };
  each_value(loop, true, [&](Value v, int row) {
    for (int k = 0; k < arity(ir_.instrs[v]); ++k) share(ir_.instrs[v].args[static_cast<std::size_t>(k)], row);
  });
  each_fold(loop, [&](std::uint32_t f, int row) { share(ir_.folds[f].arg, row); });
  w_.vector_types(dtype, vector_bytes_);
  for (const std::string& value : outside) w_.line(fmt::format("const vector all_{0} = -(vector){{}} + {0};", value));
  w_.open(fmt::format("for (int l = 0; l < {}; l += {})", run_.vector, kVectors * lanes));
  for (int q = 0; q < kVectors; ++q)
    each_fold(loop, [&](std::uint32_t f, int row) {
      w_.line(fmt::format("vector f{}_{}_{} = {};", f, row, static_cast<char>('a' + q),
                          ir_.folds[f].op == Op::Sum ? "-(vector){}" : "(vector){} + 1"));
    });
  open_steps(loop, "l");
  for (const std::string& value : inside) w_.line(fmt::format("const vector all_{0} = -(vector){{}} + {0};", value));
  for (int q = 0; q < kVectors; ++q) {
    each_value(loop, true, [&](Value v, int row) {
      const Instr& in = ir_.instrs[v];
      std::string text;
      if (in.kind == InstrKind::Load) {
        text = fmt::format("*(const vector*)(c{} + {})", in.index, q * lanes);
      } else {
        std::vector<std::string> operands;
        for (int k = 0; k < arity(in); ++k) operands.push_back(operand(in.args[static_cast<std::size_t>(k)], row, q));
        text = w_.vector_arithmetic(v, operands);
      }
      w_.line(fmt::format("const vector {} = {};", operand(v, row, q), text));
    });
    each_fold(loop, [&](std::uint32_t f, int row) {
      const Fold& fold = ir_.folds[f];
      w_.line(fmt::format("f{0}_{1}_{2} = f{0}_{1}_{2} {3} {4};", f, row, static_cast<char>('a' + q),
                          fold.op == Op::Sum ? "+" : "*", operand(fold.arg, row, q)));
    });
  }
  w_.close();
  for (int q = 0; q < kVectors; ++q)
    each_fold(loop, [&](std::uint32_t f, int row) {
      w_.line(fmt::format("*(vector*)(f->f{0}[{1}] + j + l + {2}) = f{0}_{1}_{3};", f, row, q * lanes,
                          static_cast<char>('a' + q)));
    });
  w_.close();
}

/// The folds of a loop for `rows` rows by m columns, a block of columns after the other.
void ContractWriter::steps(std::uint32_t loop) {
  w_.open("");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    const Access& access = ir_.accesses[a];
    if (access.loop != loop || in_columns(a)) continue;
    const bool rows = access.strides[static_cast<std::size_t>(planes_)] != StrideClass::Zero;
    const std::string type =
        access.buffer == kNone ? "const tarry_i64" : fmt::format("const {}* const", buffer_type(a));
    for (int row = 0; row < (rows ? run_.rows : 1); ++row)
      w_.line(fmt::format("{} a{}{} = {};", type, a, rows ? fmt::format("_{}", row) : "",
                          start(a, fmt::format("y{}", row))));
  }
  w_.open(fmt::format("for (tarry_i64 j = 0, b = 0; j < m; j += {}, ++b)", run_.vector));
  if (has_vectors(loop))
    block_of_vectors(loop);
  else
    block(loop);
  w_.close();
  w_.close();
}

void ContractWriter::accumulate() {
  bool plain = true;
  for (std::uint32_t l = 0; l < ir_.loops.size(); ++l) plain = plain && has_vectors(l);
  w_.open(
      fmt::format("static {2}__attribute__((noinline)) void {0}_accumulate(const struct {0}_params* p{1}, tarry_i64 y, "
                  "tarry_i64 rows, "
                  "tarry_i64 k, tarry_i64 m, const struct {0}_columns* s, struct {0}_folds* f)",
                  kEntryName, plane(true), plain ? "TARRY_PLAIN " : ""));
  w_.locals();
  w_.line("const tarry_i64 y0 = y;");
  for (int row = 1; row < run_.rows; ++row)
    w_.line(fmt::format("const tarry_i64 y{0} = y + ({0} < rows ? {0} : rows - 1);", row));
  for (std::uint32_t l = 0; l < ir_.loops.size(); ++l) steps(l);
  w_.close();
}

// ---------------------------------------------------------------- points

std::string ContractWriter::operand(Value v) const {
  const Instr& in = ir_.instrs[v];
  return in.kind == InstrKind::Fold ? fmt::format("f{}[i]", in.index) : value_name(v);
}

/// Addresses of what instructions of the regions load and store, at row y and column k.
void ContractWriter::bases(std::initializer_list<Region> regions) {
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (ir_.accesses[a].loop == kNone &&
        std::any_of(regions.begin(), regions.end(), [&](Region r) { return w_.uses(a, r); }))
      w_.base('a', a, start(a, "y"), "0");
}

/// The instructions after the folds in a row of the run; ContractReduce makes its blocks states of the stack, which was
/// empty at column `first`.
void ContractWriter::points() {
  std::vector<Value> kept;  // inputs of reductions that are no folds
  for (const Reduction& r : ir_.reductions)
    for (std::size_t k = 0; k < input_count(r); ++k)
      if (ir_.instrs[r.args[k]].kind != InstrKind::Fold && std::find(kept.begin(), kept.end(), r.args[k]) == kept.end())
        kept.push_back(r.args[k]);
  CWriter::Loop loop{{}, map_ ? Axis::LastOuter : Axis::Reduced, "i", "0", "m", [this](Value v) { return operand(v); }};
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].region == Region::Point && ir_.instrs[v].kind != InstrKind::Fold) loop.values.push_back(v);
  for (const Value v : kept) loop.kept.emplace_back(fmt::format("x{}[i]", v), v);
  loop.vectors = w_.has_vectors(loop);
  w_.open(
      fmt::format("static {3}__attribute__((noinline)) void {0}_points(const struct {0}_params* p{1}, tarry_i64 y, "
                  "tarry_i64 k, tarry_i64 m, "
                  "const struct {0}_folds* f, tarry_i64 row{2})",
                  kEntryName, plane(true), map_ ? "" : fmt::format(", {}* stack, tarry_i64 first", w_.state_type()),
                  loop.vectors ? "TARRY_PLAIN " : ""));
  w_.locals();
  bases({Region::Row, Region::Point});
  for (std::size_t f = 0; f < ir_.folds.size(); ++f)
    w_.line(fmt::format("const {0}* const f{1} = f->f{1}[row];", c_type(ir_.folds[f].dtype), f));
  w_.straight(w_.instructions(Region::Row));
  for (const Value v : kept) w_.line(fmt::format("{} x{}[{}];", c_type(ir_.instrs[v].dtype), v, run_.columns));
  if (!loop.values.empty()) w_.loop(loop);
  if (!map_) {
    for (std::uint32_t r = 0; r < ir_.reductions.size(); ++r)
      for (std::size_t k = 0; k < input_count(ir_.reductions[r]); ++k) {
        const Value v = ir_.reductions[r].args[k];
        const std::string from =
            ir_.instrs[v].kind == InstrKind::Fold ? fmt::format("f{}", ir_.instrs[v].index) : fmt::format("x{}", v);
        w_.line(fmt::format("const {}* const {} = {};", w_.accumulator(r), w_.input(r, k), from));
      }
    w_.line("const tarry_i64 length = m;");
    w_.line("tarry_i64 depth = __builtin_popcountll((k - first) / 128);");
    w_.segment("first");
  }
  w_.close();
}

/// Outer instructions of row y, whose reductions are done, and the row values that they use.
void ContractWriter::finish() {
  w_.open(fmt::format("static TARRY_PLAIN void {0}_finish(const struct {0}_params* p{1}, tarry_i64 y, const {2}* s)",
                      kEntryName, plane(true), w_.state_type()));
  w_.locals();
  w_.line("const tarry_i64 k = 0;");
  bases({Region::Row, Region::Outer});
  std::vector<Value> values;
  for (Value v = 0; v < ir_.instrs.size(); ++v)
    if (ir_.instrs[v].region == Region::Row || ir_.instrs[v].region == Region::Outer) values.push_back(v);
  w_.straight(values, [&](Value v) {
    const Instr& in = ir_.instrs[v];
    if (in.kind != InstrKind::Result) return value_name(v);
    return fmt::format("s->{}[0]", w_.part(in.index, output_field(ir_.reductions[in.index], in.output)));
  });
  w_.close();
}

// ---------------------------------------------------------------- entries

/// Place of tile number `at` of rows, of which there are `lines` for a plane: i0.., line, rows `top` to `end` - 1.
void ContractWriter::open_line(std::string_view lines) {
  w_.line(fmt::format("const tarry_i64 line = at / down, top = (at - line * down) * {};", ContractRun::kItemRows));
  w_.line(
      fmt::format("const tarry_i64 end = {0} - top < {1} ? {0} : top + {1};", row_extent(), ContractRun::kItemRows));
  w_.line(fmt::format("const tarry_i64 plane = line / {0}, part = line - plane * {0};", lines));
  std::string rest = "plane";
  for (int d = planes_ - 1; d > 0; --d) {
    w_.line(fmt::format("const tarry_i64 i{0} = {1} % e{0}, q{0} = {1} / e{0};", d, rest));
    rest = fmt::format("q{}", d);
  }
  if (planes_ > 0) w_.line(fmt::format("const tarry_i64 i0 = {};", rest));
}

void ContractWriter::entry() {
  w_.open(fmt::format("TARRY_PLAIN void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 down = ({} + {}) / {};", row_extent(), ContractRun::kItemRows - 1,
                      ContractRun::kItemRows));
  if (map_)
    w_.line(fmt::format("const tarry_i64 across = ({} + {}) / {};", column_extent(), run_.columns - 1, run_.columns));
  else
    w_.line(fmt::format("{} stacks[{}][{}];", w_.state_type(), ContractRun::kItemRows, ContractRun::kLevels));
  w_.line(fmt::format("struct {}_columns s;", kEntryName));
  w_.line(fmt::format("struct {}_folds f;", kEntryName));
  w_.line("tarry_i64 staged_line = -1, staged_k = -1;");
  w_.open("for (tarry_i64 at = lo; at < hi; ++at)");
  open_line(map_ ? "across" : "chunks");
  if (map_) {
    w_.line(fmt::format("const tarry_i64 first = part * {}, last = first + {};", run_.columns, run_.columns));
  } else {
    w_.line("const tarry_i64 first = part * chunk_blocks * 128, last = first + chunk_blocks * 128;");
  }
  w_.open(fmt::format("for (tarry_i64 k = first; k < last && k < {}; k += {})", column_extent(), run_.columns));
  w_.line(fmt::format("const tarry_i64 m = {0} - k < {1} ? {0} - k : {1};", column_extent(), run_.columns));
  w_.line(fmt::format("if (line != staged_line || k != staged_k) {}_stage(p{}, k, m, &s);", kEntryName, plane(false)));
  w_.line("staged_line = line, staged_k = k;");
  w_.open(fmt::format("for (tarry_i64 y = top; y < end; y += {})", run_.rows));
  w_.line(fmt::format("const tarry_i64 rows = end - y < {0} ? end - y : {0};", run_.rows));
  w_.line(fmt::format("{}_accumulate(p{}, y, rows, k, m, &s, &f);", kEntryName, plane(false)));
  w_.line(fmt::format("for (tarry_i64 row = 0; row < rows; ++row) {}_points(p{}, y + row, k, m, &f, row{});",
                      kEntryName, plane(false), map_ ? "" : ", stacks[y + row - top], first"));
  w_.close();
  w_.close();
  if (!map_) {
    w_.line(fmt::format("const tarry_i64 segments = ((last < n ? last : n) - first + {}) / {};",
                        w_.segment_length() - 1, w_.segment_length()));
    w_.open("for (tarry_i64 y = top; y < end; ++y)");
    w_.line(fmt::format("{}* const stack = stacks[y - top];", w_.state_type()));
    w_.line("tarry_i64 depth = __builtin_popcountll(segments);");
    w_.fold_stack();
    w_.line(fmt::format("if (chunks == 1) {}_finish(p{}, y, stack);", kEntryName, plane(false)));
    w_.line(fmt::format("else (({}*)p->scratch)[part * count + plane * {} + y] = stack[0];", w_.state_type(),
                        row_extent()));
    w_.close();
  }
  w_.close();
  w_.close();
}

void ContractWriter::fold() {
  w_.open(fmt::format("TARRY_PLAIN void {0}_fold(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
  w_.locals();
  w_.line(fmt::format("const tarry_i64 down = ({} + {}) / {};", row_extent(), ContractRun::kItemRows - 1,
                      ContractRun::kItemRows));
  w_.line(fmt::format("const {0}* const scratch = (const {0}*)p->scratch;", w_.state_type()));
  w_.line(fmt::format("{} stack[{}];", w_.state_type(), kReduceLevels));
  w_.open("for (tarry_i64 at = lo; at < hi; ++at)");
  open_line("1");
  w_.open("for (tarry_i64 y = top; y < end; ++y)");
  w_.line("tarry_i64 depth = 0;");
  w_.open("for (tarry_i64 chunk = 0; chunk < chunks; ++chunk)");
  w_.line(fmt::format("stack[depth] = scratch[chunk * count + plane * {} + y];", row_extent()));
  w_.push("chunk");
  w_.close();
  w_.fold_stack();
  w_.line(fmt::format("{}_finish(p{}, y, stack);", kEntryName, plane(false)));
  w_.close();
  w_.close();
  w_.close();
}

KernelSource ContractWriter::render() {
  w_.preamble();
  if (!map_) {
    w_.declare_states();
    w_.line_functions([](Value) { return false; });
  }
  arrays();
  stage();
  accumulate();
  points();
  if (!map_) finish();
  entry();
  if (!map_) fold();
  KernelSource source = w_.finish();
  source.tile = ContractRun::kItemRows * (map_ ? run_.columns : 1);
  return source;
}

}  // namespace

KernelSource render_c_contract(const KernelIr& ir, const graph::Target& target) {
  return ContractWriter(ir, target).render();
}

}  // namespace tarry::codegen
