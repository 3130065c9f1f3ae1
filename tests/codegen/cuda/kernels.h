// Kernels built by hand for the tests of the CUDA renderer: every schedule, stride class, dtype and region.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codegen/render/kernel_source.h"

namespace tarry::test {

using codegen::Access;
using codegen::Instr;
using codegen::InstrKind;
using codegen::KernelArgs;
using codegen::KernelIr;
using codegen::Reduction;
using codegen::Region;
using codegen::Schedule;
using codegen::StrideClass;
using codegen::Value;
using graph::Op;

/// A kernel with arguments and memory to run it on.
struct KernelCase {
  std::string name;
  KernelIr ir;
  KernelArgs args;
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<std::uint64_t> scalars;
};

/// Writes a KernelCase front to back. Stride classes come from the strides, memory from the offsets they reach.
class KernelBuilder {
 public:
  KernelBuilder(std::string name, Schedule schedule, std::vector<std::int64_t> extents, std::int64_t n = 1) {
    case_.name = std::move(name);
    case_.ir.layout = codegen::empty_layout(schedule);
    case_.ir.rank = static_cast<int>(extents.size());
    case_.args.extents = graph::Dims(std::span<const std::int64_t>(extents));
    case_.args.reduced = n;
  }
  /// Sets a field of the layout, where the schedule has it.
  KernelBuilder& vector(int v) {
    return set([&](auto& layout)
                 requires requires { layout.vector; }
               { layout.vector = v; });
  }
  /// Warps of a row, or columns of an outer one, or the longest of serial rows.
  KernelBuilder& shape_class(int c) {
    set([&](codegen::ReduceInnerLayout& layout) { layout.warps_per_row = c; });
    set([&](codegen::ReduceOuterLayout& layout) { layout.columns = c; });
    set([&](codegen::ReduceSerialLayout& layout) { layout.longest_row = c; });
    return *this;
  }
  KernelBuilder& tile_units(int units) {
    return set([&](codegen::ScanTilesLayout& layout) { layout.units = units; });
  }
  /// The class of rows of several stages.
  KernelBuilder& rows_of(std::int64_t n) {
    set([&](codegen::RowSerialLayout& layout) { layout.longest_row = codegen::serial_class(n, codegen::kShortRow); });
    return set([&](codegen::RowInnerLayout& layout) {
      layout.blocks_per_row = codegen::row_class(n);
      layout.half_block = n <= 64;
    });
  }
  KernelBuilder& striped() {
    return set([&](auto& layout)
                 requires requires { layout.striped; }
               { layout.striped = true; });
  }
  /// Stage of the Point and Outer instructions and the reductions that follow.
  KernelBuilder& stage(int s) {
    stage_ = static_cast<std::uint8_t>(s);
    return *this;
  }
  KernelBuilder& wide() {
    case_.ir.wide_index = true;
    return *this;
  }

