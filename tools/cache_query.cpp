// `tarry cache stat`, `list`, `show` and `explain`: what is there, and why something else was compiled.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "cache/explain.h"
#include "cache/resources.h"
#include "tools/cache_common.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace tarry::tools {

namespace {

namespace fs = std::filesystem;

// ---- stat ----

struct Statistics {
  std::uint64_t kernels = 0, bytes = 0, damaged = 0;
  std::map<std::string, std::uint64_t> targets, compilers;
  std::int64_t oldest = 0, newest = 0;

  void add(const cache::Found& found) {
    bytes += found.bytes - found.shared;
    if (found.entry == nullptr) {
      ++damaged;
      return;
    }
    ++kernels;
    const auto fields = cache::parse_material(found.entry->material);
    ++targets[fields ? std::string(fields->target) : ""];
    ++compilers[found.entry->compiler];
    oldest = kernels == 1 ? found.used : std::min(oldest, found.used);
    newest = std::max(newest, found.used);
  }
};

const char* kind_of(const cache::NamedLayer& named) {
  std::error_code ignored;
  return fs::is_directory(named.path, ignored) ? "directory" : "bundle";
}

const char* access_of(const cache::NamedLayer& named) {
  return named.access == cache::Access::ReadWrite ? "written" : "only read";
}

std::string listed(const std::map<std::string, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} of {}", text.empty() ? "" : "; ", count, name);
  return text;
}

void print(const cache::NamedLayer& named, const Statistics& s) {
  say("{} ({}, {})\n", named.path.string(), kind_of(named), access_of(named));
  if (!named.layer) return say("  not used   {}\n", named.why);
  say("  kernels    {}, {}\n", s.kernels, size_text(s.bytes));
  if (s.kernels != 0) {
    say("  targets    {}\n  compilers  {}\n", listed(s.targets), listed(s.compilers));
    say("  last used  {} to {}\n", time_text(s.oldest), time_text(s.newest));
  }
  if (s.damaged != 0) say("  damaged    {}; see `tarry cache verify`\n", s.damaged);
}

Json as_json(const cache::NamedLayer& named, const Statistics& s) {
  Json json = {{"path", named.path.string()}, {"access", access_of(named)}};
  if (!named.layer) {
    json["not_used"] = named.why;
    return json;
  }
  json["kind"] = kind_of(named);
  json["kernels"] = s.kernels;
  json["bytes"] = s.bytes;
  json["damaged"] = s.damaged;
  json["targets"] = s.targets;
  json["compilers"] = s.compilers;
  if (s.kernels != 0) {
    json["oldest"] = time_text(s.oldest);
    json["newest"] = time_text(s.newest);
  }
  return json;
}

void run_stat(const Common& common) {
  Json all = Json::array();
  for (const cache::NamedLayer& named : layers_of(common)) {
    Statistics statistics;
    if (named.layer) named.layer->visit([&](const cache::Found& found) { statistics.add(found); });
    if (common.json) {
      all.push_back(as_json(named, statistics));
    } else {
      print(named, statistics);
    }
  }
  if (common.json) say("{}\n", text_of(all));
}

// ---- list ----

struct Row {
  std::string key, name, target, mode, compiler, layer;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;
};

void run_list(const Common& common, const std::vector<std::string>& targets) {
  const std::vector<cache::NamedLayer> layers = layers_of(common);
  complain(layers);
  std::vector<Row> rows;
  for (const cache::NamedLayer& named : layers) {
    if (!named.layer) continue;
    named.layer->visit([&](const cache::Found& found) {
      const auto fields = found.entry != nullptr ? cache::parse_material(found.entry->material) : std::nullopt;
      if (!fields || !is_wanted(targets, fields->target)) return;
      rows.push_back({cache::key_of(found.entry->material), found.entry->name, std::string(fields->target),
                      std::string(fields->mode), found.entry->compiler, named.path.string(), found.bytes, found.used});
    });
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.name, a.target, a.key) < std::tie(b.name, b.target, b.key);
  });
  if (common.json) {
    Json all = Json::array();
    for (const Row& r : rows) {
      all.push_back({{"key", r.key},
                     {"kernel", r.name},
                     {"target", r.target},
                     {"mode", r.mode},
                     {"compiler", r.compiler},
                     {"bytes", r.bytes},
                     {"used", time_text(r.used)},
                     {"layer", r.layer}});
    }
    return say("{}\n", text_of(all));
  }
  constexpr std::size_t kBefore = 57;  // the name
  if (!rows.empty())
    say("{:<12}  {:<10} {:<7} {:>10}  {:<10}  {}\n", "key", "target", "mode", "size", "last use", "kernel");
  for (const Row& r : rows) {
    say("{:.12}  {:<10} {:<7} {:>10}  {:.10}  {}\n", r.key, r.target, r.mode, size_text(r.bytes), time_text(r.used),
        shortened(support::printable(r.name), kColumns - kBefore));
  }
}

