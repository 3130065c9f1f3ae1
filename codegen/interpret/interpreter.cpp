// The tile interpreter of KernelIr. Written for clarity: it follows kernel_ir.h and docs/reference/numerics.md sentence
// by sentence.
#include "codegen/interpret/interpreter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/interpret/scan.h"
#include "codegen/interpret/tree.h"
#include "codegen/ir/iterated_stencil.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr int kTile = 256;

class Machine {
 public:
  Machine(const KernelIr& ir, const KernelArgs& args, std::span<void* const> buffers,
          std::span<const std::uint64_t> scalars, Traffic* traffic)
      : ir_(ir),
        args_(args),
        buffers_(buffers),
        scalars_(scalars),
        traffic_(traffic),
        tile_(ir.is_row() ? std::max<std::int64_t>(args.reduced, 1) : kTile),
        values_(ir.instrs.size() * static_cast<std::size_t>(tile_)),
        functions_(ir.instrs.size()),
        positions_(ir.accesses.size() * static_cast<std::size_t>(tile_)) {
    for (std::size_t i = 0; i < ir.instrs.size(); ++i) {
      const Instr& in = ir.instrs[i];
      if (in.kind == InstrKind::Compute) {
        const Value input = in.args[in.op == Op::Where ? 1 : 0];
        functions_[i] = scalar_function(in.op, ir.instrs[input].dtype, in.dtype);
      }
      if (in.region == Region::Loop)
        users_.push_back(ir.home_region(in));
      else
        users_.push_back(in.region);
      if (in.kind == InstrKind::Scalar)
        for (std::int64_t t = 0; t < tile_; ++t) std::memcpy(value(i, t).bytes, &scalars[in.index], 8);
    }
    for (const Fold& f : ir.folds) folders_.emplace_back(Reduction{f.op, f.dtype, 0, {f.arg, kNone}, kNone}, 1);
    for (const Reduction& r : ir.reductions)
      reducers_.emplace_back(r, r.weight == kNone ? 1 : static_cast<std::int64_t>(scalars[r.weight]));
  }

  void run() {
    const std::int64_t total = args_.outer_count();
    if (ir_.has(trait::kNeighbours)) return run_steps();
    if (ir_.is_map()) {
      for (std::int64_t at = 0; at < total; at += tile_) {
        const std::int64_t count = std::min(tile_, total - at);
        place_outer(at, count);
        execute(Region::Point, 0, count);
      }
      return;
    }
    if (ir_.is_row_column()) {
      for (std::int64_t o = 0; o < total; o += args_.extents.back()) run_row_column(o);
      return;
    }
    if (ir_.is_recurrence()) {
      for (std::int64_t at = 0; at < total; at += tile_) run_lanes(at, std::min(tile_, total - at));
      return;
    }
    for (std::int64_t o = 0; o < total; ++o) ir_.is_scan() ? scan_row(o) : run_row(o);
  }

 private:
  Cell& value(std::size_t instr, std::int64_t t) {
    return values_[instr * static_cast<std::size_t>(tile_) + static_cast<std::size_t>(t)];
  }
  std::int64_t& position(std::size_t access, std::int64_t t) {
    return positions_[access * static_cast<std::size_t>(tile_) + static_cast<std::size_t>(t)];
  }

