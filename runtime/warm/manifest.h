// The manifest: what evaluates needed, as JSON, one object per line: enough to make every kernel of a run again for any
// Target, and nothing of the user's data (docs/reference/warm.md).
//
// A line holds one snapshot: ops, dtypes, shapes, views, the layout of leaves, the class of scalars (never their
// values), file names without directories. It is the same line on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

/// Facts about a leaf's memory beside its layout.
struct LeafMemory {
  bool computed = false;   ///< an evaluate made it: it is where the next evaluate runs. Else it came from the user
  bool pooled = false;     ///< memory of a pool of ours: a result may be that buffer itself
  bool on_device = false;  ///< where the evaluate ran
};

/// One line: a recorded evaluate.
struct Recorded {
  Recorded() = default;
  Recorded(Recorded&&) = default;
  Recorded& operator=(Recorded&&) = default;

  graph::Graph graph;              ///< as recorded, leaves with the layout that they had
  std::vector<LeafMemory> leaves;  ///< by leaf number
  DeviceKind device = DeviceKind::Cpu;
  std::vector<std::string> disabled;  ///< words of TARRY_DISABLE that shape plans, sorted
  std::string id;                     ///< checksum of the line's content
  std::string location;               ///< "manifest.jsonl:12", for messages
  std::set<std::string> files;        ///< what the nodes' file names point to
};

inline constexpr int kManifestVersion = 1;

std::string manifest_header();
/// The version that a header states; nullopt for every other line.
std::optional<int> manifest_version(std::string_view line);

/// The line of a snapshot that ran on `device`, without the line break.
std::string manifest_line(const graph::Snapshot& snapshot, Device device, const PlanSwitches& switches);
/// The checksum that a line begins with, or "" where it is none of ours.
std::string_view manifest_line_id(std::string_view line);

/// Every evaluate of the file, each once. A line that is not whole (its writer was killed) is left out with one
/// warning. Throws InvalidArgument naming file and line where it cannot be read or is no manifest of this version.
std::vector<Recorded> read_manifest(const std::filesystem::path& file, Where where = {});

/// The switches that an evaluate was recorded under.
PlanSwitches switches_of(const Recorded& recorded);

}  // namespace tarry::runtime