  std::uint32_t buffer(Dtype dtype) {
    case_.ir.buffers.push_back(dtype);
    return static_cast<std::uint32_t>(case_.ir.buffers.size() - 1);
  }
  /// A load from a buffer of its own (or an iota where dtype is absent).
  Value load(Region region, Dtype dtype, std::vector<std::int64_t> strides, std::int64_t reduced = 0) {
    return instr({InstrKind::Load,
                  region,
                  dtype,
                  {},
                  {codegen::kNone, codegen::kNone, codegen::kNone},
                  access(buffer(dtype), false, region, strides, reduced)});
  }
  Value iota(Region region, std::int64_t start, std::vector<std::int64_t> strides, std::int64_t reduced = 0) {
    const std::uint32_t a = access(codegen::kNone, false, region, strides, reduced);
    case_.args.accesses[a].offset = start;
    return instr({InstrKind::Load, region, Dtype::Int64, {}, {codegen::kNone, codegen::kNone, codegen::kNone}, a});
  }
  /// A term per iota: 0 <= start + sum of strides < extent.
  struct Term {
    std::int64_t start;
    std::vector<std::int64_t> strides;
    std::int64_t reduced, extent;
  };
  std::uint32_t guard(Region region, const std::vector<Term>& terms) {
    codegen::Guard g;
    for (const Term& t : terms) {
      const std::uint32_t a = access(codegen::kNone, false, region, t.strides, t.reduced);
      case_.args.accesses[a].offset = t.start;
      g.terms.push_back({a, cell(t.extent)});
    }
    case_.ir.guards.push_back(std::move(g));
    return static_cast<std::uint32_t>(case_.ir.guards.size() - 1);
  }
  Value inside(Region region, std::uint32_t guard) {
    return instr({InstrKind::Inside, region, Dtype::Bool, {}, {codegen::kNone, codegen::kNone, codegen::kNone}, guard});
  }
  /// A load of `count` elements where the guard holds; `start` may leave the memory elsewhere.
  Value guarded_load(Region region, Dtype dtype, std::uint32_t guard, std::int64_t count, std::int64_t start,
                     std::vector<std::int64_t> strides, std::int64_t reduced = 0) {
    const Value v = load(region, dtype, std::move(strides), reduced);
    Instr& in = case_.ir.instrs[v];
    in.guard = guard;
    case_.ir.accesses[in.index].aligned = false;
    case_.args.accesses[in.index].offset = start;
    reach_[case_.ir.accesses[in.index].buffer] = count;
    return v;
  }
  void store(Region region, Value v, std::vector<std::int64_t> strides, std::int64_t reduced = 0) {
    const Dtype dtype = case_.ir.instrs[v].dtype;
    instr({InstrKind::Store,
           region,
           dtype,
           {},
           {v, codegen::kNone, codegen::kNone},
           access(buffer(dtype), true, region, strides, reduced)});
  }
  template <class T>
  Value scalar(Region region, T value) {
    return instr(
        {InstrKind::Scalar, region, dtype_of<T>, {}, {codegen::kNone, codegen::kNone, codegen::kNone}, cell(value)});
  }
  template <class T>
  std::uint32_t cell(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    case_.scalars.push_back(bits);
    case_.ir.scalars.push_back(dtype_of<T>);
    return static_cast<std::uint32_t>(case_.scalars.size() - 1);
  }
  Value compute(Region region, Op op, Dtype dtype, std::initializer_list<Value> args) {
    Instr in{InstrKind::Compute, region, dtype, op};
    std::copy(args.begin(), args.end(), in.args.begin());
    return instr(in);
  }
  std::uint32_t reduce(Op op, Value x, Value m2 = codegen::kNone, std::uint32_t weight = codegen::kNone) {
    case_.ir.reductions.push_back({op, case_.ir.instrs[x].dtype, stage_, {x, m2}, weight});
    return static_cast<std::uint32_t>(case_.ir.reductions.size() - 1);
  }
  Value result(std::uint32_t reduction, std::uint32_t output = 0) {
    const Reduction& r = case_.ir.reductions[reduction];
    Instr in{InstrKind::Result, graph::is_scan(r.op) ? Region::Point : Region::Outer,
             graph::is_arg_reduce(r.op) ? Dtype::Int64 : r.dtype};
    in.index = reduction;
    in.output = output;
    return instr(in);
  }

  /// Fills the memory with numbers whose sums depend on the order of additions.
  KernelCase build(unsigned seed = 1) {
    std::mt19937 random(seed);
    for (std::size_t b = 0; b < case_.ir.buffers.size(); ++b) {
      const Dtype dtype = case_.ir.buffers[b];
      const auto count = static_cast<std::size_t>(reach_[b]);
      std::vector<unsigned char> bytes(count * itemsize(dtype));
      for (std::size_t i = 0; i < count; ++i) put(&bytes[i * itemsize(dtype)], dtype, random);
      case_.buffers.push_back(std::move(bytes));
    }
    codegen::verify(case_.ir);
    return case_;
  }