  // --- Places -------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::int64_t outer_offset(std::size_t access, std::int64_t flat) const {
    const AccessArgs& a = args_.accesses[access];
    std::int64_t offset = a.offset;
    for (int d = ir_.rank; d-- > 0;) {
      offset += flat % args_.extents[d] * a.strides[d];
      flat /= args_.extents[d];
    }
    return offset;
  }

  void place_outer(std::int64_t first, std::int64_t count) {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      for (std::int64_t t = 0; t < count; ++t) position(a, t) = outer_offset(a, first + t);
  }

  void place_reduced(const std::vector<std::int64_t>& row, std::int64_t k, std::int64_t count) {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      for (std::int64_t t = 0; t < count; ++t) position(a, t) = row[a] + (k + t) * args_.accesses[a].reduced_stride;
  }

  // --- Instructions -------------------------------------------------------------------------------------------------

  void execute(Region region, int stage, std::int64_t count) {
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i)
      if (ir_.instrs[i].region == region && ir_.instrs[i].stage == stage) execute(i, count);
  }

  void execute(std::size_t i, std::int64_t count) {
    const Instr& in = ir_.instrs[i];
    switch (in.kind) {
      case InstrKind::Scalar:
      case InstrKind::Result:   // filled once per launch, or after the reductions
      case InstrKind::Carried:  // before the level
      case InstrKind::Number:
      case InstrKind::Earlier:
      case InstrKind::Later:
      case InstrKind::While: return;  // behind it
      case InstrKind::Load: return load(i, in, count);
      case InstrKind::Store: return store(in, count);
      case InstrKind::Inside: return inside(i, in, count);
      case InstrKind::Index: return index(i, in, count);
      case InstrKind::Gather: return gather(i, in, count);
      case InstrKind::Neighbour:
        for (std::int64_t t = 0; t < count; ++t)
          value(i, t) = sheets_[in.args[0]].at(row_ + in.row, column_ + t + in.column);
        return;
      case InstrKind::Fold:
        if (ir_.first_fold(ir_.folds[in.index].loop) == i) run_loop(ir_.folds[in.index].loop, count);
        return;
      case InstrKind::Last:
        for (std::int64_t t = 0; t < count; ++t) value(i, t) = value(in.args[0], t);
        return;
      case InstrKind::Keep:
        for (std::int64_t t = 0; t < count; ++t) kept(in, t) = value(in.args[0], t);
        return;
      case InstrKind::Kept:
        for (std::int64_t t = 0; t < count; ++t) value(i, t) = kept(in, t);
        return;
      case InstrKind::Compute: break;
    }
    const Value a = in.args[0], b = in.args[1], c = in.args[2];
    for (std::int64_t t = 0; t < count; ++t)
      functions_[i](value(i, t).bytes, operand(a, users_[i], t), operand(b, users_[i], t), operand(c, users_[i], t));
  }

  /// A loop at `count` points: its steps from left to right, each at all of them.
  void run_loop(std::uint32_t loop, std::int64_t count) {
    const auto steps = static_cast<std::int64_t>(scalars_[ir_.loops[loop]]);
    const Region region = ir_.instrs[ir_.first_fold(loop)].region;
    std::vector<std::vector<Part>> parts(ir_.folds.size(), std::vector<Part>(static_cast<std::size_t>(count)));
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < ir_.instrs.size(); ++i)
        if (ir_.instrs[i].loop == loop) execute(i, count);
      for (std::size_t f = 0; f < ir_.folds.size(); ++f) {
        if (ir_.folds[f].loop != loop) continue;
        for (std::int64_t t = 0; t < count; ++t) {
          Part& part = parts[f][static_cast<std::size_t>(t)];
          const Cell& x = seen(ir_.folds[f].arg, region, t);
          part = step == 0 ? folders_[f].first(x, x, 0) : folders_[f].step(part, x, x, step);
        }
      }
      move_loop(loop, count, 1);
    }
    move_loop(loop, count, -steps);
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i) {
      const Instr& in = ir_.instrs[i];
      if (in.kind != InstrKind::Fold || ir_.folds[in.index].loop != loop) continue;
      for (std::int64_t t = 0; t < count; ++t)
        value(i, t) = folders_[in.index].result(parts[in.index][static_cast<std::size_t>(t)], 0);
    }
  }

  void move_loop(std::uint32_t loop, std::int64_t count, std::int64_t steps) {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
      for (std::int64_t t = 0; ir_.accesses[a].loop == loop && t < count; ++t)
        position(a, t) += steps * args_.accesses[a].loop_stride;
  }

  /// A Row or Outer value seen from a Point instruction has one element.
  Cell& seen(Value v, Region user, std::int64_t t) {
    const Instr& in = ir_.instrs[v];
    const bool single = !ir_.is_recurrence() && user == Region::Point &&
                        (in.region == Region::Row || in.region == Region::Outer) && in.kind != InstrKind::Scalar;
    return value(v, single ? 0 : t);
  }
  const void* operand(Value v, Region user, std::int64_t t) { return v == kNone ? nullptr : seen(v, user, t).bytes; }

  [[nodiscard]] bool holds(std::uint32_t guard, std::int64_t t) {
    if (guard == kNone) return true;
    const auto& terms = ir_.guards[guard].terms;
    return std::all_of(terms.begin(), terms.end(), [&](const GuardTerm& term) {
      const std::int64_t at = position(term.access, t);
      return at >= 0 && at < static_cast<std::int64_t>(scalars_[term.extent]);
    });
  }

  void inside(std::size_t i, const Instr& in, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) put<std::uint8_t>(value(i, t), holds(in.index, t) ? 1 : 0);
  }

  void load(std::size_t i, const Instr& in, std::int64_t count) {
    const Access& a = ir_.accesses[in.index];
    if (a.buffer == kNone) {
      for (std::int64_t t = 0; t < count; ++t) put<std::int64_t>(value(i, t), position(in.index, t));
      return;
    }
    const std::size_t size = itemsize(in.dtype);
    const auto* base = static_cast<const unsigned char*>(buffers_[a.buffer]);
    bool varies = false;
    std::int64_t touched = 0;
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t at = position(in.index, t);
      varies |= at != position(in.index, 0);
      value(i, t) = {};
      if (!holds(in.guard, t)) continue;
      ++touched;
      std::memcpy(value(i, t).bytes, base + at * static_cast<std::int64_t>(size), size);
    }
    if (traffic_)
      traffic_->bytes_read += static_cast<std::int64_t>(size) * (varies ? touched : std::min<std::int64_t>(touched, 1));
  }

  void index(std::size_t i, const Instr& in, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) {
      const auto argument = [&](std::size_t k) { return get<std::int64_t>(seen(in.args[k], users_[i], t)); };
      const std::int64_t given = argument(0), n = argument(1), at = given < 0 ? given + n : given;
      const bool found = holds(in.guard, t), outside = at < 0 || at >= n;
      put<std::int64_t>(value(i, t), found && !outside ? at : 0);
      if (!found || !outside) continue;
      const std::int64_t element = position(ir_.checks[in.index], t) + (in.args[2] == kNone ? 0 : argument(2));
      fault(in.index, element, given);
    }
  }

  void fault(std::uint32_t check, std::int64_t element, std::int64_t given) {
    auto* const words = static_cast<std::uint64_t*>(buffers_[ir_.accesses[ir_.faults].buffer]) + check * kFaultWords;
    const auto number = static_cast<std::uint64_t>(std::min(element, kMostNumber)) << kFaultBits;
    constexpr std::uint64_t kMask = (std::uint64_t{1} << kFaultBits) - 1;
    for (int k = 0; k < kFaultWords; ++k)
      words[k] = std::min(words[k], number | (static_cast<std::uint64_t>(given) >> kFaultBits * k & kMask));
  }

  void gather(std::size_t i, const Instr& in, std::int64_t count) {
    const std::size_t size = itemsize(in.dtype);
    const std::int64_t start = args_.accesses[in.index].offset;
    const auto* base = static_cast<const unsigned char*>(buffers_[ir_.accesses[in.index].buffer]);
    for (std::int64_t t = 0; t < count; ++t) {
      value(i, t) = {};
      if (!holds(in.guard, t)) continue;
      const std::int64_t at = start + get<std::int64_t>(seen(in.args[0], users_[i], t));
      std::memcpy(value(i, t).bytes, base + at * static_cast<std::int64_t>(size), size);
      if (traffic_) traffic_->bytes_read += static_cast<std::int64_t>(size);
    }
  }

  void store(const Instr& in, std::int64_t count) {
    const std::size_t size = itemsize(in.dtype);
    auto* base = static_cast<unsigned char*>(buffers_[ir_.accesses[in.index].buffer]);
    for (std::int64_t t = 0; t < count; ++t)
      std::memcpy(base + position(in.index, t) * static_cast<std::int64_t>(size), operand(in.args[0], in.region, t),
                  size);
    if (traffic_) traffic_->bytes_written += static_cast<std::int64_t>(size) * count;
  }

  // --- Steps --------------------------------------------------------------------------------------------------------

  /// A kept value at the points of a plane and around them.
  struct Sheet {
    Halo around;
    std::int64_t pitch = 0;
    std::vector<Cell> cells;
    Sheet() = default;
    Sheet(const Halo& h, std::int64_t rows, std::int64_t columns)
        : around(h),
          pitch(h.left + columns + h.right),
          cells(static_cast<std::size_t>((h.top + rows + h.bottom) * pitch)) {}
    Cell& at(std::int64_t row, std::int64_t column) {
      return cells[static_cast<std::size_t>((row + around.top) * pitch + column + around.left)];
    }
  };

  /// Plane after plane, of each stage after stage at all points that later ones ask for.
  void run_steps() {
    const std::vector<bool> kept = kept_values(ir_);
    const std::int64_t columns = args_.extents.back(), rows = ir_.rank > 1 ? args_.extents[ir_.rank - 2] : 1;
    const std::int64_t planes = ir_.rank > 2 ? args_.extents[0] : 1;
    sheets_.resize(ir_.instrs.size());
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      for (int stage = 0; stage < ir_.stages(); ++stage) {
        const Halo h = halo_after(ir_, stage);
        for (Value v = 0; v < ir_.instrs.size(); ++v)
          if (kept[v] && ir_.instrs[v].stage == stage) sheets_[v] = Sheet(h, rows, columns);
        for (row_ = -h.top; row_ < rows + h.bottom; ++row_)
          for (column_ = -h.left; column_ < columns + h.right; column_ += tile_)
            run_points(plane, stage, kept, std::min(tile_, columns + h.right - column_));
      }
    }
  }

  void run_points(std::int64_t plane, int stage, const std::vector<bool>& kept, std::int64_t count) {
    for (std::size_t a = 0; a < ir_.accesses.size(); ++a) {
      const AccessArgs& args = args_.accesses[a];
      std::int64_t at = args.offset + column_ * args.strides.back();
      if (ir_.rank > 1) at += row_ * args.strides[ir_.rank - 2];
      if (ir_.rank > 2) at += plane * args.strides[0];
      for (std::int64_t t = 0; t < count; ++t) position(a, t) = at + t * args.strides.back();
    }
    const auto each_kept = [&](auto wanted, auto f) {
      for (Value v = 0; v < ir_.instrs.size(); ++v)
        for (std::int64_t t = 0; kept[v] && wanted(ir_.instrs[v].stage) && t < count; ++t)
          f(value(v, t), sheets_[v].at(row_, column_ + t));
    };
    each_kept([&](int s) { return s < stage; }, [](Cell& now, Cell& held) { now = held; });
    execute(Region::Point, stage, count);
    each_kept([&](int s) { return s == stage; }, [](Cell& now, Cell& held) { held = now; });
  }

  // --- Recurrences ---------------------------------------------------------------------------------------------------

  /// The element of a lane's array that an instruction names.
  Cell& kept(const Instr& in, std::int64_t t) {
    return arrays_[in.output][static_cast<std::size_t>(position(in.index, t) * tile_ + t)];
  }

  void run_lanes(std::int64_t first, std::int64_t count) {
    arrays_.clear();
    for (const KeptLevels& a : ir_.arrays)
      arrays_.emplace_back(static_cast<std::size_t>(static_cast<std::int64_t>(scalars_[a.extent]) * tile_));
    const auto place = [&](std::int64_t k) {
      place_outer(first, count);
      for (std::size_t a = 0; a < ir_.accesses.size(); ++a)
        for (std::int64_t t = 0; t < count; ++t) position(a, t) += k * args_.accesses[a].reduced_stride;
    };
    for (int stage = 0, loops = static_cast<int>(ir_.levels.size()); stage <= loops; ++stage) {
      place(0);
      execute(Region::Row, stage, count);
      if (stage == loops) return;
      const auto levels = static_cast<std::int64_t>(scalars_[ir_.levels[static_cast<std::size_t>(stage)]]);
      for (std::int64_t k = 0; k < levels; ++k) {
        place(k);
        carry(stage, k, count);
        take_numbers(stage, k, count);
        execute(Region::Point, stage, count);
        if (ended(stage, count)) break;
      }
    }
  }

  /// The numbers of a level.
  void take_numbers(int stage, std::int64_t k, std::int64_t count) {
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i) {
      const Instr& in = ir_.instrs[i];
      if (in.kind != InstrKind::Number || in.stage != stage) continue;
      const std::size_t at = ir_.series[in.index].first + static_cast<std::size_t>(k);
      for (std::int64_t t = 0; t < count; ++t) std::memcpy(value(i, t).bytes, &scalars_[at], 8);
    }
  }

  /// True if no lane changes any more.
  [[nodiscard]] bool ended(int stage, std::int64_t count) {
    for (const Instr& in : ir_.instrs) {
      if (in.kind != InstrKind::While || in.stage != stage) continue;
      for (std::int64_t t = 0; t < count; ++t)
        if (value(in.args[0], t).bytes[0] != 0) return false;
      return true;
    }
    return false;
  }

  /// All that is carried, before any of it changes.
  void carry(int stage, std::int64_t k, std::int64_t count) {
    std::vector<Cell> cells;
    const auto each = [&](auto f) {
      for (std::size_t i = 0; i < ir_.instrs.size(); ++i)
        if (ir_.instrs[i].kind == InstrKind::Carried && ir_.instrs[i].stage == stage)
          for (std::int64_t t = 0; t < count; ++t) f(i, t);
    };
    each([&](std::size_t i, std::int64_t t) { cells.push_back(value(ir_.instrs[i].args[k == 0 ? 0 : 1], t)); });
    std::size_t next = 0;
    each([&](std::size_t i, std::int64_t t) { value(i, t) = cells[next++]; });
  }

  // --- Reductions ---------------------------------------------------------------------------------------------------

  void run_row(std::int64_t outer) {
    std::vector<std::int64_t> row(ir_.accesses.size());
    for (std::size_t a = 0; a < row.size(); ++a) row[a] = outer_offset(a, outer);
    place_reduced(row, 0, 1);
    execute(Region::Row, 0, 1);
    for (int stage = 0, stages = ir_.stages(); stage < stages; ++stage) run_stage(row, stage);
  }

  /// Tiles of a row hold whole blocks; a row schedule's tile is the row, so that later stages find its values.
  void run_stage(const std::vector<std::int64_t>& row, int stage) {
    std::vector<Tree> trees(reducers_.begin(), reducers_.end());
    std::vector<Part> results(reducers_.size());
    for (std::size_t r = 0; r < reducers_.size(); ++r) results[r] = reducers_[r].identity();
    const std::int64_t n = args_.reduced;
    for (std::int64_t k = 0; k < n; k += tile_) {
      const std::int64_t count = std::min(tile_, n - k);
      place_reduced(row, k, count);
      execute(Region::Point, stage, count);
      for (std::size_t r = 0; r < reducers_.size(); ++r) {
        if (ir_.reductions[r].stage != stage) continue;
        if (n <= kLanes)
          results[r] = lane(r, k, 0, 1, count);
        else
          for (std::int64_t b = 0; b < count; b += kBlock)
            trees[r].push(block(r, k, b, std::min<std::int64_t>(kBlock, count - b)));
      }
    }
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i) {
      const Instr& in = ir_.instrs[i];
      if (in.kind != InstrKind::Result || ir_.reductions[in.index].stage != stage) continue;
      const Part part = n <= kLanes ? results[in.index] : trees[in.index].fold();
      value(i, 0) = reducers_[in.index].result(part, in.output);
    }
    for (std::size_t a = 0; a < row.size(); ++a) position(a, 0) = row[a];
    execute(Region::Outer, stage, 1);
  }

  // --- Crossed ------------------------------------------------------------------------------------------------------

  /// The rows from outer index `first` on: tile after tile of columns, row after row in each.
  void run_row_column(std::int64_t first) {
    const std::int64_t rows = args_.extents.back(), n = args_.reduced;
    std::vector<std::vector<Tree>> along;  // by reduction and row
    for (const Reducer& r : reducers_) along.emplace_back(static_cast<std::size_t>(rows), Tree(r));
    for (std::int64_t k = 0; k < n; k += tile_) {
      const std::int64_t count = std::min(tile_, n - k);
      std::vector<std::vector<Column>> across;  // by reduction and column
      for (const Reducer& r : reducers_) across.emplace_back(static_cast<std::size_t>(count), Column(r));
      for (std::int64_t row = 0; row < rows; ++row) {
        place_reduced(places(first + row), k, count);
        execute(Region::Point, 0, count);
        for (std::size_t r = 0; r < reducers_.size(); ++r) {
          if (ir_.reductions[r].stage == 0)
            for (std::int64_t b = 0; b < count; b += kBlock)
              along[r][static_cast<std::size_t>(row)].push(block(r, k, b, std::min<std::int64_t>(kBlock, count - b)));
          else
            for (std::int64_t t = 0; t < count; ++t)
              across[r][static_cast<std::size_t>(t)].take(input(r, 0, t), input(r, 1, t));
        }
      }
      for_results(1, [&](std::size_t r, std::size_t i, std::uint32_t output) {
        for (std::int64_t t = 0; t < count; ++t)
          value(i, t) = reducers_[r].result(across[r][static_cast<std::size_t>(t)].fold(), output);
      });
      place_reduced(places(first), k, count);
      execute(Region::Outer, 1, count);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      for_results(0, [&](std::size_t r, std::size_t i, std::uint32_t output) {
        value(i, 0) = reducers_[r].result(along[r][static_cast<std::size_t>(row)].fold(), output);
      });
      place_outer(first + row, 1);
      execute(Region::Outer, 0, 1);
    }
  }

  /// f(reduction, instruction, output) for the results of a stage.
  template <class F>
  void for_results(int stage, const F& f) {
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i) {
      const Instr& in = ir_.instrs[i];
      if (in.kind == InstrKind::Result && ir_.reductions[in.index].stage == stage)
        f(std::size_t{in.index}, i, in.output);
    }
  }

  [[nodiscard]] std::vector<std::int64_t> places(std::int64_t outer) const {
    std::vector<std::int64_t> at(ir_.accesses.size());
    for (std::size_t a = 0; a < at.size(); ++a) at[a] = outer_offset(a, outer);
    return at;
  }

  // --- Scans --------------------------------------------------------------------------------------------------------

  void scan_row(std::int64_t outer) {
    std::vector<std::int64_t> row(ir_.accesses.size());
    for (std::size_t a = 0; a < row.size(); ++a) row[a] = outer_offset(a, outer);
    place_reduced(row, 0, 1);
    execute(Region::Row, 0, 1);
    ir_.combines() ? scan_states(row) : scan_values(row);
  }

  /// f(k, count): `count` points from k on, of which stage 0 is done.
  template <class F>
  void each_tile(const std::vector<std::int64_t>& row, const F& f) {
    for (std::int64_t k = 0; k < args_.reduced; k += tile_) {
      const std::int64_t count = std::min(tile_, args_.reduced - k);
      place_reduced(row, k, count);
      execute(Region::Point, 0, count);
      f(k, count);
      execute(Region::Point, 1, count);
    }
  }

  /// Every scan by itself.
  void scan_values(const std::vector<std::int64_t>& row) {
    const auto combining = [&](std::size_t r) {
      return [this, r](const Part& a, const Part& b) { return reducers_[r].combine(a, b); };
    };
    std::vector<Scan<Part, decltype(combining(0))>> scans;
    for (std::size_t r = 0; r < reducers_.size(); ++r) scans.emplace_back(BlockNode::OfTree, combining(r));
    each_tile(row, [&](std::int64_t k, std::int64_t count) {
      for (std::size_t r = 0; r < reducers_.size(); ++r)
        scan_tile(
            scans[r], count, [&](std::int64_t t) { return reducers_[r].first(input(r, 0, t), input(r, 1, t), k + t); },
            [&](std::int64_t t, const Part& result) { set_result(r, t, result.a); });
    });
  }

  /// All states together.
  void scan_states(const std::vector<std::int64_t>& row) {
    using State = std::vector<Cell>;
    const auto combining = [this](const State& a, const State& b) { return combine(a, b); };
    Scan<State, decltype(combining)> scan(BlockNode::OfRows, combining);
    each_tile(row, [&](std::int64_t, std::int64_t count) {
      const auto element = [&](std::int64_t t) {
        State s;
        for (std::size_t r = 0; r < reducers_.size(); ++r) s.push_back(input(r, 0, t));
        return s;
      };
      scan_tile(scan, count, element, [&](std::int64_t t, const State& s) {
        for (std::size_t r = 0; r < s.size(); ++r) set_result(r, t, s[r]);
      });
    });
  }

  void set_result(std::size_t r, std::int64_t t, const Cell& result) {
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i)
      if (ir_.instrs[i].kind == InstrKind::Result && ir_.instrs[i].index == r) value(i, t) = result;
  }

  std::vector<Cell> combine(const std::vector<Cell>& a, const std::vector<Cell>& b) {
    for (std::size_t i = 0; i < ir_.instrs.size(); ++i) {
      const Instr& in = ir_.instrs[i];
      if (in.region != Region::Combine) continue;
      if (in.kind == InstrKind::Compute)
        execute(i, 1);
      else
        value(i, 0) = (in.kind == InstrKind::Earlier ? a : b)[in.index];
    }
    std::vector<Cell> both;
    for (const Reduction& r : ir_.reductions) both.push_back(value(r.combined, 0));
    return both;
  }

  /// Elements first, first + step, ... of the tile below `end`, in increasing order; the tile begins at index k.
  Part lane(std::size_t r, std::int64_t k, std::int64_t first, std::int64_t step, std::int64_t end) {
    Part p = reducers_[r].first(input(r, 0, first), input(r, 1, first), k + first);
    for (std::int64_t t = first + step; t < end; t += step)
      p = reducers_[r].step(p, input(r, 0, t), input(r, 1, t), k + t);
    return p;
  }

  Part block(std::size_t r, std::int64_t k, std::int64_t first, std::int64_t m) {
    Part lanes[kLanes];
    const std::int64_t present = std::min<std::int64_t>(m, kLanes);
    for (std::int64_t l = 0; l < present; ++l) lanes[l] = lane(r, k, first + l, kLanes, first + m);
    return combine_lanes(reducers_[r], lanes, present);
  }

  const Cell& input(std::size_t r, std::size_t which, std::int64_t t) {
    static const Cell none{};
    const Value v = ir_.reductions[r].args[which];
    return v == kNone ? none : seen(v, Region::Point, t);
  }

  const KernelIr& ir_;
  const KernelArgs& args_;
  std::span<void* const> buffers_;
  std::span<const std::uint64_t> scalars_;
  Traffic* traffic_;
  std::int64_t tile_;  // points at a time
  std::vector<Cell> values_;
  std::vector<ScalarFunction> functions_;
  std::vector<std::int64_t> positions_;
  std::vector<Reducer> reducers_, folders_;  // by reduction, by fold
  std::vector<Region> users_;                // by instruction: the region it runs in
  std::vector<std::vector<Cell>> arrays_;    // by array of a recurrence: element, then lane
  std::vector<Sheet> sheets_;                // by instruction, of a Steps kernel
  std::int64_t row_ = 0, column_ = 0;        // of the first point at hand
};

}  // namespace

void interpret(const KernelIr& ir, const KernelArgs& args, std::span<void* const> buffers,
               std::span<const std::uint64_t> scalars, Traffic* traffic) {
  Machine(ir, args, buffers, scalars, traffic).run();
}

}  // namespace tarry::codegen
