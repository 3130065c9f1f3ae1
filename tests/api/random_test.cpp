// Random numbers: Philox against its published vectors, what a word makes, and one number per element wherever it is
// made.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <set>

#include "codegen/interpret/interpreter.h"
#include "codegen/render/kernel_source.h"
#include "runtime/plan/compiled_plan.h"
#include "tests/helpers/devices.h"
#include "tests/kernels/cuda_emulation.h"

namespace ta = tarry;
using ta::Array;
using ta::graph::Op;
using ta::test::on_every_device;
using ta::test::Setting;
namespace rnd = ta::random;

namespace {

namespace prelude_text {
#include "codegen/prelude/prelude.h"
}

template <class R, class... A>
R prelude(Op op, ta::Dtype in, ta::Dtype out, A... values) {
  R result{};
  const void* cells[3] = {};
  std::size_t i = 0;
  ((cells[i++] = &values), ...);
  ta::codegen::scalar_function(op, in, out)(&result, cells[0], cells[1], cells[2]);
  return result;
}

/// Element i of a draw, by the definition.
std::uint32_t word_of(std::uint64_t key, std::uint32_t draw, std::int64_t i) {
  return prelude<std::uint32_t>(Op::RandomBits, ta::int64, ta::uint32, i, key, draw);
}
std::uint64_t pair_of(std::uint64_t key, std::uint32_t draw, std::int64_t i) {
  return prelude<std::uint64_t>(Op::RandomBits, ta::int64, ta::uint64, i, key, draw);
}

template <class T>
std::vector<std::uint64_t> bits_as(const Array& x) {
  std::vector<std::uint64_t> bits;
  for (const T v : x.to_vector<T>()) {
    bits.push_back(0);
    std::memcpy(&bits.back(), &v, sizeof v);
  }
  return bits;
}

/// The bits of every element.
std::vector<std::uint64_t> bits_of(const Array& x) {
  switch (x.dtype()) {
    case ta::Dtype::Bool: return bits_as<bool>(x);
    case ta::Dtype::Int8: return bits_as<std::int8_t>(x);
    case ta::Dtype::Int64: return bits_as<std::int64_t>(x);
    case ta::Dtype::UInt32: return bits_as<std::uint32_t>(x);
    case ta::Dtype::UInt64: return bits_as<std::uint64_t>(x);
    case ta::Dtype::Float16: return bits_as<ta::Half>(x);
    case ta::Dtype::BFloat16: return bits_as<ta::BFloat16>(x);
    case ta::Dtype::Float32: return bits_as<float>(x);
    case ta::Dtype::Float64: return bits_as<double>(x);
    default: FAIL("no bits of " << name(x.dtype())); return {};
  }
}

/// A plan for a target that need not be here, of a program without arrays in memory.
struct Planned {
  ta::graph::Snapshot snapshot;
  ta::runtime::CompiledPlan plan;

  Planned(const Array& x, const char* target) {
    {
      const std::lock_guard lock(ta::graph::engine_mutex());
      ta::graph::Node* blocked = nullptr;
      snapshot = ta::graph::take_snapshot({{ta::detail::edge(x, "test", {})}}, &blocked);
    }
    plan = ta::runtime::make_plan(snapshot, *ta::graph::find_target(target), {}, {}, ta::runtime::plan_switches(),
                                  nullptr);
  }
  [[nodiscard]] std::vector<const ta::runtime::KernelStep*> kernels() const {
    std::vector<const ta::runtime::KernelStep*> found;
    for (const auto& step : plan.steps) found.push_back(&std::get<ta::runtime::KernelStep>(step));
    return found;
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto* k : kernels()) all += k->source->text;
    return all;
  }