 private:
  static void put(unsigned char* at, Dtype dtype, std::mt19937& random) {
    const double x = std::normal_distribution<double>(1.0, 3.0)(random);
    const auto f = static_cast<float>(x);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &f, sizeof bits);
    auto as = [&](auto v) { std::memcpy(at, &v, sizeof v); };
    switch (dtype) {
      case Dtype::Bool: return as(static_cast<unsigned char>(x > 1));
      case Dtype::Int8: return as(static_cast<std::int8_t>(random()));
      case Dtype::UInt8: return as(static_cast<std::uint8_t>(random()));
      case Dtype::Int16: return as(static_cast<std::int16_t>(random()));
      case Dtype::UInt16: return as(static_cast<std::uint16_t>(random()));
      case Dtype::UInt32: return as(static_cast<std::uint32_t>(random()));
      case Dtype::UInt64: return as(std::uint64_t{random()} << 32 | random());
      case Dtype::Float16:  // the float32 with a short exponent, cut
        return as(static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (((bits >> 23) - 112) & 0x1f) << 10 |
                                             (bits >> 13 & 0x3ff)));
      case Dtype::BFloat16: return as(static_cast<std::uint16_t>(bits >> 16));
      case Dtype::Int32: return as(static_cast<std::int32_t>(x * 1e8));
      case Dtype::Int64: return as(static_cast<std::int64_t>(x * 1e17));
      case Dtype::Float32: return as(f);
      default: return as(x);
    }
  }

  Value instr(Instr in) {
    if (in.region != Region::Row && in.kind != InstrKind::Scalar) in.stage = stage_;
    case_.ir.instrs.push_back(in);
    return static_cast<Value>(case_.ir.instrs.size() - 1);
  }

  static StrideClass class_of(std::int64_t stride) {
    return stride == 0 ? StrideClass::Zero : stride == 1 ? StrideClass::One : StrideClass::Any;
  }

  std::uint32_t access(std::uint32_t buffer, bool store, Region region, const std::vector<std::int64_t>& strides,
                       std::int64_t reduced) {
    Access a;
    a.buffer = buffer;
    a.store = store;
    a.outer_only = region == Region::Outer;
    for (const std::int64_t s : strides) a.strides.push_back(class_of(s));
    a.reduced = class_of(reduced);
    // Every stride but that of the vector dimension must keep a vector's alignment.
    const Schedule schedule = case_.ir.schedule();
    const bool inner = schedule == Schedule::ReduceInner || schedule == Schedule::RowInner ||
                       schedule == Schedule::ScanInner || schedule == Schedule::ScanTiles;
    a.aligned = !case_.ir.striped() && std::has_single_bit(static_cast<unsigned>(case_.ir.vector())) &&
                buffer != codegen::kNone && case_.ir.vector() > 1 && (inner || reduced % case_.ir.vector() == 0);
    for (std::size_t d = 0; d < strides.size(); ++d)
      if (inner || d + 1 < strides.size()) a.aligned &= strides[d] % case_.ir.vector() == 0;
    codegen::AccessArgs args{0, graph::Dims(std::span<const std::int64_t>(strides)), reduced};
    std::int64_t lowest = 0, highest = 0;
    auto span = [&](std::int64_t extent, std::int64_t stride) {
      (stride < 0 ? lowest : highest) += std::max<std::int64_t>(extent - 1, 0) * stride;
    };
    for (int d = 0; d < case_.ir.rank; ++d) span(case_.args.extents[d], strides[static_cast<std::size_t>(d)]);
    span(case_.args.reduced, reduced);
    args.offset = -lowest;
    if (buffer != codegen::kNone) {
      reach_.resize(case_.ir.buffers.size());
      reach_[buffer] = std::max<std::int64_t>(reach_[buffer], highest - lowest + 1);
    }
    case_.ir.accesses.push_back(a);
    case_.args.accesses.push_back(args);
    return static_cast<std::uint32_t>(case_.ir.accesses.size() - 1);
  }

  template <class Set>
  KernelBuilder& set(const Set& set) {
    std::visit(
        [&](auto& layout) {
          if constexpr (requires { set(layout); }) set(layout);
        },
        case_.ir.layout);
    return *this;
  }

  KernelCase case_;
  std::vector<std::int64_t> reach_;
  std::uint8_t stage_ = 0;
};

