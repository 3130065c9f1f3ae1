// CUDA C from KernelIr: what the pointwise and the reduction renderer and the launch geometry share.
//
// Every kernel is the same few device functions, written for its instructions, and one fixed skeleton per schedule that
// calls them. A thread handles `items` neighbouring points at a time: along the last outer dimension (Pointwise,
// ReduceOuter) or along the reduced axis (ReduceInner, RowInner, ScanInner, ScanTiles, ReduceSerial of long rows).
//   place    addresses of every access at an outer index       load, store   the items' operands, the first m of them
//   begin    Row values                                        point         one item: Point instructions
//   finish   Outer instructions
// A Row or Scan schedule has load, store, point and finish once per stage, ReduceRowColumn finish only: its points, of
// the second stage, keep what the reductions of the first one take. A thread of RowInner has the same points in every
// stage; what later stages need of them it holds in registers or computes again (plan_stages).
// Lengths and positions that are not in the text are launch arguments; nothing depends on a device.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/ir/contract.h"
#include "codegen/ir/fit.h"
#include "codegen/ir/held.h"
#include "codegen/ir/kernel_ir.h"
#include "codegen/render/common.h"
#include "codegen/render/kernel_source.h"

namespace tarry::codegen::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;
inline constexpr int kSingleThreads = 128;  ///< of a pointwise kernel with single points: a multiprocessor's registers
                                            ///< are shared out in small parts
inline constexpr int kInnerItems = 4;       ///< lanes of a tree block per thread, or more where elements are narrow
inline constexpr int kTileItems = 4;        ///< neighbouring columns of a thread of Contract; it has two such runs
inline constexpr int kTileLanes = 2;        ///< lanes of a tree block of a thread of ContractReduce, four elements each
inline constexpr int kInnerSteps =
    32;  ///< a warp takes at most so many steps of twice as many blocks as a thread has items

/// A map without tiles, whose last thread block goes point by point.
inline bool has_single_points(const KernelIr& ir) {
  return ir.is_map() && !ir.has(trait::kTiles | trait::kContraction);
}

/// Vectors (of `vector` points) per thread of a pointwise kernel: one, or four single points. Two where nothing is
/// loaded and little computed: the stores of one hide what the other computes.
inline int pointwise_groups(const KernelIr& ir) {
  if (ir.vector() == 1) return kPointGroups;
  const auto loads = [&](const Access& a) { return !a.store && a.buffer != kNone; };
  const bool two =
      std::none_of(ir.accesses.begin(), ir.accesses.end(), loads) && !has_many_instructions(ir, ir.vector());
  return two ? 2 : 1;
}

/// How a thread block of ReduceOuter is cut, so that its states fit the shared memory of every target. A tree block has
/// eight threads for each of those side by side; where a warp is wider than the rows are, more tree blocks are at hand
/// at once.
struct OuterTile {
  int items = 1;        ///< columns per thread
  int width = 32;       ///< threads side by side, a power of two
  int step_blocks = 1;  ///< tree blocks between two barriers
  int levels = 1;       ///< a chunk has at most 2^(levels - 1) steps
  [[nodiscard]] int columns() const { return width * items; }
  [[nodiscard]] bool narrow() const { return width < 32; }  ///< a tile is all columns of the last outer dimension
  [[nodiscard]] int column_class() const { return codegen::column_class(columns()); }
  [[nodiscard]] int warp_blocks() const {
    return std::max(1, 32 / column_class());
  }  ///< tree blocks of which a warp has a column each
};
OuterTile outer_tile(const KernelIr& ir);
/// Tiles that a thread of a Planar kernel computes.
int planar_tiles(const KernelIr& ir);

/// Chunk states that a thread of the last thread block folds at a time; of a row it has no more than these.
int fold_width(const KernelIr& ir);

/// Threads of a block of a pointwise kernel.
inline int pointwise_threads(const KernelIr& ir) { return ir.as<PointwiseLayout>().single ? kSingleThreads : kThreads; }

/// Items per thread of a kernel.
int items(const KernelIr& ir);
/// True if they lie along the reduced axis.
inline bool along_row(const KernelIr& ir) {
  return ir.has(trait::kAlong) || (ir.schedule() == Schedule::ReduceSerial && ir.vector() > 1);
}

/// The instructions of a stage of a kernel, and the values that go from stage to stage.
struct Stage {
  int number = 0;
  bool stores = false;       ///< runs Point stores
  bool draws = false;        ///< runs draws in a function of their own, see draws_late
  bool rolled = false;       ///< the steps of a lane share one copy of the code, each of which loads for itself
  bool brief = false;        ///< whole blocks have no text of their own, but that of any part of them
  std::vector<bool> runs;    ///< per instruction: a Point instruction that runs here, perhaps once more
  std::vector<Value> keeps;  ///< Point values computed here that a later stage finds held
  std::vector<Value> held;   ///< Point values found held
  std::vector<std::uint32_t> reductions;
};

