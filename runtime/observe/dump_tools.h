// Output of other programs for a kernel or a graph: PTX, machine code, a drawing.
#pragma once

#include <filesystem>
#include <string>

#include "graph/op.h"
#include "graph/target.h"

namespace tarry::runtime {

/// Text of a program, or why there is none.
struct ToolText {
  std::string text;
  std::string missing;  ///< "" where `text` is there
};

/// PTX of a unit of CUDA C for `target`: from NVRTC, or from nvcc where there is none.
ToolText ptx_of(const std::string& source, const graph::Target& target, graph::Mode mode);
/// Its machine code, by nvdisasm or cuobjdump.
ToolText sass_of(const std::string& source, const graph::Target& target, graph::Mode mode);
/// A drawing of the graph in the file `dot`, by Graphviz.
ToolText svg_of(const std::filesystem::path& dot);

}  // namespace tarry::runtime
