// C kernels of several steps of shifted views. A work item is a tile of the result.
//
// Rows go through the stages one after the other: a stage computes a row as soon as the rows that it reaches are there,
// so of every kept value only a few rows exist, in a ring that the cache holds. The stages' rows are as many columns
// longer as later ones reach: tiles compute those twice. A row of a stage is a function, a loop cut where a guard
// begins or ends; stages that are alike but for their values share it, and neighbouring ones are a loop.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "codegen/c/render.h"
#include "codegen/ir/iterated_stencil.h"

namespace tarry::codegen {
namespace {

constexpr int kAhead = 4096;  // times the rows of a ring: no row number is negative then

class IteratedWriter {
 public:
  IteratedWriter(const KernelIr& ir, const graph::Target& target)
      : ir_(ir),
        parameters_(make_parameters(ir, {SlotKind::Extent, SlotKind::Tiles})),
        w_(ir, parameters_, target.vector_bytes),
        rings_(rings(ir, ir.as<IteratedStencilLayout>())) {}

  KernelSource render() {
    w_.preamble();
    for (int stage = 0; stage < ir_.stages(); ++stage) row_function(stage);
    find_loops();
    entry();
    KernelSource source = w_.finish();
    source.tile = ir_.as<IteratedStencilLayout>().rows * ir_.as<IteratedStencilLayout>().columns;
    return source;
  }

 private:
  void entry() {
    constexpr std::array kPoint = {Region::Point};
    const Halo all = halo_after(ir_, 0);
    w_.open(fmt::format("TARRY_PLAIN void {0}(const struct {0}_params* p, tarry_i64 lo, tarry_i64 hi)", kEntryName));
    w_.locals();
    for (const IteratedRing& r : rings_)
      if (const auto place = in_loop_.find(r.value); place == in_loop_.end()) {
        w_.line(fmt::format("{} k{}[{}][{}] __attribute__((aligned({})));", c_type(ir_.instrs[r.value].dtype), r.value,
                            r.rows, r.columns, kLineBytes));
      } else if (place->second.second == 0) {
        const StageLoop& l = loops_[place->second.first];
        w_.line(fmt::format("{} loop{}[{}][{}][{}] __attribute__((aligned({})));", c_type(ir_.instrs[r.value].dtype),
                            place->second.first, l.count + 1, r.rows, l.columns, kLineBytes));
      }
    w_.open("for (tarry_i64 item = lo; item < hi; ++item)");
    place_tile(w_);
    w_.bases('b', kPoint, outer_indices(ir_, fmt::format("i{}", ir_.rank - 1)), "0");
    w_.open(fmt::format("for (tarry_i64 row = {}; row < rows + {}; ++row)", -all.top, all.bottom));
    std::set<int> lengths;
    for (const IteratedRing& r : rings_) lengths.insert(r.rows);
    for (const int rows : lengths)
      for (int k = 0; k < rows; ++k)
        w_.line(fmt::format("const tarry_i64 {} = (row + {}) % {};", place(rows, k), rows * kAhead + k, rows));
    for (int stage = 0; stage < ir_.stages();) {
      const auto loop = std::ranges::find(loops_, stage, &StageLoop::first);
      if (loop == loops_.end()) {
        row(stage++, nullptr);
        continue;
      }
      w_.open(fmt::format("for (tarry_i64 s = 0; s < {}; ++s)", loop->count));
      row(stage, &*loop);
      w_.close();
      stage += loop->count;
    }
    w_.close();
    w_.close();
    w_.close();
  }

  /// Neighbouring stages that share a function and take each other's rows, from one ring of as many rows to the next.
  struct StageLoop {
    int first, count, columns;
    Halo by;     ///< what a stage is needed for more than the one before
    int behind;  ///< rows that it is behind that one
  };
  void find_loops() {
    const auto ring = [this](Value v) { return *std::ranges::find(rings_, v, &IteratedRing::value); };
    const auto by = [this](int stage) {
      const Halo a = halo_after(ir_, stage), b = halo_after(ir_, stage + 1);
      return Halo{b.top - a.top, b.left - a.left, b.bottom - a.bottom, b.right - a.right};
    };
    const auto behind = [this](int stage) { return rows_behind(ir_, stage + 1) - rows_behind(ir_, stage); };
    for (const IteratedRun& run : find_runs(ir_)) {
      if (run.values.empty()) continue;
      const Halo step = by(run.first);
      const int rows = ring(run.values[1]).rows;
      const auto is_alike = [&](int k) {
        const int stage = run.first + k;
        return function_of_[static_cast<std::size_t>(stage)] == function_of_[static_cast<std::size_t>(run.first)] &&
               by(stage - 1) == step && behind(stage - 1) == behind(run.first) &&
               ring(run.values[static_cast<std::size_t>(k)]).rows == rows &&
               ring(run.values[static_cast<std::size_t>(k) + 1]).rows == rows;
      };
      int first = 0, last = 0;
      while (first < run.count && !is_alike(first)) ++first;
      for (last = first; last < run.count && is_alike(last);) ++last;
      const std::span<const Value> values = std::span(run.values).subspan(static_cast<std::size_t>(first));
      StageLoop loop{run.first + first, last - first, 0, step, behind(run.first)};
      if (loop.count < 2) continue;
      for (int k = 0; k <= loop.count; ++k) {
        const Value v = values[static_cast<std::size_t>(k)];
        loop.columns = std::max(loop.columns, ring(v).columns);
        in_loop_[v] = {loops_.size(), k};
      }
      loops_.push_back(loop);
    }
  }

