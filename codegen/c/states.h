// Partial results of a C kernel that reduces: what the two ways to walk the reduced axis share.
//
// A state holds one partial result per outer element of a tile and the number of elements it stands for; an empty state
// (count 0) merges as nothing, which is how R skips missing lanes. States are pushed on a stack in the order of the
// tree's leaves and merged as often as the leaf's number has trailing ones: a binary counter, so every merge is a node
// of the aligned tree. What is left is folded from the right.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "codegen/c/render.h"

namespace tarry::codegen {

inline constexpr int kSerial = 32;                            ///< longest axis that is folded left to right
inline constexpr std::size_t kLine = 64;                      ///< bytes that come from memory at once
inline constexpr int kStateBytesPerLevel = 4096;              ///< a page: five levels of lanes stay near the core
inline constexpr std::size_t kCached = std::size_t{1} << 20;  ///< bytes that L2 may hold
inline constexpr int kFew = 8;                                ///< elements of a tile for which no function is called

inline bool is_moments(const Reduction& r) { return r.op == Op::Moments || r.op == Op::MomentsMerge; }
inline std::size_t input_count(const Reduction& r) { return r.op == Op::MomentsMerge ? 2 : 1; }
/// True if full_lane() is written for it.
inline bool has_lanes_of_four(const Reduction& r) { return r.op != Op::MomentsMerge && !graph::is_arg_reduce(r.op); }
/// The state's field that holds an output.
std::string_view output_field(const Reduction& r, std::uint32_t output);

/// A writer that knows the states of the reductions of one stage. Names in the text: `stack` of `depth` states, `top`
/// the one that takes elements, m the elements of its tile, x{r}_{k} the elements of input k of reduction r, k the
/// place of the first of them on the reduced axis.
class StateWriter : public CWriter {
 public:
  /// A segment has at most `blocks` blocks, a power of two.
  StateWriter(const KernelIr& kernel, const Parameters& parameters, const graph::Target& target, int tile,
              int blocks = 16)
      : CWriter(kernel, parameters, target.vector_bytes),
        tile_(tile),
        most_blocks_(blocks),
        is_x86_(std::string_view(target.name).starts_with("x86")) {}

  void select_stage(int stage) { stage_ = stage; }
  void select_stage(int stage, int tile) {
    stage_ = stage;
    tile_ = tile;
  }
  /// From here on the loops over a tile that plain reductions need several times are functions: each is compiled once,
  /// and tiles of a few elements have short ways around the calls.
  void share_loops() { shares_loops_ = true; }
  [[nodiscard]] int tile() const { return tile_; }
  [[nodiscard]] std::vector<std::uint32_t> reductions() const;  ///< of the stage
  /// Values that the kernel's reductions take and do not read in place, each once.
  [[nodiscard]] std::vector<Value> kept_inputs(const std::function<bool(Value)>& in_place) const;

  // Names.
  [[nodiscard]] std::string state_type() const;  ///< "struct " and the name of the stage's states
  /// `weight`, how many elements an input of each reduction stands for, as the start of a list of parameters or
  /// arguments where merges of moments need it.
  [[nodiscard]] std::string weights_parameter() const;
  [[nodiscard]] std::string weights_argument() const;
  [[nodiscard]] bool has_weights() const;
  void weights_array();  ///< as a local
  [[nodiscard]] static std::string part(std::uint32_t r, std::string_view name) { return fmt::format("{}{}", name, r); }
  [[nodiscard]] static std::string input(std::uint32_t r, std::size_t k) { return fmt::format("x{}_{}", r, k); }
  [[nodiscard]] std::string accumulator(std::uint32_t r) const { return c_type(ir.reductions[r].dtype); }

  /// Elements of the reduced axis that are evaluated before they are reduced: a subtree of whole blocks.
  [[nodiscard]] int segment_length() const { return 128 * segment_blocks(); }

  // Functions of the kernel.
  void locals() {
    CWriter::locals();
    weights_array();
  }
  void declare_states();  ///< the struct, its merge, its stack's merges and tables of constants
  /// A function for each reduction: a run of contiguous inputs, of segment_length() or what is left, becomes a state.
  /// `in_place`: whether an input is read where it lies in memory.
  void line_functions(const std::function<bool(Value)>& in_place);

  // Pieces of others.
  void clear(std::string_view state);
  void copy(std::string_view to, std::string_view from);  ///< the elements of the tile
  void push(std::string_view leaf);
  void fold_stack();
  /// The `length` inputs from k on become states on the stack. `start` is where the stack was empty; k is a multiple of
  /// segment_length() from there.
  void segment(std::string_view start);
  /// One more element into every lane of the tile's top state; `step` is its number in the lane, from 1.
  void leaf_step(std::uint32_t r);
  /// All four elements of a lane into the tile's top state, those of element j being from[j], from[j + apart], ...:
  /// partial results stay in registers.
  void full_lane(std::uint32_t r, const std::string& from, const std::string& apart);
  /// The eight elements of two lanes whose states merge next, from[j], from[j + apart], ... belonging to them in turn:
  /// for what has_vectors().
  void pair_of_lanes(std::uint32_t r, const std::string& from, const std::string& apart);
  /// The same by a function that lane_function() wrote, for plain reductions.
  void lane_of_four(std::uint32_t r, const std::string& from, const std::string& apart);
  void lane_function(std::uint32_t r);
  /// The next `count` elements of a lane of which `step` are there, where m is small, for plain reductions.
  void few_lane(std::uint32_t r, const std::string& from, const std::string& apart, const std::string& count);
  using CWriter::has_vectors;
  [[nodiscard]] bool has_vectors(std::uint32_t r) const;  ///< written out
  [[nodiscard]] bool is_plain(std::uint32_t r) const;     ///< an operation on two values of one type
  /// Element i into `mean` and `m2`, with the constants of its step in scope.
  void moments_step(std::uint32_t r, const std::string& mean, const std::string& m2, const std::string& i);