// Pointwise.

inline KernelCase axpy(std::int64_t n, int vector) {
  KernelBuilder b("axpy", Schedule::Pointwise, {n});
  b.vector(vector);
  const Value x = b.load(Region::Point, Dtype::Float32, {1}), y = b.load(Region::Point, Dtype::Float32, {1});
  const Value a = b.scalar(Region::Point, 1.7f);
  const Value ax = b.compute(Region::Point, Op::Multiply, Dtype::Float32, {x, a});
  b.store(Region::Point, b.compute(Region::Point, Op::Add, Dtype::Float32, {ax, y}), {1});
  return b.build();
}

/// int32, bool, float64 and float32 in one kernel, two outputs, a broadcast operand and a backward one.
inline KernelCase mixed(std::int64_t n, int vector) {
  KernelBuilder b("mixed", Schedule::Pointwise, {n});
  b.vector(vector);
  const Value i = b.load(Region::Point, Dtype::Int32, {1}), c = b.load(Region::Point, Dtype::Bool, {1});
  const Value d = b.load(Region::Point, Dtype::Float64, {1}), f = b.load(Region::Point, Dtype::Float32, {0});
  const Value back = b.load(Region::Point, Dtype::Float32, {-1});
  const Value wide = b.compute(Region::Point, Op::Cast, Dtype::Float64, {i});
  const Value sum = b.compute(Region::Point, Op::Add, Dtype::Float64, {wide, d});
  const Value pick = b.compute(Region::Point, Op::Where, Dtype::Float64, {c, sum, d});
  const Value less = b.compute(Region::Point, Op::Less, Dtype::Bool, {back, f});
  b.store(Region::Point, pick, {1});
  b.store(Region::Point, less, {1});
  return b.build();
}

/// (rows, columns): a row vector, a column vector, a transposed operand, iotas; the scalar in every stride.
inline KernelCase plane(std::int64_t rows, std::int64_t columns, int vector, bool wide) {
  KernelBuilder b("plane", Schedule::Pointwise, {rows, columns});
  b.vector(vector);
  if (wide) b.wide();
  const Value x = b.load(Region::Point, Dtype::Float64, {columns, 1}),
              r = b.load(Region::Point, Dtype::Float64, {0, 1});
  const Value c = b.load(Region::Point, Dtype::Float64, {1, 0}),
              t = b.load(Region::Point, Dtype::Float64, {-3, rows * 3});
  const Value i = b.iota(Region::Point, 5, {7, 1}), j = b.iota(Region::Point, -2, {0, -3});
  const Value xr = b.compute(Region::Point, Op::Multiply, Dtype::Float64, {x, r});
  const Value ct = b.compute(Region::Point, Op::Subtract, Dtype::Float64, {c, t});
  const Value ij =
      b.compute(Region::Point, Op::Cast, Dtype::Float64, {b.compute(Region::Point, Op::Add, Dtype::Int64, {i, j})});
  const Value sum = b.compute(Region::Point, Op::Add, Dtype::Float64, {xr, ct});
  b.store(Region::Point, b.compute(Region::Point, Op::Add, Dtype::Float64, {sum, ij}), {columns, 1});
  return b.build();
}

inline KernelCase cube(std::int64_t a, std::int64_t h, std::int64_t w, int vector) {
  KernelBuilder b("cube", Schedule::Pointwise, {a, h, w});
  b.vector(vector);
  const Value x = b.load(Region::Point, Dtype::Float32, {h * w, w, 1}),
              y = b.load(Region::Point, Dtype::Float32, {0, 1, 0});
  const Value z = b.load(Region::Point, Dtype::Float32, {1, -a, a * h});
  const Value s = b.compute(Region::Point, Op::Maximum, Dtype::Float32, {x, y});
  b.store(Region::Point, b.compute(Region::Point, Op::Subtract, Dtype::Float32, {s, z}), {h * w, w, 1});
  return b.build();
}

