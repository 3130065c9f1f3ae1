// Manifests: what is recorded, what is not, and that every kernel of a recorded run can be made again from it.
#include "runtime/warm/manifest.h"

#include <tarry/tarry.h>
#include <tarry/warm.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "runtime/device/backend.h"
#include "runtime/warm/warm_plan.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/test.h"

namespace ta = tarry;
namespace fs = std::filesystem;
using ta::test::ramp;
using ta::test::Setting;

namespace {

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  const std::string content = ta::support::read_file(file).value_or("");
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t end = std::min(content.find('\n', at), content.size());
    lines.push_back(content.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Programs of different kinds: elementwise, rows, columns, views, updates, reshapes, several outputs, borrowed memory.
struct Programs {
  std::vector<float> host = ramp(600);
  ta::Array x = ta::asarray(host, {20, 30});
  std::vector<std::vector<ta::Array>> all() {
    std::vector<std::vector<ta::Array>> programs;
    programs.push_back({ta::exp(x) * 2.5f + 0.f});
    programs.push_back({ta::softmax(x, -1)});
    programs.push_back({ta::sum(x, 0), ta::max(x, 1)});
    programs.push_back({ta::var(x, 1), ta::mean(x)});
    programs.push_back({ta::std(x, {0, 1})});
    programs.push_back({ta::reshape(ta::permute_dims(x, {1, 0}), {60, 10}) + x(ta::slice(0, 1), ta::slice(0, 10))});
    programs.push_back({ta::with_set(x, {ta::slice(1, 19, 2), ta::slice()}, 3.f)});
    programs.push_back({ta::with_add(x, {0}, 1.f), ta::argmax(x, 1)});
    programs.push_back({ta::concat({ta::with_set(x(ta::slice(), ta::slice(5, 5)), {ta::slice(1, 19, 2)}, 3.f), x}, 1),
                        ta::sum(ta::with_set(x, {ta::slice(20, 20)}, x(ta::slice(0, 0))))});
    programs.push_back({ta::concat({x, ta::flip(x)}, 0)});
    programs.push_back({ta::arange(100) * 3, ta::astype(x, ta::float16) / 3});
    programs.push_back({ta::borrow(host.data(), {20, 10}, {30, 3}) + 1.f});
    {
      const ta::Scope relaxed(ta::relaxed);
      programs.push_back({x * x + 1.5f});
    }
    return programs;
  }
};

/// The kernel texts of what the programs evaluate, step by step: later programs read results of earlier ones.
std::set<std::string> run_programs() {
  std::set<std::string> texts;
  Programs programs;
  for (std::vector<ta::Array> roots : programs.all()) {
    std::vector<ta::Array> next;
    for (const ta::Array& r : roots) next.push_back(ta::sqrt(ta::abs(ta::astype(r, ta::float32))));
    for (const std::vector<ta::Array>& wanted : {roots, next}) {
      for (const ta::Array& r : wanted)
        for (const std::string& text : ta::plan(r).sources()) texts.insert(text);
      for (const ta::Array& r : wanted) ta::evaluate(r);
    }
  }
  return texts;
}

std::set<std::string> made_again(const fs::path& manifest, const ta::graph::Target& target) {
  std::set<std::string> texts;
  for (const auto& recorded : ta::runtime::read_manifest(manifest))
    for (const auto residence : ta::runtime::residences(recorded, target))
      for (const auto& kernel : ta::runtime::kernels_of(recorded, recorded.graph, target, residence))
        texts.insert(kernel.source->text);
  return texts;
}

}  // namespace

TEST_CASE("manifest: the kernels made again are those of the recorded run", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  std::set<std::string> ran;
  {
    const ta::Recording recording(file.string());
    ran = run_programs();
  }
  REQUIRE(ran.size() > 20);
  CHECK(made_again(file, ta::runtime::backend(ta::cpu).target()) == ran);
}

namespace {

/// A GPU whose memory is the host's and whose kernels do nothing: what the engine asks it to compile is what counts.
class IdleGpu final : public ta::runtime::Backend {
 public:
  explicit IdleGpu(const ta::graph::Target& target) : target_(target) {}
  std::set<std::string> texts;