  /// Where a ring of `rows` rows has the one `by` rows from the current one.
  static std::string place(int rows, int by) { return fmt::format("at{}_{}", rows, ((by % rows) + rows) % rows); }

  /// A row of a stage, or of stage number s of a loop: its place, and a call.
  void row(int stage, const StageLoop* loop) {
    const Halo h = halo_after(ir_, stage), by = loop != nullptr ? loop->by : Halo{};
    const auto number = [](int first, int step) {
      return step == 0 ? fmt::format("{}", first) : fmt::format("({} + s * {})", first, step);
    };
    w_.open("");
    w_.line(fmt::format("const tarry_i64 y = row - {};",
                        number(rows_behind(ir_, stage), loop != nullptr ? loop->behind : 0)));
    w_.open(fmt::format("if (y >= -{} && y < rows + {})", number(h.top, by.top), number(h.bottom, by.bottom)));
    std::vector<std::string> at(static_cast<std::size_t>(ir_.rank), "0");
    if (h.left > 0) at.back() = fmt::format("(-{})", number(h.left, by.left));
    if (ir_.row_dimension() >= 0) at[static_cast<std::size_t>(ir_.row_dimension())] = "y";
    std::string arguments;
    for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a) {
      if (!is_used(a, stage)) continue;
      w_.base('a', a, fmt::format("b{}", a), outer_offset(ir_, a, at, ""));
      arguments += fmt::format(", a{}", a);
    }
    for (const Line& l : lines(stage)) {
      const int rows = l.ring->rows, from = l.row - rows_behind(ir_, stage);
      const std::string index =
          loop == nullptr || loop->behind == 0
              ? place(rows, from)
              : fmt::format("(tarry_u32)(row + {} - s * {}) % {}", rows * kAhead + from, loop->behind, rows);
      // Rings of the loop follow its stages, others begin at the same column for all of them.
      const bool follows =
          loop != nullptr && in_loop_.contains(l.ring->value) && &loops_[in_loop_.at(l.ring->value).first] == loop;
      arguments += fmt::format(", {}[{}] + {}", ring_name(l.ring->value, follows), index,
                               follows ? fmt::format("{}", l.first) : number(l.first, -by.left));
    }
    w_.line(fmt::format("{}_row{}(p, columns + {}{});", kEntryName, function_of_[static_cast<std::size_t>(stage)],
                        number(h.left + h.right, by.left + by.right), arguments));
    w_.close();
    w_.close();
  }

  /// A ring; where it follows the stages of a loop, as its first one has it, that of stage number s.
  [[nodiscard]] std::string ring_name(Value v, bool follows) const {
    const auto found = in_loop_.find(v);
    if (found == in_loop_.end()) return fmt::format("k{}", v);
    const auto [loop, at] = found->second;
    return follows ? fmt::format("loop{}[s + {}]", loop, at) : fmt::format("loop{}[{}]", loop, at);
  }

