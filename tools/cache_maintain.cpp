// `tarry cache verify`, `prune` and `clear`: what is damaged, and what may go.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <stdexcept>

#include "cache/walk.h"
#include "tools/cache_common.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace tarry::tools {

namespace {

// ---- verify ----

void run_verify(const Common& common) {
  std::uint64_t sound = 0;
  Json damaged = Json::array();
  const auto report = [&](const std::filesystem::path& file, const std::string& defect) {
    damaged.push_back({{"file", file.string()}, {"defect", defect}});
    if (!common.json) say("{}: {}\n", file.string(), defect);
  };
  for (const cache::NamedLayer& named : layers_of(common)) {
    if (!named.layer) {
      report(named.path, named.why);
      continue;
    }
    named.layer->visit([&](const cache::Found& found) {
      if (found.entry == nullptr) return report(found.file, found.defect);
      ++sound;
    });
  }
  if (common.json) {
    say("{}\n", text_of(Json{{"sound", sound}, {"damaged", damaged}}));
  } else {
    say("{} sound, {} damaged\n", counted(sound, "kernel"), damaged.size());
  }
  if (!damaged.empty()) fail();
}

// ---- prune and clear ----

struct File {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;
};

struct PruneOptions {
  Common common;
  std::vector<std::string> targets;
  std::int64_t unused_days = -1;
  std::uint64_t size = 0;
  bool has_size = false, dry_run = false;
};

/// Files that leave, by the reason for it, and those that stay.
struct Choice {
  std::map<std::string, std::vector<File>> leaving;
  std::vector<File> staying;
};

/// Why an entry leaves, or "" where it stays as long as there is room.
std::string reason_to_leave(const cache::Found& found, const PruneOptions& options) {
  constexpr std::int64_t kSecondsPerDay = 86400;
  if (found.entry == nullptr) return "damaged";
  if (options.unused_days >= 0 && std::time(nullptr) - found.used > options.unused_days * kSecondsPerDay)
    return "unused";
  if (options.targets.empty()) return "";
  const auto fields = cache::parse_material(found.entry->material);
  return fields && is_wanted(options.targets, fields->target) ? "target" : "";
}

Choice choose(cache::Layer& layer, const PruneOptions& options) {
  Choice choice;
  std::uint64_t total = 0;
  layer.visit([&](const cache::Found& found) {
    const std::string reason = reason_to_leave(found, options);
    auto& files = reason.empty() ? choice.staying : choice.leaving[reason];
    files.push_back({found.file, found.bytes, found.used});
    if (reason.empty()) total += found.bytes;
  });
  if (!options.has_size) return choice;
  const auto latest_first = [](const File& a, const File& b) { return a.used > b.used; };
  std::sort(choice.staying.begin(), choice.staying.end(), latest_first);
  while (total > options.size) {
    total -= choice.staying.back().bytes;
    choice.leaving["size"].push_back(std::move(choice.staying.back()));
    choice.staying.pop_back();
  }
  return choice;
}

std::uint64_t bytes_of(const std::vector<File>& files) {
  std::uint64_t sum = 0;
  for (const File& file : files) sum += file.bytes;
  return sum;
}

/// Removes `files`; another process may be faster.
void remove(const std::vector<File>& files) {
  for (const File& file : files) {
    std::error_code error;
    std::filesystem::remove(file.path, error);
    if (error) throw std::runtime_error(fmt::format("cannot remove {}: {}", file.path.string(), error.message()));
  }
}

/// Temporaries and locks that killed processes left.
void remove_remains(const std::filesystem::path& root) {
  cache::walk(root, [&](const cache::CacheFile& file) { cache::remove_stale(root, file); });
}

void report(const std::filesystem::path& path, const Choice& choice, const PruneOptions& options) {
  if (options.common.json) {
    Json removed = Json::object();
    for (const auto& [reason, files] : choice.leaving)
      removed[reason] = {{"files", files.size()}, {"bytes", bytes_of(files)}};
    const Json kept = {{"files", choice.staying.size()}, {"bytes", bytes_of(choice.staying)}};
    return say(
        "{}\n",
        text_of(Json{{"path", path.string()}, {"dry_run", options.dry_run}, {"removed", removed}, {"kept", kept}}));
  }
  const char* const verb = options.dry_run ? "would remove" : "removed";
  for (const auto& [reason, files] : choice.leaving) {
    say("{} {}, {} ({})\n", verb, counted(files.size(), "file"), size_text(bytes_of(files)), reason);
  }
  if (choice.leaving.empty()) say("{} nothing\n", verb);
  say("{} left in {}, {}\n", counted(choice.staying.size(), "kernel"), path.string(),
      size_text(bytes_of(choice.staying)));
}

void run_prune(const PruneOptions& options) {
  const cache::NamedLayer named = writable_layer(options.common);
  const Choice choice = choose(*named.layer, options);
  if (!options.dry_run) {
    for (const auto& [reason, files] : choice.leaving) remove(files);
    remove_remains(named.path);
  }
  report(named.path, choice, options);
}

void run_clear(const Common& common) {
  PruneOptions everything;
  everything.common = common;
  everything.has_size = true;  // of no bytes
  run_prune(everything);
}

}  // namespace

void add_cache_maintenance(CLI::App& group) {
  {
    CLI::App* const command =
        group.add_subcommand("verify", "Read every file, report each damaged one; exit status 1 where there is any");
    const auto common = std::make_shared<Common>();
    common->add_to(*command);
    command->callback([common] { run_verify(*common); });
  }
  {
    CLI::App* const command = group.add_subcommand(
        "prune", "Remove what is damaged or left over from TARRY_CACHE_DIR, and what the options name");
    const auto options = std::make_shared<PruneOptions>();
    command->add_option("--unused", options->unused_days, "Kernels not used for this many days")
        ->type_name("DAYS")
        ->check(CLI::NonNegativeNumber);
    command->add_option("--target", options->targets, "Kernels for these targets")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME");
    CLI::Option* const size =
        command->add_option("--size", options->size, "The least recently used until the rest fits, as 100MB or 1GB")
            ->transform(CLI::AsSizeValue(false))
            ->type_name("BYTES");
    command->add_flag("--dry-run", options->dry_run, "Only say what would be removed");
    options->common.add_to(*command);
    command->callback([options, size] {
      options->has_size = size->count() != 0;
      run_prune(*options);
    });
  }
  {
    CLI::App* const command =
        group.add_subcommand("clear", "Remove all kernels from TARRY_CACHE_DIR; other files stay");
    const auto common = std::make_shared<Common>();
    common->add_to(*command);
    command->callback([common] { run_clear(*common); });
  }
}

}  // namespace tarry::tools