/// How RowInner lays a row of up to blocks_per_row tree blocks on threads: longer rows have a thread block for
/// themselves, or a cluster of them, of which each warp holds `units` times as many blocks as fit side by side.
struct RowTile {
  int blocks = 1;   ///< tree blocks of the row in a warp, a power of two
  int width = 32;   ///< threads of a block
  int cluster = 1;  ///< thread blocks per row
  int warps = 1;    ///< per row, of a thread block
  int units = 1;    ///< per warp: 1, 2 or 4
  int rows = 1;     ///< per thread block
  [[nodiscard]] int threads() const { return rows * warps * blocks * width; }
  [[nodiscard]] int unit() const { return kTreeBlock * blocks; }     ///< elements
  [[nodiscard]] int part() const { return warps * units * unit(); }  ///< elements of a row that a thread block holds
};
RowTile row_tile(const KernelIr& ir, int most_warps);
/// Elements that a lane of a tree block takes at most.
inline int lane_steps(const KernelIr& ir) {
  const auto* row = std::get_if<RowInnerLayout>(&ir.layout);
  return row && row->half_block ? 2 : 4;
}
/// Elements of a column of a tree block that a thread of ReduceOuter takes.
inline constexpr int kColumnSteps = 16;
/// Elements of a thread's row that a scan has as text.
inline constexpr int kSerialElements = 32;
/// Thread blocks of RowInner for so many rows.
std::int64_t row_thread_blocks(const KernelIr& ir, std::int64_t rows);

struct StagePlan {
  std::vector<Stage> stages;   ///< one, but for the Row schedules
  std::vector<Value> kept;     ///< Point values held in registers, ascending
  std::vector<Value> carried;  ///< Outer values that later stages use, ascending
  RowTile tile;                ///< RowInner
  int registers = 0;           ///< RowInner: estimate of what a thread needs
  bool rolls = false;          ///< stages are brief, and rolled where nothing is held from one to the next
  [[nodiscard]] bool keeps(Value v) const;
  /// Thread blocks per multiprocessor that RowInner asks for.
  [[nodiscard]] int resident() const;
};
StagePlan plan_stages(const KernelIr& ir);
/// True for an Index that nothing uses: it may be out of range nevertheless.
bool only_checks(const KernelIr& ir, Value v);
/// The stage at whose end an Outer instruction runs; the result of a reduction is there when that is.
int outer_stage(const KernelIr& ir, Value v);

/// True if the items' words of a draw come from blocks that they share.
bool shares_block(const KernelIr& ir, Value v);
/// True if `draw` draws such words just before the points, so that nothing holds them while other loads are in flight;
/// else `load` does.
inline bool draws_late(const KernelIr& ir) { return ir.has(trait::kLanes); }

/// Text with $N (entry), $S (entry, or that of the stage), $K (index along the reduced axis), $O (flat outer index), $W
/// (items), $total (extent of the reduced axis) and `more` put in. Lines that begin with @S are there for stages with
/// Point stores only, those with @D for stages that draw late, those with @R for rolled stages and @U for others,
/// those with @B for brief stages and @W for others; $once keeps a loop of a rolled stage from being unrolled, $s is
/// the set of loads of step s.
class Template {
 public:
  Template(const KernelIr& ir, const Stage& stage, std::vector<std::pair<std::string, std::string>> more = {});
  [[nodiscard]] std::string fill(std::string_view text) const;

 private:
  [[nodiscard]] bool is_there(char kind) const;
  bool stores_, draws_, rolled_, brief_;
  std::vector<std::pair<std::string, std::string>> replacements_;
};

/// The device functions listed above, for one kernel.
class Functions {
 public:
  Functions(const KernelIr& ir, const StagePlan& plan);
  [[nodiscard]] std::string shared_text();                   ///< types and functions that all stages use
  [[nodiscard]] std::string stage_text(const Stage& stage);  ///< after the stage's state_type
  /// The other way of a kernel of rows and columns: what its reductions take, from what a point keeps for them, and
  /// `finish`.
  [[nodiscard]] std::string along_text(const Stage& stage);
  /// A tiled schedule's step of a loop at an item of a point: takes `staged` operands from z, updates its folds.
  [[nodiscard]] std::string loop_text(std::uint32_t loop, const std::vector<std::uint32_t>& staged);
  [[nodiscard]] Expressions& expressions() { return expressions_; }
  /// True if `hold` makes something before a row that all its points use.
  [[nodiscard]] bool holds() const;

