// Failures around the library, and those inside of it that only a bug of ours can cause.
#include <sys/wait.h>
#include <unistd.h>

#include <tarry/warm.h>

#include <fstream>
#include <new>

#include "codegen/interpret/interpreter.h"
#include "codegen/ir/kernel_ir.h"
#include "codegen/prelude/text.h"
#include "graph/graph.h"
#include "graph/target.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/c_compiler.h"
#include "runtime/device/compilers/nvrtc.h"
#include "runtime/device/cuda/backend.h"
#include "support/env.h"
#include "support/fault.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/log.h"
#include "support/out_of_memory.h"
#include "support/own_thread.h"
#include "support/temporary.h"
#include "tests/errors/rows.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_blas.h"
#include "tests/helpers/fake_driver.h"

namespace tarry::test {
namespace {

namespace fault = support::fault;
using fault::Site;
using runtime::backend;

/// A formula that nothing else compiles, on 7 elements.
Array unheard_of(const Array& x = asarray(ramp(7))) {
  return hypot(log1p(cosh(x)), atan2(x, erf(x)) - expm1(asinh(x) * 0.25f)) + nextafter(x, rsqrt(x));
}
const std::string kFormula = "(ops: cosh float32 (7,) at ";

/// A C compiler that works, and refuses every text of ours.
class BrokenCompiler {
 public:
  BrokenCompiler() : program_((directory_.path() / "cc").string()) {
    (void)support::write_file_atomically(
        program_,
        "#!/bin/sh\n[ \"$1\" = --version ] && echo broken 1.0 && exit 0\n"
        "for text; do :; done\ngrep -q tarry_check \"$text\" && exec gcc \"$@\"\necho it is broken >&2\nexit 3\n");
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] const std::string& program() const { return program_; }

