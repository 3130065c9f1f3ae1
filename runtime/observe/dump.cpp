// Files of a plan's stages and kernels.
#include "runtime/observe/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "codegen/render/standalone.h"
#include "graph/fusion/fusion.h"
#include "runtime/observe/dump_tools.h"
#include "runtime/observe/report.h"
#include "support/env.h"
#include "support/file.h"
#include "support/fork.h"
#include "support/log.h"

namespace tarry::runtime {
namespace {

constexpr std::array kWords{"source", "ptx", "sass", "graph", "dot", "svg", "plan", "ir", "passes", "all"};

/// The words of TARRY_DUMP that mean something.
std::set<std::string> dump_words() {
  std::set<std::string> words;
  for (std::string& word : support::env::words("TARRY_DUMP"))
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) words.insert(std::move(word));
  return words;
}

/// Kernels that this process has dumped: each kernel once for each place and choice of words.
class Dumped {
 public:
  struct Name {
    std::string stem;
    bool fresh;  ///< not written yet
  };
  /// The name of the kernel's files. Two texts may share an entry, whose hash has 32 bits: the second gets "_2".
  Name name(const std::string& place, const std::shared_ptr<const codegen::KernelSource>& source) {
    const std::lock_guard lock(mutex_);
    auto& texts = texts_[{place, source->entry}];
    const auto known = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t->text == source->text; });
    const auto at = known - texts.begin();
    const bool fresh = known == texts.end();
    if (fresh) texts.push_back(source);
    return {at == 0 ? source->entry : fmt::format("{}_{}", source->entry, at + 1), fresh};
  }

 private:
  support::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::vector<std::shared_ptr<const codegen::KernelSource>>> texts_;
};
Dumped& dumped() {
  static auto* d = new Dumped;  // static arrays may be evaluated at exit
  return *d;
}

/// Bytes of a kernel's operand.
std::size_t operand_bytes(const Operand& o, const CompiledPlan& plan, const graph::Snapshot& snapshot) {
  if (o.kind == Operand::Kind::Output) return plan.outputs[o.index].bytes;
  if (o.kind == Operand::Kind::Temporary) return plan.temporaries[o.index];
  if (o.kind == Operand::Kind::Faults) return plan.fault_bytes();
  const graph::LeafLayout& layout = snapshot.graph.leaves[o.index];
  if (layout.contiguous && layout.offset == 0)
    for (graph::NodeId id = 0; id < snapshot.graph.nodes.size(); ++id) {
      const graph::GraphNode& n = snapshot.graph.nodes[id];
      if (n.op == graph::Op::Input && n.payload == o.index) return static_cast<std::size_t>(snapshot.graph.bytes(id));
    }
  return snapshot.leaves[o.index]->buffer->bytes;
}

std::string launched_alone(const KernelStep& step, const CompiledPlan& plan, const graph::Snapshot& snapshot) {
  std::vector<std::uint64_t> values;
  scalar_values(plan, snapshot.cells, values);
  const std::vector<std::uint64_t> scalars = kernel_scalars(step, values);
  std::vector<std::size_t> bytes;
  for (const Operand& o : step.operands) bytes.push_back(operand_bytes(o, plan, snapshot));
  return codegen::standalone_main(step.lowered.ir, *step.source, {&step.lowered.args, step.geometry, scalars, bytes},
                                  *plan.target);
}

/// How the file becomes a program with the options that the engine compiles with.
std::string build_command(const KernelStep& step, const graph::Target& target, const std::string& name) {
  const bool strict = step.lowered.ir.mode == graph::Mode::Strict;
  if (target.is_cuda())
    return fmt::format("nvcc -arch={} --fmad={} -DTARRY_MAIN -o {} {}.cu", target.name, strict ? "false" : "true", name,
                       name);
  std::string flags = " " + kernel_key(step, target).options;
  for (const std::string_view library_only : {" -shared", " -fPIC", " -ffreestanding", " -nostdlib"})
    if (const std::size_t at = flags.find(library_only); at != std::string::npos) flags.erase(at, library_only.size());
  return fmt::format("cc{} -DTARRY_MAIN -o {} {}.c", flags, name, name);
}

/// The instruction whose value the line defines ("const float v12 = ..."), or kNone.
std::uint32_t defined_value(const std::string& line, const codegen::KernelIr& ir) {
  const std::size_t assign = line.find(" = ");
  const std::size_t name = assign == std::string::npos ? std::string::npos : line.rfind(' ', assign - 1);
  if (name == std::string::npos || line[name + 1] != 'v') return codegen::kNone;
  char* stop = nullptr;
  const char* const digits = line.c_str() + name + 2;
  const unsigned long value = std::strtoul(digits, &stop, 10);
  return stop > digits && value < ir.instrs.size() ? static_cast<std::uint32_t>(value) : codegen::kNone;
}

