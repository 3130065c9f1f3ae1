// Callbacks may use the library: they evaluate, plan and throw.
#include <stdexcept>
#include <thread>

#include "support/temporary.h"
#include "tests/helpers/child.h"
#include "tests/helpers/devices.h"

namespace ta = tarry;
using ta::test::Setting;

namespace {

/// An array that is worked off in chunks: the pages of a file count.
class Streamed {
 public:
  Streamed() {
    ta::save_npy(file_, ta::ones({std::int64_t{4} << 20}));
    ta::set_memory_limit(ta::cpu, ta::memory_stats(ta::cpu).live + (4 << 20));
    total = ta::sum(ta::open_npy(file_) * 2.0f);
  }
  ~Streamed() { ta::set_memory_limit(ta::cpu, 0); }
  Streamed(const Streamed&) = delete;
  Streamed& operator=(const Streamed&) = delete;
  ta::Array total;

 private:
  ta::support::ScopedTemporaryDirectory directory_;
  const std::string file_ = (directory_.path() / "x.npy").string();
};

}  // namespace

TEST_CASE("callback: progress may evaluate other arrays and plan the one that is being evaluated", "[memory][log]") {
  const ta::Scope on_cpu(ta::cpu);
  Streamed s;
  int right = 0;
  auto call = [&](const ta::Progress&) {
    const ta::Array other = ta::asarray(std::vector<float>{1, 2, 3}) + 1.0f;
    right += ta::sum(other).item<float>() == 9 && ta::plan(s.total).counters().kernels > 0 && !s.total.is_evaluated();
  };
  const ta::OnProgress shown(call);
  CHECK(s.total.item<float>() == static_cast<float>(8 << 20));
  CHECK(right > 1);
}

TEST_CASE("callback: an evaluate of what is being evaluated throws at once, and the array stays lazy",
          "[memory][log]") {
  const ta::Scope on_cpu(ta::cpu);
  Streamed s;
  {
    auto call = [&](const ta::Progress&) { (void)s.total.item<float>(); };
    const ta::OnProgress shown(call);
    CHECK_THROWS_WITH(ta::evaluate(s.total), Catch::Contains("called this callback"));
  }
  CHECK_FALSE(s.total.is_evaluated());
  CHECK(s.total.item<float>() == static_cast<float>(8 << 20));
}

namespace {

/// A user's own class of errors, to know them again.
struct Cancelled : ta::InvalidArgument {
  explicit Cancelled(int after) : InvalidArgument("progress", ta::Where{}, "cancelled"), pieces(after) {}
  int pieces;
};

}  // namespace

TEST_CASE("callback: an error of a type that the user derived comes back as it was thrown", "[memory][log]") {
  const ta::Scope on_cpu(ta::cpu);
  Streamed s;
  int calls = 0;
  auto call = [&](const ta::Progress&) {
    if (++calls == 2) throw Cancelled(calls);
  };
  const ta::OnProgress shown(call);
  try {
    ta::evaluate(s.total);
    FAIL("nothing was thrown");
  } catch (const Cancelled& error) {
    CHECK(error.pieces == 2);
    CHECK(error.op() == "progress");
  }
}

TEST_CASE("callback: two evaluates whose callbacks need each other are an error, never a deadlock", "[memory][log]") {
  const ta::Scope on_cpu(ta::cpu);
  Streamed a, b;
  std::atomic<int> met{0}, refused{0};
  const auto cross = [&](const ta::Array& mine, const ta::Array& other) {
    bool first = true;
    auto call = [&](const ta::Progress&) {
      if (!std::exchange(first, false)) return;
      for (++met; met < 2;) std::this_thread::yield();
      (void)other.item<float>();
    };
    const ta::OnProgress shown(call);
    try {
      (void)mine.item<float>();
    } catch (const ta::InvalidArgument&) {
      ++refused;
    }
  };
  {
    const std::jthread one([&] { cross(a.total, b.total); }), two([&] { cross(b.total, a.total); });
  }
  CHECK(refused >= 1);
  CHECK(a.total.item<float>() == b.total.item<float>());
}

TEST_CASE("callback: touch of what is being read throws at once, of anything else it works", "[memory][borrow]") {
  const ta::Scope on_cpu(ta::cpu);
  constexpr std::int64_t kCount = std::int64_t{4} << 20;
  const ta::support::ScopedTemporaryDirectory directory;
  const std::string file = (directory.path() / "x.npy").string();
  ta::save_npy(file, ta::ones({kCount}));
  const std::vector<float> memory(kCount, 2.0f), other(3, 4.0f);
  ta::Array read = ta::borrow(memory.data(), {kCount}), elsewhere = ta::borrow(other.data(), {3});
  ta::Array total, values;
  const auto record = [&] {
    const ta::Scope placed(ta::cpu);
    values = ta::open_npy(file) + read;
    total = ta::sum(values);
  };
  SECTION("recorded here") { record(); }
  SECTION("recorded by another thread") { std::thread(record).join(); }
  ta::set_memory_limit(ta::cpu, ta::memory_stats(ta::cpu).live + (4 << 20));
  int refused = 0;
  auto call = [&](const ta::Progress&) {
    elsewhere.touch();
    try {
      read.touch();
    } catch (const ta::Error&) {
      ++refused;
    }
  };
  {
    const ta::OnProgress shown(call);
    CHECK(total.item<float>() == 3.0f * kCount);
    CHECK(std::exchange(refused, 0) > 1);
    ta::save_npy((directory.path() / "y.npy").string(), values);
    CHECK(refused > 1);
  }
  ta::set_memory_limit(ta::cpu, 0);
  read.touch();
}

TEST_CASE("callback: a log callback may evaluate, and what it throws is dropped", "[log]") {
  const ta::Scope on_cpu(ta::cpu);
  static int calls = 0;
  calls = 0;
  ta::set_log_callback([](void*, ta::LogLevel, std::string_view) {
    ++calls;
    (void)(ta::asarray(std::vector<float>{1, 2}) * 3.0f).to_vector<float>();
    throw std::runtime_error("from the callback");
  });
  const Setting words("TARRY_DUMP", "nothing_of_that_name_" + std::to_string(calls));
  const Setting directory("TARRY_DUMP_DIR", "/proc/none");
  CHECK((ta::asarray(std::vector<float>{1, 2}) + 3.0f).to_vector<float>() == std::vector<float>{4, 5});
  ta::set_log_callback(nullptr);
  CHECK(calls > 0);
}

namespace {

/// Evaluates something new while static objects are destroyed; made before anything of the library was used.
struct Late {
  ta::Array x;
  ~Late() {
    if (!x.is_defined()) return;
    const ta::Array y = ta::exp(x * 0.25f) * 3.0f + ta::sqrt(ta::sum(x));
    std::printf("%.3f", static_cast<double>(y.to_vector<float>()[0]));
    std::fflush(stdout);
  }
};
Late late;

}  // namespace

TARRY_CHILD(evaluates_while_exiting) {
  late.x = ta::asarray(std::vector<float>(100'000, 4.0f));
  (void)(late.x + 1.0f).to_vector<float>();
  return 0;
}

TEST_CASE("callback: destructors of static objects may evaluate", "[contract]") {
  const ta::support::ScopedTemporaryDirectory directory;
  const auto result = ta::test::run_child("evaluates_while_exiting",
                                          {"TARRY_CACHE_DIR=" + directory.path().string(), "TARRY_DEVICE=cpu"});
  CHECK(result.exit_status == 0);
  CHECK(result.output == "640.610");
  CHECK(result.error.empty());
}
