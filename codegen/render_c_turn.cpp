// C: transposed copies of small matrices.
#include "codegen/render_c_turn.h"

#include <fmt/format.h>

namespace tarry::codegen {
namespace {

constexpr std::size_t kVectorBytes = 16;  // which every level has
constexpr std::size_t kLineBytes = 64;

std::string vector_type(std::size_t size) { return fmt::format("{}_v{}", kEntryName, size); }

/// Elements of the first or of the second halves of two vectors, in turn.
void interleave(CWriter& w, std::size_t size, bool second) {
  const std::size_t lanes = kVectorBytes / size;
  std::string order;
  for (std::size_t l = 0; l < lanes; ++l) order += fmt::format(", {}", l / 2 + (second ? lanes / 2 : 0) + (l % 2) * lanes);
  w.open(fmt::format("static inline {0} {1}_{2}{3}({0} a, {0} b)", vector_type(size), kEntryName, second ? "high" : "low", size));
  w.line(fmt::format("return TARRY_SHUFFLE({}, a, b{});", vector_type(size), order));
  w.close();
}

}  // namespace

std::string word_type(std::size_t size) { return fmt::format("tarry_u{}", 8 * size); }

void turn_function(CWriter& w, std::size_t size, int ahead) {
  const std::size_t lanes = kVectorBytes / size;
  w.line(fmt::format("typedef {} {} __attribute__((vector_size({})));", word_type(size), vector_type(size), kVectorBytes));
  interleave(w, size, false);
  interleave(w, size, true);
  w.open(fmt::format("static __attribute__((noinline)) void {0}_turn{1}(const {2}* from, tarry_i64 pitch, {2}* to, tarry_i64 width, tarry_i64 rows, tarry_i64 columns)",
                     kEntryName, size, word_type(size)));
  w.line("tarry_i64 c = 0;");
  w.open(fmt::format("for (; c + {0} <= columns; c += {0}, from += {0} * pitch)", lanes));
  w.line("tarry_i64 r = 0;");
  w.open(fmt::format("for (; r + {0} <= rows; r += {0})", lanes));
  if (ahead > 0)
    w.line(fmt::format("if (r % {} == 0) for (int k = 0; k < {}; ++k) __builtin_prefetch(from + r + ({} + k) * pitch, 0, 2);",
                       kLineBytes / size, lanes, ahead));
  std::string names;
  for (std::size_t k = 0; k < lanes; ++k) names += fmt::format("{}x0_{}", k ? ", " : "", k);
  w.line(fmt::format("{} {};", vector_type(size), names));
  for (std::size_t k = 0; k < lanes; ++k) w.line(fmt::format("__builtin_memcpy(&x0_{0}, from + r + {0} * pitch, {1});", k, kVectorBytes));
  std::size_t step = 0;
  for (; (std::size_t{1} << step) < lanes; ++step)
    for (std::size_t k = 0; k < lanes / 2; ++k)
      w.line(fmt::format("const {0} x{1}_{2} = {3}_low{4}(x{5}_{6}, x{5}_{7}), x{1}_{8} = {3}_high{4}(x{5}_{6}, x{5}_{7});",
                         vector_type(size), step + 1, 2 * k, kEntryName, size, step, k, k + lanes / 2, 2 * k + 1));
  for (std::size_t k = 0; k < lanes; ++k)
    w.line(fmt::format("__builtin_memcpy(to + (r + {0}) * width + c, &x{1}_{0}, {2});", k, step, kVectorBytes));
  w.close();
  w.line(fmt::format("for (; r < rows; ++r) for (int k = 0; k < {}; ++k) to[r * width + c + k] = from[r + k * pitch];", lanes));
  w.close();
  w.line("for (; c < columns; ++c, from += pitch) for (tarry_i64 r = 0; r < rows; ++r) to[r * width + c] = from[r];");
  w.close();
}

}  // namespace tarry::codegen