// ---- show ----

std::optional<cache::KernelResources> resources_of(const cache::Entry& entry) {
  for (cache::KernelResources& r : cache::parse_ptxas_log(entry.log)) {
    if (r.entry == entry.name) return std::move(r);
  }
  return std::nullopt;
}

void print(const Held& held, const std::optional<cache::KernelResources>& resources) {
  const auto line = [](const char* name, const std::string& value) { say("{:<10} {}\n", name, value); };
  line("kernel", held.entry.name);
  line("key", held.key);
  line("target", std::string(held.fields.target));
  line("mode", std::string(held.fields.mode));
  line("options", std::string(held.fields.options));
  line("format", std::string(held.fields.format));
  line("compiler", held.entry.compiler);
  line("file", held.file.string());
  line("size", fmt::format("{}, of which the binary {}", size_text(held.bytes), size_text(held.entry.image.size())));
  line("binary", "XXH3-128 " + support::checksum_bytes(held.entry.image).hex());
  line("last used", time_text(held.used));
  if (resources) {
    line("registers", std::to_string(resources->registers));
    line("shared", fmt::format("{} bytes of shared memory", resources->shared_bytes));
    line("spills", fmt::format("{} bytes stored, {} bytes loaded, {} bytes of stack", resources->spill_store_bytes,
                               resources->spill_load_bytes, resources->stack_bytes));
  }
  say("\n{}", held.fields.text);
}

Json as_json(const Held& held, const std::optional<cache::KernelResources>& resources) {
  Json json = {{"kernel", held.entry.name},
               {"key", held.key},
               {"target", held.fields.target},
               {"mode", held.fields.mode},
               {"options", held.fields.options},
               {"format", held.fields.format},
               {"compiler", held.entry.compiler},
               {"file", held.file.string()},
               {"bytes", held.bytes},
               {"binary_bytes", held.entry.image.size()},
               {"binary_checksum", support::checksum_bytes(held.entry.image).hex()},
               {"used", time_text(held.used)}};
  if (resources) {
    json["registers"] = resources->registers;
    json["shared_bytes"] = resources->shared_bytes;
    json["spill_store_bytes"] = resources->spill_store_bytes;
    json["spill_load_bytes"] = resources->spill_load_bytes;
    json["stack_bytes"] = resources->stack_bytes;
  }
  json["log"] = held.entry.log;
  json["source"] = held.fields.text;
  return json;
}

struct ShowOptions {
  Common common;
  std::string key, binary;
  bool source = false;
};

void run_show(const ShowOptions& options) {
  const std::vector<cache::NamedLayer> layers = layers_of(options.common);
  complain(layers);
  const std::unique_ptr<Held> held = find_entry(layers, options.key);
  if (!options.binary.empty()) {
    std::ofstream file(options.binary, std::ios::binary);
    file << held->entry.image;
    if (!file.flush()) throw std::runtime_error("cannot write " + options.binary);
  }
  if (options.source) return say("{}", held->fields.text);
  const auto resources = resources_of(held->entry);
  if (options.common.json) return say("{}\n", text_of(as_json(*held, resources)));
  print(*held, resources);
}

// ---- explain ----

struct Explained {
  cache::Subject wanted;
  std::string key;
  std::optional<cache::Nearest> nearest;
  std::string held_in = {}, compiler = {};  ///< the entry of this very key among the layers compared with
};

std::string sentence(const Explained& e) {
  const std::string held = e.held_in.empty() ? "" : fmt::format("it is in {}, made by {}; ", e.held_in, e.compiler);
  return held + cache::describe(e.nearest);
}

void print(const std::vector<Explained>& all, const Common& common) {
  if (!common.json) {
    for (const Explained& e : all) say("{} (key {}): {}\n", e.wanted.name, e.key, sentence(e));
    return;
  }
  Json json = Json::array();
  for (const Explained& e : all) {
    Json differences = Json::array();
    Json one = {{"kernel", e.wanted.name}, {"key", e.key}, {"explanation", sentence(e)}};
    if (!e.held_in.empty()) one["held"] = {{"layer", e.held_in}, {"compiler", e.compiler}};
    if (e.nearest) {
      one["nearest"] = {{"kernel", e.nearest->name}, {"key", e.nearest->key}, {"layer", e.nearest->place}};
      for (const cache::Difference& d : e.nearest->differences) {
        differences.push_back({{"component", d.component}, {"wanted", d.wanted}, {"found", d.found}});
      }
    }
    one["differences"] = std::move(differences);
    json.push_back(std::move(one));
  }
  say("{}\n", text_of(json));
}

