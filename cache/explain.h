// Why a kernel was not found: the nearest entry that is there, and the components of the key that differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/layer.h"

namespace tarry::cache {

/// One component of the key, as it is asked for and as the entry has it; of the options the words that differ, of the
/// text the first line that does.
struct Difference {
  std::string component;  ///< "format", "target", "mode", "options" or "text"
  std::string wanted, found;
};
/// A kernel as it is compared: the symbol ends in a hash of the text, which is left out of the comparison.
struct Subject {
  std::string material;
  std::string name;  ///< symbol of the kernel
};

/// In the order above: what comes first is the reason for what follows, since a target has options and text of its own.
std::vector<Difference> compare(const Subject& wanted, const Subject& found);

struct Nearest {
  std::string name;   ///< symbol of the kernel
  std::string key;    ///< 32 hexadecimal digits
  std::string place;  ///< the directory or bundle that holds it
  std::vector<Difference> differences;
};

/// For each the entry that is most like it: named after the same operations, then alike in the lines of its text, then
/// in the other components. Entries of these very materials do not count. nullopt where there is no other entry.
std::vector<std::optional<Nearest>> find_nearest(std::span<const Subject> wanted, std::span<Layer* const> layers);

/// "the nearest entry is scale_1 (key ... in /cache), whose target is sm_80, not sm_90"
std::string describe(const std::optional<Nearest>& nearest);

}  // namespace tarry::cache
