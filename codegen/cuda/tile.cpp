// CUDA C: what the schedules of tiles share.
#include "codegen/cuda/tile.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/ir/usual.h"

namespace tarry::codegen::cuda {

/// Two elements of 16 bits are stored as a word: as they are, the compiler stores some of them one by one.
std::string_view TileWriter::runs() {
  return R"(template <class T, int N> struct alignas(N * sizeof(T)) $N_run { T v[N]; };
template <class T, int N> __device__ __forceinline__ void $N_get(const T* from, tarry_u32 wanted, T* x) {
  if (wanted == (1u << N) - 1) {
    const $N_run<T, N> run = *(const $N_run<T, N>*)from;
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] = run.v[j];
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) if (wanted >> j & 1u) x[j] = from[j];
  }
}
template <class T, int N> __device__ __forceinline__ void $N_put(T* to, tarry_u32 wanted, const T* y) {
  if (N == 2 && sizeof(T) == 2 && wanted == 3) {
    union { T v[2]; tarry_u32 word; } both = {{y[0], y[N - 1]}};
    *(tarry_u32*)to = both.word;
  } else if (wanted == (1u << N) - 1) {
    $N_run<T, N> run;
#pragma unroll
    for (int j = 0; j < N; ++j) run.v[j] = y[j];
    *($N_run<T, N>*)to = run;
  } else {
#pragma unroll
    for (int j = 0; j < N; ++j) if (wanted >> j & 1u) to[j] = y[j];
  }
}
)";
}

std::string TileWriter::name(std::uint32_t a) const {
  return slot_name({access(a).buffer == kNone ? SlotKind::IotaOffset : SlotKind::Pointer, a});
}

std::string TileWriter::offset(std::uint32_t a, const std::string& row, const std::string& column,
                               const std::string& value) const {
  std::vector<std::string> indices(static_cast<std::size_t>(ir_.rank), "0");
  if (ir_.row_dimension() >= 0) indices[static_cast<std::size_t>(ir_.row_dimension())] = row;
  if (channel_dimension_ >= 0) indices[static_cast<std::size_t>(channel_dimension_)] = value;
  indices.back() = column;
  return outer_offset(ir_, a, indices, "p.");
}

std::string TileWriter::holds(const GuardTerm& term, const std::string& row, const std::string& column) const {
  const char* word = ir_.wide_index ? "tarry_u64" : "tarry_u32";
  const std::string at = sum_text("t." + name(term.access), offset(term.access, row, column));
  return fmt::format("({})({}) < ({})p.{}", word, at, word, slot_name({SlotKind::Scalar, term.extent}));
}

std::string TileWriter::all_hold(std::uint32_t guard, const std::string& row, const std::string& column) const {
  std::string all;
  for (const GuardTerm& term : ir_.guards[guard].terms)
    all += (all.empty() ? "" : " && ") + holds(term, "(" + row + ")", "(" + column + ")");
  return all;
}

std::vector<TileWriter::Load> TileWriter::buffer_loads() const {
  std::vector<Load> found;
  for (const Instr& in : ir_.instrs) {
    if (in.kind != InstrKind::Load || access(in.index).buffer == kNone) continue;
    const auto same = [&](const Load& l) { return l.access == in.index; };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back({in.index, in.guard});
  }
  return found;
}

/// A term is linear along rows or along columns: it holds in the tile where it holds at both ends.
std::vector<std::string> TileWriter::tests(const GuardTerm& term, const TileRange& box) const {
  const bool rows = along_rows(term.access), columns = along_columns(term.access);
  std::vector<std::string> all{
      holds(term, rows ? std::to_string(box.first_row) : "0", columns ? std::to_string(box.first_column) : "0")};
  if (columns && box.last_column > 0) all.push_back(holds(term, "0", std::to_string(box.last_column)));
  if (rows && box.last_row > 0) all.push_back(holds(term, std::to_string(box.last_row), "0"));
  return all;
}

std::string TileWriter::whole(const TileRange& box) const {
  std::string text = fmt::format("rows == {} && columns == {}", box.last_row + 1, box.last_column + 1);
  if (box.first_row < 0) text += " && row > 0";
  if (box.first_column < 0) text += " && column > 0";
  for (const Guard& g : ir_.guards)
    for (const GuardTerm& term : g.terms)
      for (const std::string& test : tests(term, box)) text += " && " + test;
  return text;
}

/// A term holds nowhere in the tile where both ends lie before its interval, or both behind it.
std::string TileWriter::misses(const GuardTerm& term) const {
  const bool rows = along_rows(term.access), columns = along_columns(term.access);
  const TileRange box = tile_box();
  if ((!rows || box.last_row == 0) && (!columns || box.last_column == 0))
    return fmt::format("!({})", holds(term, "0", "0"));
  const char* word = ir_.wide_index ? "tarry_i64" : "tarry_i32";
  const auto at = [&](int row, int column) {
    const std::string by =
        offset(term.access, rows ? std::to_string(row) : "0", columns ? std::to_string(column) : "0");
    return fmt::format("({})({})", word, sum_text("t." + name(term.access), by));
  };
  const std::string first = at(0, 0), last = at(box.last_row, box.last_column),
                    extent = fmt::format("({})p.{}", word, slot_name({SlotKind::Scalar, term.extent}));
  return fmt::format("(({0} < 0 && {1} < 0) || ({0} >= {2} && {1} >= {2}))", first, last, extent);
}