  [[nodiscard]] ta::Device device() const override { return ta::cuda(); }
  [[nodiscard]] const ta::graph::Target& target() const override { return target_; }
  [[nodiscard]] std::string options(ta::graph::Mode) const override { return ""; }
  [[nodiscard]] std::string compiler() const override { return "idle"; }
  std::shared_ptr<ta::graph::Buffer> allocate(std::size_t bytes) override { return std::make_shared<Memory>(bytes); }
  void* tickets(std::size_t count) override {
    tickets_.resize(std::max(tickets_.size(), count));
    return tickets_.data();
  }
  void upload(ta::graph::Buffer&, const void*, std::size_t) override {}
  void upload(ta::graph::Buffer&, const Fill&, std::size_t) override {}
  void download(void*, const ta::graph::Buffer&, std::size_t, std::size_t) override {}
  void copy(void*, const void*, std::size_t) override {}
  std::optional<ta::cache::Binary> compile(std::span<const ta::cache::KernelRequest* const> requests) override {
    for (const auto* r : requests) texts.insert(r->key.text);
    return ta::cache::Binary{std::make_shared<const std::string>("image"), "idle", ""};
  }
  std::shared_ptr<ta::cache::Executable> load(const ta::cache::KernelRequest&, const ta::cache::Binary&) override {
    return std::make_shared<ta::cache::Executable>();
  }
  void launch(const ta::runtime::Launch&) override {}
  std::uint64_t record() override { return 1; }
  bool wait(std::uint64_t, std::chrono::nanoseconds) override { return true; }
  void synchronize() override {}
  [[nodiscard]] ta::runtime::PoolStats memory() const override { return {}; }
  [[nodiscard]] std::size_t limit() const override { return SIZE_MAX; }
  void limit_memory(std::size_t) override {}
  void trim() override {}
  void reset_peak() override {}

 private:
  struct Memory : ta::graph::Buffer {
    explicit Memory(std::size_t size) : Buffer(ta::cuda(), ta::graph::Owner::Pool, ::operator new(size + 1), size) {}
    ~Memory() override { ::operator delete(data); }
  };
  const ta::graph::Target& target_;
  std::vector<std::uint32_t> tickets_;
};

/// Puts it where the engine finds cuda:0.
class OnIdleGpu {
 public:
  explicit OnIdleGpu(const char* target) {
    auto made = std::make_unique<IdleGpu>(*ta::graph::find_target(target));
    gpu_ = made.get();
    before_ = ta::runtime::exchange_backend(ta::cuda(), std::move(made));
  }
  ~OnIdleGpu() { retired().push_back(ta::runtime::exchange_backend(ta::cuda(), std::move(before_))); }
  OnIdleGpu(const OnIdleGpu&) = delete;
  OnIdleGpu& operator=(const OnIdleGpu&) = delete;
  [[nodiscard]] const std::set<std::string>& texts() const { return gpu_->texts; }

