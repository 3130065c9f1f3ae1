// C: pixels become planes, and planes pixels.
#include "codegen/c/zip.h"

#include <bit>
#include <functional>

#include <fmt/format.h>

#include "codegen/c/transpose_block.h"

namespace tarry::codegen {
namespace {

/// Where an element of a vector comes from: lane `lane` of input vector `vector`.
struct From {
  int vector, lane;
};

class ZipWriter {
 public:
  ZipWriter(CWriter& w, std::size_t size, int values)
      : w_(w), size_(size), values_(values), lanes_(kVectorBytes / static_cast<int>(size)) {}

  void unzip() {
    open("const {0}* from, {0}* to, tarry_i64 apart, tarry_i64 n");
    load([&](int k) { return fmt::format("from + j * {} + {}", values_, k * lanes_); });
    if (is_power()) {
      network([&](int step, int k) {
        const int half = values_ / 2, first = 2 * (k % half), odd = k / half;
        std::string order;
        for (int l = 0; l < lanes_; ++l) order += fmt::format(", {}", 2 * l + odd);
        return shuffle(name(step, first), name(step, first + 1), order);
      });
    } else {
      gather([&](int v, int l) { return From{(l * values_ + v) / lanes_, (l * values_ + v) % lanes_}; });
    }
    store([](int v) { return fmt::format("to + {} * apart + j", v); });
    w_.line(fmt::format("for (; j < n; ++j) for (int v = 0; v < {0}; ++v) to[v * apart + j] = from[j * {0} + v];",
                        values_));
    w_.close();
  }

  void zip() {
    open("const {0}* from, tarry_i64 apart, {0}* to, tarry_i64 n");
    load([](int v) { return fmt::format("from + {} * apart + j", v); });
    if (is_power()) {
      network([&](int step, int k) {
        std::string order;
        for (int l = 0; l < lanes_; ++l)
          order += fmt::format(", {}", (k % 2) * (lanes_ / 2) + l / 2 + (l % 2) * lanes_);
        return shuffle(name(step, k / 2), name(step, k / 2 + values_ / 2), order);
      });
    } else {
      gather([&](int k, int l) { return From{(k * lanes_ + l) % values_, (k * lanes_ + l) / values_}; });
    }
    store([&](int k) { return fmt::format("to + j * {} + {}", values_, k * lanes_); });
    w_.line(fmt::format("for (; j < n; ++j) for (int v = 0; v < {0}; ++v) to[j * {0} + v] = from[v * apart + j];",
                        values_));
    w_.close();
  }

 private:
  [[nodiscard]] bool is_power() const { return std::has_single_bit(static_cast<unsigned>(values_)); }
  [[nodiscard]] static std::string vector() { return fmt::format("{}_vector", kSharedName); }
  [[nodiscard]] static std::string name(int step, int k) { return fmt::format("x{}_{}", step, k); }
  static std::string shuffle(const std::string& a, const std::string& b, const std::string& order) {
    return fmt::format("TARRY_SHUFFLE({}, {}, {}{})", vector(), a, b, order);
  }
  void define(const std::string& as, const std::string& value) {
    w_.line(fmt::format("const {} {} = {};", vector(), as, value));
  }

  void open(const char* parameters) {
    w_.line(fmt::format("typedef {} {} __attribute__((vector_size({}), aligned({}), may_alias));", word_type(size_),
                        vector(), kVectorBytes, size_));
    w_.open(fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {}({})", kSharedName,
                        fmt::format(fmt::runtime(parameters), word_type(size_))));
    w_.line("tarry_i64 j = 0;");
    w_.open(fmt::format("for (; j + {0} <= n; j += {0})", lanes_));
  }
  void load(const std::function<std::string(int)>& place) {
    for (int k = 0; k < values_; ++k) define(name(0, k), fmt::format("*(const {}*)({})", vector(), place(k)));
  }
  void store(const std::function<std::string(int)>& place) {
    for (int k = 0; k < values_; ++k) w_.line(fmt::format("*({}*)({}) = {};", vector(), place(k), name(last_, k)));
    w_.close();
  }
  void network(const std::function<std::string(int, int)>& value) {
    for (; (1 << last_) < values_; ++last_)
      for (int k = 0; k < values_; ++k) define(name(last_ + 1, k), value(last_, k));
  }

  /// Vector k of the results has in lane l what `from` says.
  void gather(const std::function<From(int, int)>& from) {
    last_ = 1;
    for (int k = 0; k < values_; ++k) {
      std::string so_far;
      int first = -1;
      for (int input = 0; input < values_; ++input) {
        std::string order;
        bool takes = false;
        for (int l = 0; l < lanes_; ++l) takes |= from(k, l).vector == input;
        if (!takes) continue;
        if (first < 0) {
          first = input;
          continue;
        }
        for (int l = 0; l < lanes_; ++l) {
          const From f = from(k, l);
          if (f.vector == input)
            order += fmt::format(", {}", lanes_ + f.lane);
          else
            order += fmt::format(", {}", so_far.empty() && f.vector == first ? f.lane : l);
        }
        const std::string as = fmt::format("y{}_{}", k, input);
        define(as, shuffle(so_far.empty() ? name(0, first) : so_far, name(0, input), order));
        so_far = as;
      }
      define(name(1, k), so_far.empty() ? name(0, first) : so_far);
    }
  }

  CWriter& w_;
  const std::size_t size_;
  const int values_, lanes_;
  int last_ = 0;  ///< the step of the results
};

}  // namespace

std::string unzip_function(CWriter& w, std::size_t size, int values) {
  return w.share(fmt::format("unzip{}x{}", size, values), [&] { ZipWriter(w, size, values).unzip(); });
}
std::string zip_function(CWriter& w, std::size_t size, int values) {
  return w.share(fmt::format("zip{}x{}", size, values), [&] { ZipWriter(w, size, values).zip(); });
}

}  // namespace tarry::codegen
