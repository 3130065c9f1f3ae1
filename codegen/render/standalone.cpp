// The text of a kernel's main().
#include "codegen/render/standalone.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/render/common.h"
#include "support/check.h"

namespace tarry::codegen {
namespace {

constexpr std::string_view kHead = R"(
#ifdef TARRY_MAIN
/* One launch on buffers filled by a rule; prints a checksum of each buffer that the kernel stores into. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tarry_buffer {
  const char* dtype;
  tarry_u64 bytes;
  unsigned size, exponent; /* bytes of an element; bits of a float's exponent, 1 for bool, 0 for integers */
  int stored;
  unsigned char* host;
  void* device;
};

static tarry_u64 tarry_element(const struct tarry_buffer* b, unsigned number, tarry_u64 i) {
  unsigned h = (unsigned)i * 2654435761u + number * 40503u, k, e = 3;
  h ^= h >> 15;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  if (b->exponent == 0) return 1 + h % 7;
  if (b->exponent == 1) return h % 2;
  k = 8 + h % 64; /* the value is k / 32 */
  while (k >> (e + 1)) ++e;
  const unsigned mantissa = 8 * b->size - 1 - b->exponent;
  const tarry_u64 bias = ((tarry_u64)1 << (b->exponent - 1)) - 1;
  return ((bias + e - 5) << mantissa) | (((tarry_u64)k << (mantissa - e)) & (((tarry_u64)1 << mantissa) - 1));
}

static void tarry_fill(struct tarry_buffer* b, unsigned number) {
  b->host = (unsigned char*)malloc(b->bytes ? b->bytes : 1);
  if (!b->host) {
    fprintf(stderr, "no memory for a buffer of %llu bytes\n", b->bytes);
    exit(1);
  }
  for (tarry_u64 i = 0; i < b->bytes / b->size; ++i) {
    const tarry_u64 value = tarry_element(b, number, i);
    memcpy(b->host + i * b->size, &value, b->size); /* the low bytes come first */
  }
}

static void tarry_print(const struct tarry_buffer* b, unsigned number) {
  tarry_u64 sum = 0xcbf29ce484222325ull;
  if (!b->stored) return;
  for (tarry_u64 i = 0; i < b->bytes; ++i) sum = (sum ^ b->host[i]) * 0x100000001b3ull;
  printf("b%u %s %llu bytes fnv1a %016llx\n", number, b->dtype, b->bytes, sum);
}
)";

constexpr std::string_view kCudaCheck = R"(
static void tarry_check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}
)";

/// The argument of tarry_element for the dtype: bits of the exponent, 1 for bool, 0 for integers.
int exponent_bits(Dtype d) {
  switch (d) {
    case Dtype::Float16: return 5;
    case Dtype::BFloat16:
    case Dtype::Float32: return 8;
    case Dtype::Float64: return 11;
    case Dtype::Bool: return 1;
    default: return 0;
  }
}

class MainWriter {
 public:
  MainWriter(const KernelIr& ir, const KernelSource& source, const StandaloneLaunch& launch,
             const graph::Target& target)
      : ir_(ir), source_(source), launch_(launch), cuda_(target.is_cuda()) {
    TARRY_ASSERT(launch.buffer_bytes.size() == ir.buffers.size());
  }

  std::string run() {
    if (cuda_) w_.label(kCudaCheck);
    w_.line("");
    w_.open(cuda_ ? "int main()" : "int main(void)");
    buffers();
    memory();
    parameters();
    launch();
    results();
    w_.line("return 0;");
    w_.close();
    w_.label("#endif");
    return std::string(kHead) + w_.take();
  }

 private:
  void buffers() {
    w_.open("struct tarry_buffer buffers[] =");
    for (std::uint32_t b = 0; b < ir_.buffers.size(); ++b) {
      const Dtype d = ir_.buffers[b];
      const bool stored = std::any_of(ir_.accesses.begin(), ir_.accesses.end(),
                                      [&](const Access& a) { return a.store && a.buffer == b; });
      w_.line(fmt::format("{{\"{}\", {}ull, {}, {}, {}, 0, 0}},", info(d).suffix, launch_.buffer_bytes[b], itemsize(d),
                          exponent_bits(d), stored ? 1 : 0));
    }
    w_.close(";");
    w_.line(fmt::format("const unsigned count = {};", ir_.buffers.size()));
  }

  void memory() {
    w_.line("for (unsigned b = 0; b < count; ++b) tarry_fill(buffers + b, b);");
    if (cuda_) {
      w_.open("for (unsigned b = 0; b < count; ++b)");
      w_.line("tarry_check(cudaMalloc(&buffers[b].device, buffers[b].bytes + 1), \"cudaMalloc\");");
      w_.line("tarry_check(cudaMemcpy(buffers[b].device, buffers[b].host, buffers[b].bytes, cudaMemcpyHostToDevice),");
      w_.line("            \"cudaMemcpy\");");
      w_.close();
    } else {
      w_.line("for (unsigned b = 0; b < count; ++b) buffers[b].device = buffers[b].host;");
    }
    allocate("scratch", launch_.geometry.scratch_bytes);
    if (uses(SlotKind::Tickets)) allocate("tickets", 4 * launch_.geometry.ticket_count);
  }

