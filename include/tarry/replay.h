// Whole functions, recorded once for each structure of their arguments. A call of a known structure checks the
// arguments and runs the finished plan: it records, plans and looks up nothing.
//
// The structure is the shape, dtype and device of each array, how many a list holds, and the Scopes of the caller.
// Arrays that the function reads from elsewhere, and numbers, are constants: they are as they were when it was
// recorded. 0-d arrays made of a number, `ta::Array(0.1F)`, are arguments that cost no memory. A generator is passed by
// reference and goes on with each call. Calls compute their results at once; the bits are those of the function called
// directly. Within another such function, and within the body of a scan, it is called directly. Several threads may
// call one object; traces() says how often its function was recorded.
#pragma once

#include <tarry/array.h>
#include <tarry/random.h>
#include <tarry/shared.h>

#include <any>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tarry {
inline namespace v0 {

namespace detail {

/// Results of a function that was recorded, and what its caller keeps beside them.
struct Traced {
  std::vector<Array> results;
  std::any beside = {};
};
/// The function, of arrays and generators that stand for those of a call. An array that it rebinds is an error.
using TracedBody = std::function<Traced(std::span<Array> arguments, std::span<random::Generator> generators)>;

/// Recorded functions by the structure of their arguments, least recently used out first.
class TARRY_EXPORT Traces {
 public:
  explicit Traces(std::size_t most);
  /// The results for these arguments, computed; `structure` is what else must be equal.
  [[nodiscard]] Traced call(std::span<const Array* const> arguments, std::span<random::Generator* const> generators,
                            std::span<const std::uint64_t> structure, const TracedBody& body, Where where) const;
  [[nodiscard]] std::int64_t count() const noexcept;  ///< how often a body was recorded

 private:
  Shared impl_;
};

/// Arguments of a call, taken apart.
struct Arguments {
  std::vector<const Array*> arrays;
  std::vector<random::Generator*> generators;
  std::vector<std::uint64_t> structure;

  void add(const Array& x) { arrays.push_back(&x); }
  void add(const std::vector<Array>& list) {
    structure.push_back(list.size());
    for (const Array& x : list) arrays.push_back(&x);
  }
  void add(random::Generator& g) { generators.push_back(&g); }
};

/// The same put together again, for the function.
struct StandIns {
  std::span<const Array> arrays;
  std::span<random::Generator> generators;
  std::span<const std::uint64_t> structure;

  template <class T>
  decltype(auto) next() {
    if constexpr (std::is_same_v<T, random::Generator>) {
      random::Generator& g = generators.front();
      generators = generators.subspan(1);
      return (g);
    } else if constexpr (std::is_same_v<T, Array>) {
      const Array& x = arrays.front();
      arrays = arrays.subspan(1);
      return (x);
    } else {
      const std::size_t count = structure.front();
      structure = structure.subspan(1);
      std::vector<Array> list(arrays.begin(), arrays.begin() + static_cast<std::ptrdiff_t>(count));
      arrays = arrays.subspan(count);
      return list;
    }
  }
};

/// Results as one list, and as the function gives them.
template <class R>
struct Results {
  static std::vector<Array> listed(R results) {
    return std::apply([](auto&&... each) { return std::vector<Array>{std::move(each)...}; }, std::move(results));
  }
  static R made(std::vector<Array> list) { return made(list, std::make_index_sequence<std::tuple_size_v<R>>()); }
  template <std::size_t... kAt>
  static R made(std::vector<Array>& list, std::index_sequence<kAt...>) {
    return R{std::move(list[kAt])...};
  }
};
template <>
struct Results<Array> {
  static std::vector<Array> listed(Array x) { return {std::move(x)}; }
  static Array made(std::vector<Array> list) { return std::move(list.front()); }
};
template <>
struct Results<std::vector<Array>> {
  static std::vector<Array> listed(std::vector<Array> list) { return list; }
  static std::vector<Array> made(std::vector<Array> list) { return list; }
};

/// A parameter of a call: arrays by reference, generators to be drawn from.
template <class P>
using Passed = std::conditional_t<std::is_same_v<std::remove_cvref_t<P>, random::Generator>, random::Generator&,
                                  const std::remove_cvref_t<P>&>;
template <class P>
concept ReplayParameter =
    std::is_same_v<std::remove_cvref_t<P>, Array> || std::is_same_v<std::remove_cvref_t<P>, std::vector<Array>> ||
    std::is_same_v<P, random::Generator&>;

}  // namespace detail

template <class Signature>
class Replay;

/// A function that is recorded once for each structure of its arguments, and then replayed. Made by replay().
template <class R, class... Parameters>
  requires(detail::ReplayParameter<Parameters> && ...)
class Replay<R(Parameters...)> {
 public:
  explicit Replay(std::function<R(Parameters...)> function, std::size_t most)
      : function_(std::move(function)), traces_(most) {}

  /// Shapes, Dtypes: those of the function. Throws what the function throws, InvalidArgument where it reads a value
  /// that depends on its arguments or draws from a generator from outside, and what evaluate() throws: then nothing
  /// has changed, and it may be called again.
  /// Example: `ta::replay([](ta::Array x) { return x + 1; })(ta::zeros({1}))` is `[1.]`.
  R operator()(detail::Passed<Parameters>... parameters, Where where = std::source_location::current()) const {
    detail::Arguments given;
    (given.add(parameters), ...);
    const detail::TracedBody body = [&](std::span<Array> arrays, std::span<random::Generator> generators) {
      detail::StandIns stand_ins{arrays, generators, given.structure};
      using Held = std::tuple<decltype(stand_ins.template next<std::remove_cvref_t<Parameters>>())...>;
      Held held{stand_ins.template next<std::remove_cvref_t<Parameters>>()...};  // braces: from left to right
      return detail::Traced{detail::Results<R>::listed(std::apply(function_, std::move(held)))};
    };
    return detail::Results<R>::made(traces_.call(given.arrays, given.generators, given.structure, body, where).results);
  }

  /// How often the function was recorded: once a structure, unless there are more of them than are kept.
  /// Example: `ta::replay([](ta::Array x) { return x + 1; }).traces()` is `0`.
  [[nodiscard]] std::int64_t traces() const noexcept { return traces_.count(); }

 private:
  std::function<R(Parameters...)> function_;
  detail::Traces traces_;
};

/// `function` as one that is recorded once and then replayed. Its parameters are arrays, `std::vector<Array>` and
/// `random::Generator&`; it returns an array, a `std::vector<Array>`, or a pair, tuple or `std::array` of arrays.
/// `most` structures are kept, least recently used out first.
/// Shapes, Dtypes: any.  Throws OutOfMemory alone. A call throws what the function throws, InvalidArgument where it
/// reads a value that depends on its arguments, rebinds one or draws from a generator from outside, and what evaluate()
/// throws; then nothing has changed, and it may be called again. Example: `auto f = ta::replay([](const ta::Array& x) {
/// return ta::exp(x) + 1; }); ta::Array y = f(ta::zeros({3}))`.
template <class F>
[[nodiscard]] auto replay(F function, std::size_t most = 64) {
  const auto deduced = []<class R, class... Parameters>(const std::function<R(Parameters...)>&) {
    return std::type_identity<Replay<R(Parameters...)>>();
  };
  using Made = typename decltype(deduced(std::function(function)))::type;
  return Made(std::move(function), most);
}

}  // namespace v0
}  // namespace tarry