 private:
  support::ScopedTemporaryDirectory directory_;
  std::string program_;
};

void add_compiler_rows(ErrorRows& rows) {
  rows.at_evaluate<CompileError>(
      {"C compiler failed (exit status 3)", "it is broken", "-O1", "source kept in /", "failed_kernel.c", kFormula},
      [] {
        const Scope on_cpu(cpu);
        const BrokenCompiler broken;
        const support::ScopedTemporaryDirectory kept;
        const Setting cc("TARRY_CC", broken.program()), cache("TARRY_CACHE_DIR", "off");
        const Setting temporary("TMPDIR", kept.path().string());
        evaluate(unheard_of());
      });
  rows.inside<CompileError>(
      {"C compiler failed", "source not kept: cannot write /proc/none/failed_kernel.c: No such file"}, [] {
        const BrokenCompiler broken;
        const Setting cc("TARRY_CC", broken.program()), kept("TARRY_DUMP_DIR", "/proc/none");
        (void)runtime::compile_c("int f;", "-shared");
      });
  rows.inside<runtime::CompilerUnavailable>({"no C compiler works here", "TARRY_CC"}, [] {
    const Setting cc("TARRY_CC", "/no/such/compiler");
    (void)runtime::compile_c("int f;", "-shared");
  });
  rows.inside<CompileError>({"temporary directory in /no/such", "No space left", "TMPDIR"}, [] {
    const Setting temporary("TMPDIR", "/no/such");
    fault::arm(Site::File, 1);
    (void)support::unique_temporary_dir();
  });
  rows.inside<runtime::CompilerUnavailable>({"cannot write ", "No space left", "TMPDIR"}, [] {
    (void)runtime::c_compiler();
    fault::arm(Site::File, 2);  // the first is the directory
    (void)runtime::compile_c("int f;", "-shared");
  });
  rows.at_evaluate<NotCached>({"TARRY_REQUIRE_CACHED", "1 kernel", "x86-64", "key ", kFormula}, [] {
    const Scope on_cpu(cpu);
    const Setting required("TARRY_REQUIRE_CACHED", "1"), cache("TARRY_CACHE_DIR", "off");
    evaluate(unheard_of());
  });
}

cache::KernelRequest request(const char* entry) { return {{"text", "options", "target", "strict"}, entry}; }
cache::Binary binary(std::string image) {
  return {std::make_shared<const std::string>(std::move(image)), "a test", ""};
}

void add_loading_rows(ErrorRows& rows) {
  rows.inside<CompileError>({"does not load", "kernels.so"},
                            [] { (void)backend(cpu).load(request("f"), binary("no shared object")); });
  rows.inside<CompileError>({"cannot write /", "kernels.so", "No space left"}, [] {
    fault::arm(Site::File, 2);  // the first is the directory
    (void)backend(cpu).load(request("f"), binary("no shared object"));
  });
  rows.inside<CompileError>({"lacks its entry g"}, [] {
    auto compiled = runtime::compile_c("int f;", runtime::c_flags(backend(cpu).target()));
    (void)backend(cpu).load(request("g"), binary(std::move(compiled.image)));
  });
}

void add_memory_rows(ErrorRows& rows) {
  rows.inside<OutOfMemory>({"no host memory", "requested", "live", "cached", "pinned"},
                           [] { (void)backend(cpu).allocate(~std::size_t{0}); });
  rows.at_evaluate<OutOfMemory>({"no host memory for 28 B", "requested", "live", kFormula}, [] {
    const Scope on_cpu(cpu);
    const Setting interpreter("TARRY_DISABLE", "compile");
    const Array x = asarray(ramp(7)), y = unheard_of(x);
    backend(cpu).trim();
    fault::arm(Site::Allocation, 1);
    evaluate(y);
  });
  rows.at_evaluate<OutOfMemory>({"[add] float64 (4611686018427387904,) is more than any memory holds"}, [] {
    const Scope on_cpu(cpu);
    evaluate(zeros({std::int64_t{1} << 62}, float64) + 1);
  });
  rows.at_evaluate<OutOfMemory>({"[add] float64 (4611686018427387904,) is more than any memory holds"}, [] {
    const Scope on_cpu(cpu);
    save_npy("/no/such/x.npy", zeros({std::int64_t{1} << 62}, float64) + 1);
  });
  rows.at_evaluate<OutOfMemory>(
      {"cpu needs ", " and has room for", "it could not be worked off in chunks: sort float32 (1000000,) at ",
       "needs all of its operand at once", "  requested "},
      [] {
        const Scope on_cpu(cpu);
        const Array x = sort(asarray(ramp(1'000'000))) * 2;
        const Setting limit("TARRY_MEMORY_LIMIT", std::to_string(backend(cpu).memory().live + 100'000));
        evaluate(x, sum(x));
      });
  rows.failed<OutOfMemory>("to_vector", {"float64 (4611686018427387904,) takes more than 2^63 - 1 bytes"},
                           [] { (void)zeros({std::int64_t{1} << 62}, float64).to_vector<double>(); });
  rows.failed<OutOfMemory>("asarray", {"float32 (5, 1000)", "no host memory", "requested"}, [] {
    const std::vector<float> values(5000);
    backend(cpu).trim();
    fault::arm(Site::Allocation, 1);
    (void)asarray(values, {5, 1000});
  });
  rows.failed<OutOfMemory>("evaluate", {"the host is out of memory", "  live ", "  cached "},
                           [] { support::throw_out_of_memory("evaluate", std::source_location::current()); });
  rows.inside<OutOfMemory>({"matmul needs a thread of its own, and the system has none: "}, [] {
    fault::arm(Site::Thread, 1);
    support::in_own_thread("matmul", [] {});
  });
  rows.inside<OutOfMemory>({"there is no room to load a kernel beside the "}, [] {
    fault::arm(Site::Load, 1);
    (void)backend(cpu).load({}, {std::make_shared<const std::string>("never looked at"), "", ""});
  });
  rows.at_evaluate<InvalidArgument>(
      {"float32 () at ", "is being computed by the evaluate that called this callback"}, [] {
        const Scope on_cpu(cpu);
        const support::ScopedTemporaryDirectory directory;
        const std::string file = (directory.path() / "x.npy").string();
        save_npy(file, zeros({std::int64_t{8} << 20}));
        const Array total = sum(open_npy(file) * 2.0f);  // the pages of a file count: it is worked off in chunks
        const Setting limit("TARRY_MEMORY_LIMIT", std::to_string(backend(cpu).memory().live + (8 << 20)));
        auto again = [&](const Progress&) { evaluate(total); };
        const OnProgress shown(again);
        evaluate(total);
      });
}

WarmOptions into(const std::filesystem::path& out) {
  WarmOptions options;
  options.targets = {"x86-64-v2"};
  options.out = out.string();
  return options;
}

void add_warm_rows(ErrorRows& rows) {
  using Files = std::vector<std::string>;
  const auto with_manifest = [](const std::function<void(const std::filesystem::path&, const Files&)>& call) {
    const Scope on_cpu(cpu);
    const support::ScopedTemporaryDirectory directory;
    const std::string file = (directory.path() / "run.manifest").string();
    const Recording recording(file);
    evaluate(asarray(ramp(3)) + 1.f);
    call(directory.path(), {file});
  };
  rows.wrong("Recording", {"cannot record to /proc/none/a.manifest: No such file"},
             [] { const Recording none("/proc/none/a.manifest"); });
  rows.wrong("warm", {"/no/such.manifest: cannot be read: No such file"},
             [] { (void)warm(Files{"/no/such.manifest"}); });
  rows.wrong("warm", {"run.manifest:3: there is no op fold_protein"}, [=] {
    with_manifest([](const std::filesystem::path&, const Files& files) {
      // A line that is whole, from another library.
      const std::string rest =
          R"("device":"cpu","leaves":[],"nodes":[{"op":"fold_protein","dtype":"float32","shape":[]}],"roots":[0]})";
      std::ofstream(files[0], std::ios::app)
          << R"({"id":")" << support::checksum_bytes("{" + rest).hex() << "\"," << rest << "\n";
      (void)warm(files, into("/tmp"));
    });
  });
  rows.wrong("warm", {"no target is called sm_1", "sm_90", "x86-64-v3"}, [=] {
    with_manifest([](const std::filesystem::path&, const Files& files) { (void)warm(files, {.targets = {"sm_1"}}); });
  });
  rows.wrong("warm", {"kernels cannot be written to /proc/none: No such file"}, [=] {
    with_manifest([](const std::filesystem::path&, const Files& files) { (void)warm(files, into("/proc/none")); });
  });
  rows.wrong("warm", {"keeps no kernels on disk", "TARRY_CACHE_DIR"}, [=] {
    const Setting cache("TARRY_CACHE_DIR", "off");
    with_manifest([](const std::filesystem::path&, const Files& files) { (void)warm(files, into("")); });
  });
  rows.wrong("warm", {"old.bundle is not used: ", "remove it or name another"}, [=] {
    with_manifest([](const std::filesystem::path& directory, const Files& files) {
      (void)support::write_file_atomically(directory / "old.bundle", "no bundle");
      (void)warm(files, into(directory / "old.bundle"));
    });
  });
  rows.wrong("warm", {"cannot write ", "new.bundle: ", "the kernels are in ", "new.bundle.partial"}, [=] {
    with_manifest([](const std::filesystem::path& directory, const Files& files) {
      WarmOptions options = into(directory / "new.bundle");
      options.progress = [&](const WarmProgress&) { std::filesystem::create_directory(options.out); };
      (void)warm(files, options);
    });
  });
  rows.failed<OutOfMemory>("warm", {"the host is out of memory"}, [=] {
    with_manifest([](const std::filesystem::path& directory, const Files& files) {
      WarmOptions options = into(directory / "out");
      options.progress = [](const WarmProgress&) { throw std::bad_alloc(); };
      (void)warm(files, options);
    });
  });
}

std::unique_ptr<runtime::Backend> on_driver(const FakeDriver& driver) {
  return runtime::make_cuda_backend(driver.api, 0);
}

/// Sites that `call` reaches in a forked child.
void in_child(const std::function<void()>& call) {
  int pipe[2];
  if (::pipe(pipe) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    std::string message;
    try {
      call();
    } catch (const DeviceError& error) {
      message = error.what();
    } catch (...) {
    }
    for (const support::ThrowSite& site : support::reached_throws()) {  // literals: at the same address in the parent
      (void)!::write(pipe[1], &site, sizeof site);
    }
    const support::ThrowSite end;
    (void)!::write(pipe[1], &end, sizeof end);
    (void)!::write(pipe[1], message.data(), message.size());
    _exit(0);
  }
  ::close(pipe[1]);
  support::ThrowSite site;
  while (::read(pipe[0], &site, sizeof site) == static_cast<ssize_t>(sizeof site) && site.file != nullptr) {
    add_reached(site);
  }
  std::string message(4096, '\0');
  const ssize_t size = ::read(pipe[0], message.data(), message.size());
  ::close(pipe[0]);
  waitpid(child, nullptr, 0);
  message.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  throw DeviceError("", Where{}, message);
}

void add_device_rows(ErrorRows& rows) {
  using Result = FakeDriver::Result;
  rows.wrong("default_device", {"TARRY_DEVICE is \"gpu\"", "cuda:N"}, [] {
    const Setting device("TARRY_DEVICE", "gpu");
    (void)default_device();
  });
  rows.wrong("memory_stats", {"TARRY_DEVICE is \"gpu\""}, [] {
    const Setting device("TARRY_DEVICE", "gpu");
    (void)memory_stats();
  });
  rows.failed<DeviceError>("memory_stats", {"cuda:200 cannot be used: "}, [] { (void)memory_stats(cuda(200)); });
  rows.failed<DeviceError>("reset_memory_peak", {"cuda:200 cannot be used: "}, [] { reset_memory_peak(cuda(200)); });
  rows.failed<DeviceError>("trim", {"cuda:200 cannot be used: "}, [] { trim(cuda(200)); });
  rows.failed<DeviceError>("set_memory_limit", {"cuda:200 cannot be used: "},
                           [] { set_memory_limit(cuda(200), 1 << 20); });
  rows.inside<InvalidArgument>({"TARRY_CPU is \"native\"; this CPU can run kernels for "}, [] {
    const Setting level("TARRY_CPU", "native");
    (void)runtime::make_cpu_backend();
  });
  rows.at_evaluate<InvalidArgument>({"TARRY_DEVICE is \"cuda:-1\"", kFormula}, [] {
    const Setting device("TARRY_DEVICE", "cuda:-1");
    evaluate(unheard_of());
  });
  rows.at_evaluate<DeviceError>({"cuda:200 cannot be used: ", kFormula}, [] {
    const Scope far(cuda(200));
    evaluate(unheard_of());
  });
  rows.failed<DeviceError>("read", {"cuda:200 cannot be used: ", "reading input float32 (3,) at "}, [] {
    auto storage = std::make_shared<graph::Storage>();
    storage->buffer = std::make_shared<graph::Buffer>(cuda(200), graph::Owner::Adopted, nullptr, 12);
    storage->strides = {1};
    const graph::Dims shape{3};
    const Array x =
        detail::wrap(graph::make_input(float32, shape.span(), std::move(storage), {}, Where{"user.cpp", 7}));
    (void)x.to_vector<float>();
  });
  rows.inside<DeviceError>({"cuda:0 has compute capability 6.1; 7.5 or newer"}, [] {
    FakeDriver driver;
    driver.api.device_get_attribute = [](int* value, runtime::cuda::DeviceAttribute which, runtime::cuda::Ordinal) {
      return *value = which == runtime::cuda::DeviceAttribute::ComputeCapabilityMajor ? 6 : 1, Result::Success;
    };
    (void)on_driver(driver);
  });
  rows.inside<OutOfMemory>(
      {"cuda:0 has no room for 2.00 MiB", "live", "cached", "requested", "free      ", "1.00 MiB on the device"}, [] {
        FakeDriver driver;
        driver.capacity = std::size_t{1} << 20;
        (void)on_driver(driver)->allocate(std::size_t{2} << 20);
      });
  rows.failed<InvalidValue>("set_memory_limit", {"the limit is -1 bytes"}, [] { set_memory_limit(cpu, -1); });
  rows.inside<OutOfMemory>({"cuda:0 has no room for 2.00 MiB", "limit ", "TARRY_MEMORY_LIMIT"}, [] {
    FakeDriver driver;
    const Setting limit("TARRY_MEMORY_LIMIT", "1m");
    (void)on_driver(driver)->allocate(std::size_t{2} << 20);
  });
  rows.inside<OutOfMemory>({"cuda:0: cuCtxPushCurrent: FAKE_ERROR (2): made by a test"}, [] {
    FakeDriver driver;
    const auto device = on_driver(driver);
    driver.broken = Result::OutOfMemory;
    device->synchronize();
  });
  rows.inside<DeviceError>({"cuda:0: cuCtxPushCurrent: FAKE_ERROR (700): made by a test"}, [] {
    FakeDriver driver;
    const auto device = on_driver(driver);
    driver.broken = Result::IllegalAddress;
    device->synchronize();
  });
  rows.inside<DeviceLost>({"cuda:0 was lost earlier", "cuCtxPushCurrent: FAKE_ERROR (700)"}, [] {
    FakeDriver driver;
    const auto device = on_driver(driver);
    driver.broken = Result::IllegalAddress;
    try {
      device->synchronize();
    } catch (const DeviceError&) {
    }
    device->synchronize();
  });
  rows.inside<DeviceError>({"fork"}, [] {
    FakeDriver driver;
    const auto device = on_driver(driver);
    in_child([&] { device->synchronize(); });
  });
}

void add_nvrtc_rows(ErrorRows& rows) {
  static constexpr const char* kKernel = "extern \"C\" __global__ void f() {}";
  static const auto compile = [](const char* text, const graph::Target& target) {
    (void)runtime::nvrtc_compile(text, target, graph::Mode::Strict);
  };
  rows.inside<CompileError>({"no NVRTC", "/no/such/libnvrtc.so", "TARRY_NVRTC", "install"}, [] {
    const Setting nvrtc("TARRY_NVRTC", "/no/such/libnvrtc.so");
    compile(kKernel, *graph::find_target("sm_90"));
  });
  if (!nvrtc_missing().empty()) return;
  rows.inside<CompileError>({"nvrtc", "could not compile for sm_90", "tarry.cu(1): error", "undefined_thing",
                             "source kept in /", "failed_kernel.cu"},
                            [] {
                              const support::ScopedTemporaryDirectory kept;
                              const Setting temporary("TMPDIR", kept.path().string());
                              compile("extern \"C\" __global__ void f() { undefined_thing(); }",
                                      *graph::find_target("sm_90"));
                            });
  rows.inside<CompileError>({"nvrtc", "no architecture as old as sm_10; its oldest is sm_"}, [] {
    graph::Target old = *graph::find_target("sm_90");
    old.name = "sm_10";
    old.level = 10;
    compile(kKernel, old);
  });
  rows.inside<CompileError>({"nvrtcCreateProgram: NVRTC_ERROR"}, [] {
    fault::arm(Site::Nvrtc, 1);
    compile(kKernel, *graph::find_target("sm_90"));
  });
  rows.inside<CompileError>({"libnvrtc", "NVRTC_ERROR"}, [] {
    // A name that no other test gave: what is known of a library is kept.
    const std::filesystem::path path = runtime::nvrtc_location();
    const Setting nvrtc("TARRY_NVRTC", (path.parent_path() / "." / path.filename()).string());
    fault::arm(Site::Nvrtc, 1);
    (void)runtime::nvrtc_compiler();
  });
}

void add_bug_rows(ErrorRows& rows) {
  rows.inside<InternalError>({"internal check failed: in_table(name)", "report", "TARRY_DUMP", "env.cpp:"},
                             [] { (void)support::env::get("TARRY_NO_SUCH_SWITCH"); });
  rows.inside<InternalError>({"in a cycle"}, [] { (void)graph::topological_order({{1}, {0}}); });
  rows.inside<InternalError>({"breaks a rule: ", "one stride per outer dimension", "kernel pointwise"}, [] {
    codegen::KernelIr ir;
    ir.accesses.resize(1);
    ir.rank = 1;
    codegen::verify(ir);
  });
  rows.inside<InternalError>({"[sin]", "tarry_sin_i32"},
                             [] { (void)codegen::scalar_function(graph::Op::Sin, int32, int32); });
  rows.inside<InternalError>({"no section nowhere"}, [] {
    (void)codegen::prelude_text(std::vector<std::string>{"nowhere"}, codegen::Dialect::C);
  });
  rows.inside<InternalError>({"defines tarry_nothing"},
                             [] { (void)codegen::prelude_sections(std::vector<std::string>{"tarry_nothing"}); });
}

void add_product_rows(ErrorRows& rows) {
  const auto prepare = [](FakeBlas& blas) {
    FakeDriver driver;
    (void)runtime::make_cuda_backend(driver.api, 0, &blas.api)->prepare({float32, graph::Mode::Strict, 1, 1, 2, 3, 4});
  };
  rows.inside<DeviceError>({"cuBLASLt has no algorithm for matmul f32 (1, 2, 3) (1, 3, 4)"}, [prepare] {
    FakeBlas blas;
    blas.proposals = 0;
    prepare(blas);
  });
  rows.inside<DeviceError>({"cublasLtMatmulAlgoGetHeuristic of matmul f32 (1, 2, 3) (1, 3, 4)", "status 14"},
                           [prepare] {
                             FakeBlas blas;
                             blas.on_heuristic = BlasStatus::InternalError;
                             prepare(blas);
                           });
}

}  // namespace

void add_environment_rows(ErrorRows& rows) {
  add_compiler_rows(rows);
  add_loading_rows(rows);
  add_memory_rows(rows);
  add_warm_rows(rows);
  add_device_rows(rows);
  add_nvrtc_rows(rows);
  add_bug_rows(rows);
  add_product_rows(rows);
}

}  // namespace tarry::test
