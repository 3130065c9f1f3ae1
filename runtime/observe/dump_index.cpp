// index.jsonl of TARRY_DUMP_DIR: one JSON object per line, for each kernel of each evaluate() and plan().
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "runtime/observe/dump.h"
#include "runtime/observe/history.h"
#include "runtime/observe/report.h"
#include "support/file.h"

namespace tarry::runtime {
namespace {

/// How a kernel of this call was had: a plan that was found brings its kernels along, a predicted one has none.
std::string_view origin_of(const KernelStep& step, Dump::Plan from) {
  if (from == Dump::Plan::Predicted) return "planned";
  if (from == Dump::Plan::Found && step.executable) return name(KernelHit::Memory);
  return name(step.making.hit);
}

/// File names are bytes; what is no UTF-8 in them is replaced.
std::string as_line(const nlohmann::ordered_json& line) {
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void Dump::index(const CompiledPlan& plan, const graph::Snapshot& snapshot, Device device, Plan from) const {
  std::vector<const KernelStep*> kernels;
  std::map<const codegen::KernelSource*, std::pair<std::size_t, int>> uses;  // place in kernels, launches
  for (const Step& s : plan.steps) {
    const auto* const step = std::get_if<KernelStep>(&s);
    if (step == nullptr || step->empty()) continue;
    const auto [use, fresh] = uses.try_emplace(step->source.get(), kernels.size(), 0);
    if (fresh) kernels.push_back(step);
    ++use->second.second;
  }
  std::string lines;
  for (const KernelStep* step : kernels) {
    const nlohmann::ordered_json line = {
        {"process", ::getpid()},
        {"call", call_},
        {"at", where_.str()},
        {"number", number_},
        {"plan", plan.dump_number},
        {"device", device.str()},
        {"target", plan.target->name},
        {"kernel", step->source->entry},
        {"file", file_name(*step, *plan.target)},
        {"key", kernel_key(*step, *plan.target).hash().hex()},
        {"hit", origin_of(*step, from)},
        {"launches", uses.at(step->source.get()).second},
        {"lines", user_lines(*step, snapshot)},
    };
    lines += as_line(line);
  }
  append(lines);
}

void Dump::index(const OwnCode& code, std::string_view head, std::string_view source) const {
  append(as_line({
      {"process", ::getpid()},
      {"call", call_},
      {"at", where_.str()},
      {"number", number_},
      {"device", code.device.str()},
      {"target", code.target},
      {"kernel", code.name},
      {"file", own_code(code, head, source)},
      {"key", code.key},
      {"hit", name(code.hit)},
      {"launches", 1},
      {"lines", {code.line()}},
      {"reason", kUser},
  }));
}

void Dump::append(const std::string& lines) const {
  if (!lines.empty() && support::append_to_file(directory_ / "index.jsonl", lines)) cannot_write();
}

}  // namespace tarry::runtime