  void allocate(std::string_view name, std::size_t bytes) {
    if (!uses(name == "scratch" ? SlotKind::Scratch : SlotKind::Tickets)) return;
    if (!cuda_) return w_.line(fmt::format("void* {} = calloc({}, 1);", name, bytes + 1));
    w_.line(fmt::format("void* {};", name));
    w_.line(fmt::format("tarry_check(cudaMalloc(&{}, {}), \"cudaMalloc\");", name, bytes + 1));
    w_.line(fmt::format("tarry_check(cudaMemset({}, 0, {}), \"cudaMemset\");", name, bytes + 1));
  }

  [[nodiscard]] bool uses(SlotKind kind) const {
    return std::any_of(source_.slots.begin(), source_.slots.end(), [&](const Slot& s) { return s.kind == kind; });
  }

  /// The words that the engine packs; addresses are added when the program runs.
  void parameters() {
    const std::vector<void*> nowhere(ir_.buffers.size());
    const Binding binding{nowhere, launch_.scalars};
    const std::vector<std::uint64_t> words = pack_parameters(ir_, source_, *launch_.args, launch_.geometry, binding);
    w_.open("const tarry_u64 words[] =");
    for (std::size_t i = 0; i < words.size(); ++i)
      w_.line(fmt::format("{},  // {}", word(source_.slots[i], words[i]), slot_name(source_.slots[i])));
    if (words.empty()) w_.line("0,  // unused");
    w_.close(";");
    w_.line(fmt::format("struct {}_params p;", source_.entry));
    w_.line(fmt::format("{}(sizeof p == sizeof words, \"eight bytes a parameter\");",
                        cuda_ ? "static_assert" : "_Static_assert"));
    w_.line("memcpy(&p, words, sizeof p);");
  }

  [[nodiscard]] std::string word(const Slot& slot, std::uint64_t value) const {
    switch (slot.kind) {
      case SlotKind::Pointer: {
        const auto offset = static_cast<std::int64_t>(value);
        const std::string address = fmt::format("(tarry_u64)(size_t)buffers[{}].device", ir_.accesses[slot.a].buffer);
        return offset == 0 ? address : fmt::format("{} + (tarry_u64){}ll", address, offset);
      }
      case SlotKind::Scratch: return "(tarry_u64)(size_t)scratch";
      case SlotKind::Tickets: return "(tarry_u64)(size_t)tickets";
      case SlotKind::Scalar:
      case SlotKind::Reciprocal:
      case SlotKind::Magic:
      case SlotKind::TileMagic: return fmt::format("0x{:x}ull", value);
      default: return fmt::format("(tarry_u64){}ll", static_cast<std::int64_t>(value));
    }
  }

  void launch() {
    const Geometry& g = launch_.geometry;
    if (g.grid() == 0) return w_.line("/* nothing to launch: the kernel's space is empty */");
    if (cuda_) {
      if (source_.shared_bytes > 0)
        w_.line(
            fmt::format("tarry_check(cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {}), "
                        "\"shared memory\");",
                        source_.entry, source_.shared_bytes));
      w_.line(fmt::format("{}<<<{}, {}, {}>>>(p);", source_.entry, g.grid(), source_.threads, source_.shared_bytes));
      w_.line("tarry_check(cudaGetLastError(), \"launch\");");
      w_.line("tarry_check(cudaDeviceSynchronize(), \"run\");");
      return;
    }
    w_.line(fmt::format("{}(&p, 0, {}ll);", source_.entry, g.grid()));
    if (g.folds())
      w_.line(fmt::format("{}_fold(&p, 0, {}ll);", source_.entry, source_.fold_per_chunk ? g.grid() : g.outer_tiles));
  }

  void results() {
    w_.open("for (unsigned b = 0; b < count; ++b)");
    if (cuda_) {
      w_.line("tarry_check(cudaMemcpy(buffers[b].host, buffers[b].device, buffers[b].bytes, cudaMemcpyDeviceToHost),");
      w_.line("            \"cudaMemcpy\");");
    }
    w_.line("tarry_print(buffers + b, b);");
    if (cuda_) w_.line("cudaFree(buffers[b].device);");
    w_.line("free(buffers[b].host);");
    w_.close();
    for (const auto& [kind, name] : {std::pair(SlotKind::Scratch, "scratch"), std::pair(SlotKind::Tickets, "tickets")})
      if (uses(kind)) w_.line(fmt::format("{}({});", cuda_ ? "cudaFree" : "free", name));
  }

  const KernelIr& ir_;
  const KernelSource& source_;
  const StandaloneLaunch& launch_;
  const bool cuda_;
  CodeWriter w_;
};

}  // namespace

std::string standalone_main(const KernelIr& ir, const KernelSource& source, const StandaloneLaunch& launch,
                            const graph::Target& target) {
  return MainWriter(ir, source, launch, target).run();
}

}  // namespace tarry::codegen