  /// The same on values of `type`, with the inputs' elements as texts.
  void moments_step(std::uint32_t r, std::string_view type, const std::string& mean, const std::string& m2,
                    const std::string& x, const std::string& x2);

 private:
  /// Opens a loop over the elements of the tile, or a block where there is one only.
  void open_tile();
  [[nodiscard]] std::string at(std::string_view state, std::uint32_t r, std::string_view field) const;
  /// A number of elements as what they weigh: inputs of a merge of moments stand for several each.
  [[nodiscard]] std::string weighted(std::uint32_t r, std::string_view count) const;
  [[nodiscard]] bool is_arg(std::uint32_t r) const { return graph::is_arg_reduce(ir.reductions[r].op); }
  [[nodiscard]] std::string beats(std::uint32_t r, const std::string& a, const std::string& b) const;
  [[nodiscard]] std::string ties(std::uint32_t r, const std::string& a, const std::string& b) const;
  [[nodiscard]] const std::string& states() const { return states_.at(stage_); }
  void reciprocals(std::uint32_t r);
  void merge();
  void push_function();
  void merge_part(std::uint32_t r);
  // The elements of a tile.
  std::string elements_function(
      std::uint32_t r, const std::string& name, std::string_view parameters, const std::string& before,
      const std::function<std::string(const std::function<std::string(const std::string&)>&)>& value);
  void elements(std::uint32_t r, std::string_view parameters, const std::string& before,
                const std::function<std::string(const std::function<std::string(const std::string&)>&)>& value);
  void tile_functions(std::uint32_t r);
  void moments_step_constants(std::uint32_t r, std::string_view k, const std::string& suffix = {},
                              std::string_view type = {});
  void weights(std::uint32_t r, const std::string& a, const std::string& b, const std::string& suffix = {},
               std::string_view type = {});
  void moments_merge(std::string_view type, const std::string& mean, const std::string& m2,
                     const std::string& other_mean, const std::string& other_m2);
  void moments_meet(std::uint32_t r, int lanes, const std::string& mean, const std::string& m2,
                    const std::string& count, const std::string& other_mean, const std::string& other_m2,
                    const std::string& other_count);
  [[nodiscard]] int moments_lanes(std::uint32_t r) const;
  // A segment of contiguous elements.
  [[nodiscard]] int segment_blocks() const;
  [[nodiscard]] bool is_extreme(std::uint32_t r) const;
  [[nodiscard]] std::string function_name(std::uint32_t r) const;  ///< "sum_f32"
  [[nodiscard]] static std::string taken(std::size_t x) { return x == 0 ? "in" : "in2"; }
  [[nodiscard]] std::string inputs(std::uint32_t r) const;
  [[nodiscard]] std::string weights_parameter(std::uint32_t r) const {
    return ir.reductions[r].op == Op::MomentsMerge ? "const tarry_i64* weight, " : "";
  }
  void node_function(std::uint32_t r, bool in_place);
  void serial(std::uint32_t r);
  void padding(std::uint32_t r, char y, const std::string& x, const std::string& none);
  void quarters(std::uint32_t r, char y, const std::string& x);
  void open_blocks(std::uint32_t r);
  void lane_types(std::uint32_t r, int lanes) {
    vector_types(ir.reductions[r].dtype, lanes * static_cast<int>(itemsize(ir.reductions[r].dtype)));
  }
  void vector_padding(std::uint32_t r, int lanes);
  [[nodiscard]] static std::string upper_half(const std::string& vector, int lanes, int count);
  void vector_node(std::uint32_t r, bool in_place);
  void ask_for_next_run(std::string_view address, std::uint32_t r);
  void plain_node(std::uint32_t r);
  [[nodiscard]] int extreme_lanes(std::uint32_t r) const;
  [[nodiscard]] std::string x86(std::uint32_t r, std::string_view name) const;
  [[nodiscard]] std::string better_lanes(std::uint32_t r, const std::string& a, const std::string& b) const;
  [[nodiscard]] std::string equal_lanes(std::uint32_t r, const std::string& a, const std::string& b) const;
  [[nodiscard]] std::string unordered_lanes(std::uint32_t r, const std::string& a, const std::string& b) const;
  void extreme_node(std::uint32_t r, bool in_place);
  void find_function(std::uint32_t r);
  void moments_node(std::uint32_t r);
  void moments_rest_function(std::uint32_t r);

  int tile_;
  const int most_blocks_;
  const bool is_x86_;
  // Names of shared text: by stage, and by reduction.
  std::map<int, std::string> states_;
  std::map<std::uint32_t, std::string> nodes_, finds_, combines_, lanes_, fours_, copies_, reciprocals_;
  bool in_node_ = false;
  int stage_ = 0;
  bool shares_loops_ = false;
};

}  // namespace tarry::codegen