  /// The bits of the result, kernels run by `units`.
  [[nodiscard]] std::vector<std::uint64_t> run(const ta::test::EmulatedKernels& units) const {
    std::vector<std::vector<std::uint64_t>> outputs, temporaries;
    for (const auto& o : plan.outputs) outputs.emplace_back(o.bytes / 8 + 2);
    for (const std::size_t bytes : plan.temporaries) temporaries.emplace_back(bytes / 8 + 2);
    std::vector<std::uint64_t> scratch(plan.scratch_bytes / 8 + 2);
    std::vector<std::uint32_t> tickets(plan.ticket_count + 1);
    std::vector<std::uint64_t> scalars;
    ta::runtime::scalar_values(plan, snapshot.cells, scalars);
    for (const auto* k : kernels()) {
      std::vector<void*> buffers;
      for (const ta::runtime::Operand& o : k->operands)
        buffers.push_back((o.kind == ta::runtime::Operand::Kind::Output ? outputs : temporaries).at(o.index).data());
      const auto values = ta::runtime::kernel_scalars(*k, scalars);
      const auto words = ta::codegen::pack_parameters(k->lowered.ir, *k->source, k->lowered.args, k->geometry,
                                                      {buffers, values, scratch.data(), tickets.data()});
      units.run(*k->source, k->geometry.grid(), words);
    }
    const ta::runtime::OutputPlan& o = plan.outputs.at(plan.roots.at(0).index);
    const auto count = static_cast<std::size_t>(ta::graph::element_count(o.shape.span()));
    const std::size_t size = o.bytes / std::max<std::size_t>(count, 1);
    std::vector<std::uint64_t> bits(count);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(&bits[i], reinterpret_cast<const std::byte*>(outputs[plan.roots[0].index].data()) + i * size, size);
    return bits;
  }
};

Array mcpi(std::int64_t pairs, std::uint64_t seed) {
  rnd::Generator g(seed);
  const Array u = rnd::uniform(g, pairs), w = rnd::uniform(g, pairs);
  return 4 * ta::mean(ta::astype(u * u + w * w < 1, ta::float32));
}

/// How many of the programs, at their end, use functions that are not exact.
constexpr std::size_t kInexact = 3;

/// Draws in every kind of kernel.
std::vector<std::function<Array()>> programs() {
  using ta::slice;
  static const auto draw = [] { return rnd::Generator(0x123456789abcdef); };
  return {
      [] {
        auto g = draw();
        return rnd::bits(g, 1001);
      },
      [] {
        auto g = draw();
        return rnd::bits(g, {3, 333}, ta::uint64);
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 1003);
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 1003, {.low = -2, .high = 3});
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 4099, {.dtype = ta::float16});
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 4099, {.low = 1, .high = 1.5, .dtype = ta::bfloat16});
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, {7, 100}, {.dtype = ta::float64});
      },
      [] {
        auto g = draw();
        return rnd::normal(g, 5001, {.mean = 1, .deviation = 0.5});
      },
      [] {
        auto g = draw();
        return rnd::normal(g, 1001, {.dtype = ta::float64});
      },
      [] {
        auto g = draw();
        return rnd::normal(g, 1001, {.dtype = ta::float16});
      },
      [] {
        auto g = draw();
        return rnd::integers(g, 1001, -3, 1000);
      },
      [] {
        auto g = draw();
        return rnd::integers(g, 1001, 0, 1000000);
      },
      [] {
        auto g = draw();
        return rnd::integers(g, 1001, -128, 128, ta::int8);
      },
      [] {
        auto g = draw();
        return rnd::bernoulli(g, 2003, 0.25);
      },
      [] {
        auto g = draw();
        return rnd::bernoulli(g, {5, 101}, ta::linspace(0, 1, 101));
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 1003)(slice(1, 900));
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 1004)(slice(4, 900));
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, 1003)(slice(ta::none, ta::none, -1));
      },
      [] {
        auto g = draw();
        return rnd::bits(g, 1003, ta::uint64)(slice(5, ta::none, 3));
      },
      [] {
        auto g = draw();
        return ta::permute_dims(rnd::uniform(g, {31, 40}), {1, 0});
      },
      [] {
        auto g = draw();
        return rnd::uniform(g, {20, 30})(slice(2, 17), slice(4, 28)) + rnd::uniform(g, 24);
      },
      [] {
        auto g = draw();
        return ta::reshape(rnd::uniform(g, {12, 10})(slice(1, 11), slice(2, 8)), {4, 15});
      },
      [] {
        auto g = draw();
        return ta::reshape(rnd::uniform(g, {12, 10}), {8, 15});
      },
      [] { return mcpi(70001, 7); },
      [] { return mcpi(20, 7); },
      [] {
        auto g = draw();
        return ta::sum(rnd::uniform(g, {9, 300}), 1);
      },
      [] {
        auto g = draw();
        return ta::sum(rnd::uniform(g, {9, 301}), 1);
      },
      [] {
        auto g = draw();
        return ta::sum(rnd::uniform(g, {400, 64}), 0);
      },
      [] {
        auto g = draw();
        return ta::var(rnd::normal(g, {400, 64}), 0) + ta::arange(64, ta::float32);
      },
      [] {
        auto g = draw();
        Array x = ta::zeros({30, 40});
        x.set({slice(3, 20), slice(5, 37)}, rnd::uniform(g, {17, 32}));
        return x;
      },
      // Functions with an error: the last bits are a device's own.
      [] {
        auto g = draw();
        return rnd::exponential(g, 1001, {.scale = 2});
      },
      [] {
        auto g = draw();
        return ta::softmax(rnd::normal(g, {5, 700}), 1);
      },
      [] {
        auto g = draw();
        return ta::softmax(rnd::normal(g, {5, 20}), 1);
      },
  };
}

}  // namespace

