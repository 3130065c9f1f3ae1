// Shared by the parts of the C renderer: a writer of loops over the vector axis.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/c/pieces.h"
#include "codegen/render/common.h"
#include "codegen/render/kernel_source.h"

namespace tarry::codegen {

inline constexpr int kLineBytes = 64;  ///< of a cache line

inline constexpr int kPart =
    256;  ///< points between which those that follow are asked for, or for which functions are called

/// True if an operand is spelt as an element of an array.
inline bool is_element(const std::string& text) { return text.ends_with("]"); }

/// The axis that an inner loop runs along.
enum class Axis { LastOuter, Reduced };

/// Writes a C kernel. Names in the text: p the parameter struct, i0, i1, ... outer indices, a0, a1, ... pointers (of an
/// iota: the sum) to the first element of the current loop, v0, v1, ... values.
class CWriter : public CodeWriter {
 public:
  using Operand = std::function<std::string(Value)>;

  /// Instructions computed at every `i` in from..to-1 of `axis`; `operand` names values, also those from elsewhere.
  /// Those of a loop come with its folds.
  struct Loop {
    std::vector<Value> values;
    Axis axis = Axis::LastOuter;
    std::string i, from, to;
    Operand operand = value_name;
    bool is_short = false;  ///< often of a few vectors or elements, which are best without a loop
    std::vector<std::pair<std::string, Value>> kept = {};  ///< elements of arrays, at i, that take values
    std::map<std::string, std::function<std::string(const std::string&)>> steps = {};  ///< of kept elements: what they
                                                                                       ///< become by a value
    bool runs = true;            ///< long functions are called for a few hundred elements at once
    std::set<Value> drawn = {};  ///< words that a part has drawn
    bool is_part = false;        ///< of at most kPart iterations
    bool is_long = false;        ///< no more than the elements of a vector are left, once in many
    bool vectors = false;        ///< has_vectors(), and they are to be written out
  };

  /// `vector_bytes`: of the vectors of loops that are written out.
  CWriter(const KernelIr& kernel, const Parameters& parameters, int vector_bytes = 0)
      : ir(kernel), expressions(kernel), vector_bytes_(vector_bytes), parameters_(parameters) {
    find_fixed();
  }

  [[nodiscard]] StrideClass stride_class(std::uint32_t access, Axis axis) const;
  [[nodiscard]] std::string element(std::uint32_t access, Axis axis, std::string_view i) const;
  /// Values that lie in arrays of points: no computation from them is done ahead of a loop over these.
  void set_kept(std::vector<bool> kept) {
    kept_ = std::move(kept);
    find_fixed();
  }

  /// Accesses of the kernel that stand for pieces of an array.
  void set_pieces(std::map<std::uint32_t, Pieces> pieces) { pieces_ = std::move(pieces); }

  const KernelIr& ir;
  Expressions expressions;

  void preamble();  ///< macros of the dialect, the parameter struct, what guards need
  /// Text that kernels of a unit share, with kSharedName for its own name: made of `name` and what `write` writes, and
  /// returned.
  std::string share(std::string_view name, const std::function<void()>& write);
  /// The kernel that was written.
  [[nodiscard]] KernelSource finish();
  void locals();  ///< integer parameters, scalars and the sources of gathers as locals
  static std::string source_of_gather(std::uint32_t access);
  /// `name` (one letter) + access number = the access's address at `indices`, plus `k` along the reduced axis.
  void bases(char name, std::span<const Region> regions, std::span<const std::string> indices, std::string_view k);
  void base(char name, std::uint32_t access, const std::string& start, const std::string& offset);
  [[nodiscard]] std::string address_type(std::uint32_t access) const;
  /// The loop, its iterations declared independent. A guard holds on an interval of `i`: the loop is cut where one
  /// begins or ends, so that in each piece it is a constant.
  void loop(const Loop& loop);
  /// True if a loop, or each between its runs, is plain arithmetic on contiguous floats, whose vectors can be written
  /// out.
  [[nodiscard]] bool has_vectors(const Loop& loop) const;
  /// True if it is a function that kernels share, for runs of a loop and single elements.
  [[nodiscard]] static bool is_called(const Instr& instr);
  /// True if an instruction of floats is arithmetic whose vectors vector_arithmetic() writes, of types that
  /// vector_types() declares: `vector`, which may lie anywhere, and whole numbers as `places`.
  [[nodiscard]] static bool is_vector_arithmetic(const Instr& instr);
  std::string vector_arithmetic(Value v, std::span<const std::string> operands);
  void vector_types(Dtype dtype, int bytes);
  void vector_type(Dtype dtype, int bytes);  ///< `vector` alone
  /// The same instructions once, at the first element, as locals of the current scope.
  void straight(const std::vector<Value>& values, const Operand& operand = value_name);
  void open_loop(std::string_view i, std::string_view from, std::string_view to);
  /// One that has a few vectors or elements at best.
  void open_short_loop(std::string_view i, std::string_view from, std::string_view to);

