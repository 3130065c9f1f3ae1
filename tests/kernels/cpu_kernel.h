// Hand-built kernels on the CPU device: a builder of KernelIr and a call that renders, compiles and launches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/kernel_cache.h"
#include "codegen/render/kernel_source.h"
#include "runtime/device/backend.h"
#include "runtime/device/compilers/c_compiler.h"
#include "tests/helpers/test.h"

namespace tarry::test {

struct IrBuilder {
  codegen::KernelIr ir;
  std::uint8_t stage = 0;  ///< of what is added next

  IrBuilder(codegen::Schedule schedule, int rank) {
    ir.layout = codegen::empty_layout(schedule);
    ir.rank = rank;
  }

  /// An access by its classes, e.g. "1", "0*", and of the reduced axis ' ' (outer only), '0', '1' or '*'.
  std::uint32_t access(std::uint32_t buffer, bool store, const std::string& strides, char reduced = '0') {
    codegen::Access a;
    a.buffer = buffer;
    a.store = store;
    for (char c : strides) a.strides.push_back(stride_class(c));
    a.outer_only = reduced == ' ';
    a.reduced = a.outer_only ? codegen::StrideClass::Zero : stride_class(reduced);
    ir.accesses.push_back(a);
    return static_cast<std::uint32_t>(ir.accesses.size() - 1);
  }
  std::uint32_t buffer(Dtype d) {
    ir.buffers.push_back(d);
    return static_cast<std::uint32_t>(ir.buffers.size() - 1);
  }

  codegen::Value load(Dtype d, const std::string& strides, char reduced = '0',
                      codegen::Region region = codegen::Region::Point) {
    return instr({codegen::InstrKind::Load, region, d, {}, no_args, access(buffer(d), false, strides, reduced)});
  }
  codegen::Value iota(const std::string& strides, char reduced = '0', codegen::Region region = codegen::Region::Point) {
    return instr(
        {codegen::InstrKind::Load, region, int64, {}, no_args, access(codegen::kNone, false, strides, reduced)});
  }
  void store(codegen::Value v, const std::string& strides, char reduced = '0',
             codegen::Region region = codegen::Region::Point) {
    const Dtype d = ir.instrs[v].dtype;
    instr({codegen::InstrKind::Store,
           region,
           d,
           {},
           {v, codegen::kNone, codegen::kNone},
           access(buffer(d), true, strides, reduced)});
  }
  codegen::Value scalar(Dtype d, codegen::Region region = codegen::Region::Point) {
    ir.scalars.push_back(d);
    return instr(
        {codegen::InstrKind::Scalar, region, d, {}, no_args, static_cast<std::uint32_t>(ir.scalars.size() - 1)});
  }
  codegen::Value op(graph::Op o, Dtype d, std::vector<codegen::Value> args,
                    codegen::Region region = codegen::Region::Point) {
    codegen::Instr i{codegen::InstrKind::Compute, region, d, o};
    for (std::size_t k = 0; k < args.size(); ++k) i.args[k] = args[k];
    return instr(i);
  }
  /// Adds a reduction and returns its (first) result.
  codegen::Value reduce(graph::Op o, codegen::Value a, codegen::Value b = codegen::kNone,
                        std::uint32_t weight = codegen::kNone) {
    ir.reductions.push_back({o, ir.instrs[a].dtype, stage, {a, b}, weight});
    return result(0);
  }
  codegen::Value result(std::uint32_t output) {
    const auto r = static_cast<std::uint32_t>(ir.reductions.size() - 1);
    const bool arg = graph::is_arg_reduce(ir.reductions[r].op);
    codegen::Instr i{codegen::InstrKind::Result, codegen::Region::Outer, arg ? int64 : ir.reductions[r].dtype};
    i.index = r;
    i.output = output;
    return instr(i);
  }

