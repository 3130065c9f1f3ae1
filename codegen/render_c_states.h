// Partial results of a C kernel that reduces: what the two ways to walk the reduced axis share.
//
// A state holds one partial result per outer element of a tile and the number of elements it stands for; an empty state
// (count 0) merges as nothing, which is how R skips missing lanes. States are pushed on a stack in the order of the tree's
// leaves and merged as often as the leaf's number has trailing ones: a binary counter, so every merge is a node of the
// aligned tree. What is left is folded from the right.
#pragma once

#include <string>

#include <fmt/format.h>

#include "codegen/render_c.h"

namespace tarry::codegen {

inline constexpr int kSerial = 32;  ///< longest axis that is folded left to right

inline bool is_moments(const Reduction& r) { return r.op == Op::Moments || r.op == Op::MomentsMerge; }
inline std::size_t input_count(const Reduction& r) { return r.op == Op::MomentsMerge ? 2 : 1; }

/// A writer that knows the states of the kernel's reductions. Names in the text: `stack` of `depth` states, `top` the one
/// that takes elements, m the elements of its tile, x{r}_{k} the elements of input k of reduction r.
class StateWriter : public CWriter {
 public:
  using CWriter::CWriter;

  // Names.
  [[nodiscard]] static std::string part(std::uint32_t r, std::string_view name) { return fmt::format("{}{}", name, r); }
  [[nodiscard]] static std::string input(std::uint32_t r, std::size_t k) { return fmt::format("x{}_{}", r, k); }
  [[nodiscard]] std::string accumulator(std::uint32_t r) const { return c_type(ir.reductions[r].dtype); }
  [[nodiscard]] bool inner() const { return ir.schedule == Schedule::ReduceInner; }  ///< the tile is one element

  // Functions of the kernel.
  void declare_states();                ///< struct ENTRY_state, ENTRY_merge and tables of constants
  void line_functions(std::uint32_t r); ///< reduce a run of contiguous inputs: left to right (n <= 32), one block of the tree

  // Pieces of others.
  void clear(std::string_view state, std::string_view extent);
  void push(std::string_view leaf);
  void fold_stack();
  /// One more element into every lane of the tile's top state; `step` is its number in the lane, from 1.
  void leaf_step(std::uint32_t r);
  /// Element i into `mean` and `m2`, with the constants of its step in scope.
  void moments_step(std::uint32_t r, const std::string& mean, const std::string& m2, const std::string& i);

 private:
  /// A number of elements as what they weigh: inputs of a merge of moments stand for several each.
  [[nodiscard]] std::string weighted(std::uint32_t r, std::string_view count) const;
  void reciprocals(std::uint32_t r);
  void merge();
  void merge_part(std::uint32_t r);
  void moments_step_constants(std::uint32_t r, std::string_view k);
  void tree_function(std::uint32_t r);
  void moments_tree_function(std::uint32_t r);
};

}  // namespace tarry::codegen
