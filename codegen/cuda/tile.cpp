// CUDA C: what the schedules of tiles share.
#include "codegen/cuda/tile.h"

#include <algorithm>

#include <fmt/format.h>

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
std::string TileWriter::whole(const TileRange& box) const {
  std::string text = fmt::format("rows == {} && columns == {}", box.last_row + 1, box.last_column + 1);
  if (box.first_row < 0) text += " && row > 0";
  if (box.first_column < 0) text += " && column > 0";
  const std::string first_row = std::to_string(box.first_row), first_column = std::to_string(box.first_column);
  for (const Guard& g : ir_.guards) {
    for (const GuardTerm& term : g.terms) {
      text += " && " +
              holds(term, along_rows(term.access) ? first_row : "0", along_columns(term.access) ? first_column : "0");
      if (along_columns(term.access) && box.last_column > 0)
        text += " && " + holds(term, "0", std::to_string(box.last_column));
      if (along_rows(term.access) && box.last_row > 0) text += " && " + holds(term, std::to_string(box.last_row), "0");
    }
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
        out_.line(fmt::format("y{}[{}] = {};", in.index, result_index(in.index), operand(in.args[0])));
        break;
      case InstrKind::Compute: {
        std::vector<std::string> operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(arity(in)); ++i) operands.push_back(operand(in.args[i]));
        out_.line(fmt::format("{}{};", head, expressions_.compute(v, operands)));
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
      case InstrKind::Gather: break;
    }
  }
}

KernelSource TileWriter::finish(int threads) {
  const Parameters parameters =
      ir_.wide_index
          ? make_parameters(ir_, {SlotKind::Extent, SlotKind::Tiles, SlotKind::TileCount})
          : make_parameters(ir_, {SlotKind::Extent, SlotKind::Tiles, SlotKind::TileMagic, SlotKind::TileCount});
  std::string kernel = parameter_struct(parameters) + Template(ir_, Stage{}).fill(std::string(runs()) + out_.take());
  KernelSource source = finish_kernel(ir_, Dialect::Cuda, std::move(kernel), parameters, expressions_.functions());
  source.threads = threads;
  return source;
}

}  // namespace tarry::codegen::cuda
