// Shared by the two halves of the C renderer: the statements of one loop over the vector axis.
#pragma once

#include <functional>
#include <string>

#include "codegen/render_common.h"

namespace tarry::codegen {

/// The axis that an inner loop runs along.
enum class Axis { LastOuter, Reduced };

/// Writes a C kernel. Names in the text: p the parameter struct, i0, i1, ... outer indices, a0, a1, ... pointers (or o0,
/// ... iota sums) to the first element of the current loop, v0, v1, ... values.
class CWriter : public CodeWriter {
 public:
  using Operand = std::function<std::string(Value)>;
  enum class Stores { Write, Skip };

  CWriter(const KernelIr& kernel, const Parameters& parameters) : ir(kernel), expressions(kernel), parameters_(parameters) {}

  const KernelIr& ir;
  Expressions expressions;

  void preamble();                   ///< macros of the dialect and the parameter struct
  void locals();                     ///< integer parameters and scalars as locals
  /// `name` (one letter) + access number = the access's address at `indices`, plus `k` along the reduced axis.
  void bases(char name, std::span<const Region> regions, std::span<const std::string> indices, std::string_view k);
  void base(char name, std::uint32_t access, const std::string& start, const std::string& offset);
  /// Loads of `region` that do not vary along `axis`; they stand before the loop.
  void invariant_loads(Region region, Axis axis);
  /// "for (tarry_i64 i = from; i < to; ++i) {", its iterations declared independent.
  void open_loop(std::string_view i, std::string_view from, std::string_view to);
  /// The instructions of `region`; `operand` names values that are not locals of this loop.
  void statements(Region region, Axis axis, std::string_view i, const Operand& operand, Stores stores);

  [[nodiscard]] bool uses(std::uint32_t access, Region region) const;
  [[nodiscard]] std::string address_type(std::uint32_t access) const;

 private:
  [[nodiscard]] StrideClass stride_class(std::uint32_t access, Axis axis) const;
  [[nodiscard]] std::string element(std::uint32_t access, Axis axis, std::string_view i) const;

  const Parameters& parameters_;
};

/// Statements for the odometer: i0..i{rank-2} from the flat row number `row`; the next row.
void decode_row(CWriter& w, std::string_view row);
void next_row(CWriter& w);
/// Names i0..i{rank-2} and `last`; empty for rank 0.
std::vector<std::string> outer_indices(const KernelIr& ir, std::string_view last);

/// Rough cost of one point, see KernelSource::point_cost.
int point_cost(const KernelIr& ir);

/// Depth of the stack of partial states: five levels of lanes and the binary digits of the number of blocks, so n is below
/// 2^37. A level of a tile is 4 KiB: the stack fits the small thread stacks that evaluate() must run on.
inline constexpr int kReduceLevels = 36;
KernelSource render_c_reduce(const KernelIr& ir);
/// Outer elements per work item, and bytes of one chunk state (struct ENTRY_state).
int reduce_tile(const KernelIr& ir);
std::size_t reduce_state_bytes(const KernelIr& ir);

}  // namespace tarry::codegen