/// The kernel's text with key, launch geometry and the user's file:line per statement as comments, and a main().
std::string annotated_source(const graph::Graph& g, const KernelStep& step, const CompiledPlan& plan,
                             const graph::Snapshot& snapshot, const std::string& stem) {
  const graph::Target& target = *plan.target;
  const codegen::KernelIr& ir = step.lowered.ir;
  std::string text = fmt::format("// {} for {}\n", step.source->entry, target.name);
  text += fmt::format("// key {}, {} parameter bytes\n", kernel_key(step, target).hash().hex(),
                      step.source->slots.size() * 8);
  text += fmt::format("// launch: grid {}, block {}, over {}", step.geometry.grid(),
                      target.is_cuda() ? step.source->threads : 1, graph::to_string(step.lowered.args.extents));
  if (!ir.reductions.empty())
    text += fmt::format(" reducing {} in {} chunks", step.lowered.args.reduced, step.geometry.chunks);
  text += fmt::format("\n// build: {}\n", build_command(step, target, stem));
  if (target.is_cuda())
    text += "#pragma nv_diag_suppress 177  // functions of the prelude that this kernel does not call\n";
  const std::string& source = step.source->text;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    std::string line = source.substr(at, end - at);
    const std::uint32_t value = defined_value(line, ir);
    if (value != codegen::kNone && ir.instrs[value].note < step.lowered.notes.size()) {
      const graph::GraphNode& n = g.nodes[step.lowered.notes[ir.instrs[value].note]];
      line += fmt::format("  // {} at {}", graph::name(n.op), n.where().str());
    }
    text += line + "\n";
    at = end + 1;
  }
  return text + launched_alone(step, plan, snapshot);
}

}  // namespace

std::unique_ptr<Dump> Dump::start(std::string_view call, Where where) {
  if (!support::env::get("TARRY_DUMP")) return nullptr;
  const std::filesystem::path directory = support::env::get("TARRY_DUMP_DIR").value_or("tarry-dump");
  std::error_code ignored;  // what cannot be made cannot be written to
  std::filesystem::create_directories(directory, ignored);
  return std::unique_ptr<Dump>(new Dump(dump_words(), directory, call, where));
}

Dump::Dump(std::set<std::string> words, std::filesystem::path directory, std::string_view call, Where where)
    : words_(std::move(words)), directory_(std::move(directory)), call_(call), where_(where) {
  static std::atomic<int> plans{0};
  number_ = ++plans;
}

std::string Dump::key() const { return fmt::format("|{}|{}", fmt::join(words_, ","), directory_.string()); }

void Dump::cannot_write() const {
  support::log::warn_once(fmt::format("cannot write dumps to {} (TARRY_DUMP_DIR)", directory_.string()));
}

void Dump::write(const std::string& name, std::string_view text) const {
  if (support::write_file_atomically(directory_ / name, text)) cannot_write();
}

void Dump::dot(const std::string& name, const graph::Graph& g, const std::vector<std::uint32_t>& group_of) {
  constexpr std::size_t kMostDrawn = 2000;  // Graphviz takes minutes for more
  if (!wants("dot") && !wants("svg")) return;
  write(name + ".dot", graph::to_dot(g, group_of));
  if (!wants("svg")) return;
  const ToolText svg = g.nodes.size() > kMostDrawn
                           ? ToolText{"", fmt::format("a graph has more than {} nodes", kMostDrawn)}
                           : svg_of(directory_ / (name + ".dot"));
  if (svg.missing.empty()) return write(name + ".svg", svg.text);
  if (words_.contains("svg")) support::log::warn_once("TARRY_DUMP=svg: " + svg.missing);
}

void Dump::graph(std::string_view stage, const graph::Graph& g) {
  if (stage != "recorded") {
    if (wants("passes")) write(fmt::format("{:04}-pass-{}-{}.txt", number_, ++pass_, stage), graph::to_string(g));
    return;
  }
  if (wants("graph")) write(fmt::format("{:04}-graph-recorded.txt", number_), graph::to_string(g));
  dot(fmt::format("{:04}-graph-recorded", number_), g, {});
}

void Dump::fusion(const graph::Graph& g, const graph::Fusion& f) {
  if (wants("graph")) write(fmt::format("{:04}-graph-fused.txt", number_), graph::to_string(g));
  dot(fmt::format("{:04}-graph-fused", number_), g, f.group_of);
  if (!wants("plan")) return;
  groups_.clear();
  for (std::size_t i = 0; i < f.groups.size(); ++i) {
    const graph::Group& group = f.groups[i];
    groups_ += fmt::format("group {} over {}{}{}:", i, graph::to_string(group.space),
                           group.reduces ? fmt::format(" reducing axis {}", group.axis) : "",
                           group.row_column() ? fmt::format(" and axis {}", group.across) : "");
    for (graph::NodeId id : f.groups[i].nodes) groups_ += fmt::format(" %{}", id);
    groups_ += "\n";
  }
  for (const graph::UnfusedEdge& e : f.unfused)
    groups_ += fmt::format("memory %{} -> %{}: {}\n", e.producer, e.consumer, graph::to_string(e.reason));
  write(fmt::format("{:04}-plan.txt", number_), groups_);  // all there is, should lowering fail
}

