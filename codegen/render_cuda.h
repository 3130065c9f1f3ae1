// CUDA C from KernelIr: what the pointwise and the reduction renderer and the launch geometry share.
//
// Every kernel is the same few device functions, written for its instructions, and one fixed skeleton per schedule that
// calls them. A thread handles `items` neighbouring points at a time: along the last outer dimension (Pointwise,
// ReduceOuter) or along the reduced axis (ReduceInner).
//   place    addresses of every access at an outer index       load, store   the items' operands, the first m of them
//   begin    Row values                                        point         one item: Point instructions
//   finish   Outer instructions
// Lengths and positions that are not in the text are launch arguments; nothing depends on a device.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/kernel_ir.h"
#include "codegen/render_common.h"

namespace tarry::codegen::cuda {

inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / 32;
inline constexpr int kTreeBlock = 128;      ///< block of tree R
inline constexpr int kInnerItems = 4;       ///< lanes of a tree block per thread: eight threads hold a block
inline constexpr int kInnerStepBlocks = 8;  ///< tree blocks of one step of a warp
inline constexpr int kInnerLevels = 16;     ///< a warp takes at most 2^(levels - 1) steps

/// Vectors (of `vector` points) per thread of a pointwise kernel: one, or four single points.
constexpr int pointwise_groups(const KernelIr& ir) { return ir.vector > 1 ? 1 : 4; }

/// How a thread block of ReduceOuter is cut, so that its states fit the shared memory of every target.
struct OuterTile {
  int items = 1;        ///< columns per thread; 32 threads side by side
  int step_blocks = 1;  ///< tree blocks between two barriers
  int levels = 1;       ///< a chunk has at most 2^(levels - 1) steps
  [[nodiscard]] int columns() const { return 32 * items; }
};
OuterTile outer_tile(const KernelIr& ir);

/// Items per thread of a kernel.
int items(const KernelIr& ir);

/// Text with $N (entry), $K (index along the reduced axis), $O (flat outer index), $W (items) and `more` put in. Lines
/// that begin with @S are there for kernels with Point stores only.
class Template {
 public:
  Template(const KernelIr& ir, std::vector<std::pair<std::string, std::string>> more = {});
  [[nodiscard]] std::string fill(std::string_view text) const;
 private:
  bool stores_;
  std::vector<std::pair<std::string, std::string>> replacements_;
};

/// The device functions listed above, for one kernel.
class Functions {
 public:
  explicit Functions(const KernelIr& ir);
  [[nodiscard]] std::string text();                 ///< types and functions, in the order of use
  [[nodiscard]] Expressions& expressions() { return expressions_; }

 private:
  [[nodiscard]] bool vector_access(std::uint32_t access) const;
  [[nodiscard]] StrideClass item_class(std::uint32_t access) const;
  [[nodiscard]] std::string element(std::uint32_t access, Region region) const;
  [[nodiscard]] std::string operand(Value v, Region user) const;
  [[nodiscard]] std::vector<std::uint32_t> point_accesses(bool store) const;
  void types();
  void place();
  void move(bool store);
  void begin();
  void point();
  void finish();
  void instructions(Region region, bool row_stores);

  const KernelIr& ir_;
  const int items_;
  Expressions expressions_;
  CodeWriter out_;
};

/// The struct of a partial result, and its functions: first and step (a lane takes an element), combine (two nodes, given
/// the split of their elements), even and share (that split), down (from another lane of the warp).
std::string state_type(const KernelIr& ir);
std::string state_functions(const KernelIr& ir, Expressions& expressions);

KernelSource render_pointwise(const KernelIr& ir);
KernelSource render_reduction(const KernelIr& ir);

}  // namespace tarry::codegen::cuda