  /// The loop along a row of a stage, i from its first column, unless a stage before it has the same.
  void row_function(int stage) {
    CWriter::Loop loop{{}, Axis::LastOuter, "i", "0", "length", [this, stage](Value v) { return operand(v, stage); }};
    for (Value v = 0; v < ir_.instrs.size(); ++v) {
      const Instr& in = ir_.instrs[v];
      if (in.stage == stage && in.kind != InstrKind::Scalar && in.kind != InstrKind::Neighbour)
        loop.values.push_back(v);
    }
    for (const IteratedRing& r : rings_)
      if (ir_.instrs[r.value].stage == stage) loop.kept.emplace_back(fmt::format("k{}_at[i]", r.value), r.value);
    loop.vectors = w_.has_vectors(loop);
    const std::string text = w_.aside([&] {
      std::string parameters;
      for (std::uint32_t a = 0; a < ir_.accesses.size(); ++a)
        if (is_used(a, stage)) parameters += fmt::format(", {} a{}", w_.address_type(a), a);
      for (const Line& l : lines(stage))
        parameters +=
            fmt::format(", {}{}* const {}", l.is_own ? "" : "const ", c_type(ir_.instrs[l.ring->value].dtype), l.name);
      w_.open(fmt::format(
          "static {0}__attribute__((noinline)) void {1}_row{2}(const struct {1}_params* p, tarry_i64 length{3})",
          loop.vectors ? "TARRY_GUARDED " : "", kEntryName, stage, parameters));
      w_.locals();
      w_.loop(loop);
      w_.close();
    });
    const auto [known, is_new] = functions_.emplace(without_names(text, stage), stage);
    function_of_.push_back(known->second);
    if (is_new) w_.label(std::string_view(text).substr(0, text.size() - 1));
  }

  /// The text of a row with its values, rings and the stage numbered from 0.
  static std::string without_names(const std::string& text, int stage) {
    std::map<std::string, std::size_t> numbers;
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i + 1;
      if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
        while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
        const std::string word = text.substr(i, end - i);
        const bool is_name = (word[0] == 'v' || word[0] == 'k') && word.size() > 1 &&
                             std::isdigit(static_cast<unsigned char>(word[1])) != 0;
        if (is_name)
          result += fmt::format("{}{}", word[0], numbers.emplace(word, numbers.size()).first->second);
        else
          result += word == fmt::format("row{}", stage) ? "row" : word;
      } else {
        result += text[i];
      }
      i = end;
    }
    return result;
  }

  [[nodiscard]] bool is_used(std::uint32_t access, int stage) const {
    for (const Instr& in : ir_.instrs) {
      if (in.stage != stage) continue;
      if ((in.kind == InstrKind::Load || in.kind == InstrKind::Store) && in.index == access) return true;
      const std::uint32_t guard = in.kind == InstrKind::Inside ? in.index : in.guard;
      if (guard == kNone) continue;
      for (const GuardTerm& term : ir_.guards[guard].terms)
        if (term.access == access) return true;
    }
    return false;
  }

  /// A row of a ring that a stage writes or reads, from the column of i = 0.
  struct Line {
    const IteratedRing* ring;
    bool is_own;
    int row, first;
    std::string name;
  };
  [[nodiscard]] std::vector<Line> lines(int stage) const {
    std::vector<Line> found;
    for (const IteratedRing& r : rings_) {
      const int made = ir_.instrs[r.value].stage, first = halo_after(ir_, made).left - halo_after(ir_, stage).left;
      if (made == stage) {
        found.push_back({&r, true, 0, first, fmt::format("k{}_at", r.value)});
        continue;
      }
      std::vector<int> seen;
      for (const Instr& in : ir_.instrs) {
        if (in.stage != stage || std::find(in.args.begin(), in.args.end(), r.value) == in.args.end()) continue;
        if (std::find(seen.begin(), seen.end(), in.row) != seen.end()) continue;
        seen.push_back(in.row);
        found.push_back({&r, false, in.row, first, name(r.value, in.row)});
      }
    }
    return found;
  }

  static std::string name(Value v, int row) { return fmt::format("k{}_{}{}", v, row < 0 ? "m" : "", std::abs(row)); }

  [[nodiscard]] std::string operand(Value v, int stage) const {
    const Instr& in = ir_.instrs[v];
    if (in.kind == InstrKind::Neighbour) return fmt::format("{}[i + {}]", name(in.args[0], in.row), in.column);
    if (in.kind == InstrKind::Scalar || in.stage == stage) return value_name(v);
    return fmt::format("{}[i]", name(v, 0));
  }

  const KernelIr& ir_;
  const Parameters parameters_;
  CWriter w_;
  const std::vector<IteratedRing> rings_;
  std::map<std::string, int> functions_;  ///< by text without names, the stage that it was written for
  std::vector<int> function_of_;          ///< by stage
  std::vector<StageLoop> loops_;
  std::map<Value, std::pair<std::size_t, int>> in_loop_;  ///< a ring's loop and its number in it
};

}  // namespace

KernelSource render_c_iterated_stencil(const KernelIr& ir, const graph::Target& target) {
  return IteratedWriter(ir, target).render();
}

}  // namespace tarry::codegen
