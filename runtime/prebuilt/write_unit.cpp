// Built with the library and run while it is built: writes the unit of prebuilt text for a target, its index and the
// compiler's flags.
//
// usage: write_prebuilt TARGET UNIT INDEX FLAGS
//
// Its contents are the shared texts of the reductions and scans below, as most kernels need them. Another kernel
// brings along what it lacks, so the list decides nothing but how long compiling takes.
#include <tarry/tarry.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "codegen/render/prebuilt.h"
#include "graph/record/record.h"
#include "runtime/device/compilers/c_compiler.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/snapshots.h"
#include "runtime/plan/compiled_plan.h"
#include "runtime/plan/route.h"
#include "support/file.h"

namespace tarry::runtime {
namespace {

class Sources final : public PlanObserver {
 public:
  explicit Sources(const graph::Target& target) : target_(target) {}

  void add(const std::vector<Array>& roots) {
    std::vector<graph::Edge> edges;
    for (const Array& x : roots) edges.push_back(detail::defined_edge(x, "prebuilt", {}));
    graph::Snapshot snapshot = present_snapshot(edges);
    (void)planner_of(snapshot, leaf_places(snapshot, cpu), plan_switches(), this)(target_);
  }
  [[nodiscard]] codegen::PrebuiltUnit unit() const {
    std::vector<const codegen::KernelSource*> all;
    for (const auto& source : found_) all.push_back(source.get());
    return codegen::prebuilt_unit(all, target_);
  }

  void graph(std::string_view, const graph::Graph&) override {}
  void fusion(const graph::Graph&, const graph::Fusion&) override {}
  void kernels(const graph::Graph&, const CompiledPlan& plan, const graph::Snapshot&) override {
    for (const Step& s : plan.steps)
      if (const auto* const step = std::get_if<KernelStep>(&s); step != nullptr && !step->empty())
        found_.push_back(step->source);
  }

 private:
  const graph::Target& target_;
  std::vector<std::shared_ptr<const codegen::KernelSource>> found_;
};

/// An array to plan with: nobody reads it.
Array leaf(Dtype dtype, const Shape& shape) {
  static constexpr std::uint64_t kElement = 0;
  return detail::borrow(&kElement, dtype, shape, nullptr, {});
}

/// Elementary functions, whose texts are long; of positive numbers, too, where they have a text of their own for those.
void functions(Sources& all, const Array& x) {
  const graph::Edge operand = detail::defined_edge(x, "prebuilt", {});
  for (const graph::OpInfo& row : graph::kOpTable)
    if (row.form == graph::OpForm::Function) all.add({detail::wrap(graph::record_map(row.op, {{operand, 0}}, {}))});
  for (const Array& f :
       {atan2(x, x), hypot(x, x), logaddexp(x, x), pow(x, x), pow(x, 2.5), sqrt(exp(x)), rsqrt(exp(x))})
    all.add({f});
}

/// Reductions of a matrix along an axis, or of all elements: each reduction of x as it is and of what is computed of
/// it.
void reductions(Sources& all, const Array& x, std::optional<int> axis) {
  const Axes axes = axis ? Axes(*axis) : Axes();
  for (const bool computed : {false, true}) {
    const Array v = computed ? x * x : x;
    all.add({sum(v, axes)});
    all.add({prod(v, axes)});
    all.add({min(v, axes)});
    all.add({max(v, axes)});
    all.add({min(v, axes), max(v, axes)});
    all.add({argmin(v, axis)});
    all.add({argmax(v, axis)});
    all.add({mean(v, axes)});
    all.add({any(v > 0, axes)});
    all.add({tarry::all(v > 0, axes)});
    all.add({count_nonzero(v, axes)});
    if (!is_floating(x.dtype())) continue;
    all.add({var(v, axes)});
    all.add({mean(v, axes), std(v, axes)});
    all.add({sum(v, axes), sum(x * v, axes)});
  }
}

/// Rows that are read again after what was reduced of them.
void rows(Sources& all, const Array& x) {
  const Array centred = x - mean(x, 1, {.keepdims = true});
  all.add({softmax(x, 1)});
  all.add({logsumexp(x, 1)});
  all.add({x / sum(x, 1, {.keepdims = true})});
  all.add({x - max(x, 1, {.keepdims = true})});
  all.add({centred / sqrt(mean(centred * centred, 1, {.keepdims = true}) + 1e-5f)});
  all.add({centred / std(x, 1, {.keepdims = true})});
}

/// Between each point of one set and each of another.
void distances(Sources& all, const Array& a, const Array& b) {
  const Array d = sum(square(a - b), 2);
  all.add({exp(-d)});
  all.add({sum(exp(-d), 1)});
  all.add({min(d, 1)});
  all.add({argmin(d, 1)});
}

void scans(Sources& all, const Array& x, int axis) {
  for (const bool computed : {false, true}) {
    const Array v = computed ? x * x : x;
    all.add({cumulative_sum(v, {.axis = axis})});
    all.add({cumulative_prod(v, {.axis = axis})});
    all.add({cumulative_min(v, {.axis = axis})});
    all.add({cumulative_max(v, {.axis = axis})});
  }
}

/// Channels side by side, in another order.
void channels(Sources& all, Dtype dtype) {
  for (const std::int64_t count : {2, 3, 4}) {
    const Array image = leaf(dtype, {1000, 1000, count});
    std::vector<Array> turned;
    for (std::int64_t k = count; k-- > 0;) turned.push_back(image(slice(), slice(), k));
    all.add({stack(turned, -1)});
  }
}

void add_all(Sources& all) {
  for (const Dtype dtype : {uint8, uint16, float32, float64}) channels(all, dtype);
  random::Generator draws(0);
  all.add({random::bits(draws, {1000}, uint32)});
  all.add({random::bits(draws, {1000}, uint64)});
  for (const Dtype dtype : {float32, float64, int64}) {
    for (const std::int64_t columns : {24, 5000}) {
      const Array x = leaf(dtype, {1000, columns});
      for (const int axis : {0, 1}) {
        reductions(all, x, axis);
        scans(all, x, axis);
      }
      if (is_floating(dtype)) rows(all, x);
    }
    reductions(all, leaf(dtype, {5'000'000}), {});
    scans(all, leaf(dtype, {5'000'000}), 0);
    if (is_floating(dtype)) functions(all, leaf(dtype, {1000}));
    if (is_floating(dtype)) distances(all, leaf(dtype, {1000, 1, 16}), leaf(dtype, {1, 1000, 16}));
    const Array matrix = leaf(dtype, {2000, 2000});
    all.add({matrix + matrix_transpose(matrix)});
  }
}

/// A file that holds the text already keeps its time, so that what is built from it is not built again.
void write(const char* file, const std::string& text) {
  if (support::read_file(file) == text) return;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + file);
}

}  // namespace
}  // namespace tarry::runtime

int main(int count, char** arguments) try {
  using namespace tarry;
  const graph::Target* const target = count == 5 ? graph::find_target(arguments[1]) : nullptr;
  if (target == nullptr) throw std::runtime_error("usage: write_prebuilt TARGET UNIT INDEX FLAGS");
  runtime::Sources all(*target);
  runtime::add_all(all);
  const codegen::PrebuiltUnit unit = all.unit();
  runtime::write(arguments[2], unit.text);
  runtime::write(arguments[3], unit.index);
  runtime::write(arguments[4], runtime::c_flags(*target));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