TEST_CASE("random: Philox gives the published words", "[random]") {
  // Random123, kat_vectors, philox4x32 with 10 rounds: counter {0, 0, 0, 0}, key {0, 0}.
  on_every_device([](ta::Device) {
    rnd::Generator g(0);
    CHECK(rnd::bits(g, 4).to_vector<std::uint32_t>() ==
          std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  });
  // The other two have counters beyond every element; their blocks are asked of the prelude.
  const auto words = [](std::uint64_t number, std::uint64_t key, std::uint64_t draw) {
    const auto word = [](std::uint64_t pair, int i) { return static_cast<std::uint32_t>(pair >> 32 * i); };
    const auto b = prelude_text::tarry_philox(word(number, 0), word(number, 1), word(draw, 0), word(draw, 1), key);
    return std::vector<std::uint32_t>{b.a, b.b, b.c, b.d};
  };
  CHECK(words(0, 0, 0) == std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words(~0ULL, ~0ULL, ~0ULL) == std::vector<std::uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words(0x85a308d3243f6a88, 0x299f31d0a4093822, 0x0370734413198a2e) ==
        std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: element i of draw s is word i mod 4 of block i / 4, under key and draw number", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator g(0xfedcba9876543210);
    (void)rnd::bits(g, {});
    const Array words = rnd::bits(g, {3, 67}), pairs = rnd::bits(g, {67, 3}, ta::uint64);
    const auto w = words.to_vector<std::uint32_t>();
    const auto p = pairs.to_vector<std::uint64_t>();
    for (std::int64_t i = 0; i < 201; ++i) {
      REQUIRE(w[static_cast<std::size_t>(i)] == word_of(g.key(), 1, i));
      REQUIRE(p[static_cast<std::size_t>(i)] == pair_of(g.key(), 2, i));
      REQUIRE(pair_of(g.key(), 2, i) ==
              (word_of(g.key(), 2, 2 * i) | std::uint64_t{word_of(g.key(), 2, 2 * i + 1)} << 32));
    }
  });
}

TEST_CASE("random: the same bits fused, unfused, interpreted, in C and in CUDA C", "[random]") {
  const ta::Scope here(ta::cpu);
  const auto all = programs();
  std::vector<std::vector<std::uint64_t>> expected;
  {
    const Setting off("TARRY_DISABLE", "compile,fusion,cse,fold,simplify");
    for (const auto& program : all) expected.push_back(bits_of(program()));
  }
  std::vector<Planned> planned;
  std::vector<const ta::codegen::KernelSource*> sources;
  std::set<std::string> seen;
  for (const auto& program : all) planned.emplace_back(program(), "sm_90");
  for (const Planned& p : planned)
    for (const auto* k : p.kernels())
      if (seen.insert(k->source->text).second) sources.push_back(k->source.get());
  const ta::test::EmulatedKernels units(sources);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("program " << i);
    CHECK(bits_of(all[i]()) == expected[i]);
    CHECK(planned[i].run(units) == expected[i]);
    const Setting interpreted("TARRY_DISABLE", "compile");
    CHECK(bits_of(all[i]()) == expected[i]);
  }
  for (const ta::Device device : ta::devices()) {
    const ta::Scope placed(device);
    const std::size_t exact = device == ta::cpu ? all.size() : all.size() - kInexact;
    for (std::size_t i = 0; i < exact; ++i) CHECK(bits_of(all[i]()) == expected[i]);
  }
}