  /// The instructions of a region (and stage) that are not stores, or that are.
  [[nodiscard]] std::vector<Value> instructions(Region region, int stage = 0) const;
  [[nodiscard]] std::vector<Value> stores(Region region) const;
  [[nodiscard]] bool uses(std::uint32_t access, Region region) const;
  /// Narrows *from..*to, a range of steps of `stride` from `at` on, to those where a guard's term holds.
  void inside(const GuardTerm& term, const std::string& at, const std::string& stride, const std::string& from,
              const std::string& to);

  /// True if a value is words of a draw that are made for neighbouring iterations at once, from the first one's number.
  [[nodiscard]] bool shares_blocks(Value v, Axis axis) const;

 protected:
  const int vector_bytes_;

 private:
  struct Vectors;
  [[nodiscard]] Vectors vectors_of(const Loop& loop) const;
  [[nodiscard]] bool is_vector_loop(const Loop& loop) const;
  /// The value of a choice whose guard is a constant; kNone elsewhere.
  [[nodiscard]] Value chosen(const Instr& instr) const;
  [[nodiscard]] std::set<Value> needed(const Loop& loop) const;
  // Guarded loops (c/guarded.cpp).
  [[nodiscard]] bool is_decided(const std::vector<Value>& values) const;
  [[nodiscard]] std::uint32_t undecided(const Loop& loop) const;
  [[nodiscard]] bool is_ladder(const Loop& loop) const;
  void ladder(const Loop& loop);
  void guarded_part(const Loop& loop, const std::vector<std::uint32_t>& guards);
  void run_vectors(const Loop& loop);
  void vector_loop(const Loop& loop, const Vectors& vectors, int bytes);
  std::string vector_value(Value v, const Loop& loop, int bytes, const Operand& operand);
  struct BatchedCalls;
  struct Spread;
  [[nodiscard]] std::vector<Value> step_order(const Loop& loop) const;
  int find_depths(const Loop& loop, const Spread& spread, BatchedCalls& batched) const;
  void find_places(const Loop& loop, BatchedCalls& batched) const;
  [[nodiscard]] BatchedCalls batched_calls_of(const Loop& loop, const Spread& spread) const;
  [[nodiscard]] BatchedCalls small_batched_calls_of(const Loop& loop) const;
  [[nodiscard]] bool is_in_place(Value v, Axis axis) const;
  /// Loop n; `batched` outlives it.
  [[nodiscard]] Loop piece_of(const Loop& loop, const BatchedCalls& batched, std::size_t n) const;
  std::string run_function(Value v, const std::vector<bool>& in_order);
  void call_batch(Value v, const Loop& loop, const BatchedCalls& batched);
  void call_once(Value v, const Operand& operand);
  bool run_parts(const Loop& loop);
  [[nodiscard]] std::string stride(std::uint32_t access, Axis axis) const;
  [[nodiscard]] std::string guarded(const Instr& instr, const std::string& text) const;
  [[nodiscard]] std::string index(const Instr& instr, Axis axis, std::string_view i, const Operand& operand) const;
  void find_fixed() {
    if (!gathers(ir)) return;
    fixed_[0] = find_fixed(Axis::LastOuter);
    fixed_[1] = find_fixed(Axis::Reduced);
  }
  [[nodiscard]] std::vector<bool> find_fixed(Axis axis) const;
  [[nodiscard]] bool is_invariant(const Instr& instr, Axis axis) const;
  [[nodiscard]] std::vector<std::uint32_t> guards_of(const std::vector<Value>& values) const;
  [[nodiscard]] std::vector<std::uint32_t> pieced(const std::vector<Value>& values) const;
  void choose_piece(std::uint32_t access);
  [[nodiscard]] std::string condition(std::uint32_t guard) const;
  void draw(Value v, const std::string& words, const Operand& operand);
  void statement(Value v, Axis axis, std::string_view i, const Operand& operand);
  void run(const Loop& loop);
  void run_plain(const Loop& loop);
  void inside_function();
  void index_function();
  // Elements that lie apart (c/apart.cpp).
  struct Apart;
  [[nodiscard]] Apart apart_of(const Loop& loop) const;
  void by_fours(std::string_view advance, const std::function<std::string(int)>& element);
  std::string read_function(Dtype dtype);
  std::string write_function(Dtype dtype);
  std::string interleave_function(Dtype dtype, std::size_t arrays);
  void write_parts(const Loop& part, const Apart& apart);
  bool run_apart(const Loop& loop);
  // Strips (c/folds.cpp).
  struct Strip;
  [[nodiscard]] std::vector<Value> taken_by(Value v) const;
  [[nodiscard]] Strip strip_of(const Loop& loop) const;
  [[nodiscard]] Dtype strip_dtype(Value v, const Strip& strip) const;
  /// The dtype of truth values beside others of so many bytes: gcc unrolls a loop so that its narrowest elements fill a
  /// vector.
  static Dtype truth_dtype(std::size_t bytes) { return bytes == 8 ? uint64 : bytes == 4 ? uint32 : bool_; }
  bool run_strips(const Loop& loop);
  [[nodiscard]] bool finds_places(const Loop& loop) const;
  [[nodiscard]] bool is_checked(Value v, const Loop& loop) const;
  [[nodiscard]] bool is_computed(Value v) const;
  void run_checked(const Loop& piece, const Loop& loop, const Strip& strip);
  void gather_strip(const std::vector<Value>& gathers, const Loop& l, const Strip& strip);
  void open_steps(std::uint32_t loop);
  void fold_strip(std::uint32_t loop, const Loop& l, const Strip& strip);
  void fold_loop(std::uint32_t loop, Axis axis, std::string_view i, const Operand& operand);

