// Kernels in C beside the interpreter.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "codegen/interpret/interpreter.h"
#include "support/env.h"
#include "tests/kernels/cpu_kernel.h"

namespace tarry::test {
namespace {

struct ThreadCount {
  explicit ThreadCount(const std::string& n) { support::env::set("TARRY_NUM_THREADS", n); }
  ~ThreadCount() { support::env::set("TARRY_NUM_THREADS", std::nullopt); }
};

bool is_nan(Dtype dtype, const unsigned char* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, itemsize(dtype));
  switch (dtype) {
    case Dtype::Float16: return (bits & 0x7fff) > 0x7c00;
    case Dtype::BFloat16: return (bits & 0x7fff) > 0x7f80;
    case Dtype::Float32: return (bits & 0x7fffffff) > 0x7f800000;
    case Dtype::Float64: return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default: return false;
  }
}

/// A copy of some bytes between pages that cannot be touched, next to the one below or the one above.
class Enclosed {
 public:
  Enclosed(const std::vector<unsigned char>& bytes, bool above) : size_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (size_ + page - 1) / page * page;
    length_ = inside + 2 * page;
    void* const at = mmap(nullptr, length_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    pages_ = static_cast<unsigned char*>(at);
    if (inside) REQUIRE(mprotect(pages_ + page, inside, PROT_READ | PROT_WRITE) == 0);
    data_ = pages_ + page + (above ? inside - size_ : 0);
    if (size_) std::memcpy(data_, bytes.data(), size_);
  }
  Enclosed(const Enclosed&) = delete;
  Enclosed& operator=(const Enclosed&) = delete;
  ~Enclosed() { munmap(pages_, length_); }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::vector<unsigned char> bytes() const { return {data_, data_ + size_}; }

 private:
  std::size_t size_, length_ = 0;
  unsigned char *pages_ = nullptr, *data_ = nullptr;
};

using Enclosure = std::vector<std::unique_ptr<Enclosed>>;

Enclosure enclose(const std::vector<std::vector<unsigned char>>& buffers, bool above) {
  Enclosure found;
  for (const auto& bytes : buffers) found.push_back(std::make_unique<Enclosed>(bytes, above));
  return found;
}

std::vector<void*> addresses(const Enclosure& buffers) {
  std::vector<void*> found;
  for (const auto& m : buffers) found.push_back(m->data());
  return found;
}

}  // namespace

std::optional<std::size_t> first_difference(Dtype dtype, const std::vector<unsigned char>& a,
                                            const std::vector<unsigned char>& b) {
  const std::size_t size = itemsize(dtype), common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i + size <= common; i += size)
    if (std::memcmp(&a[i], &b[i], size) != 0 && !(is_nan(dtype, &a[i]) && is_nan(dtype, &b[i]))) return i / size;
  if (a.size() != b.size()) return common / size;
  return std::nullopt;
}

bool same_elements(Dtype dtype, const std::vector<unsigned char>& a, const std::vector<unsigned char>& b) {
  return !first_difference(dtype, a, b);
}

CpuKernels::CpuKernels(const codegen::KernelIr& ir) : ir_(ir) {
  for (const graph::Target* target : cpu_targets()) kernels_.emplace_back(ir, *target);
}

void CpuKernels::require_as_interpreted(const codegen::KernelArgs& args,
                                        const std::vector<std::vector<unsigned char>>& buffers,
                                        const std::vector<std::uint64_t>& scalars) const {
  const Enclosure expected = enclose(buffers, false);
  codegen::interpret(ir_, args, addresses(expected), scalars);
  for (const CpuKernel& kernel : kernels_) {
    for (const char* threads : {"1", "2", "7"}) {
      const ThreadCount count(threads);
      INFO("level " << &kernel - kernels_.data() << " threads " << threads << "\n"
                    << codegen::to_string(ir_) << kernel.source.kernel);
      const Enclosure found = enclose(buffers, *threads == '1');
      kernel.run(args, addresses(found), scalars);
      for (std::size_t b = 0; b < found.size(); ++b) {
        INFO("buffer " << b);
        REQUIRE(same_elements(ir_.buffers[b], found[b]->bytes(), expected[b]->bytes()));
      }
    }
  }
}

}  // namespace tarry::test
