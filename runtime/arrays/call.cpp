// host_function, cuda_kernel: code of the user's as calls (graph/call.h).
#include <tarry/kernel.h>
#include <tarry/views.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "graph/call.h"
#include "graph/record/record.h"
#include "runtime/device/backend.h"
#include "runtime/device/kernel_caches.h"
#include "runtime/evaluate/claims.h"
#include "runtime/evaluate/engine.h"
#include "runtime/evaluate/transfer.h"
#include "runtime/observe/dump.h"
#include "runtime/observe/history.h"
#include "runtime/plan/kernel_making.h"
#include "runtime/rethrow.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
namespace runtime {
namespace {

using graph::Call;
using graph::Dims;
using graph::Edge;

std::size_t bytes_of(const Call::Result& r) {
  return static_cast<std::size_t>(graph::element_count(r.shape.span())) * itemsize(r.dtype);
}

/// Code of the user's that ran for an evaluate at `where` enters the history and the dumps. `took` is empty where
/// nothing waited for it; a kernel has a text, and a head() for its file.
template <class Head>
void note_run(const OwnCode& code, std::span<const Edge> inputs, std::span<const Call::Result> results,
              std::optional<std::chrono::nanoseconds> took, Where where, std::string_view source, const Head& head) {
  std::int64_t read = 0, written = 0;
  for (const Edge& e : inputs) read += graph::bytes_of(*e.node());
  for (const Call::Result& r : results) written += static_cast<std::int64_t>(bytes_of(r));
  const std::shared_ptr<KernelSums> sums = enter_history(code);
  sums->launched(read, written);
  if (took) sums->ran(*took);
  if (const std::unique_ptr<Dump> dump = Dump::start("evaluate", where)) dump->index(code, head(), source);
}

Shape shape_of(std::span<const std::int64_t> extents) {
  return Shape(std::vector<std::int64_t>(extents.begin(), extents.end()));
}

class HostCall final : public Call {
 public:
  HostCall(std::string called, HostCallable f, std::vector<Edge> inputs, std::vector<Result> results, Where recorded)
      : Call(std::move(called), std::move(inputs), std::move(results)), f_(std::move(f)), recorded_(recorded) {}

 protected:
  std::vector<std::shared_ptr<graph::Storage>> run(std::span<const Edge> inputs, Where where) override {
    if (!inputs.empty()) (void)evaluate(inputs, where);
    std::vector<std::shared_ptr<const void>> held;
    std::vector<HostInput> in;
    for (const Edge& e : inputs) {
      held.push_back(host_data(e, where));
      in.emplace_back(held.back().get(), shape_of(e.node()->shape()), e.node()->dtype);
    }
    std::vector<std::shared_ptr<graph::Storage>> values;
    std::vector<HostOutput> out;
    for (const Result& r : results()) {
      values.push_back(storage_of(host_buffer(bytes_of(r), where), graph::row_major_strides(r.shape.span())));
      out.emplace_back(values.back()->buffer->data, shape_of(r.shape.span()), r.dtype);
    }
    const auto start = std::chrono::steady_clock::now();
    f_(in, out);
    const auto took = std::chrono::steady_clock::now() - start;
    note_run({called(), recorded_, cpu, backend(cpu).target().name, ""}, inputs, results(), took, where, "",
             [] { return std::string(); });
    for (std::size_t i = 0; i < values.size(); ++i)
      if (results()[i].dtype == bool_) normalise_bools(values[i]->buffer->data, bytes_of(results()[i]));
    return values;
  }
  [[nodiscard]] Device device() const override { return cpu; }

 private:
  const HostCallable f_;
  const Where recorded_;
};

/// The text of headers that a source includes from the user's folders: what they hold is part of the kernel's key.
class Headers {
 public:
  explicit Headers(std::span<const std::string> folders) : folders_(folders) {}
  std::string of(const std::string& source) {
    std::string all;
    std::vector<std::string> open = {source};
    while (!open.empty() && seen_.size() < kMost) {
      const std::string text = std::move(open.back());
      open.pop_back();
      for (std::size_t at = 0; (at = text.find("#include", at)) != std::string::npos; ++at) {
        const std::size_t begin = text.find_first_of("\"<\n", at), end = text.find_first_of("\">\n", begin + 1);
        if (begin == std::string::npos || end == std::string::npos || text[begin] == '\n') continue;
        if (std::string found = read(text.substr(begin + 1, end - begin - 1)); !found.empty()) {
          all += found;
          open.push_back(std::move(found));
        }
      }
    }
    return all;
  }

