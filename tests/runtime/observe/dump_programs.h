// Kernels for tests of dumps: formulas whose inputs follow the rule by which a dumped main() fills its buffers.
#pragma once

#include <tarry/tarry.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tarry::test {

/// `shape` of what a dumped main() puts into buffer `number` (codegen/render/standalone.h).
Array filled(Dtype dtype, const Shape& shape, unsigned number);
/// FNV-1a of 64 bits as that main() prints it.
std::string checksum(std::span<const unsigned char> bytes);

/// One kernel with one result on inputs filled in the order of their first use.
struct OneKernel {
  const char* name;
  Array (*make)();
};
/// All schedules, several dtypes, views, guards and long rows.
std::span<const OneKernel> one_kernels();

/// Every elementwise op on every dtype that it takes, reductions over rows, columns and short axes, rows of several
/// passes, joins and updates: few kernels of many results.
std::vector<std::vector<Array>> everything();

}  // namespace tarry::test