TEST_CASE("random: neighbours share a block where their numbers begin at one", "[random]") {
  rnd::Generator g(3);
  const auto shares = [](const Array& x) {
    const bool cuda = Planned(x, "sm_90").text().find("tarry_words_") != std::string::npos;
    const bool c = Planned(x, "x86-64-v3").text().find("tarry_fill_") != std::string::npos;
    return std::pair(cuda, c);
  };
  CHECK(shares(rnd::uniform(g, 1000)) == std::pair(true, true));
  CHECK(shares(rnd::uniform(g, 1000, {.dtype = ta::bfloat16})) == std::pair(true, true));
  CHECK(shares(mcpi(100000, 1)) == std::pair(true, true));
  CHECK(shares(ta::sum(rnd::uniform(g, {1000, 64}), 0)) == std::pair(true, true));
  CHECK(shares(ta::softmax(rnd::normal(g, {10, 1000}), 1)) == std::pair(true, true));
  CHECK(shares(rnd::uniform(g, 1000)(ta::slice(1, ta::none))) == std::pair(false, true));
  CHECK(shares(rnd::uniform(g, 1000)(ta::slice(ta::none, ta::none, 2))) == std::pair(false, false));
}

TEST_CASE("random: seed and draw number are arguments, so all seeds are one kernel", "[random]") {
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    rnd::Generator g(seed < 99 ? seed : ~std::uint64_t{0});
    for (std::uint64_t draws = seed % 5; draws > 0; --draws) (void)rnd::bits(g, 1);
    const Array x = rnd::uniform(g, 1000) + rnd::normal(g, 1000);
    texts.insert(Planned(x, "sm_90").text());
  }
  CHECK(texts.size() == 1);
  const ta::Scope here(ta::cpu);
  const auto before = ta::cache_counters().compiles;
  std::set<float> sums;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    rnd::Generator g(seed);
    sums.insert(ta::sum(rnd::uniform(g, 31)).item<float>());
  }
  CHECK(sums.size() > 95);
  CHECK(ta::cache_counters().compiles - before <= 1);
}

TEST_CASE("random: a part of a draw beyond 2^32 elements costs what the part costs", "[random]") {
  on_every_device([](ta::Device) {
    constexpr std::int64_t kRows = 1 << 20, kColumns = 1 << 14, kLast = kRows * kColumns - 1;
    rnd::Generator g(11);
    const Array all = rnd::bits(g, {kRows, kColumns}), wide = rnd::bits(g, {kRows, kColumns}, ta::uint64);
    const Array end = all(-1, ta::slice(-5, ta::none)), back = wide(-1, ta::slice(ta::none, -4, -1));
    CHECK(ta::plan(end).counters().bytes_written == 20);
    const auto e = end.to_vector<std::uint32_t>();
    const auto b = back.to_vector<std::uint64_t>();
    for (std::int64_t i = 0; i < 5; ++i) CHECK(e[static_cast<std::size_t>(i)] == word_of(11, 0, kLast - 4 + i));
    for (std::int64_t i = 0; i < 3; ++i) CHECK(b[static_cast<std::size_t>(i)] == pair_of(11, 1, kLast - i));
    const Array column = all(ta::slice(0, ta::none, 1 << 18), 7);
    const auto c = column.to_vector<std::uint32_t>();
    for (std::int64_t i = 0; i < 4; ++i)
      CHECK(c[static_cast<std::size_t>(i)] == word_of(11, 0, (i << 18) * kColumns + 7));
  });
}

