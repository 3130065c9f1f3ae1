// Kernels that divide by numbers.
#include <algorithm>

#include "codegen/render/kernel_source.h"
#include "tests/codegen/cuda/compare.h"
#include "tests/helpers/test.h"

using namespace tarry;
using graph::Op;

namespace {

/// Quotients of a row by three numbers, one of which is too small to have a reciprocal.
template <class T>
test::KernelCase quotients(std::int64_t n, int vector) {
  using codegen::Region;
  test::KernelBuilder b("quotients", codegen::Schedule::Pointwise, {n});
  b.vector(vector);
  const Dtype dtype = dtype_of<T>;
  codegen::Value v = b.load(Region::Point, dtype, {1});
  for (const T by : {T(6), T(-0.3), T(1e-36)})
    v = b.compute(Region::Point, Op::Divide, dtype, {v, b.scalar(Region::Point, by)});
  b.store(Region::Point, v, {1});
  return b.build();
}

}  // namespace

TEST_CASE("render cuda: quotients by numbers are those of the interpreter and take their reciprocals as parameters") {
  std::vector<test::KernelCase> cases{quotients<float>(37, 1), quotients<float>(64, 4), quotients<double>(37, 1)};
  for (const test::KernelCase& k : cases) {
    const codegen::KernelSource source = codegen::render_cuda(k.ir, *graph::find_target("sm_90"));
    CHECK(source.text.find("tarry_divide_by_") != std::string::npos);
    CHECK(std::ranges::count(source.slots, codegen::SlotKind::Reciprocal, &codegen::Slot::kind) == 3);
  }
  test::check_bits(cases);
}
