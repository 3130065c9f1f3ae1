// TARRY_DUMP: every stage of a plan, and every kernel as a program of its own, in files of TARRY_DUMP_DIR.
#pragma once

#include <tarry/error.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "runtime/observe/history.h"
#include "runtime/plan/compiled_plan.h"

namespace tarry::runtime {

/// The dumps of one evaluate() or plan(). What cannot be written costs one warning, never the evaluation.
class Dump final : public PlanObserver {
 public:
  /// nullptr where TARRY_DUMP is unset. `call`: "evaluate" or "plan", at `where`.
  static std::unique_ptr<Dump> start(std::string_view call, Where where);

  /// For the key of the plan: one that was made under other words is made again, and dumped.
  [[nodiscard]] std::string key() const;
  /// In the names of this plan's files; counts from 1 in a process.
  [[nodiscard]] int number() const { return number_; }

  void graph(std::string_view stage, const graph::Graph& g) override;
  void fusion(const graph::Graph& g, const graph::Fusion& f) override;
  void kernels(const graph::Graph& g, const CompiledPlan& plan, const graph::Snapshot& snapshot) override;

  enum class Plan : std::uint8_t { Made, Found, Predicted };
  /// A line of index.jsonl for each kernel of the plan: which call, which file, how it was had, which lines of the
  /// user.
  void index(const CompiledPlan& plan, const graph::Snapshot& snapshot, Device device, Plan from) const;
  /// The same for code of the user's; a kernel's text gets a file that begins with `head`, a function has neither.
  void index(const OwnCode& code, std::string_view head, std::string_view source) const;

 private:
  Dump(std::set<std::string> words, std::filesystem::path directory, std::string_view call, Where where);
  [[nodiscard]] bool wants(const char* word) const { return words_.contains(word) || words_.contains("all"); }
  void dot(const std::string& name, const graph::Graph& g, const std::vector<std::uint32_t>& group_of);
  void kernel(const graph::Graph& g, const KernelStep& step, const CompiledPlan& plan, const graph::Snapshot& snapshot);
  void machine_code(const std::string& stem, const KernelStep& step, const graph::Target& target) const;
  [[nodiscard]] std::string own_code(const OwnCode& code, std::string_view head, std::string_view source) const;
  /// The file of the kernel's source.
  [[nodiscard]] std::string file_name(const KernelStep& step, const graph::Target& target) const;
  void steps(const CompiledPlan& plan, const graph::Snapshot& snapshot);
  void append(const std::string& lines) const;
  void write(const std::string& name, std::string_view text) const;
  void cannot_write() const;

  std::set<std::string> words_;
  std::filesystem::path directory_;
  std::string_view call_;
  Where where_;
  int number_, pass_ = 0;
  std::string groups_;  ///< the first part of the plan's file
};

}  // namespace tarry::runtime