TEST_CASE("random: a copy goes on alike, forks are streams of their own", "[random]") {
  const ta::Scope here(ta::cpu);
  const auto next = [](rnd::Generator& g) { return rnd::bits(g, 3).to_vector<std::uint32_t>(); };
  rnd::Generator g(5);
  (void)next(g);
  rnd::Generator copy = g;
  CHECK(copy == g);
  const auto first = next(g);
  CHECK(next(copy) == first);
  CHECK(next(g) != first);
  CHECK(g.draws() == 3);

  rnd::Generator early = rnd::Generator(5).fork(8), late = g.fork(8), other = g.fork(9);
  CHECK(early == late);
  CHECK(next(early) == next(late));
  CHECK(other.key() != late.key());
  CHECK(g.draws() == 3);
  rnd::Generator a = g.fork(), b = g.fork();
  CHECK(g.draws() == 5);
  std::set<std::uint64_t> keys{g.key(), late.key(), other.key(), a.key(), b.key()};
  for (std::uint64_t i = 100; i < 1100; ++i) keys.insert(g.fork(i).key());
  CHECK(keys.size() == 1005);
  CHECK(g.fork(7).key() == pair_of(5, 1U << 31, 7));
}

TEST_CASE("random: a generator goes on after any number of draws", "[random]") {
  const ta::Scope here(ta::cpu);
  const auto next = [](rnd::Generator& g) { return rnd::bits(g, 3).to_vector<std::uint32_t>(); };
  rnd::Generator counted(5), resumed(5, 2);
  (void)next(counted), (void)next(counted);
  CHECK(counted == resumed);
  CHECK(next(counted) == next(resumed));
  // 2^31 draws have one key, those after them have others.
  constexpr std::uint64_t kStream = std::uint64_t{1} << 31;
  rnd::Generator before(5, kStream - 1), at(5, kStream), later(5, 3 * kStream + 9);
  CHECK(next(before)[2] == word_of(5, kStream - 1, 2));
  CHECK(before == at);
  const auto first = next(at);
  CHECK(first[2] == word_of(pair_of(5, kStream + 2, 1), 0, 2));
  CHECK(next(before) == first);
  CHECK(next(later)[2] == word_of(pair_of(5, kStream + 2, 3), 9, 2));
}

TEST_CASE("random: a wrong call takes no draw", "[random]") {
  rnd::Generator g(1);
  CHECK_THROWS_AS(rnd::uniform(g, -1), ta::InvalidArgument);
  CHECK_THROWS_AS(rnd::uniform(g, 5, {.low = 1, .high = 1}), ta::InvalidArgument);
  CHECK_THROWS_AS(rnd::integers(g, 5, 3, 3), ta::InvalidArgument);
  CHECK_THROWS_AS(rnd::bernoulli(g, 5, 1.5), ta::InvalidArgument);
  CHECK(g.draws() == 0);
}

TEST_CASE("random: uniform fills the fraction of a number in [1, 2)", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator g(99);
    const auto singles = rnd::uniform(g, 300).to_vector<float>();
    const auto doubles = rnd::uniform(g, 300, {.dtype = ta::float64}).to_vector<double>();
    const auto halves = rnd::uniform(g, 300, {.dtype = ta::float16}).to_vector<ta::Half>();
    const auto brains = rnd::uniform(g, 300, {.dtype = ta::bfloat16}).to_vector<ta::BFloat16>();
    for (std::int64_t i = 0; i < 300; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(static_cast<double>(singles[at]) == std::ldexp(word_of(99, 0, i) >> 9, -23));
      CHECK(doubles[at] == std::ldexp(static_cast<double>(pair_of(99, 1, i) >> 12), -52));
      CHECK(static_cast<double>(static_cast<float>(halves[at])) == std::ldexp(word_of(99, 2, i) >> 21, -11));
      CHECK(static_cast<double>(static_cast<float>(brains[at])) == std::ldexp(word_of(99, 3, i) >> 24, -8));
    }
  });
}

TEST_CASE("random: uniform stays below high, however narrow the interval", "[random]") {
  const ta::Scope here(ta::cpu);
  rnd::Generator g(4);
  const float next = 1 + 0x1p-22f;
  const auto narrow = rnd::uniform(g, 1000, {.low = 1, .high = static_cast<double>(next)}).to_vector<float>();
  CHECK(std::set<float>(narrow.begin(), narrow.end()) == std::set<float>{1.0f, 1 + 0x1p-23f});
  for (const ta::Dtype dtype : {ta::float16, ta::bfloat16, ta::float32, ta::float64}) {
    const Array x = ta::astype(rnd::uniform(g, 5000, {.low = -3, .high = -2.5, .dtype = dtype}), ta::float64);
    CHECK(ta::min(x).item<double>() >= -3);
    CHECK(ta::max(x).item<double>() < -2.5);
  }
}