std::vector<Explained> explained(const std::vector<cache::Subject>& wanted, const std::vector<cache::Layer*>& among) {
  const auto nearest = cache::find_nearest(wanted, among);
  std::vector<Explained> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Explained& e = all.emplace_back(Explained{wanted[i], cache::key_of(wanted[i].material), nearest[i]});
    for (cache::Layer* layer : among) {
      const std::optional<cache::Entry> entry = e.held_in.empty() ? layer->read(e.wanted.material) : std::nullopt;
      if (!entry) continue;
      e.held_in = layer->path().string();
      e.compiler = entry->compiler;
    }
  }
  return all;
}

/// The layers that are not changed by running a program; all of them where there is no other.
std::vector<cache::Layer*> shipped(const std::vector<cache::NamedLayer>& layers) {
  std::vector<cache::Layer*> read_only, all;
  for (const cache::NamedLayer& named : layers) {
    if (!named.layer) continue;
    all.push_back(named.layer.get());
    if (named.access == cache::Access::ReadOnly) read_only.push_back(named.layer.get());
  }
  return read_only.empty() ? all : read_only;
}

/// Kernels of the written directory that no other layer holds: those that a program had to compile.
std::vector<cache::Subject> compiled_here(const std::vector<cache::NamedLayer>& layers) {
  if (layers.size() < 2 || layers[0].access != cache::Access::ReadWrite || !layers[0].layer) {
    throw std::runtime_error(
        "name a kernel, or in TARRY_CACHE_PATH what the kernels of TARRY_CACHE_DIR should have been in");
  }
  std::set<std::string> elsewhere;
  for (cache::Layer* layer : shipped(layers)) {
    layer->visit([&](const cache::Found& found) {
      if (found.entry != nullptr) elsewhere.insert(found.entry->material);
    });
  }
  std::vector<cache::Subject> wanted;
  layers[0].layer->visit([&](const cache::Found& found) {
    if (found.entry == nullptr || elsewhere.contains(found.entry->material)) return;
    wanted.push_back({found.entry->material, found.entry->name});
  });
  std::sort(wanted.begin(), wanted.end(),
            [](const auto& a, const auto& b) { return std::tie(a.name, a.material) < std::tie(b.name, b.material); });
  return wanted;
}

void run_explain(const Common& common, const std::string& key, const std::string& other) {
  const std::vector<cache::NamedLayer> layers = layers_of(common);
  complain(layers);
  std::vector<Explained> all;
  if (key.empty()) {
    all = explained(compiled_here(layers), shipped(layers));
  } else {
    const std::unique_ptr<Held> held = find_entry(layers, key);
    const cache::Subject wanted{held->entry.material, held->entry.name};
    if (other.empty()) {
      all = explained({wanted}, shipped(layers));
    } else {
      const std::unique_ptr<Held> second = find_entry(layers, other);
      all.push_back({wanted, held->key,
                     cache::Nearest{second->entry.name, second->key, layers[second->layer].path.string(),
                                    cache::compare(wanted, {second->entry.material, second->entry.name})}});
    }
  }
  print(all, common);
}

}  // namespace

void add_cache_queries(CLI::App& group) {
  {
    CLI::App* const command =
        group.add_subcommand("stat", "How much each directory and bundle holds, for which targets, by which compilers");
    const auto common = std::make_shared<Common>();
    common->add_to(*command);
    command->callback([common] { run_stat(*common); });
  }
  {
    CLI::App* const command =
        group.add_subcommand("list", "All kernels: key, target, numerics, size, day of last use, name");
    const auto common = std::make_shared<Common>();
    const auto targets = std::make_shared<std::vector<std::string>>();
    command->add_option("--target", *targets, "Only kernels for these targets, as sm_90 or x86-64-v3")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME");
    common->add_to(*command);
    command->callback([common, targets] { run_list(*common, *targets); });
  }
  {
    CLI::App* const command = group.add_subcommand("show",
                                                   "One kernel: the components of its key, its size and its source; of "
                                                   "a GPU also registers, shared memory and spills");
    const auto options = std::make_shared<ShowOptions>();
    command->add_option("KEY", options->key, "First digits of its key, or its name")->required();
    command->add_flag("--source", options->source, "Print its source alone");
    command->add_option("--binary", options->binary, "Write its cubin or shared object to this file")
        ->type_name("FILE");
    options->common.add_to(*command);
    command->callback([options] { run_show(*options); });
  }
  {
    CLI::App* const command = group.add_subcommand("explain",
                                                   "Why kernels had to be compiled: for each the nearest entry of "
                                                   "TARRY_CACHE_PATH, and the components of the key that differ");
    struct Keys {
      Common common;
      std::string key, other;
    };
    const auto keys = std::make_shared<Keys>();
    command->add_option("KEY", keys->key,
                        "A kernel by key or name; without it all of TARRY_CACHE_DIR that TARRY_CACHE_PATH lacks");
    command->add_option("OTHER", keys->other, "Compare it with this one instead of the nearest");
    keys->common.add_to(*command);
    command->callback([keys] { run_explain(keys->common, keys->key, keys->other); });
  }
}

}  // namespace tarry::tools