 private:
  static constexpr std::array<codegen::Value, 3> no_args{codegen::kNone, codegen::kNone, codegen::kNone};
  static codegen::StrideClass stride_class(char c) {
    return c == '0' ? codegen::StrideClass::Zero : c == '1' ? codegen::StrideClass::One : codegen::StrideClass::Any;
  }
  codegen::Value instr(codegen::Instr i) {
    if (i.region != codegen::Region::Row) i.stage = stage;
    ir.instrs.push_back(i);
    return static_cast<codegen::Value>(ir.instrs.size() - 1);
  }
};

inline runtime::Backend& cpu_device() {
  static const std::unique_ptr<runtime::Backend> device = runtime::make_cpu_backend();
  return *device;
}

/// Targets whose kernels run on this machine.
inline std::vector<const graph::Target*> cpu_targets() {
  const graph::Target& own = cpu_device().target();
  const std::string_view family = std::string_view(own.name).substr(0, 6);
  std::vector<const graph::Target*> found;
  for (const graph::Target& t : graph::targets())
    if (!t.is_cuda() && std::string_view(t.name).starts_with(family) && t.level <= own.level) found.push_back(&t);
  return found;
}

/// A rendered, compiled and loaded kernel.
struct CpuKernel {
  codegen::KernelIr ir;
  codegen::KernelSource source;
  cache::Binary binary;
  std::shared_ptr<cache::Executable> executable;

  explicit CpuKernel(codegen::KernelIr kernel, const graph::Target& target = cpu_device().target())
      : ir(std::move(kernel)) {
    runtime::Backend& device = cpu_device();
    codegen::verify(ir);
    source = codegen::render(ir, target);
    INFO(source.kernel);
    const cache::KernelRequest request{
        {source.text, runtime::c_flags(target), target.name, "strict"}, source.entry, &source};
    struct Made {
      cache::Binary binary;
      std::shared_ptr<cache::Executable> executable;
    };
    // Kernels that differ in extents alone share a text, which is compiled once.
    static std::map<std::pair<const graph::Target*, std::string>, Made> made;
    const std::pair key(&target, source.text);
    auto at = made.find(key);
    if (at == made.end()) {
      const cache::KernelRequest* requests[] = {&request};
      Made fresh{device.compile(requests).value(), nullptr};
      fresh.executable = device.load(request, fresh.binary);
      at = made.emplace(key, std::move(fresh)).first;
    }
    binary = at->second.binary;
    executable = at->second.executable;
  }

  void run(const codegen::KernelArgs& args, std::vector<void*> buffers, std::vector<std::uint64_t> scalars = {}) const {
    runtime::Backend& device = cpu_device();
    const codegen::Geometry geometry = codegen::geometry(ir, device.target(), args);
    const std::shared_ptr<graph::Buffer> scratch =
        geometry.scratch_bytes ? device.allocate(geometry.scratch_bytes) : nullptr;
    const auto words =
        codegen::pack_parameters(ir, source, args, geometry, {buffers, scalars, scratch ? scratch->data : nullptr});
    device.launch({executable.get(), &source, words, geometry});
  }
};

/// The first element in which two arrays of `dtype` differ in bits, any NaN being like any other.
std::optional<std::size_t> first_difference(Dtype dtype, const std::vector<unsigned char>& a,
                                            const std::vector<unsigned char>& b);
bool same_elements(Dtype dtype, const std::vector<unsigned char>& a, const std::vector<unsigned char>& b);

/// The kernels of one IR at every instruction set level.
class CpuKernels {
 public:
  explicit CpuKernels(const codegen::KernelIr& ir);
  /// Runs them on 1, 2 and 7 threads and compares all buffers (bytes before the call) with what the interpreter leaves
  /// in them. The memory around each buffer cannot be touched.
  void require_as_interpreted(const codegen::KernelArgs& args, const std::vector<std::vector<unsigned char>>& buffers,
                              const std::vector<std::uint64_t>& scalars = {}) const;

 private:
  codegen::KernelIr ir_;
  std::vector<CpuKernel> kernels_;
};

}  // namespace tarry::test
