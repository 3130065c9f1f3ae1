// A gated recurrent unit (Cho et al., EMNLP 2014) over a sequence: its last state.
#include "bench/programs/program.h"

namespace bench {
namespace {

/// Sequence (time, batch, features), state (batch, units); weights (features, 3 units), (units, 3 units), bias (3
/// units).
Arrays step(const Array& sequence, const Array& state, const Array& w, const Array& r, const Array& bias) {
  const ta::Slice all{};
  const std::int64_t units = state.shape()[1];
  const auto gate = [&](const Array& x, int i) { return x(all, ta::slice(i * units, (i + 1) * units)); };
  Array h = state;
  for (const Array& x : sequence) {
    const Array input = ta::matmul(x, w) + bias, recurrent = ta::matmul(h, r);
    const Array update = ta::sigmoid(gate(input, 0) + gate(recurrent, 0));
    const Array reset = ta::sigmoid(gate(input, 1) + gate(recurrent, 1));
    const Array candidate = ta::tanh(gate(input, 2) + reset * gate(recurrent, 2));
    h = update * h + (1 - update) * candidate;
  }
  return {h};
}

}  // namespace

Program gru(const Setting& setting) {
  const std::int64_t times = setting.extent(4, 32, 64), batch = setting.extent(3, 64, 256);
  const std::int64_t features = setting.extent(5, 64, 256), units = setting.extent(6, 128, 512);
  return {.inputs = {{{times, batch, features}, -1, 1},
                     {{batch, units}, -1, 1},
                     {{features, 3 * units}, -0.1, 0.1},
                     {{units, 3 * units}, -0.1, 0.1},
                     {{3 * units}, -0.1, 0.1}},
          .step = [](const Arrays& x) { return step(x[0], x[1], x[2], x[3], x[4]); }};
}

}  // namespace bench
