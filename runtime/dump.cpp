// TARRY_DUMP: writes every stage of a plan to TARRY_DUMP_DIR (default ./tarry-dump) as files one can read.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "runtime/compiled_plan.h"
#include "support/env.h"
#include "support/file.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

std::atomic<int> g_plans{0};

class DumpObserver : public PlanObserver {
 public:
  explicit DumpObserver(std::filesystem::path directory) : directory_(std::move(directory)), number_(++g_plans) {}

  void graph(std::string_view stage, const graph::Graph& g) override {
    const bool recorded = stage == "recorded";
    if (wants("graph") && recorded) write(fmt::format("{:04}-graph-recorded.txt", number_), graph::to_string(g));
    if (wants("dot") && recorded) write(fmt::format("{:04}-graph-recorded.dot", number_), graph::to_dot(g));
    if (wants("passes") && !recorded)
      write(fmt::format("{:04}-pass-{}-{}.txt", number_, ++pass_, stage), graph::to_string(g));
  }
  void fusion(const graph::Graph& g, const graph::Fusion& f) override {
    if (wants("graph")) write(fmt::format("{:04}-graph-fused.txt", number_), graph::to_string(g));
    if (wants("dot")) write(fmt::format("{:04}-graph-fused.dot", number_), graph::to_dot(g, f.group_of));
    if (!wants("plan")) return;
    std::string text;
    for (std::size_t i = 0; i < f.groups.size(); ++i) {
      text += fmt::format("group {} over {}{}:", i, graph::to_string(f.groups[i].space),
                          f.groups[i].reduces ? fmt::format(" reducing axis {}", f.groups[i].axis) : "");
      for (graph::NodeId id : f.groups[i].nodes) text += fmt::format(" %{}", id);
      text += "\n";
    }
    for (const graph::UnfusedEdge& e : f.unfused)
      text += fmt::format("memory %{} -> %{}: {}\n", e.producer, e.consumer, graph::to_string(e.reason));
    write(fmt::format("{:04}-plan.txt", number_), text);
  }
  void kernel(const graph::Graph& g, const KernelStep& step, const graph::Target& target) override {
    if (wants("ir")) write(step.source->entry + ".ir", codegen::to_string(step.lowered.ir));
    if (wants("source"))
      write(step.source->entry + (target.is_cuda() ? ".cu" : ".c"), annotated_source(g, step, target));
  }

 private:
  static bool wants(std::string_view word) {
    return support::env::has_word("TARRY_DUMP", word) || support::env::has_word("TARRY_DUMP", "all");
  }
  void write(const std::string& name, const std::string& text) {
    if (support::write_file_atomically(directory_ / name, text))
      support::log::warn_once(fmt::format("cannot write dumps to {} (TARRY_DUMP_DIR)", directory_.string()));
  }

  std::filesystem::path directory_;
  int number_, pass_ = 0;
};

}  // namespace

std::unique_ptr<PlanObserver> make_dump_observer() {
  if (!support::env::get("TARRY_DUMP")) return nullptr;
  const std::filesystem::path directory = support::env::get("TARRY_DUMP_DIR").value_or("tarry-dump");
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  return std::make_unique<DumpObserver>(directory);
}

std::string annotated_source(const graph::Graph& g, const KernelStep& step, const graph::Target& target) {
  const codegen::KernelIr& ir = step.lowered.ir;
  std::string text = fmt::format("// {} for {}\n", step.source->entry, target.name);
  text += fmt::format("// key {}, {} parameter bytes\n", support::hash_bytes(step.source->text).hex(),
                      step.source->slots.size() * 8);
  text += fmt::format("// launch: grid {}, block {}, over {}", step.geometry.grid(),
                      target.is_cuda() ? step.source->threads : 1, graph::to_string(step.lowered.args.extents));
  if (!ir.reductions.empty())
    text += fmt::format(" reducing {} in {} chunks", step.lowered.args.reduced, step.geometry.chunks);
  text += "\n";
  const std::string& source = step.source->text;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    std::string line = source.substr(at, end - at);
    const std::size_t assign = line.find(" = ");
    const std::size_t name = assign == std::string::npos ? std::string::npos : line.rfind(' ', assign - 1);
    if (name != std::string::npos && line[name + 1] == 'v') {
      char* stop = nullptr;
      const unsigned long value = std::strtoul(line.c_str() + name + 2, &stop, 10);
      if (stop > line.c_str() + name + 2 && value < ir.instrs.size() &&
          ir.instrs[value].note < step.lowered.notes.size()) {
        const graph::GraphNode& n = g.nodes[step.lowered.notes[ir.instrs[value].note]];
        line += fmt::format("  // {} at {}", graph::name(n.op), n.where().str());
      }
    }
    text += line + "\n";
    at = end + 1;
  }
  return text;
}

}  // namespace tarry::runtime
