// Scans in C, at every instruction set level, beside the interpreter: columns, rows side by side, one row.
#include <cstring>
#include <tuple>

#include "tests/kernels/tile_kernels.h"

using namespace tarry;
using namespace tarry::codegen;
using graph::Op;
using test::CpuKernels;
using test::IrBuilder;

namespace {

/// Scans of x + row and, where there are two, of x * x; y = scan + x, in place of x or beside it.
KernelIr scan(Schedule schedule, int lines, bool columns, Dtype dtype, bool two) {
  IrBuilder b(schedule, 1);
  if (schedule == Schedule::ScanSerial) b.ir.layout = codegen::ScanSerialLayout{lines};
  const std::string across = columns ? "1" : "*";
  const char along = columns ? '*' : '1';
  const Value row = b.load(dtype, "1", '0', Region::Row);
  const Value x = b.load(dtype, across, along);
  std::vector<Value> inputs = {b.op(Op::Add, dtype, {x, row})};
  if (two) inputs.push_back(b.op(Op::Multiply, dtype, {x, x}));
  b.stage = 1;
  Value sum = x;
  for (std::uint32_t r = 0; r < inputs.size(); ++r) {
    b.ir.reductions.push_back({Op::CumulativeSum, dtype, 0, {inputs[r], kNone}, kNone});
    Instr result{InstrKind::Result, Region::Point, dtype};
    result.index = r;
    result.stage = 1;
    b.ir.instrs.push_back(result);
    sum = b.op(Op::Add, dtype, {static_cast<Value>(b.ir.instrs.size() - 1), sum});
  }
  b.store(sum, across, along);
  return b.ir;
}

void compare(const KernelIr& ir, const CpuKernels& kernels, std::int64_t lines, std::int64_t n, bool columns) {
  const Dtype dtype = ir.buffers[0];
  const std::int64_t pitch = columns ? lines + 3 : n + 3;
  KernelArgs args;
  args.extents = {lines};
  args.reduced = n;
  const AccessArgs point{0, {columns ? 1 : pitch}, columns ? pitch : 1, 0};
  args.accesses = {{0, {1}, 0, 0}, point, point};
  std::vector<std::vector<unsigned char>> buffers;
  const std::int64_t total = (columns ? n : lines) * pitch;
  for (const std::int64_t elements : {lines, total, total}) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(elements) * itemsize(dtype), 0x5b);
    for (std::int64_t i = 0; i < elements; ++i) {
      const double value = static_cast<double>(i * 2654435761 % 1001 - 300) / 7;
      const auto put = [&](auto typed) {
        std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof typed, &typed, sizeof typed);
      };
      if (dtype == Dtype::Float32)
        put(static_cast<float>(value));
      else if (dtype == Dtype::Float64)
        put(value);
      else if (dtype == Dtype::Int64)
        put(static_cast<std::int64_t>(value));
      else
        put(static_cast<std::int8_t>(value));
    }
    buffers.push_back(std::move(bytes));
  }
  INFO("lines " << lines << " n " << n << " columns " << columns);
  kernels.require_as_interpreted(args, buffers);
}

}  // namespace

TEST_CASE("render c scan: columns and rows side by side have the bits of the interpreter", "[codegen][cpu][scan]") {
  const bool columns = GENERATE(false, true);
  const int lines = GENERATE(16, 32, 64);
  if (!columns && lines > 16) return;
  const Dtype dtype = GENERATE(Dtype::Float32, Dtype::Float64, Dtype::Int64, Dtype::Int8);
  const KernelIr ir = scan(Schedule::ScanSerial, lines, columns, dtype, dtype == Dtype::Float32);
  const CpuKernels kernels(ir);
  for (const auto& [outer, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 31}, {16, 33}, {17, 100}, {70, 128}, {67, 129}, {33, 700}})
    compare(ir, kernels, outer, n, columns);
}

TEST_CASE("render c scan: chunks of many columns start from what comes before them", "[codegen][cpu][scan]") {
  const KernelIr ir = scan(Schedule::ScanSerial, 64, true, Dtype::Float32, false);
  compare(ir, CpuKernels(ir), 65, 9000, true);
}

TEST_CASE("render c scan: sixteen blocks of a row have the bits of the interpreter", "[codegen][cpu][scan]") {
  const Dtype dtype = GENERATE(Dtype::Float32, Dtype::Float64, Dtype::Int8);
  const KernelIr ir = scan(Schedule::ScanInner, 16, false, dtype, dtype == Dtype::Float64);
  const CpuKernels kernels(ir);
  for (const std::int64_t n : {1, 127, 2048, 2049, 5000, 70'003}) compare(ir, kernels, 3, n, false);
}

TEST_CASE("render c scan: rows, columns and single rows have schedules of their own", "[codegen][cpu][scan]") {
  using namespace tarry::test;
  const auto schedule = [](const Dims& shape, int axis) {
    Maker m;
    m.g.roots = {m.scan(Op::CumulativeSum, m.leaf(shape, float32), axis)};
    const KernelIr ir = lowered(m, "x86-64-v3").ir;
    const auto* serial = std::get_if<codegen::ScanSerialLayout>(&ir.layout);
    return std::pair(ir.schedule(), serial ? serial->lines : 0);
  };
  CHECK(schedule({1000}, 0) == std::pair(Schedule::ScanInner, 0));
  CHECK(schedule({8, 5000}, 1) == std::pair(Schedule::ScanInner, 0));
  CHECK(schedule({8, 500}, 1) == std::pair(Schedule::ScanSerial, 16));
  CHECK(schedule({3, 500}, 1) == std::pair(Schedule::ScanInner, 0));
  CHECK(schedule({500, 20}, 0) == std::pair(Schedule::ScanSerial, 32));
  CHECK(schedule({500, 1000}, 0) == std::pair(Schedule::ScanSerial, 64));
}

TEST_CASE("render c scan: golden texts", "[codegen][cpu][scan]") {
  using namespace tarry::test;
  for (const auto& [name, shape, axis] :
       {std::tuple("render_c_scan_row", Dims{5000}, 0), {"render_c_scan_columns", {500, 20}, 0}}) {
    Maker m;
    m.g.roots = {m.scan(Op::CumulativeSum, m.leaf(shape, float32), axis)};
    check_golden(name, m, "x86-64-v3");
  }
}
