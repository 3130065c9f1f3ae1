// Row kernels of several stages for the tests of the CUDA renderer: softmax, layer norm and what stresses every corner.
#pragma once

#include "tests/codegen/cuda/kernels.h"

namespace tarry::test {

struct RowShape {
  std::int64_t outer, n;
  int vector = 4;
  bool wide = false;
  std::int64_t padding = 0;  ///< elements between rows
};

inline KernelBuilder row_builder(std::string name, const RowShape& s) {
  KernelBuilder b(std::move(name), s.n <= 32 ? Schedule::RowSerial : Schedule::RowInner, {s.outer}, s.n);
  if (s.n > 32) b.vector(s.vector);
  b.rows_of(s.n);
  if (s.wide) b.wide();
  return b;
}

/// max, exp(x - max), its sum, quotient; the exponentials are an output too where `both`.
inline KernelCase softmax(const RowShape& s, Dtype dtype, bool both = false) {
  KernelBuilder b = row_builder(std::string("softmax_") + info(dtype).suffix, s);
  const std::int64_t pitch = s.n + s.padding;
  const Value x = b.load(Region::Point, dtype, {pitch}, 1);
  const Value most = b.result(b.reduce(Op::Max, x));
  b.stage(1);
  const Value e = b.compute(Region::Point, Op::Exp, dtype, {b.compute(Region::Point, Op::Subtract, dtype, {x, most})});
  if (both) b.store(Region::Point, e, {pitch}, 1);
  const Value sum = b.result(b.reduce(Op::Sum, e));
  b.stage(2);
  b.store(Region::Point, b.compute(Region::Point, Op::Divide, dtype, {e, sum}), {pitch}, 1);
  return b.build();
}

/// The last stage has no points.
inline KernelCase logsumexp(const RowShape& s, Dtype dtype) {
  KernelBuilder b = row_builder(std::string("logsumexp_") + info(dtype).suffix, s);
  const Value x = b.load(Region::Point, dtype, {s.n + s.padding}, 1);
  const Value most = b.result(b.reduce(Op::Max, x));
  b.stage(1);
  const Value e = b.compute(Region::Point, Op::Exp, dtype, {b.compute(Region::Point, Op::Subtract, dtype, {x, most})});
  const Value sum = b.result(b.reduce(Op::Sum, e));
  const Value log = b.compute(Region::Outer, Op::Log, dtype, {sum});
  b.store(Region::Outer, b.compute(Region::Outer, Op::Add, dtype, {log, most}), {1});
  return b.build();
}

/// (x - mean) / sqrt(mean((x - mean)^2) + eps) * gain + bias.
inline KernelCase layer_norm(const RowShape& s, Dtype dtype) {
  KernelBuilder b = row_builder(std::string("layer_norm_") + info(dtype).suffix, s);
  const std::int64_t pitch = s.n + s.padding;
  auto scalar = [&](double value) {
    return dtype == Dtype::Float32 ? b.scalar(Region::Row, static_cast<float>(value)) : b.scalar(Region::Row, value);
  };
  const Value count = scalar(static_cast<double>(s.n)), small = scalar(1e-5);
  const Value x = b.load(Region::Point, dtype, {pitch}, 1);
  const Value mean = b.compute(Region::Outer, Op::Divide, dtype, {b.result(b.reduce(Op::Sum, x)), count});
  b.stage(1);
  const Value d = b.compute(Region::Point, Op::Subtract, dtype, {x, mean});
  const Value square = b.compute(Region::Point, Op::Multiply, dtype, {d, d});
  const Value variance = b.compute(Region::Outer, Op::Divide, dtype, {b.result(b.reduce(Op::Sum, square)), count});
  const Value deviation =
      b.compute(Region::Outer, Op::Sqrt, dtype, {b.compute(Region::Outer, Op::Add, dtype, {variance, small})});
  b.store(Region::Outer, mean, {1});
  b.store(Region::Outer, deviation, {-1});
  b.stage(2);
  const Value gain = b.load(Region::Point, dtype, {0}, 1), bias = b.load(Region::Point, dtype, {0}, 1);
  const Value y = b.compute(Region::Point, Op::Multiply, dtype,
                            {b.compute(Region::Point, Op::Divide, dtype, {d, deviation}), gain});
  b.store(Region::Point, b.compute(Region::Point, Op::Add, dtype, {y, bias}), {pitch}, 1);
  return b.build();
}

/// Moments about the first element, an arg reduction, a product, an index, Row and Outer loads and stores, loads of
/// every stride class, a guard, and values that are used two stages on.
inline KernelCase everything(const RowShape& s, Dtype dtype) {
  KernelBuilder b = row_builder(std::string("everything_") + info(dtype).suffix, s);
  const std::int64_t pitch = s.n + s.padding;
  const Value x0 = b.load(Region::Row, dtype, {pitch}), scale = b.load(Region::Row, dtype, {0});
  const Value first = b.compute(Region::Row, Op::Add, dtype, {x0, scale});
  b.store(Region::Row, first, {3});
  const Value x = b.load(Region::Point, dtype, {pitch}, 1), back = b.load(Region::Point, dtype, {2 * s.n}, -2);
  const Value y = b.compute(Region::Point, Op::Subtract, dtype, {x, x0});
  const auto moments = b.reduce(Op::Moments, y);
  const auto place = b.reduce(Op::ArgMax, back);
  const Value mean = b.result(moments, 0), m2 = b.result(moments, 1), at = b.result(place);
  b.store(Region::Outer, m2, {1});
  b.stage(1);
  const Value z = b.compute(Region::Point, Op::Subtract, dtype, {y, mean});
  const Value k = b.iota(Region::Point, 1, {5}, 3);
  const Value far = b.compute(Region::Point, Op::Subtract, Dtype::Int64, {k, at});
  const auto total = b.reduce(Op::Sum, far), nearest = b.reduce(Op::ArgMin, z);
  b.store(Region::Outer, b.compute(Region::Outer, Op::Add, Dtype::Int64, {b.result(total), b.result(nearest)}), {1});
  b.store(Region::Point, z, {pitch}, 1);
  b.stage(2);
  const auto guard = b.guard(Region::Point, {{-3, {0}, 1, s.n / 2}, {0, {1}, 0, s.outer - 1}});
  const Value boxed = b.guarded_load(Region::Point, dtype, guard, s.n / 2 * (s.outer - 1) + 1, -3, {s.n / 2}, 1);
  const Value mixed = b.compute(Region::Point, Op::Where, dtype, {b.inside(Region::Point, guard), boxed, back});
  const Value w = b.compute(Region::Point, Op::Maximum, dtype, {mixed, z});
  const auto merged = b.reduce(Op::MomentsMerge, w, z, b.cell(std::int64_t{3}));
  const auto least = b.reduce(Op::Min, w);
  const Value bias = b.load(Region::Outer, dtype, {-1});
  const Value shift = b.compute(Region::Outer, Op::Add, dtype,
                                {b.compute(Region::Outer, Op::Add, dtype, {b.result(least), bias}), mean});
  b.store(Region::Outer, b.result(merged, 1), {2});
  b.stage(3);
  b.store(Region::Point,
          b.compute(Region::Point, Op::Multiply, dtype, {b.compute(Region::Point, Op::Add, dtype, {w, shift}), first}),
          {pitch}, 1);
  b.store(Region::Point, b.compute(Region::Point, Op::Greater, Dtype::Bool, {x, mean}), {2 * s.n}, 2);
  return b.build();
}

/// 16-bit floats in memory, float32 in between.
inline KernelCase half_softmax(const RowShape& s, Dtype half) {
  KernelBuilder b = row_builder(std::string("softmax_") + info(half).suffix, s);
  const std::int64_t pitch = s.n + s.padding;
  const Value stored = b.load(Region::Point, half, {pitch}, 1);
  const Value x = b.compute(Region::Point, Op::Cast, Dtype::Float32, {stored});
  const Value most = b.result(b.reduce(Op::Max, x));
  b.stage(1);
  const Value e = b.compute(Region::Point, Op::Exp, Dtype::Float32,
                            {b.compute(Region::Point, Op::Subtract, Dtype::Float32, {x, most})});
  const Value sum = b.result(b.reduce(Op::Sum, e));
  b.stage(2);
  const Value y = b.compute(Region::Point, Op::Divide, Dtype::Float32, {e, sum});
  b.store(Region::Point, b.compute(Region::Point, Op::Cast, half, {y}), {pitch}, 1);
  return b.build();
}

/// Rows of two outer dimensions that lie across memory.
inline KernelCase strided_rows(std::int64_t planes, std::int64_t outer, std::int64_t n) {
  KernelBuilder b("strided_rows", n <= 32 ? Schedule::RowSerial : Schedule::RowInner, {planes, outer}, n);
  b.rows_of(n);
  const Value x = b.load(Region::Point, Dtype::Float32, {outer * n, 1}, outer);
  const Value most = b.result(b.reduce(Op::Max, x));
  b.stage(1);
  const Value c = b.load(Region::Row, Dtype::Float32, {1, planes});
  const Value y = b.compute(Region::Point, Op::Subtract, Dtype::Float32,
                            {b.compute(Region::Point, Op::Multiply, Dtype::Float32, {x, c}), most});
  b.store(Region::Point, y, {outer * n, 1}, outer);
  return b.build();
}

}  // namespace tarry::test