 private:
  static constexpr std::size_t kMost = 1000;  // files
  std::string read(const std::string& name) {
    for (const std::string& folder : folders_) {
      const std::string path = folder + "/" + name;
      std::ifstream file(path, std::ios::binary);
      if (!file) continue;
      if (!seen_.insert(path).second) return {};
      return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    return {};
  }
  const std::span<const std::string> folders_;
  std::set<std::string> seen_;
};

class KernelCall final : public Call {
 public:
  KernelCall(std::string_view source, std::string_view name, KernelLaunch launch, Device device,
             std::vector<Edge> inputs, std::vector<Result> results, Where recorded)
      : Call(std::string(name), std::move(inputs), std::move(results)),
        source_(source),
        launch_(std::move(launch)),
        device_(device),
        recorded_(recorded) {}

 protected:
  std::vector<std::shared_ptr<graph::Storage>> run(std::span<const Edge> inputs, Where where) override try {
    Backend& b = backend(device_);
    if (!inputs.empty()) (void)evaluate(inputs, where);
    const cache::KernelRequest wanted = request(b);
    const cache::Loaded kernel = b.own_kernel(wanted, options());
    std::vector<std::shared_ptr<graph::Buffer>> held;
    std::vector<std::uint64_t> words;
    const auto add = [&](const graph::Buffer& buffer, std::size_t offset) {
      words.push_back(reinterpret_cast<std::uintptr_t>(buffer.data) + offset);
    };
    for (const Edge& e : inputs) {
      const std::shared_ptr<graph::Storage> value = ready_storage(e, where);
      const bool there = value->buffer->device == device_ && value->contiguous;
      held.push_back(there ? value->buffer : copied(e, value, b, where));
      add(*held.back(), there ? static_cast<std::size_t>(value->offset) * itemsize(e.node()->dtype) : 0);
    }
    std::vector<std::shared_ptr<graph::Storage>> values;
    for (const Result& r : results()) {
      values.push_back(storage_of(b.allocate(bytes_of(r)), graph::row_major_strides(r.shape.span())));
      add(*values.back()->buffer, 0);
    }
    for (const Scalar& s : launch_.numbers) words.push_back(word(s));
    const auto start = std::chrono::steady_clock::now();
    b.launch(OwnLaunch{kernel.executable.get(), called(), launch_.grid, launch_.block, launch_.shared_bytes, words});
    std::optional<std::chrono::nanoseconds> took;
    if (b.launch_waits()) took = std::chrono::steady_clock::now() - start;
    const std::uint64_t ticket = b.record();
    for (const std::shared_ptr<graph::Storage>& v : values) v->buffer->last_write = ticket;
    note_run({called(), recorded_, device_, b.target().name, wanted.key.hash().hex(), hit_of(kernel.hit),
              kernel.compile_seconds},
             inputs, results(), took, where, source_, [this] { return head(); });
    return values;
  } catch (const CompileError& e) {
    rethrow(e, called(), where, e.what());
  }
  [[nodiscard]] Device device() const override { return device_; }

 private:
  /// A row-major copy of a value of the host, which stays there for the next time, or of a GPU.
  static std::shared_ptr<graph::Buffer> copied(const Edge& e, const std::shared_ptr<graph::Storage>& value, Backend& b,
                                               Where where) {
    const graph::Node& n = *e.node();
    if (value->buffer->device.kind == DeviceKind::Cpu) {
      Counters counters;
      Crossings crossings{counters, nullptr, {}};
      return bring(value, Dims(n.shape()), n.dtype, b, crossings);
    }
    const std::shared_ptr<const void> host = host_data(e, where);
    const auto bytes = static_cast<std::size_t>(graph::bytes_of(n));
    std::shared_ptr<graph::Buffer> copy = b.allocate(bytes);
    if (bytes > 0) b.upload(*copy, host.get(), bytes);
    return copy;
  }

  /// How it is launched and compiled, as comments.
  [[nodiscard]] std::string head() const {
    const auto& [gx, gy, gz] = launch_.grid;
    const auto& [bx, by, bz] = launch_.block;
    return fmt::format("// launch: ({}, {}, {}) blocks of ({}, {}, {}) threads, {} shared bytes\n// options: {}\n", gx,
                       gy, gz, bx, by, bz, launch_.shared_bytes, fmt::join(options(), " "));
  }

  static std::uint64_t word(const Scalar& s) {
    if (s.kind() == Scalar::Kind::UInt) return s.as_uint();
    if (s.kind() != Scalar::Kind::Float) return static_cast<std::uint64_t>(s.as_int());
    return graph::ScalarCell::of(s.as_float()).as<std::uint64_t>();
  }