inline KernelCase counting(std::int64_t n) {
  KernelBuilder b("counting", Schedule::Pointwise, {n});
  b.store(Region::Point, b.iota(Region::Point, 3, {2}), {1});
  return b.build();
}

/// Three ways to move elements: as they are, backwards, and one for all.
inline KernelCase copies(std::int64_t n, Dtype dtype, int vector) {
  KernelBuilder b(std::string("copies_") + info(dtype).suffix, Schedule::Pointwise, {n});
  b.vector(vector);
  const Value x = b.load(Region::Point, dtype, {1}), back = b.load(Region::Point, dtype, {-1}),
              one = b.load(Region::Point, dtype, {0});
  const Value c = b.load(Region::Point, Dtype::Bool, {1});
  b.store(Region::Point, b.compute(Region::Point, Op::Where, dtype, {c, x, back}), {1});
  b.store(Region::Point, b.compute(Region::Point, Op::Where, dtype, {c, one, back}), {1});
  b.store(Region::Point, x, {2});
  return b.build();
}

/// A box of an array replaced, its border taken from elsewhere: what an update and a pad make.
inline KernelCase boxes(std::int64_t rows, std::int64_t columns, int vector, bool wide) {
  KernelBuilder b("boxes", Schedule::Pointwise, {rows, columns});
  b.vector(vector);
  if (wide) b.wide();
  const std::int64_t h = rows - 4, w = columns - 5;
  const Value base = b.load(Region::Point, Dtype::Float32, {columns, 1});
  const auto box = b.guard(Region::Point, {{-2, {1, 0}, 0, h}, {-3, {0, 1}, 0, w}});
  const Value value = b.guarded_load(Region::Point, Dtype::Float32, box, h * w, -2 * w - 3, {w, 1});
  const Value one = b.guarded_load(Region::Point, Dtype::Float32, box, h, -2, {1, 0});
  const Value nothing =
      b.guarded_load(Region::Point, Dtype::Float32, b.guard(Region::Point, {{-5, {1, 0}, 0, 0}}), 0, -7, {1, 1});
  const Value inside = b.inside(Region::Point, box);
  b.store(Region::Point, b.compute(Region::Point, Op::Where, Dtype::Float32, {inside, value, base}), {columns, 1});
  const Value sum = b.compute(Region::Point, Op::Add, Dtype::Float32, {value, one});
  b.store(Region::Point, b.compute(Region::Point, Op::Add, Dtype::Float32, {sum, nothing}), {columns, 1});
  b.store(Region::Point, inside, {columns, 1});
  return b.build();
}

// Reductions. Memory is (outer, n) for the schedules that read along n, (n, outer) for ReduceOuter.

struct ReduceShape {
  Schedule schedule;
  int shape_class;
  int vector;
  std::int64_t outer, n;
  bool wide = false, striped = false;
};

inline KernelBuilder reduce_builder(std::string name, const ReduceShape& s) {
  KernelBuilder b(std::move(name), s.schedule, {s.outer}, s.n);
  b.vector(s.vector).shape_class(s.shape_class);
  if (s.wide) b.wide();
  if (s.striped) b.striped();
  return b;
}
inline std::int64_t outer_stride(const ReduceShape& s) { return s.schedule == Schedule::ReduceOuter ? 1 : s.n; }
inline std::int64_t reduced_stride(const ReduceShape& s) { return s.schedule == Schedule::ReduceOuter ? s.outer : 1; }

inline KernelCase simple_reduction(const ReduceShape& s, Op op, Dtype dtype) {
  KernelBuilder b = reduce_builder(std::string(graph::name(op)) + "_" + info(dtype).suffix, s);
  const Value x = b.load(Region::Point, dtype, {outer_stride(s)}, reduced_stride(s));
  b.store(Region::Outer, b.result(b.reduce(op, x)), {1});
  return b.build();
}

