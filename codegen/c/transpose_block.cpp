// C: transposed copies of small matrices.
#include "codegen/c/transpose_block.h"

#include <fmt/format.h>

namespace tarry::codegen {
namespace {

std::string vector_type() { return fmt::format("{}_vector", kSharedName); }

/// Elements of the first or of the second halves of two vectors, in turn.
std::string interleaved(std::size_t size, bool second, const std::string& a, const std::string& b) {
  const std::size_t lanes = kVectorBytes / size;
  std::string order;
  for (std::size_t l = 0; l < lanes; ++l)
    order += fmt::format(", {}", l / 2 + (second ? lanes / 2 : 0) + (l % 2) * lanes);
  return fmt::format("TARRY_SHUFFLE({}, {}, {}{})", vector_type(), a, b, order);
}

}  // namespace

std::string word_type(std::size_t size) { return fmt::format("tarry_u{}", 8 * size); }

namespace {

void write_turn(CWriter& w, std::size_t size, int ahead) {
  const std::size_t lanes = kVectorBytes / size;
  w.line(fmt::format("typedef {} {} __attribute__((vector_size({}), aligned({}), may_alias));", word_type(size),
                     vector_type(), kVectorBytes, size));
  w.open(
      fmt::format("static TARRY_PLAIN __attribute__((noinline)) void {0}(const {1}* from, tarry_i64 pitch, {1}* to, "
                  "tarry_i64 width, tarry_i64 rows, tarry_i64 columns)",
                  kSharedName, word_type(size)));
  w.line("tarry_i64 c = 0;");
  w.open(fmt::format("for (; c + {0} <= columns; c += {0}, from += {0} * pitch, to += {0})", lanes));
  w.line(fmt::format("const {}* x = from;", word_type(size)));
  w.line(fmt::format("{}* y = to;", word_type(size)));
  w.line("tarry_i64 r = 0;");
  w.open(fmt::format("for (; r + {0} <= rows; r += {0}, x += {0}, y += {0} * width)", lanes));
  if (ahead > 0)
    w.line(fmt::format("if (r % {} == 0) for (int k = 0; k < {}; ++k) __builtin_prefetch(x + ({} + k) * pitch, 0, 2);",
                       kLineBytes / size, lanes, ahead));
  for (std::size_t k = 0; k < lanes; ++k)
    w.line(fmt::format("const {0} x0_{1} = *(const {0}*)(x + {1} * pitch);", vector_type(), k));
  std::size_t step = 0;
  for (; (std::size_t{1} << step) < lanes; ++step)
    for (std::size_t k = 0; k < lanes / 2; ++k)
      for (const bool second : {false, true})
        w.line(fmt::format(
            "const {} x{}_{} = {};", vector_type(), step + 1, 2 * k + (second ? 1 : 0),
            interleaved(size, second, fmt::format("x{}_{}", step, k), fmt::format("x{}_{}", step, k + lanes / 2))));
  for (std::size_t k = 0; k < lanes; ++k)
    w.line(fmt::format("*({}*)(y + {} * width) = x{}_{};", vector_type(), k, step, k));
  w.close();
  w.line(
      fmt::format("for (; r < rows; ++r, ++x, y += width) for (int k = 0; k < {}; ++k) y[k] = x[k * pitch];", lanes));
  w.close();
  w.line("for (; c < columns; ++c, from += pitch, ++to) for (tarry_i64 r = 0; r < rows; ++r) to[r * width] = from[r];");
  w.close();
}

}  // namespace

std::string transpose_function(CWriter& w, std::size_t size, int ahead) {
  return w.share(fmt::format("turn{}", size), [&] { write_turn(w, size, ahead); });
}

}  // namespace tarry::codegen