  [[nodiscard]] std::vector<std::string> options() const {
    std::vector<std::string> all = launch_.options;
    for (const std::string& folder : launch_.include_paths) all.push_back("--include-path=" + folder);
    return all;
  }

  [[nodiscard]] cache::KernelRequest request(const Backend& b) const {
    std::string text = source_, words;
    for (const std::string& o : launch_.options) words += (words.empty() ? "" : " ") + o;
    if (!launch_.include_paths.empty()) text += "\n// includes\n" + Headers(launch_.include_paths).of(source_);
    return {{std::move(text), std::move(words), b.target().name, "user"}, called(), &source_};
  }

  const std::string source_;
  const KernelLaunch launch_;
  const Device device_;
  const Where recorded_;
};

std::vector<Call::Result> checked_results(std::string_view op, const std::vector<OutputSpec>& outputs, Where where) {
  if (outputs.empty()) TARRY_THROW(InvalidArgument, std::string(op), where, "no output is declared");
  std::vector<Call::Result> all;
  for (const OutputSpec& o : outputs) {
    const std::span<const std::int64_t> shape(o.shape.data(), o.shape.size());
    graph::check_available(op, o.dtype, where);
    graph::check_shape(op, {o.dtype, shape}, where);
    all.push_back({o.dtype, Dims(shape)});
  }
  return all;
}

std::vector<Edge> checked_inputs(std::string_view op, const std::vector<Array>& inputs, Where where) {
  std::vector<Edge> all;
  for (const Array& x : inputs) {
    all.push_back(detail::edge(x, op, where));
    if (all.back().node()->in_loop)
      TARRY_THROW(
          InvalidArgument, std::string(op), where,
          graph::Typed(all.back()).str() + " is a value of the body of a loop, which has none when this is called");
  }
  return all;
}

std::vector<Array> arrays(const std::vector<Edge>& edges) {
  std::vector<Array> all;
  for (const Edge& e : edges) all.push_back(detail::wrap(e));
  return all;
}

}  // namespace
}  // namespace runtime

inline namespace v0 {

void detail::check_element_size(Dtype dtype, std::size_t bytes, Where where) {
  if (itemsize(dtype) != bytes)
    TARRY_THROW(InvalidDtype, "values", where,
                fmt::format("elements of {} have {} bytes, not {}", info(dtype).name, itemsize(dtype), bytes));
}

std::vector<Array> host_function(HostCallable f, const std::vector<Array>& inputs,
                                 const std::vector<OutputSpec>& outputs, std::string_view name, Where where) try {
  if (!f) TARRY_THROW(InvalidArgument, std::string(name), where, "there is no function");
  std::vector<graph::Call::Result> results = runtime::checked_results(name, outputs, where);
  std::vector<graph::Edge> edges = runtime::checked_inputs(name, inputs, where);
  return runtime::arrays(graph::record_call(
      std::make_shared<runtime::HostCall>(std::string(name), std::move(f), std::move(edges), std::move(results), where),
      Device{}, where));
}
TARRY_OR_OUT_OF_MEMORY("host_function", where)

std::vector<Array> cuda_kernel(std::string_view source, std::string_view name, const std::vector<Array>& inputs,
                               const std::vector<OutputSpec>& outputs, const KernelLaunch& launch, Where where) try {
  std::vector<graph::Call::Result> results = runtime::checked_results(name, outputs, where);
  for (const auto& extents : {launch.grid, launch.block})
    if (std::ranges::find(extents, 0U) != extents.end())
      TARRY_THROW(InvalidValue, std::string(name), where,
                  fmt::format("a grid of ({}, {}, {}) blocks of ({}, {}, {}) threads", launch.grid[0], launch.grid[1],
                              launch.grid[2], launch.block[0], launch.block[1], launch.block[2]));
  std::vector<graph::Edge> edges = runtime::checked_inputs(name, inputs, where);
  Device device;
  for (const graph::Edge& e : edges) device = graph::combine(device, e.node()->device, name, where, {});
  if (device.kind == DeviceKind::Unplaced) device = graph::context().device;
  if (device.kind == DeviceKind::Unplaced) device = cuda(0);
  if (device.kind != DeviceKind::Cuda)
    TARRY_THROW(InvalidArgument, std::string(name), where, device.str() + " runs no CUDA kernel; use to_device");
  return runtime::arrays(graph::record_call(
      std::make_shared<runtime::KernelCall>(source, name, launch, device, std::move(edges), std::move(results), where),
      device, where));
}
TARRY_OR_OUT_OF_MEMORY("cuda_kernel", where)

}  // namespace v0
}  // namespace tarry