/// A sum, or the largest, of integers of 8 or 16 bits.
inline KernelCase narrow_reduction(const ReduceShape& s, Op op, Dtype dtype, Dtype wide) {
  KernelBuilder b = reduce_builder(std::string("narrow_") + info(dtype).suffix + "_" + info(wide).suffix, s);
  const Value x =
      b.compute(Region::Point, Op::Cast, wide, {b.load(Region::Point, dtype, {outer_stride(s)}, reduced_stride(s))});
  b.store(Region::Outer, b.result(b.reduce(op, x)), {1});
  return b.build();
}

/// Moments about the first element, minimum, maximum and a weighted sum; the map result and five results are stored.
inline KernelCase many_reductions(const ReduceShape& s, Dtype dtype) {
  KernelBuilder b = reduce_builder(std::string("many_") + info(dtype).suffix, s);
  const Value x0 = b.load(Region::Row, dtype, {outer_stride(s)});
  const Value twice = b.compute(Region::Row, Op::Add, dtype, {x0, x0});
  const Value x = b.load(Region::Point, dtype, {outer_stride(s)}, reduced_stride(s));
  const Value w =
      s.schedule == Schedule::ReduceOuter ? b.load(Region::Point, dtype, {0}, 1) : b.load(Region::Point, dtype, {0}, 1);
  const Value y = b.compute(Region::Point, Op::Subtract, dtype, {x, x0});
  const Value xw = b.compute(Region::Point, Op::Multiply, dtype, {x, w});
  b.store(Region::Point, y, {outer_stride(s)}, reduced_stride(s));
  const auto moments = b.reduce(Op::Moments, y), least = b.reduce(Op::Min, x), most = b.reduce(Op::Max, xw),
             sum = b.reduce(Op::Sum, xw);
  const Value bias = b.load(Region::Outer, dtype, {-1});
  const Value mean = b.compute(Region::Outer, Op::Add, dtype, {b.result(moments, 0), x0});
  b.store(Region::Outer, mean, {1});
  b.store(Region::Outer, b.result(moments, 1), {1});
  b.store(Region::Outer, b.compute(Region::Outer, Op::Add, dtype, {b.result(least), twice}), {1});
  b.store(Region::Outer, b.result(most), {2});
  b.store(Region::Outer, b.compute(Region::Outer, Op::Multiply, dtype, {b.result(sum), bias}), {1});
  return b.build();
}

inline KernelCase merge_moments(const ReduceShape& s, Dtype dtype) {
  KernelBuilder b = reduce_builder(std::string("merge_") + info(dtype).suffix, s);
  const Value mean = b.load(Region::Point, dtype, {outer_stride(s)}, reduced_stride(s));
  const Value m2 = b.load(Region::Point, dtype, {outer_stride(s)}, reduced_stride(s));
  const auto r = b.reduce(Op::MomentsMerge, mean, m2, b.cell(std::int64_t{37}));
  b.store(Region::Outer, b.result(r, 0), {1});
  b.store(Region::Outer, b.result(r, 1), {1});
  return b.build();
}

/// Sum of an int32 array as int64, with the index along the reduced axis added: an iota that varies with k.
inline KernelCase indexed_sum(const ReduceShape& s) {
  KernelBuilder b = reduce_builder("indexed", s);
  const Value x = b.load(Region::Point, Dtype::Int32, {outer_stride(s)}, reduced_stride(s));
  const Value k = b.iota(Region::Point, 11, {3}, 2);
  const Value wide = b.compute(Region::Point, Op::Cast, Dtype::Int64, {x});
  b.store(Region::Outer, b.result(b.reduce(Op::Sum, b.compute(Region::Point, Op::Multiply, Dtype::Int64, {wide, k}))),
          {1});
  return b.build();
}