  const Parameters& parameters_;
  std::vector<SharedText> shared_;
  std::vector<bool> kept_;                      ///< empty: none
  std::map<std::uint32_t, Pieces> pieces_;      ///< by the access that stands for them
  bool sums_up_ = false;                        ///< indices add to `beyond` instead of reporting themselves
  std::vector<bool> fixed_[2];                  ///< by axis, where the kernel gathers
  std::map<std::uint32_t, std::string> holds_;  ///< how the current scope spells that a guard holds
};

/// Statements for the odometer: i0..i{rank-2} from the flat row number `row`; the next row.
void decode_row(CWriter& w, std::string_view row);
void next_row(CWriter& w);
/// The place of tile number `at`: i0.., j0 and, unless `tile` is 1, m. Needs `tiles`, tiles of the last outer
/// dimension.
void count_tiles(CWriter& w, int tile);
void decode_tile(CWriter& w, int tile);
/// Names i0..i{rank-2} and `last`; empty for rank 0.
std::vector<std::string> outer_indices(const KernelIr& ir, std::string_view last);
/// The tile's place as the end of a list of parameters or arguments: ", i0, i1, j0, m".
enum class List : std::uint8_t { Parameters, Arguments };
std::string tile_place(const KernelIr& ir, int tile, List list);
/// Tiles that cover the outer space.
std::int64_t tile_count(const KernelArgs& args, int tile);

/// Rough cost of one point, see KernelSource::point_cost.
int point_cost(const KernelIr& ir);

/// The stores of points that are dense where a work item is one outer index, and `elements` points along the reduced
/// axis.
DenseStores dense_stores(const KernelIr& ir, const KernelArgs& args, std::int64_t elements);

/// Depth of the stack of partial states: five levels of lanes and the binary digits of the number of blocks of a chunk,
/// or of the number of chunks. A level of a tile is 4 KiB: the stack fits the small thread stacks that evaluate() must
/// run on.
inline constexpr int kReduceLevels = 36;
inline constexpr std::int64_t kMostBlocks = std::int64_t{1} << (kReduceLevels - 6);  ///< of a chunk, and chunks

/// The renderers and geometries of schedules.
#define TARRY_SCHEDULE(schedule, name, word, traits, verify, choose, render, geometry, ...) \
  KernelSource render(const KernelIr& ir, const graph::Target& target);                     \
  Geometry geometry(const KernelIr& ir, const graph::Target& target, const KernelArgs& args);
#include "codegen/ir/schedules.def"

/// Those of a Transpose whose tiles have channels.
KernelSource render_c_interleaved(const KernelIr& ir, const graph::Target& target);
Geometry geometry_c_interleaved(const KernelIr& ir, const graph::Target& target, const KernelArgs& args);
/// Lines that a scan has side by side: rows of a work item, or blocks of one row.
inline int scan_width(const KernelIr& ir) {
  const auto* serial = std::get_if<ScanSerialLayout>(&ir.layout);
  return serial && serial->lines > 0 ? serial->lines : scan_lines(ir);
}
/// Where the tile `item` lies: i0, i1, ... its first point, rows and columns those that are there.
void place_tile(CWriter& w);

}  // namespace tarry::codegen
