// Rolled arrays: values beside the same with an evaluation at each step, kernels, and what compilers are given.
#include <vector>

#include "tests/helpers/devices.h"
#include "tests/helpers/fake_backend.h"
#include "tests/helpers/stepwise.h"

namespace ta = tarry;
using namespace tarry::test;

namespace {

ta::Array laplacian(const ta::Array& u) {
  return ta::roll(u, 1, 0) + ta::roll(u, -1, 0) + ta::roll(u, 1, 1) + ta::roll(u, -1, 1) - 4.0 * u;
}

}  // namespace

TEST_CASE("rolls: stencils on a torus have the bits of their steps", "[rolls]") {
  on_every_device([](ta::Device) {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{40, 33}, {3, 5}, {1, 7}, {64, 2}}) {
      const ta::Array u = noise(shape, 1), v = noise(shape, 2);
      (void)check_program([&](const Pause& pause) {
        ta::Array c = u;
        for (int t = 0; t < 3; ++t) {
          const ta::Array inner = c * c * c - c - 0.5 * laplacian(c);
          pause(inner);
          c = c + 0.01 * laplacian(inner) * v;
          pause(c);
        }
        return std::vector{c};
      });
    }
  });
}

TEST_CASE("rolls: several axes, any shifts, slices and reductions of them", "[rolls]") {
  on_every_device([](ta::Device) {
    const ta::Array x = noise({6, 9, 20}, 3);
    for (const std::int64_t shift : {-13, -1, 0, 2, 6, 40}) {
      (void)check_program([&](const Pause& pause) {
        const ta::Array a = ta::roll(x * x, {shift, -shift, 3}, {0, 1, 2});
        pause(a);
        const ta::Array b = ta::roll(ta::sqrt(a) - x, {1, shift}, {1, 2});
        pause(b);
        const ta::Array part = b(ta::slice(1, 5), ta::slice(8, ta::none, -2), ta::slice(3, 17));
        const ta::Array padded = ta::pad(ta::roll(b, shift, 0), {{2, 1}, {0, 0}, {3, 3}}, ta::Pad::Wrap);
        pause(padded);
        return std::vector{part, ta::sum(b, {2}), ta::max(padded, {0}), ta::roll(part, 1, 2)};
      });
    }
  });
}

TEST_CASE("rolls: a rolled array in a part of another one, and one that differs at its end", "[rolls]") {
  on_every_device([](ta::Device) {
    const ta::Array x = noise({30, 24}, 4), y = noise({36, 24}, 5);
    (void)check_program([&](const Pause& pause) {
      ta::Array z = y;
      z.set({ta::slice(2, 32)}, ta::roll(x * 2.0, 5, 0) - ta::roll(x, -3, 1));
      pause(z);
      const ta::Array ends = ta::concat({z(ta::slice(30, 36)) * z(ta::slice(30, 36)), z(ta::slice(0, 30)) + 1.0}, 0);
      return std::vector{z, ends, ta::roll(ends, 4, 0) - ends};
    });
  });
}

TEST_CASE("rolls: sums of shifted differences take little text", "[rolls]") {
  const ta::Array image = noise({64, 80}, 6);
  ta::Array sum = ta::zeros({64, 80}, ta::float64);
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx) {
      const ta::Array d = ta::square(image - ta::roll(image, {dy, dx}, {0, 1}));
      const ta::Array rows = d + ta::roll(d, 1, 0) + ta::roll(d, -1, 0);
      sum = sum + ta::exp(-(rows + ta::roll(rows, 1, 1) + ta::roll(rows, -1, 1)));
    }
  }
  std::size_t text = 0;
  for (const std::string& source : ta::plan_for("x86-64-v4", sum).sources()) text += source.size();
  INFO(text << " characters");
  CHECK(text < 250'000);
}
