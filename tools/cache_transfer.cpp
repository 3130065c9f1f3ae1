// `tarry cache export` and `import`: between directories and bundles.
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <unordered_set>

#include "cache/bundle.h"
#include "tools/cache_common.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace tarry::tools {

namespace {

/// The sound entries for the wanted targets, each key once, as the layers are searched.
std::vector<cache::Entry> collect(const std::vector<cache::NamedLayer>& layers, const std::vector<std::string>& targets,
                                  std::uint64_t& damaged) {
  std::vector<cache::Entry> entries;
  std::unordered_set<std::string> known;
  for (const cache::NamedLayer& named : layers) {
    if (!named.layer) continue;
    named.layer->visit([&](const cache::Found& found) {
      if (found.entry == nullptr) {
        ++damaged;
        return;
      }
      const auto fields = cache::parse_material(found.entry->material);
      if (!fields || !is_wanted(targets, fields->target) || !known.insert(found.entry->material).second) return;
      entries.push_back(*found.entry);
    });
  }
  return entries;
}

void run_export(const Common& common, const std::string& file, const std::vector<std::string>& targets) {
  const std::vector<cache::NamedLayer> layers = layers_of(common);
  complain(layers);
  std::uint64_t damaged = 0;
  const std::vector<cache::Entry> entries = collect(layers, targets, damaged);
  if (const std::error_code error = cache::write_bundle(file, entries)) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", file, error.message()));
  }
  const std::uint64_t bytes = std::filesystem::file_size(file);
  if (common.json) {
    return say("{}\n",
               text_of(Json{{"file", file}, {"kernels", entries.size()}, {"bytes", bytes}, {"damaged", damaged}}));
  }
  say("{}: {}, {}\n", file, counted(entries.size(), "kernel"), size_text(bytes));
  if (damaged != 0) say("{} left out: damaged\n", counted(damaged, "file"));
}

struct Imported {
  std::uint64_t added = 0, present = 0, evicted = 0;
};

void add(cache::Layer& to, const cache::Entry& entry, Imported& imported) {
  if (to.read(entry.material)) {
    ++imported.present;
    return;
  }
  const cache::Written written = to.write(entry);
  if (written.error)
    throw std::runtime_error(fmt::format("cannot write to {}: {}", to.path().string(), written.error.message()));
  ++imported.added;
  imported.evicted += static_cast<std::uint64_t>(written.evicted);
}

void run_import(const Common& common, const std::vector<std::string>& files) {
  const cache::NamedLayer named = writable_layer(common);
  Imported imported;
  std::uint64_t damaged = 0;
  for (const std::string& file : files) {
    std::string why;
    const std::unique_ptr<cache::Layer> from = cache::open_layer(file, why);
    if (!from) throw std::runtime_error(fmt::format("{}: {}", file, why));
    from->visit([&](const cache::Found& found) {
      if (found.entry != nullptr) return add(*named.layer, *found.entry, imported);
      ++damaged;
      say(stderr, "tarry: {}: {}\n", found.file.string(), found.defect);
    });
  }
  if (common.json) {
    say("{}\n", text_of(Json{{"path", named.path.string()},
                             {"added", imported.added},
                             {"present", imported.present},
                             {"evicted", imported.evicted},
                             {"damaged", damaged}}));
  } else {
    say("{}: {} added, {} already there\n", named.path.string(), counted(imported.added, "kernel"), imported.present);
    if (imported.evicted != 0) say("{} evicted: TARRY_CACHE_SIZE is too small\n", counted(imported.evicted, "kernel"));
  }
  if (damaged != 0) fail();
}

}  // namespace

void add_cache_transfer(CLI::App& group) {
  {
    CLI::App* const command = group.add_subcommand(
        "export", "Write all kernels to a bundle: one file that TARRY_CACHE_PATH may name anywhere");
    struct Options {
      Common common;
      std::string file;
      std::vector<std::string> targets;
    };
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->file, "The bundle to write")->required();
    command->add_option("--target", options->targets, "Only kernels for these targets")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME");
    options->common.add_to(*command);
    command->callback([options] { run_export(options->common, options->file, options->targets); });
  }
  {
    CLI::App* const command =
        group.add_subcommand("import", "Add the kernels of bundles or directories to TARRY_CACHE_DIR");
    struct Options {
      Common common;
      std::vector<std::string> files;
    };
    const auto options = std::make_shared<Options>();
    command->add_option("FILE", options->files, "Bundles or directories")->required();
    options->common.add_to(*command);
    command->callback([options] { run_import(options->common, options->files); });
  }
}

}  // namespace tarry::tools