void Dump::steps(const CompiledPlan& plan, const graph::Snapshot& snapshot) {
  constexpr std::array kKinds{"leaf", "output", "temporary", "faults"};
  const auto place = [&](const Operand& o) {
    return fmt::format("{} {}", kKinds[static_cast<std::size_t>(o.kind)], o.index);
  };
  std::string text = groups_;
  for (const Unfused& u : edges_of_own_code(snapshot))
    text += fmt::format("memory {} -> {}: {}\n", u.producer, u.consumer, u.reason);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (const auto* t = std::get_if<TransferStep>(&plan.steps[i])) {
      text += fmt::format("step {}: transfer leaf {}\n", i, t->leaf);
    } else if (const auto* copy = std::get_if<CopyStep>(&plan.steps[i])) {
      text += fmt::format("step {}: copy {} bytes from {} to {}\n", i, copy->bytes, place(copy->from), place(copy->to));
    } else if (const auto* call = std::get_if<LibraryStep>(&plan.steps[i])) {
      text += fmt::format("step {}: {}, buffers {}, {}, {}, {} bytes read, {} written\n", i, call->spec.str(),
                          place(call->operands[0]), place(call->operands[1]), place(call->operands[2]),
                          call->bytes_read, call->bytes_written);
    } else if (const auto* routine = std::get_if<RoutineStep>(&plan.steps[i])) {
      std::vector<std::string> buffers;
      for (const Operand& o : routine->operands) buffers.push_back(place(o));
      text += fmt::format("step {}: {}, buffers {}, {} bytes read, {} written\n", i, routine->spec.str(),
                          fmt::join(buffers, ", "), routine->bytes_read, routine->bytes_written);
    } else {
      const auto& k = std::get<KernelStep>(plan.steps[i]);
      std::vector<std::string> buffers;
      for (const Operand& o : k.operands) buffers.push_back(place(o));
      text += fmt::format("step {}: {} over {}, grid {}, buffers {}, {} bytes read, {} written\n", i, k.source->entry,
                          graph::to_string(k.lowered.args.extents), k.geometry.grid(), fmt::join(buffers, ", "),
                          k.lowered.bytes_read, k.lowered.bytes_written);
    }
  }
  write(fmt::format("{:04}-plan.txt", number_), text);
}

void Dump::kernels(const graph::Graph& g, const CompiledPlan& plan, const graph::Snapshot& snapshot) {
  if (wants("plan")) steps(plan, snapshot);
  for (const Step& s : plan.steps) {
    if (const auto* const step = std::get_if<KernelStep>(&s)) kernel(g, *step, plan, snapshot);
    if (!wants("source")) continue;
    const auto dump = [this](const std::shared_ptr<const codegen::KernelSource>& source) {
      if (const Dumped::Name name = dumped().name(key(), source); name.fresh) write(name.stem + ".cu", source->text);
    };
    if (const auto* const call = std::get_if<LibraryStep>(&s); call != nullptr && call->source) dump(call->source);
    if (const auto* const call = std::get_if<RoutineStep>(&s)) std::ranges::for_each(call->sources, dump);
  }
}

void Dump::kernel(const graph::Graph& g, const KernelStep& step, const CompiledPlan& plan,
                  const graph::Snapshot& snapshot) {
  const Dumped::Name name = dumped().name(key(), step.source);
  if (!name.fresh) return;
  if (wants("ir")) write(name.stem + ".ir", codegen::to_string(step.lowered.ir));
  if (wants("source"))
    write(name.stem + (plan.target->is_cuda() ? ".cu" : ".c"), annotated_source(g, step, plan, snapshot, name.stem));
  if (plan.target->is_cuda()) machine_code(name.stem, step, *plan.target);
}

std::string Dump::own_code(const OwnCode& code, std::string_view head, std::string_view source) const {
  if (source.empty()) return "";
  auto text = std::make_shared<codegen::KernelSource>();
  text->entry = fmt::format("{}_{}", code.name, code.key.substr(0, 8));
  text->text = source;
  const Dumped::Name name = dumped().name(key(), text);
  if (name.fresh && wants("source"))
    write(name.stem + ".cu",
          fmt::format("// {} for {}: {}\n// key {}\n{}", code.line(), code.target, kUser, code.key, head) + text->text);
  return name.stem + ".cu";
}

std::string Dump::file_name(const KernelStep& step, const graph::Target& target) const {
  return dumped().name(key(), step.source).stem + (target.is_cuda() ? ".cu" : ".c");
}

void Dump::machine_code(const std::string& stem, const KernelStep& step, const graph::Target& target) const {
  const auto tool = [&](const char* word, auto make) {
    if (!wants(word)) return;
    try {
      const ToolText made = make(step.source->text, target, step.lowered.ir.mode);
      if (made.missing.empty()) return write(fmt::format("{}.{}", stem, word), made.text);
      if (words_.contains(word)) support::log::warn_once(fmt::format("TARRY_DUMP={}: {}", word, made.missing));
    } catch (const Error& error) {  // no temporary directory
      support::log::warn_once(fmt::format("TARRY_DUMP={}: {}", word, error.what()));
    }
  };
  tool("ptx", ptx_of);
  tool("sass", sass_of);
}

}  // namespace tarry::runtime
