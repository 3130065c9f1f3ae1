// A CUDA driver on host memory for tests. Streams run nothing until somebody waits, so a missing order between streams
// shows as a wrong value; memory is poisoned when allocated; every object is counted.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/device/cuda/api.h"

namespace tarry::test {

class FakeDriver {
 public:
  using Result = runtime::cuda::Result;
  using Kernel = std::function<void(const std::uint64_t* words, unsigned blocks, unsigned threads)>;

  FakeDriver();
  /// Frees what is left: a test that makes a release fail leaves it here.
  ~FakeDriver() {
    for (FakeStream* stream : all_streams_) delete stream;
    for (SharedEvent* event : all_events_) delete event;
    current_ = nullptr;
  }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  runtime::cuda::DriverApi api;
  std::map<std::string, Kernel> kernels;  ///< what cuModuleGetFunction finds
  std::size_t capacity = std::size_t{1} << 40;
  bool paused = false;                ///< queries see no progress
  bool eager_uploads = false;         ///< uploads run as soon as nothing holds them back: the other extreme
  int frees_in_flight = 0;            ///< blocks freed while a stream still had work
  Result broken = Result::Success;    ///< what every call answers, if not Success
  std::map<std::string, int> counts;  ///< calls by entry point

  int streams = 0, events = 0, modules = 0, pinned = 0, retained = 0, graphs = 0;
  std::size_t bytes = 0;
  [[nodiscard]] int total_calls() const;
  [[nodiscard]] bool nothing_left() const {
    return streams == 0 && events == 0 && modules == 0 && pinned == 0 && retained == 0 && graphs == 0 && bytes == 0;
  }

 private:
  struct FakeEvent {
    std::uint64_t recorded = 0, done = 0;
  };
  using SharedEvent = std::shared_ptr<FakeEvent>;
  struct FakeStream {
    std::deque<std::function<bool()>> work;  // false: not ready yet
  };

  /// A graph and an instance of one alike: kernels in order.
  struct FakeNode {
    const Kernel* kernel;
    unsigned blocks, threads;
    std::vector<std::uint64_t> words;
  };
  struct FakeGraph {
    std::deque<FakeNode> nodes;
    std::map<const FakeNode*, std::size_t> places;  // of the graph's nodes, in an instance
  };

  template <class T, class H>
  static T& as(H handle) {
    return *reinterpret_cast<T*>(handle);
  }
  static bool step(FakeStream& stream) {
    if (stream.work.empty() || !stream.work.front()()) return false;
    stream.work.pop_front();
    return true;
  }
  /// Runs `stream` until `done`, and of the others only what it waits for, one piece at a time.
  template <class Done>
  Result run_until(FakeStream& stream, Done done) {
    while (!done()) {
      if (step(stream)) continue;
      bool moved = false;
      for (FakeStream* other : all_streams_) moved = moved || (other != &stream && step(*other));
      if (!moved) return Result::LaunchTimeout;  // a wait that nothing can end
    }
    return Result::Success;
  }
  template <class F>
  static Result guarded(const char* name, F body) {
    if (current_ == nullptr) return Result::Success;  // the plan cache lets go of what outlived its driver
    const std::lock_guard lock(current_->mutex_);
    ++current_->counts[name];
    return current_->broken != Result::Success ? current_->broken : body(*current_);
  }

  /// A node of these parameters. A driver knows from the module how many bytes a kernel takes; this one, once it was
  /// launched.
  Result make_node(const runtime::cuda::KernelNodeParams& p, FakeNode& node) const {
    const auto* kernel = reinterpret_cast<const Kernel*>(p.function);
    const auto size = sizes_.find(kernel);
    if (size == sizes_.end()) return Result::InvalidValue;
    const auto* words = static_cast<const std::uint64_t*>(p.parameters[0]);
    node = {kernel, p.grid_x, p.block_x, {words, words + size->second / 8}};
    return Result::Success;
  }

