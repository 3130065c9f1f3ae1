// Resources of a multiprocessor that a GPU kernel takes, as ptxas reports them. The log is stored with the entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::cache {

/// The report of ptxas on one kernel.
struct KernelResources {
  std::string entry;
  int registers = 0;
  std::int64_t stack_bytes = 0;
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  std::int64_t shared_bytes = 0;
};

/// The registers, spills and memory in a log written under --ptxas-options=-v.
std::vector<KernelResources> parse_ptxas_log(std::string_view log);

}  // namespace tarry::cache