/// Two outer dimensions with a stride of any class along the reduced axis.
inline KernelCase strided_sum(const ReduceShape& s, std::int64_t planes) {
  KernelBuilder b("strided", s.schedule, {planes, s.outer}, s.n);
  b.shape_class(s.shape_class);
  const Value x = b.load(Region::Point, Dtype::Float32, {s.outer * s.n * 2, 1}, s.outer * 2);
  const Value c = b.load(Region::Row, Dtype::Float32, {1, planes});
  b.store(Region::Outer, b.result(b.reduce(Op::Sum, b.compute(Region::Point, Op::Multiply, Dtype::Float32, {x, c}))),
          {s.outer, 1});
  return b.build();
}

/// Values of a few kinds, so that each comes often: NaN, zeros of both signs, numbers. Both arg reductions and their
/// keys.
inline KernelCase ties(const ReduceShape& s, Dtype dtype) {
  KernelBuilder b = reduce_builder(std::string("ties_") + info(dtype).suffix, s);
  const Value x = b.load(Region::Point, dtype, {outer_stride(s)}, reduced_stride(s));
  const auto least = b.reduce(Op::ArgMin, x), most = b.reduce(Op::ArgMax, x), low = b.reduce(Op::Min, x),
             high = b.reduce(Op::Max, x);
  const Value span = b.compute(Region::Outer, Op::Subtract, Dtype::Int64, {b.result(most), b.result(least)});
  b.store(Region::Outer, b.result(least), {1});
  b.store(Region::Outer, span, {1});
  b.store(Region::Outer, b.result(low), {1});
  b.store(Region::Outer, b.result(high), {1});
  KernelCase made = b.build();
  std::mt19937 random(7);
  const std::size_t size = itemsize(dtype);
  for (std::size_t i = 0; i < made.buffers[0].size() / size; ++i) {
    const auto row =
        static_cast<std::int64_t>(i) / std::max<std::int64_t>(1, outer_stride(s)) % 3;  // NaN in one of three
    const auto kind = random() % 8;
    const double value = kind == 0 && row == 0 && random() % 64 == 0 ? std::nan("") : kind < 4 ? -0.0 : 0.0;
    const auto single = static_cast<float>(value);
    const auto whole = static_cast<std::int64_t>(kind % 3);
    if (dtype == Dtype::Int64)
      std::memcpy(&made.buffers[0][i * size], &whole, size);
    else
      std::memcpy(&made.buffers[0][i * size], &single, size);
  }
  return made;
}

/// A window of every row: loads and an index under a guard.
inline KernelCase guarded_sum(const ReduceShape& s) {
  KernelBuilder b = reduce_builder("window", s);
  const bool columns = s.schedule == Schedule::ReduceOuter;
  const std::int64_t length = s.n / 3;
  const auto window = b.guard(Region::Point, {{-2, {0}, 1, length}, {-1, {1}, 0, s.outer - 2}});
  const Value x =
      columns ? b.guarded_load(Region::Point, Dtype::Float32, window, length * s.outer, -2 * s.outer, {1}, s.outer)
              : b.guarded_load(Region::Point, Dtype::Float32, window, length * s.outer, -length - 2, {length}, 1);
  const Value y = b.load(Region::Point, Dtype::Float32, {outer_stride(s)}, reduced_stride(s));
  const Value row =
      b.guarded_load(Region::Row, Dtype::Float32, b.guard(Region::Row, {{-1, {1}, 0, s.outer - 2}}), s.outer, -1, {1});
  const Value pick = b.compute(Region::Point, Op::Where, Dtype::Float32, {b.inside(Region::Point, window), x, y});
  const auto sum = b.reduce(Op::Sum, b.compute(Region::Point, Op::Add, Dtype::Float32, {pick, row}));
  const Value last = b.guarded_load(Region::Outer, Dtype::Float32, b.guard(Region::Outer, {{0, {1}, 0, s.outer / 2}}),
                                    s.outer / 2, 0, {1});
  b.store(Region::Outer, b.compute(Region::Outer, Op::Add, Dtype::Float32, {b.result(sum), last}), {1});
  return b.build();
}

}  // namespace tarry::test