  inline static FakeDriver* current_ = nullptr;
  std::map<const Kernel*, std::size_t> sizes_;  // bytes of parameters
  std::recursive_mutex mutex_;
  std::set<FakeStream*> all_streams_;
  std::set<SharedEvent*> all_events_;
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
  std::map<void*, std::vector<std::byte>> pinned_blocks_;
};

/// The contexts that are current in this thread, innermost last.
inline std::vector<runtime::cuda::Context>& fake_contexts() {
  static thread_local std::vector<runtime::cuda::Context> stack;
  return stack;
}

inline int FakeDriver::total_calls() const {
  int total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

inline FakeDriver::FakeDriver() {
  namespace c = runtime::cuda;
  using F = FakeDriver;
  current_ = this;
  fake_contexts().clear();
  api.init = [](unsigned) { return Result::Success; };
  api.driver_get_version = [](int* version) { return *version = 13000, Result::Success; };
  api.get_error_name = [](Result, const char** text) { return *text = "FAKE_ERROR", Result::Success; };
  api.get_error_string = [](Result, const char** text) { return *text = "made by a test", Result::Success; };
  api.device_get_count = [](int* count) { return *count = 1, Result::Success; };
  api.device_get = [](c::Ordinal* device, int index) {
    return guarded("device_get", [&](F&) { return *device = index, Result::Success; });
  };
  api.device_get_name = [](char* name, int, c::Ordinal) { return std::strcpy(name, "fake"), Result::Success; };
  api.device_get_attribute = [](int* value, c::DeviceAttribute which, c::Ordinal) {
    return guarded("device_get_attribute", [&](F&) {
      return *value = which == c::DeviceAttribute::ComputeCapabilityMajor ? 9 : 0, Result::Success;
    });
  };
  api.device_total_mem = [](std::size_t* total, c::Ordinal) { return *total = current_->capacity, Result::Success; };
  api.primary_ctx_retain = [](c::Context* context, c::Ordinal) {
    return guarded("primary_ctx_retain", [&](F& f) {
      ++f.retained;
      return *context = reinterpret_cast<c::Context>(&f), Result::Success;
    });
  };
  api.primary_ctx_release = [](c::Ordinal) {
    return guarded("primary_ctx_release", [](F& f) { return --f.retained, Result::Success; });
  };
  api.ctx_push_current = [](c::Context context) {
    return guarded("ctx_push_current", [&](F&) { return fake_contexts().push_back(context), Result::Success; });
  };
  // Never broken: the real one does not fail after a device fault either.
  api.ctx_pop_current = [](c::Context* context) {
    if (fake_contexts().empty()) return Result::InvalidValue;
    *context = fake_contexts().back();
    return fake_contexts().pop_back(), Result::Success;
  };
  api.ctx_get_current = [](c::Context* context) {
    return *context = fake_contexts().empty() ? nullptr : fake_contexts().back(), Result::Success;
  };
  api.mem_get_info = [](std::size_t* free, std::size_t* total) {
    return guarded("mem_get_info", [&](F& f) {
      *total = f.capacity;
      return *free = f.capacity - f.bytes, Result::Success;
    });
  };
  api.mem_alloc = [](c::DevicePointer* address, std::size_t size) {
    return guarded("mem_alloc", [&](F& f) {
      if (fake_contexts().empty()) return Result::InvalidValue;
      if (f.bytes + size > f.capacity) return Result::OutOfMemory;
      std::vector<std::byte> block(size + 256, std::byte{0xCD});
      *address = (reinterpret_cast<std::uintptr_t>(block.data()) + 255) / 256 * 256;
      f.blocks_.emplace(*address, std::move(block));
      return f.bytes += size, Result::Success;
    });
  };
  api.mem_free = [](c::DevicePointer address) {
    return guarded("mem_free", [&](F& f) {
      const auto at = f.blocks_.find(address);
      if (at == f.blocks_.end()) return Result::InvalidValue;
      for (const FakeStream* stream : f.all_streams_) {
        if (!stream->work.empty()) {
          ++f.frees_in_flight;
          break;
        }
      }
      f.bytes -= at->second.size() - 256;
      return f.blocks_.erase(at), Result::Success;
    });
  };
  api.mem_host_alloc = [](void** address, std::size_t size, unsigned) {
    return guarded("mem_host_alloc", [&](F& f) {
      std::vector<std::byte> block(size);
      *address = block.data();
      f.pinned_blocks_.emplace(*address, std::move(block));
      return ++f.pinned, Result::Success;
    });
  };
  api.mem_free_host = [](void* address) {
    return guarded("mem_free_host", [&](F& f) { return f.pinned_blocks_.erase(address), --f.pinned, Result::Success; });
  };
  api.memcpy_htod_async = [](c::DevicePointer to, const void* from, std::size_t size, c::Stream stream) {
    return guarded("memcpy_htod_async", [&](F& f) {
      as<FakeStream>(stream).work.emplace_back(
          [=] { return std::memcpy(reinterpret_cast<void*>(to), from, size), true; });
      while (f.eager_uploads && step(as<FakeStream>(stream))) {
      }
      return Result::Success;
    });
  };
  api.memcpy_dtoh_async = [](void* to, c::DevicePointer from, std::size_t size, c::Stream stream) {
    return guarded("memcpy_dtoh_async", [&](F&) {
      as<FakeStream>(stream).work.emplace_back(
          [=] { return std::memcpy(to, reinterpret_cast<const void*>(from), size), true; });
      return Result::Success;
    });
  };
  api.memcpy_dtod_async = [](c::DevicePointer to, c::DevicePointer from, std::size_t size, c::Stream stream) {
    return guarded("memcpy_dtod_async", [&](F&) {
      as<FakeStream>(stream).work.emplace_back(
          [=] { return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size), true; });
      return Result::Success;
    });
  };
  api.memset_d32_async = [](c::DevicePointer to, unsigned value, std::size_t count, c::Stream stream) {
    return guarded("memset_d32_async", [&](F&) {
      as<FakeStream>(stream).work.emplace_back(
          [=] { return std::fill_n(reinterpret_cast<unsigned*>(to), count, value), true; });
      return Result::Success;
    });
  };
  api.stream_create = [](c::Stream* stream, unsigned) {
    return guarded("stream_create", [&](F& f) {
      auto* created = new FakeStream;
      f.all_streams_.insert(created);
      *stream = reinterpret_cast<c::Stream>(created);
      return ++f.streams, Result::Success;
    });
  };
  api.stream_destroy = [](c::Stream stream) {
    return guarded("stream_destroy", [&](F& f) {
      f.all_streams_.erase(&as<FakeStream>(stream));
      delete &as<FakeStream>(stream);
      return --f.streams, Result::Success;
    });
  };
  api.stream_synchronize = [](c::Stream stream) {
    return guarded("stream_synchronize", [&](F& f) {
      auto& s = as<FakeStream>(stream);
      return f.run_until(s, [&] { return s.work.empty(); });
    });
  };
  api.stream_wait_event = [](c::Stream stream, c::Event event, unsigned) {
    return guarded("stream_wait_event", [&](F&) {
      const SharedEvent e = as<SharedEvent>(event);
      as<FakeStream>(stream).work.emplace_back([e, version = e->recorded] { return e->done >= version; });
      return Result::Success;
    });
  };
  api.event_create = [](c::Event* event, unsigned) {
    return guarded("event_create", [&](F& f) {
      auto* created = new SharedEvent(std::make_shared<FakeEvent>());
      f.all_events_.insert(created);
      *event = reinterpret_cast<c::Event>(created);
      return ++f.events, Result::Success;
    });
  };
  api.event_destroy = [](c::Event event) {
    return guarded("event_destroy", [&](F& f) {
      f.all_events_.erase(&as<SharedEvent>(event));
      delete &as<SharedEvent>(event);
      return --f.events, Result::Success;
    });
  };
  api.event_record = [](c::Event event, c::Stream stream) {
    return guarded("event_record", [&](F&) {
      const SharedEvent e = as<SharedEvent>(event);
      as<FakeStream>(stream).work.emplace_back([e, version = ++e->recorded] { return e->done = version, true; });
      return Result::Success;
    });
  };
  api.event_query = [](c::Event event) {
    return guarded("event_query", [&](F& f) {
      FakeEvent& e = *as<SharedEvent>(event);
      if (e.done == e.recorded) return Result::Success;
      for (FakeStream* stream : f.all_streams_) {
        if (!f.paused && step(*stream)) break;
      }
      return Result::NotReady;
    });
  };
  api.event_synchronize = [](c::Event event) {
    return guarded("event_synchronize", [&](F& f) {
      FakeEvent& e = *as<SharedEvent>(event);
      for (FakeStream* stream : f.all_streams_) {
        const Result result = f.run_until(*stream, [&] { return e.done == e.recorded || stream->work.empty(); });
        if (result != Result::Success || e.done == e.recorded) return result;
      }
      return Result::LaunchTimeout;
    });
  };
  api.module_load_data = [](c::Module* module, const void*, unsigned, c::JitOption*, void**) {
    return guarded("module_load_data", [&](F& f) {
      *module = reinterpret_cast<c::Module>(&f);
      return ++f.modules, Result::Success;
    });
  };
  api.module_unload = [](c::Module) {
    return guarded("module_unload", [](F& f) { return --f.modules, Result::Success; });
  };
  api.module_get_function = [](c::Function* function, c::Module, const char* name) {
    return guarded("module_get_function", [&](F& f) {
      const auto at = f.kernels.find(name);
      if (at == f.kernels.end()) return Result::NotFound;
      return *function = reinterpret_cast<c::Function>(&at->second), Result::Success;
    });
  };
  api.func_set_attribute = [](c::Function, c::FunctionAttribute, int) {
    return guarded("func_set_attribute", [](F&) { return Result::Success; });
  };
  api.launch_kernel = [](c::Function function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                         unsigned, c::Stream stream, void**, void** extra) {
    return guarded("launch_kernel", [&](F& f) {
      const auto* words = static_cast<const std::uint64_t*>(extra[1]);
      const std::size_t size = *static_cast<const std::size_t*>(extra[3]);
      f.sizes_[&as<Kernel>(function)] = size;
      as<FakeStream>(stream).work.emplace_back(
          [=, kernel = as<Kernel>(function), copy = std::vector<std::uint64_t>(words, words + size / 8)] {
            return kernel(copy.data(), grid, block), true;
          });
      return Result::Success;
    });
  };
  api.launch_kernel_ex = [](const c::LaunchConfig* config, c::Function function, void**, void** extra) {
    return guarded("launch_kernel_ex", [&](F& f) {
      const auto* words = static_cast<const std::uint64_t*>(extra[1]);
      const std::size_t size = *static_cast<const std::size_t*>(extra[3]);
      f.sizes_[&as<Kernel>(function)] = size;
      as<FakeStream>(config->stream)
          .work.emplace_back([blocks = config->grid_x, threads = config->block_x, kernel = as<Kernel>(function),
                              copy = std::vector<std::uint64_t>(words, words + size / 8)] {
            return kernel(copy.data(), blocks, threads), true;
          });
      return Result::Success;
    });
  };
  api.has_graphs = true;
  api.graph_create = [](c::Graph* graph, unsigned) {
    return guarded("graph_create", [&](F& f) {
      *graph = reinterpret_cast<c::Graph>(new FakeGraph);
      return ++f.graphs, Result::Success;
    });
  };
  api.graph_destroy = [](c::Graph graph) {
    return guarded("graph_destroy", [&](F& f) { return delete &as<FakeGraph>(graph), --f.graphs, Result::Success; });
  };
  api.graph_add_kernel_node = [](c::GraphNode* node, c::Graph graph, const c::GraphNode* dependencies,
                                 std::size_t count, const c::KernelNodeParams* parameters) {
    return guarded("graph_add_kernel_node", [&](F& f) {
      auto& nodes = as<FakeGraph>(graph).nodes;
      const bool in_line = nodes.empty() ? count == 0 : count == 1 && &as<FakeNode>(*dependencies) == &nodes.back();
      FakeNode made{};
      if (!in_line || f.make_node(*parameters, made) != Result::Success) return Result::InvalidValue;
      nodes.push_back(std::move(made));
      return *node = reinterpret_cast<c::GraphNode>(&nodes.back()), Result::Success;
    });
  };
  api.graph_instantiate = [](c::GraphExec* exec, c::Graph graph, unsigned long long) {
    return guarded("graph_instantiate", [&](F& f) {
      auto* instance = new FakeGraph;
      for (const FakeNode& n : as<FakeGraph>(graph).nodes) {
        instance->places[&n] = instance->nodes.size();
        instance->nodes.push_back(n);
      }
      *exec = reinterpret_cast<c::GraphExec>(instance);
      return ++f.graphs, Result::Success;
    });
  };
  api.graph_exec_destroy = [](c::GraphExec exec) {
    return guarded("graph_exec_destroy",
                   [&](F& f) { return delete &as<FakeGraph>(exec), --f.graphs, Result::Success; });
  };
  api.graph_exec_set_parameters = [](c::GraphExec exec, c::GraphNode node, const c::KernelNodeParams* parameters) {
    return guarded("graph_exec_set_parameters", [&](F& f) {
      auto& instance = as<FakeGraph>(exec);
      return f.make_node(*parameters, instance.nodes[instance.places.at(&as<FakeNode>(node))]);
    });
  };
  api.graph_launch = [](c::GraphExec exec, c::Stream stream) {
    return guarded("graph_launch", [&](F&) {
      as<FakeStream>(stream).work.emplace_back([nodes = as<FakeGraph>(exec).nodes] {
        for (const FakeNode& n : nodes) (*n.kernel)(n.words.data(), n.blocks, n.threads);
        return true;
      });
      return Result::Success;
    });
  };
}

}  // namespace tarry::test