 private:
  /// Accesses of the stage's points to memory.
  struct Member {
    std::uint32_t access, guard;
    bool single;  ///< one value for all items
    [[nodiscard]] std::string name() const;
    friend bool operator==(const Member& a, const Member& b) { return a.access == b.access; }
  };
  [[nodiscard]] std::vector<Member> members(bool store) const;
  [[nodiscard]] Dtype element_type(std::uint32_t access) const { return ir_.buffers[ir_.accesses[access].buffer]; }
  [[nodiscard]] Member load_member(const Instr& in) const;
  [[nodiscard]] bool vector_access(std::uint32_t access) const;
  [[nodiscard]] bool packs(Dtype dtype) const;
  [[nodiscard]] bool packed(const Member& m) const;
  [[nodiscard]] std::string vector_type(const Member& m, bool store) const;
  [[nodiscard]] StrideClass item_class(std::uint32_t access) const;
  [[nodiscard]] std::string element(std::uint32_t access, Region region) const;
  [[nodiscard]] std::vector<Value> draws() const;
  void draw();
  void draw(Value v);
  [[nodiscard]] std::string guard(std::uint32_t index, Region region) const;
  [[nodiscard]] bool may_lack_row(const Instr& in) const;
  [[nodiscard]] std::string at_place(const Instr& in, Region region, Region placed) const;
  void index();
  [[nodiscard]] std::string operand(Value v, Region user) const;
  [[nodiscard]] std::vector<Value> row_values() const;
  void types();
  void place();
  void next_row();
  void begin();
  void values(const char* type, const std::vector<Value>& values);
  void moved(bool store);
  void move(bool store);
  void move_items(bool store, const std::vector<Member>& some);
  void move_item(bool store, const std::vector<Member>& some);
  void store_lines(const Member& m);
  [[nodiscard]] bool indexed() const;
  void taken();
  void take(const std::function<std::string(Value)>& name, std::string_view at);
  void point();
  void finish();
  void instructions(Region region, bool alone);
  [[nodiscard]] bool is_fold(Value v, std::uint32_t loop) const;
  void fold_loop(std::uint32_t loop, Region region, Region placed);
  [[nodiscard]] std::vector<std::uint32_t> loop_loads(std::uint32_t loop) const;
  [[nodiscard]] std::string steps_head(std::uint32_t loop) const;
  void load_steps(std::uint32_t loop, const std::vector<std::uint32_t>& loads, Region placed);
  [[nodiscard]] bool loads_ahead(std::uint32_t loop) const;
  [[nodiscard]] std::vector<std::uint32_t> loops_ahead() const;
  [[nodiscard]] std::string ahead_fields() const;
  void load_ahead();
  /// How a step of a loop is written.
  struct LoopText {
    Region region = Region::Point;        ///< what the loop sees
    Region placed = Region::Point;        ///< the place of its accesses
    std::vector<std::uint32_t> loaded{};  ///< accesses whose operands are there
    bool ahead = false;                   ///< ... with those of other points
    const HeldLoop* held = nullptr;
    bool before = false;  ///< the instructions that run once before a row, else the others
  };
  void loop_body(std::uint32_t loop, const LoopText& body);
  [[nodiscard]] std::string loop_load(std::uint32_t loop, std::uint32_t access, const LoopText& body) const;
  [[nodiscard]] bool is_held(std::uint32_t loop, std::uint32_t access) const;
  void hold();
  void load(Value v, Region region, const std::string& at);
  void store(Value v, Region region, const std::string& at);

  const KernelIr& ir_;
  const StagePlan& plan_;
  const int items_;
  const std::string item_;            ///< where item j of a thread lies along the row
  const std::vector<HeldLoop> held_;  ///< by loop
  const Stage* stage_ = nullptr;
  Expressions expressions_;
  CodeWriter out_;
};

/// The struct of a stage's partial result, and its functions: first and step (a lane takes an element), combine (two
/// nodes, given the split of their elements), even and share (that split), down and from (another lane of the warp).
std::string state_type(const KernelIr& ir, const Stage& stage);
/// True if all reductions of a stage have the same bits in any order.
bool in_any_order(const KernelIr& ir, const Stage& stage);
std::string state_functions(const KernelIr& ir, const Stage& stage, Expressions& expressions);
/// Combines lanes of incomplete tree blocks: lane_pair, uneven.
std::string_view lane_functions();
/// The tree above whole nodes: tree, push, collect; arrive; both. lanes, of one column of a block; fold, of the chunks
/// of a tile of columns that have $total elements each.
std::string node_functions();
std::string_view arrive_function();
std::string tree_functions();
std::string_view column_lanes();
std::string_view column_fold();
/// Tree blocks by eight threads each, or by a warp where items are interleaved: take and node of whole ones, which
/// brief stages do without, and some; and the choices that they leave open.
std::string block_functions(const KernelIr& ir, const Stage& stage);
std::vector<std::pair<std::string, std::string>> block_choices(const KernelIr& ir, const Stage& stage, int blocks);

/// Rows of a thread of ReduceSerial, neighbours along the first dimension.
int serial_tile(const KernelIr& ir);
/// Rows per thread block of ReduceSerial and RowSerial, one for each thread.
int serial_rows(const KernelIr& ir);

/// The renderers and geometries of schedules.
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, c_render, c_geometry, render, geometry) \
  KernelSource render(const KernelIr& ir, const graph::Target& target);                                      \
  Geometry geometry(const KernelIr& ir, const graph::Target& target, const KernelArgs& args);
#include "codegen/ir/schedules.def"

}  // namespace tarry::codegen::cuda