 private:
  /// The engine knows its kernels by the backend's address, which must not come back.
  static std::vector<std::unique_ptr<ta::runtime::Backend>>& retired() {
    static std::vector<std::unique_ptr<ta::runtime::Backend>> all;
    return all;
  }
  IdleGpu* gpu_;
  std::unique_ptr<ta::runtime::Backend> before_;
};

bool contains_all(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

TEST_CASE("manifest: recorded on the CPU, it gives every kernel that the same run asks of a GPU", "[manifest]") {
  const char* const name = GENERATE("sm_80", "sm_90");
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  {
    const ta::Scope on_cpu(ta::cpu);
    const ta::Recording recording(file.string());
    (void)run_programs();
  }
  const Setting no_disk("TARRY_CACHE_DIR", "off");
  const ta::Scope on_gpu(ta::cuda());
  const OnIdleGpu gpu(name);
  (void)run_programs();
  REQUIRE(gpu.texts().size() > 20);
  CHECK(contains_all(made_again(file, *ta::graph::find_target(name)), gpu.texts()));
}

TEST_CASE("manifest: recorded on a GPU, it gives every kernel that the same run asks of the CPU", "[manifest]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  {
    const Setting no_disk("TARRY_CACHE_DIR", "off");
    const ta::Scope on_gpu(ta::cuda());
    const OnIdleGpu gpu("sm_100");
    const ta::Recording recording(file.string());
    (void)run_programs();
  }
  const ta::Scope on_cpu(ta::cpu);
  CHECK(contains_all(made_again(file, ta::runtime::backend(ta::cpu).target()), run_programs()));
}

TEST_CASE("manifest: it holds no values, no directories and no addresses", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  {
    const ta::Recording recording(file.string());
    ta::evaluate(ta::asarray(std::vector<float>{271828.f, 3.f}) * 314159.f + 1.f);
  }
  const std::vector<std::string> lines = lines_of(file);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == R"({"tarry_manifest":1})");
  CHECK_THAT(lines[1],
             Catch::Contains(R"({"op":"multiply","dtype":"float32","shape":[2],"in":[0,1],"at":"manifest_test.cpp:)"));
  CHECK_THAT(lines[1], Catch::Contains(R"("value":"one")"));
  CHECK_THAT(lines[1], Catch::Contains(R"("value":"other")"));
  for (const char* secret : {"314159", "271828", "0x", "/"}) CHECK_THAT(lines[1], !Catch::Contains(secret));
}

TEST_CASE("manifest: what was recorded is not recorded again, by this process or the next", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  const auto run = [](float by) { ta::evaluate(ta::asarray(ramp(10)) * by); };
  for (int process = 0; process < 3; ++process) {
    const ta::Recording recording(file.string());
    for (float by : {2.f, 3.f, 4.f}) run(by);
  }
  CHECK(lines_of(file).size() == 2);
  {
    const Setting record("TARRY_RECORD", file.string());
    run(5.f);
    run(0.f);  // a class of its own
    ta::evaluate(ta::asarray(ramp(11)) * 2.f);
  }
  run(-0.f);
  CHECK(lines_of(file).size() == 4);
}

TEST_CASE("manifest: a plan that is known before recording starts is recorded", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  const auto run = [] { return ta::evaluate(ta::tan(ta::asarray(ramp(10)))).counters().plan_hit; };
  (void)run();
  ta::Recording recording(file.string());
  CHECK(run() == 1);
  CHECK(lines_of(file).size() == 2);
  recording.stop();
}

TARRY_CHILD(manifest_recorder) {
  const ta::Scope on_cpu(ta::cpu);
  const Setting no_compiler("TARRY_DISABLE", "compile");
  for (std::size_t n = 1; n <= 40; ++n) ta::evaluate(ta::asarray(ramp(n)) + 1.f);
  return 0;
}

TEST_CASE("manifest: many processes append to one file, and every line is there once and whole", "[manifest]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  std::vector<std::jthread> processes;
  std::atomic<int> failed{0};
  for (int p = 0; p < 8; ++p)
    processes.emplace_back([&] {
      const auto result = ta::test::run_child("manifest_recorder", {"TARRY_RECORD=" + file.string()});
      if (!result.succeeded() || !result.error.empty()) ++failed;
    });
  processes.clear();
  CHECK(failed == 0);
  CHECK(lines_of(file).size() == 41);
  CHECK(ta::runtime::read_manifest(file).size() == 40);
}

TEST_CASE("manifest: a line whose writer was killed is left out, and the next writer goes on after it", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  const auto record = [&](std::size_t n) {
    const ta::Recording recording(file.string());
    ta::evaluate(ta::asarray(ramp(n)) + 1.f);
  };
  record(5);
  fs::resize_file(file, fs::file_size(file) - 30);
  record(6);
  const ta::test::CapturedLog log;
  const auto recorded = ta::runtime::read_manifest(file);
  REQUIRE(recorded.size() == 1);
  CHECK(recorded[0].graph.count(0) == 6);
  REQUIRE(log.messages().size() == 1);
  CHECK_THAT(log.messages()[0], Catch::Contains("run.manifest:2 is damaged and left out"));
}

TEST_CASE("manifest: every damaged byte of a line is noticed", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "run.manifest";
  {
    const ta::Recording recording(file.string());
    ta::evaluate(ta::sum(ta::asarray(ramp(12), {3, 4}), 0));
  }
  const std::string whole = ta::support::read_file(file).value();
  const std::size_t begin = whole.find('\n') + 1;
  const ta::test::CapturedLog log;
  std::size_t accepted = 0;
  for (std::size_t i = begin; i + 1 < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    REQUIRE_FALSE(ta::support::write_file_atomically(file, damaged));
    accepted += ta::runtime::read_manifest(file).size();
  }
  CHECK(accepted == 0);
}

TEST_CASE("manifest: a file that is something else is left alone", "[manifest]") {
  const ta::Scope on_cpu(ta::cpu);
  const ta::support::ScopedTemporaryDirectory directory;
  const fs::path file = directory.path() / "letter.txt";
  REQUIRE_FALSE(ta::support::write_file_atomically(file, "Dear reader,\n"));
  CHECK_THROWS_AS(ta::Recording(file.string()), ta::InvalidArgument);
  const ta::test::CapturedLog log;
  const Setting record("TARRY_RECORD", file.string());
  ta::evaluate(ta::asarray(ramp(3)) + 1.f);
  REQUIRE(log.messages().size() == 1);
  CHECK_THAT(log.messages()[0], Catch::Contains("letter.txt (TARRY_RECORD): it exists and is no manifest"));
  CHECK(lines_of(file) == std::vector<std::string>{"Dear reader,"});
}

TEST_CASE("manifest: it is the same wherever and in whatever locale the program runs", "[manifest]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const auto record = [&](const char* name, std::vector<std::string> settings) {
    const fs::path file = directory.path() / name;
    settings.push_back("TARRY_RECORD=" + file.string());
    REQUIRE(ta::test::run_child("manifest_recorder", settings).succeeded());
    return lines_of(file);
  };
  const auto here = record("here", {"LC_ALL=C"});
  CHECK(here.size() == 41);
  CHECK(record("there", {"-C", "/", "LC_ALL=de_DE.UTF-8", "TARRY_NUM_THREADS=3", "HOME=/nonexistent"}) == here);
}
