// The CPU as a device: kernels are C, compiled by the system's compiler and run on threads.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "runtime/device/backend.h"
#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/toolchain.h"
#include "runtime/device/cpu/blas.h"
#include "runtime/device/cpu/host_pool.h"
#include "runtime/device/cpu/routine.h"
#include "runtime/device/cpu/stream.h"
#include "runtime/device/cpu/target.h"
#include "runtime/device/parallel.h"
#include "support/check.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/floating_point.h"
#include "support/fork.h"
#include "support/log.h"
#include "support/temporary.h"

namespace tarry::runtime {

namespace {

/// The system runs no code that was written just now.
class NothingLoads final : public CompileError {
 public:
  explicit NothingLoads(const std::string& why) : CompileError("", Where{}, why) {}
};

bool is_noexec(const std::filesystem::path& directory) {
  struct statvfs of{};
  return statvfs(directory.c_str(), &of) == 0 && (of.f_flag & ST_NOEXEC) != 0;
}

/// A loaded shared object. Holds its image: that is how kernels that come with an equal one find this.
class LoadedObject {
 public:
  explicit LoadedObject(std::shared_ptr<const std::string> image) : image_(std::move(image)), handle_(open(*image_)) {
    ++count;
  }
  ~LoadedObject() {
    dlclose(handle_);
    --count;
  }
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  [[nodiscard]] void* find(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

 private:
  /// A process may have 65,530 mappings (vm.max_map_count), and a library takes four.
  static constexpr std::int64_t kMost = 4096;
  static inline constinit std::atomic<std::int64_t> count{0};

  static void* open(const std::string& image) {
    bool room = count < kMost && !support::fault::fails(support::fault::Site::Load);
    void* const handle = room ? open_anyhow(image, room) : nullptr;
    if (!room)
      TARRY_THROW(OutOfMemory, "", Where{},
                  fmt::format("there is no room to load a kernel beside the {} that are loaded: the process has too "
                              "many mappings or files",
                              count.load()));
    return handle;
  }

  static bool has_mappings() {
    constexpr std::size_t kPages = 8;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const pages = mmap(nullptr, kPages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return false;
    bool all = true;
    for (std::size_t i = 0; i < kPages; i += 2)
      all = mprotect(static_cast<char*>(pages) + i * page, page, PROT_READ) == 0 && all;
    munmap(pages, kPages * page);
    return all;
  }

  /// Null where `room` becomes false; throws where the image is at fault.
  static void* open_anyhow(const std::string& image, bool& room) {
    if (void* handle = open_from_memory(image, room)) return handle;
    if (room = room && has_mappings(); !room) return nullptr;
    const support::ScopedTemporaryDirectory directory;  // no memfd, or a kernel that refuses to map it for execution
    const auto path = directory.path() / "kernels.so";
    if (const std::error_code error = support::write_file_atomically(path, image))
      TARRY_THROW(CompileError, "", Where{}, fmt::format("cannot write {}: {}", path.string(), error.message()));
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* reason = dlerror();
      if (is_noexec(directory.path()))
        throw NothingLoads(
            fmt::format("{} is mounted noexec, and there is no /proc to load kernels from memory; set "
                        "TMPDIR to a directory that programs may run from",
                        directory.path().parent_path().string()));
      TARRY_THROW(CompileError, "", Where{},
                  fmt::format("a compiled kernel does not load: {}", reason ? reason : "no reason given"));
    }
    return handle;
  }

  static void* open_from_memory(const std::string& image, bool& room) {
    static std::atomic<std::uint32_t> number{0};
    const int fd = memfd_create("tarry_kernels", MFD_CLOEXEC);
    if (fd < 0) {
      room = errno != EMFILE && errno != ENFILE;
      return nullptr;
    }
    std::size_t done = 0;
    const support::FileSizeGuard guard;
    while (done < image.size()) {
      const ssize_t n = write(fd, image.data() + done, image.size() - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    void* handle = nullptr;
    if (done == image.size()) {
      // The loader takes a library of a known path name for the one it has, and fd numbers come back: every load spells
      // the same path differently, one bit of a counter per step.
      std::string path = "/proc/self/fd";
      for (std::uint32_t bits = number.fetch_add(1); bits; bits >>= 1) path += bits & 1 ? "/./" : "//";
      handle = dlopen(fmt::format("{}/{}", path, fd).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) dlerror();
    }
    close(fd);
    return handle;
  }

  const std::shared_ptr<const std::string> image_;
  void* const handle_;
};

class CpuExecutable final : public cache::Executable {
 public:
  CpuExecutable(std::shared_ptr<LoadedObject> from, CpuEntry entry, CpuEntry fold)
      : run(entry), fold_chunks(fold), library_(std::move(from)) {}
  const CpuEntry run;
  const CpuEntry fold_chunks;  ///< null for pointwise kernels

 private:
  std::shared_ptr<LoadedObject> library_;
};

/// Points (outer index, k) of one work item.
std::int64_t points_per_item(const Launch& launch) {
  std::int64_t n = 1, chunk_blocks = launch.geometry.chunk_blocks;
  bool reduces = false;
  for (std::size_t i = 0; i < launch.source->slots.size(); ++i) {
    if (launch.source->slots[i].kind != codegen::SlotKind::Reduced) continue;
    n = static_cast<std::int64_t>(launch.parameters[i]);
    reduces = true;
  }
  if (!reduces) return launch.source->tile;
  constexpr std::int64_t kMany = std::int64_t{1} << 40;  // no overflow below
  const std::int64_t along = chunk_blocks < kMany ? std::min(n, chunk_blocks * 128) : n;
  return std::max<std::int64_t>(1, std::min(along, kMany)) * launch.source->tile;
}

/// Work items that are worth a thread: about 20 us, far above the cost of handing out a piece.
std::int64_t grain_of(const Launch& launch) {
  constexpr std::int64_t kQuarterNanoseconds = 80'000;
  const std::int64_t cost = points_per_item(launch) * std::max(1, launch.source->point_cost);
  return std::max<std::int64_t>(1, kQuarterNanoseconds / cost);
}

void run_items(CpuEntry entry, const void* parameters, std::int64_t count, std::int64_t grain, std::int64_t first = 0) {
  parallel_for(count, grain, [&](std::int64_t lo, std::int64_t hi) {
    const support::DefaultFloatingPoint state;
    entry(parameters, first + lo, first + hi);
  });
}

/// Chunks of a scan are summed, then scanned, in waves that the caches still hold the second time.
void run_waves(const CpuExecutable& executable, const void* parameters, std::int64_t count, std::int64_t grain) {
  const std::int64_t wave = 8 * std::int64_t{thread_count()};
  for (std::int64_t first = 0; first < count; first += wave) {
    const std::int64_t items = std::min(wave, count - first);
    run_items(executable.run, parameters, items, grain, first);
    run_items(executable.fold_chunks, parameters, items, grain, first);
  }
}

class CpuBackend final : public Backend {
 public:
  CpuBackend() : target_(cpu_target()), pool_(std::make_shared<HostPool>()) {}

  [[nodiscard]] Device device() const override { return cpu; }
  [[nodiscard]] const graph::Target& target() const override { return target_; }
  [[nodiscard]] std::string options(graph::Mode mode) const override { return compile_options(target_, mode); }
  [[nodiscard]] std::string compiler() const override { return compiler_of(target_); }

  std::shared_ptr<graph::Buffer> allocate(std::size_t bytes) override { return HostPool::allocate(pool_, bytes); }
  void* tickets(std::size_t) override { return nullptr; }
  void upload(graph::Buffer& to, const void* from, std::size_t bytes) override {
    if (bytes) std::memcpy(to.data, from, bytes);
  }
  void upload(graph::Buffer& to, const Fill& fill, std::size_t bytes) override {
    fill_in_parallel(fill, to.data, 0, bytes);
  }
  void download(void* to, const graph::Buffer& from, std::size_t offset, std::size_t bytes) override {
    if (bytes) std::memcpy(to, static_cast<const char*>(from.data) + offset, bytes);
  }

  void copy(void* to, const void* from, std::size_t bytes) override { copy_in_parallel(to, from, bytes); }

  std::optional<cache::Binary> compile(std::span<const cache::KernelRequest* const> requests) override;
  std::shared_ptr<cache::Executable> load(const cache::KernelRequest& request, const cache::Binary& binary) override;
  [[nodiscard]] std::string library_missing(Dtype dtype) override { return cpu_blas_missing(dtype); }
  std::shared_ptr<const LibraryCall> prepare(const MatmulSpec& spec) override { return make_cpu_matmul(spec); }
  void run(const codegen::RoutineSpec& spec, std::span<void* const> operands, void* scratch) override {
    run_on_host(spec, operands, scratch);
  }
  using Backend::run;
  void launch(const Launch& launch) override;
  [[nodiscard]] bool launch_waits() const override { return true; }

  std::uint64_t record() override { return 0; }
  bool wait(std::uint64_t, std::chrono::nanoseconds) override { return true; }
  void synchronize() override {}
  [[nodiscard]] PoolStats memory() const override { return pool_->stats(); }
  [[nodiscard]] std::int64_t allocations() const override { return pool_->allocations(); }
  void trim() override { pool_->trim(); }
  void reset_peak() override { pool_->reset_peak(); }
  std::size_t limit() const override { return pool_->limit().bytes(); }
  void limit_memory(std::size_t bytes) override { pool_->limit().set(bytes); }

 private:
  std::shared_ptr<LoadedObject> library(const cache::Binary& binary);

  const graph::Target& target_;
  std::shared_ptr<HostPool> pool_;
  std::atomic<std::uint64_t> nothing_loads_{0};  ///< 1 + the generation of the switches in which that was found
  support::Mutex libraries_mutex_;
  std::map<const std::string*, std::weak_ptr<LoadedObject>>
      libraries_;  // kernels of one batch share an image: it is loaded once
};

std::shared_ptr<LoadedObject> CpuBackend::library(const cache::Binary& binary) {
  const std::lock_guard lock(libraries_mutex_);
  std::erase_if(libraries_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<LoadedObject>& known = libraries_[binary.image.get()];
  if (auto loaded = known.lock()) return loaded;
  auto made = std::make_shared<LoadedObject>(binary.image);
  known = made;
  return made;
}

std::optional<cache::Binary> CpuBackend::compile(std::span<const cache::KernelRequest* const> requests) {
  if (nothing_loads_.load(std::memory_order_relaxed) == support::env::generation() + 1) return std::nullopt;
  try {
    return compile_kernels(requests, *graph::find_target(requests.front()->key.target));
  } catch (const CompilerUnavailable& e) {
    support::log::warn_once(fmt::format("kernels that no cache layer holds run in the interpreter: {}", e.what()));
    return std::nullopt;
  }
}

std::shared_ptr<cache::Executable> CpuBackend::load(const cache::KernelRequest& request, const cache::Binary& binary) {
  std::shared_ptr<LoadedObject> from;
  try {
    from = library(binary);
  } catch (const NothingLoads& e) {
    support::log::warn_once(fmt::format("kernels run in the interpreter: {}", e.what()));
    nothing_loads_.store(support::env::generation() + 1, std::memory_order_relaxed);
    return nullptr;
  }
  void* const entry = from->find(request.entry);
  if (!entry) TARRY_THROW(CompileError, "", Where{}, "a compiled kernel lacks its entry " + request.entry);
  void* const fold = from->find(request.entry + "_fold");
  return std::make_shared<CpuExecutable>(std::move(from), reinterpret_cast<CpuEntry>(entry),
                                         reinterpret_cast<CpuEntry>(fold));
}

void CpuBackend::launch(const Launch& launch) {
  const auto& executable = static_cast<const CpuExecutable&>(*launch.executable);
  const codegen::Geometry& geometry = launch.geometry;
  TARRY_ASSERT(!geometry.folds() || executable.fold_chunks != nullptr);
  if (geometry.folds() && launch.source->fold_per_chunk)
    return run_waves(executable, launch.parameters.data(), geometry.grid(), grain_of(launch));
  if (streams(launch)) return run_streamed(executable.run, launch, grain_of(launch));
  run_items(executable.run, launch.parameters.data(), geometry.grid(), grain_of(launch));
  if (!geometry.folds()) return;
  const std::int64_t grain = std::max<std::int64_t>(1, 1024 / geometry.chunks / launch.source->tile);
  run_items(executable.fold_chunks, launch.parameters.data(), geometry.outer_tiles, grain);
}

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace tarry::runtime