std::string TileWriter::usual() const {
  const TileRange box = tile_box();
  std::string text = fmt::format("rows == {} && columns == {}", box.last_row + 1, box.last_column + 1);
  std::set<std::string> known;
  const auto add = [&](const std::string& test) {
    if (known.insert(test).second) text += " && " + test;
  };
  for (const Guard& g : ir_.guards) {
    std::string missed;
    for (const GuardTerm& term : g.terms) {
      if (g.usual)
        for (const std::string& test : tests(term, box)) add(test);
      else
        missed += (missed.empty() ? "" : " || ") + misses(term);
    }
    if (!g.usual) add("(" + missed + ")");
  }
  return text;
}

void TileWriter::place() {
  out_.open("struct $N_at");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
    if (!is_placed(a)) continue;
    if (access(a).buffer == kNone)
      out_.line(fmt::format("tarry_i64 {};", name(a)));
    else
      out_.line(fmt::format("{}{}* {};", access(a).store ? "" : "const ", type(a), name(a)));
  }
  out_.close(";");
}

void TileWriter::find(const TileRange& box) {
  const int rank = ir_.rank, row_dimension = ir_.row_dimension();
  out_.line("$O i = ($O)number;");
  std::vector<std::string> indices(static_cast<std::size_t>(rank), "i");
  for (int d = rank; d-- > 1;) {
    if (d == channel_dimension_) continue;
    if (ir_.wide_index)
      out_.line(fmt::format("const $O q{0} = i / p.n{0};", d));
    else
      out_.line(fmt::format("const $O q{0} = (__umulhi((tarry_u32)p.w{0}, i) + i) >> (tarry_u32)(p.w{0} >> 32);", d));
    out_.line(fmt::format("const $O i{0} = i - q{0} * ($O)p.n{0};", d));
    out_.line(fmt::format("i = q{};", d));
    indices[static_cast<std::size_t>(d)] = fmt::format("i{}", d);
  }
  const auto along = [&](const char* what, int dimension, int size) {
    std::string& index = indices[static_cast<std::size_t>(dimension)];
    out_.line(fmt::format("const $O {} = {} * {};", what, index, ir_.tile(dimension)));
    out_.line(fmt::format("const int {0}s = (int)(p.e{1} - {0} < {2} ? p.e{1} - {0} : {2});", what, dimension, size));
    index = what;
  };
  if (channel_dimension_ >= 0) indices[static_cast<std::size_t>(channel_dimension_)] = "0";
  along("column", rank - 1, box.last_column + 1);
  if (row_dimension >= 0)
    along("row", row_dimension, box.last_row + 1);
  else
    out_.line("const int rows = 1;");
  out_.line("$N_at t;");
  for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
    if (is_placed(a))
      out_.line(fmt::format("t.{0} = {1};", name(a), sum_text("p." + name(a), outer_offset(ir_, a, indices, "p."))));
}

std::string TileWriter::operand(Value v) const {
  const Instr& in = ir_.instrs[v];
  return in.kind == InstrKind::Scalar ? "p." + slot_name({SlotKind::Scalar, in.index}) : value_name(v);
}

void TileWriter::point() {
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    const auto& args = ir_.instrs[v].args;
    instruction(v, {args.begin(), args.end()});
  }
}

void TileWriter::usual_point() {
  const std::vector<bool> needed = usually_needed(ir_);
  for (Value v = 0; v < ir_.instrs.size(); ++v) {
    if (!needed[v]) continue;
    std::vector<Value> args;
    for (const Value arg : ir_.instrs[v].args) args.push_back(arg == kNone ? kNone : usual_value(ir_, arg));
    instruction(v, args);
  }
}

void TileWriter::instruction(Value v, const std::vector<Value>& args) {
  const Instr& in = ir_.instrs[v];
  const std::string head = fmt::format("const {} {} = ", c_type(in.dtype), value_name(v));
  switch (in.kind) {
    case InstrKind::Load:
      out_.line(head +
                (access(in.index).buffer == kNone ? sum_text("t." + name(in.index), counted(in.index)) : loaded(in)) +
                ";");
      break;
    case InstrKind::Inside: out_.line(fmt::format("{}{};", head, inside(in.index))); break;
    case InstrKind::Store:
      out_.line(fmt::format("y{}[{}] = {};", in.index, result_index(in.index), operand(args[0])));
      break;
    case InstrKind::Compute: {
      std::vector<std::string> operands;
      for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i) operands.push_back(operand(args[i]));
      out_.line(fmt::format("{}{};", head, shares_block(v) ? block_word(v) : expressions_.compute(v, operands)));
      break;
    }
    case InstrKind::Scalar:
    case InstrKind::Neighbour:
    case InstrKind::Carried:
    case InstrKind::While:
    case InstrKind::Last:
    case InstrKind::Number:
    case InstrKind::Keep:
    case InstrKind::Kept:
    case InstrKind::Result:
    case InstrKind::Fold:
    case InstrKind::Index:
    case InstrKind::Gather:
    case InstrKind::Earlier:
    case InstrKind::Later: break;
  }
}

KernelSource TileWriter::finish(int threads) {
  const Parameters parameters =
      ir_.wide_index
          ? make_parameters(ir_, {SlotKind::Extent, SlotKind::Tiles, SlotKind::TileCount, SlotKind::Reciprocal})
          : make_parameters(ir_, {SlotKind::Extent, SlotKind::Tiles, SlotKind::TileMagic, SlotKind::TileCount,
                                  SlotKind::Reciprocal});
  std::string kernel = parameter_struct(parameters) + Template(ir_, Stage{}).fill(std::string(runs()) + out_.take());
  KernelSource source = finish_kernel(ir_, Dialect::Cuda, std::move(kernel), parameters, expressions_.functions());
  source.threads = threads;
  return source;
}

}  // namespace tarry::codegen::cuda