TEST_CASE("random: normal is the quantile of its word, within 4 ulp (6 in float64), and odd in it", "[random]") {
  double worst32 = 0, worst64 = 0;
  // c: the probability of a smaller size, rest: 1 - c. The error is that of the probability over the density.
  const auto check = [](auto x, long double c, long double rest, double& worst) {
    const long double size = static_cast<long double>(x), root = std::sqrt(2.0L);
    const long double wrong = c < 0.5L ? std::erf(size / root) - c : rest - std::erfc(size / root);
    const long double density = std::sqrt(2 / std::acos(-1.0L)) * std::exp(-size * size / 2);
    const int place = std::ilogb(size) + 1 - std::numeric_limits<decltype(x)>::digits;
    worst = std::max(worst, static_cast<double>(std::abs(wrong / density) / std::ldexp(1.0L, place)));
  };
  const auto at = [&](std::uint32_t m) {
    const auto x = prelude<float>(Op::Normal, ta::uint32, ta::float32, m);
    CHECK(prelude<float>(Op::Normal, ta::uint32, ta::float32, ~m) == -x);
    check(x, std::ldexp(m + 0.5L, -31), std::ldexp((0x7fffffffu - m) + 0.5L, -31), worst32);
    const std::uint64_t wide = std::uint64_t{m} << 32 | (m * 0x9e3779b9u);
    const auto y = prelude<double>(Op::Normal, ta::uint64, ta::float64, wide);
    CHECK(prelude<double>(Op::Normal, ta::uint64, ta::float64, ~wide) == -y);
    check(y, std::ldexp(static_cast<long double>(wide) + 0.5L, -63),
          std::ldexp(static_cast<long double>(0x7fffffffffffffffu - wide) + 0.5L, -63), worst64);
  };
  for (std::uint32_t m = 0; m < 0x7ff00000u; m += 99991) at(m);
  for (std::uint32_t m = 0; m < 1000; ++m) at(m), at(0x7fffffffu - m), at(0x7fffffffu - 997 * m), at(997 * m);
  CHECK(worst32 > 0.5);
  CHECK(worst32 <= 4);
  CHECK(worst64 > 0.25);
  CHECK(worst64 <= 6);
}

TEST_CASE("random: integers are low and the upper half of word times range", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator g(21);
    const auto dice = rnd::integers(g, 1000, 1, 7).to_vector<std::int64_t>();
    const auto wide = rnd::integers(g, 1000, INT64_MIN, INT64_MAX).to_vector<std::int64_t>();
    const auto bytes = rnd::integers(g, 5000, -128, 128, ta::int8).to_vector<std::int8_t>();
    const auto large = rnd::integers(g, 1000, 0, UINT64_MAX, ta::uint64).to_vector<std::uint64_t>();
    for (std::int64_t i = 0; i < 1000; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(dice[at] == 1 + static_cast<std::int64_t>(std::uint64_t{word_of(21, 0, i)} * 6 >> 32));
      __extension__ typedef unsigned __int128 Wide;
      const auto offset = static_cast<std::uint64_t>(static_cast<Wide>(pair_of(21, 1, i)) * UINT64_MAX >> 64);
      CHECK(wide[at] == static_cast<std::int64_t>(static_cast<std::uint64_t>(INT64_MIN) + offset));
      CHECK(large[at] == static_cast<std::uint64_t>(static_cast<Wide>(pair_of(21, 3, i)) * UINT64_MAX >> 64));
    }
    CHECK(std::set<std::int64_t>(dice.begin(), dice.end()).size() == 6);
    CHECK(std::set<std::int8_t>(bytes.begin(), bytes.end()).size() == 256);
  });
}

