// lower(): from a fusion group to KernelIr and the arguments of its launch. The schedule is chosen here, by one table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/ir/kernel_ir.h"
#include "graph/fusion/types.h"

namespace tarry::codegen {

/// A buffer of a kernel: a leaf of the graph, an output of a scheduled node, or words for faults.
struct BufferRef {
  bool is_leaf = false;
  std::uint32_t leaf = graph::kNoId;
  graph::GraphEdge value;
  bool faults = false;  ///< neither: what an Index finds out of range, in words of the kernel
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// A scalar argument: a source of the graph, or a constant (a reduction's weight, an extent of a guard).
struct ScalarRef {
  std::uint32_t source = graph::kNoId;
  std::uint64_t constant = 0;
  friend bool operator==(const ScalarRef&, const ScalarRef&) = default;
};

/// The demand of a scatter group's kernel: it stores into a box of `update`'s buffer, which must hold `base` before the
/// kernel runs. The kernel does not read `base` through that buffer.
struct Scatter {
  graph::GraphEdge update, base;
};

/// The check of an Index: indices of node `index` against an extent, a scalar argument.
struct CheckRef {
  graph::NodeId index = graph::kNoId;
  std::uint32_t scalar = kNone;
};

struct Lowered {
  KernelIr ir;
  KernelArgs args;
  std::vector<BufferRef> buffers;  ///< by buffer number of the IR
  std::vector<ScalarRef> scalars;
  std::vector<CheckRef> checks;         ///< by check of the IR
  std::vector<graph::GraphEdge> loads;  ///< what other groups must store: values read from memory, a scatter's base
  std::optional<Scatter> scatter;       ///< of a scatter group
  std::vector<graph::NodeId> notes;     ///< Instr::note -> node, for comments in dumps
  std::int64_t bytes_read = 0, bytes_written = 0;  ///< distinct bytes of memory touched
};

/// The kernel that computes `outputs` (edges of nodes of the group) for `target`.
Lowered lower(const graph::Graph& g, const graph::Fusion& fusion, std::uint32_t group,
              const std::vector<graph::GraphEdge>& outputs, const graph::Target& target);

}  // namespace tarry::codegen
