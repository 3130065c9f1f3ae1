// schedule(): collapsing of dimensions, choice of a layout, bytes.
#include <algorithm>
#include <cstdlib>

#include "codegen/lower/choice.h"

namespace tarry::codegen {
namespace {

using graph::Dims;
using graph::Group;

class Scheduler {
 public:
  Scheduler(Selection s, MergedAxes merged, const Group& group, const graph::Target& target)
      : merged_(std::move(merged)),
        raw_(std::move(s.accesses)),
        boxes_(std::move(s.boxes)),
        buffer_bytes_(std::move(s.buffer_bytes)),
        loops_(std::move(s.loops)),
        group_(group),
        target_(target),
        out_(std::move(s.lowered)),
        ir_(out_.ir),
        args_(out_.args) {}

  Lowered run() {
    collapse();
    choose();
    count_bytes();
    return std::move(out_);
  }

 private:
  void collapse() {
    const MergedAxes& merged = merged_;
    ir_.rank = static_cast<int>(merged.size());
    for (const auto& m : merged) {
      std::int64_t extent = 1;
      for (int d : m) extent *= group_.space[d];
      args_.extents.push_back(extent);
    }
    if (group_.reduces) args_.reduced = group_.space[group_.axis];
    for (const RawAccess& raw : raw_) {
      AccessArgs aa;
      Access a;
      aa.offset = raw.offset;
      a.buffer = raw.buffer;
      a.store = raw.store;
      a.outer_only = raw.outer_only;
      a.gathered = raw.at != kNone;
      a.faults = raw.faults;
      for (const auto& m : merged) aa.strides.push_back(raw.strides[m.back()]);
      if (group_.reduces && !raw.outer_only) aa.reduced_stride = raw.strides[group_.axis];
      a.loop = raw.loop;
      aa.loop_stride = raw.loop_stride;
      a.step = stride_class(aa.loop_stride);
      for (std::int64_t s : aa.strides) a.strides.push_back(stride_class(s));
      a.reduced = stride_class(aa.reduced_stride);
      ir_.wide_index |= reach(aa) >= kNarrowLimit;
      ir_.accesses.push_back(std::move(a));
      args_.accesses.push_back(aa);
    }
    ir_.wide_index |= args_.outer_count() >= kNarrowLimit || args_.reduced >= kNarrowLimit ||
                      (args_.reduced > 0 && args_.outer_count() >= kNarrowLimit / args_.reduced);
  }

  [[nodiscard]] std::int64_t reach(const AccessArgs& a) const {
    std::int64_t r = std::abs(a.offset) + std::abs(a.reduced_stride) * std::max<std::int64_t>(args_.reduced - 1, 0) +
                     std::abs(a.loop_stride) * (kLongestLoop - 1);
    for (int d = 0; d < a.strides.size(); ++d)
      r += std::abs(a.strides[d]) * std::max<std::int64_t>(args_.extents[d] - 1, 0);
    return r;
  }

  void choose() {
    if (target_.is_cuda())
      for (const std::int64_t extent : loops_)
        ir_.short_loops.push_back(extent <= kShortLoop ? static_cast<int>(extent) : 0);
    Choice choice(out_, group_, target_, loops_);
    ir_.layout = choose_layout(choice);
  }

  void count_bytes() {
    std::vector<std::int64_t> read(out_.buffers.size()), written(out_.buffers.size());
    for (const RawAccess& a : raw_) {
      if (a.buffer == kNone || a.faults) continue;
      (a.store ? written : read)[a.buffer] += elements(a) * static_cast<std::int64_t>(itemsize(ir_.buffers[a.buffer]));
    }
    for (std::size_t b = 0; b < out_.buffers.size(); ++b) {
      out_.bytes_read += std::min(read[b], buffer_bytes_[b]);
      out_.bytes_written += written[b];
    }
  }

  /// Elements that an access touches, each once.
  [[nodiscard]] std::int64_t elements(const RawAccess& a) const {
    std::int64_t count = args_.outer_count() == 0 ? 0 : 1;
    for (int d = 0; d < a.strides.size(); ++d) {
      if ((a.strides[d] == 0 && (a.axes >> d & 1) == 0) || (a.outer_only && d == group_.axis)) continue;
      count *= a.guard == kNone ? group_.space[d] : boxes_[a.guard].high[d] - boxes_[a.guard].low[d];
    }
    if (a.loop_stride != 0 || (a.at != kNone && a.loop != kNone)) count *= loops_[a.loop];
    return count;
  }

  const MergedAxes merged_;
  std::vector<RawAccess> raw_;
  std::vector<Bounds> boxes_;
  std::vector<std::int64_t> buffer_bytes_, loops_;
  const Group& group_;
  const graph::Target& target_;
  Lowered out_;
  KernelIr& ir_;
  KernelArgs& args_;
};

}  // namespace

Lowered schedule(Selection selection, const Group& group, const graph::Target& target) {
  MergedAxes merged = merge_axes(selection, group);
  return Scheduler(std::move(selection), std::move(merged), group, target).run();
}

}  // namespace tarry::codegen