TEST_CASE("random: moments and frequencies are those of the distributions", "[random]") {
  const ta::Scope here(ta::cpu);
  constexpr std::int64_t n = 1 << 18;
  constexpr double root = 512;  // of n
  rnd::Generator g(2026);
  const auto moment = [](const Array& x, int power) {
    Array product = x;
    for (int i = 1; i < power; ++i) product = product * x;
    return ta::mean(product).item<double>();
  };
  // Each within four deviations of the mean of n such numbers.
  const Array u = ta::astype(rnd::uniform(g, n), ta::float64);
  CHECK(std::abs(moment(u, 1) - 0.5) < 4 * 0.2887 / root);
  CHECK(std::abs(moment(u, 2) - 1.0 / 3) < 4 * 0.2981 / root);
  const Array z = ta::astype(rnd::normal(g, n), ta::float64);
  CHECK(std::abs(moment(z, 1)) < 4 / root);
  CHECK(std::abs(moment(z, 2) - 1) < 4 * std::sqrt(2.0) / root);
  CHECK(std::abs(moment(z, 3)) < 4 * std::sqrt(15.0) / root);
  CHECK(std::abs(moment(z, 4) - 3) < 4 * std::sqrt(96.0) / root);
  const Array e = ta::astype(rnd::exponential(g, n, {.scale = 3}), ta::float64);
  CHECK(std::abs(moment(e, 1) - 3) < 4 * 3 / root);
  CHECK(std::abs(ta::mean(ta::astype(rnd::bernoulli(g, n, 0.3), ta::float64)).item<double>() - 0.3) <
        4 * 0.4583 / root);
  // Neighbours, words of one block and elements of two draws are not correlated.
  const Array v = ta::astype(rnd::uniform(g, n), ta::float64) - 0.5, c = u - 0.5;
  for (const std::int64_t d : {1, 2, 3, 4})
    CHECK(std::abs(ta::mean(c(ta::slice(d, ta::none)) * c(ta::slice(0, n - d))).item<double>()) < 4.0 / 12 / root);
  CHECK(std::abs(ta::mean(c * v).item<double>()) < 4.0 / 12 / root);
  // Chi-square of 255 degrees of freedom: mean 255, deviation 22.6.
  const auto chi_square = [&](const std::vector<std::int64_t>& values) {
    std::array<double, 256> counts{};
    for (const std::int64_t x : values) ++counts.at(static_cast<std::size_t>(x));
    double sum = 0;
    for (const double count : counts) sum += (count - n / 256.0) * (count - n / 256.0) / (n / 256.0);
    return sum;
  };
  for (const double shown :
       {chi_square(rnd::integers(g, n, 0, 256).to_vector<std::int64_t>()),
        chi_square(ta::astype(rnd::uniform(g, n) * 256, ta::int64).to_vector<std::int64_t>()),
        chi_square(
            ta::astype((1 + ta::erf(rnd::normal(g, n) * 0.70710678f)) * 128, ta::int64).to_vector<std::int64_t>())}) {
    CHECK(shown > 255 - 4 * 22.6);
    CHECK(shown < 255 + 4 * 22.6);
  }
}

TEST_CASE("random: bernoulli is a uniform number less than p", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator a(8), b(8);
    const Array p = ta::linspace(0, 1, 500), wide = ta::linspace(0, 1, 500, {.dtype = ta::float64});
    CHECK(rnd::bernoulli(a, {3, 500}, p).to_vector<bool>() == (rnd::uniform(b, {3, 500}) < p).to_vector<bool>());
    CHECK(rnd::bernoulli(a, wide).to_vector<bool>() ==
          (rnd::uniform(b, 500, {.dtype = ta::float64}) < wide).to_vector<bool>());
    CHECK(rnd::bernoulli(a, 500, 0.3).to_vector<bool>() == (rnd::uniform(b, 500) < 0.3f).to_vector<bool>());
    CHECK_FALSE(ta::any(rnd::bernoulli(a, 500, 0)).item<bool>());
    CHECK(ta::all(rnd::bernoulli(a, 500, 1)).item<bool>());
  });
}

TEST_CASE("random: draws of no element and of one", "[random]") {
  on_every_device([](ta::Device) {
    rnd::Generator g(6);
    CHECK(rnd::normal(g, {0, 3}).to_vector<float>().empty());
    CHECK(rnd::bits(g, {}).item<std::uint32_t>() == word_of(6, 1, 0));
    CHECK(rnd::bits(g, {1, 1}).to_vector<std::uint32_t>() == std::vector{word_of(6, 2, 0)});
  });
}
