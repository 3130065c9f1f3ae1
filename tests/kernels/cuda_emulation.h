// Runs generated CUDA C on the host: the text compiles as C++ under a shim, the threads of a thread block are fibers.
// Slow, sequential and exact: what it computes must have the bits that tree R prescribes.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "codegen/prelude/text.h"
#include "codegen/render/kernel_source.h"

namespace tarry::test {

/// CUDA's built-ins, for one thread block at a time. A barrier that some thread never reaches aborts.
inline constexpr const char* kCudaShim = R"shim(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define __device__ static
#define __forceinline__ inline
#define __global__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __restrict__
namespace {
struct Index { unsigned x; } threadIdx, blockIdx, gridDim;
constexpr unsigned kMostThreads = 8192;  // of a cluster
unsigned self, block_threads;            // the running thread of the cluster, and how many there are in a thread block
void (*body)(const void*);
const void* arguments;
unsigned finished;
// A thread stands in one place at a time: it runs, is ready to, or waits for others.
struct Queue {
  unsigned first = 0, count = 0, threads[kMostThreads];
  void push(unsigned thread) { threads[(first + count++) % kMostThreads] = thread; }
  unsigned pop() {
    const unsigned thread = threads[first++ % kMostThreads];
    --count;
    return thread;
  }
} ready;
struct Barrier {
  unsigned expected = 0, left = 0;  // left: threads that have come and gone on
  Queue waiting;
} cluster_barrier, block_barriers[16], warp_barriers[kMostThreads / 32], named_barriers[16];
// Fibers: what swapcontext does, without its system calls.
void* scheduler[5];
void* resumed[kMostThreads][5];
bool started[kMostThreads];
char stacks[kMostThreads][65536];
__attribute__((noinline)) void jump(void** to) { __builtin_longjmp(to, 1); }
__attribute__((noinline)) void suspend() {
  if (__builtin_setjmp(resumed[self]) == 0) jump(scheduler);
}
void fiber_main() {
  for (;;) {  // a thread block after the other
    body(arguments);
    ++finished;
    suspend();
  }
}
__attribute__((noinline)) void start(unsigned thread) {
  started[thread] = true;
  ucontext_t fiber;
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stacks[thread];
  fiber.uc_stack.ss_size = sizeof stacks[thread];
  makecontext(&fiber, fiber_main, 0);
  setcontext(&fiber);
}
unsigned first_block;
__attribute__((noinline)) void resume(unsigned thread) {
  self = thread;
  threadIdx.x = thread % block_threads;
  blockIdx.x = first_block + thread / block_threads;
  if (__builtin_setjmp(scheduler) != 0) return;
  if (started[self]) jump(resumed[self]);
  else start(self);
}
bool complete(Barrier& b) {
  if (b.waiting.count + b.left < b.expected) return false;
  while (b.waiting.count != 0) ready.push(b.waiting.pop());
  b.left = 0;
  return true;
}
void wait(Barrier& b) {
  b.waiting.push(self);
  complete(b);
  suspend();
}
void meet(int id, int expected) {
  named_barriers[id].expected = (unsigned)expected;
  wait(named_barriers[id]);
}
void leave(int id, int expected) {
  named_barriers[id].expected = (unsigned)expected;
  ++named_barriers[id].left;
  complete(named_barriers[id]);
}
// Lets the other threads go on: one that polls waits for them.
void yield() {
  ready.push(self);
  suspend();
}
void emulate(unsigned blocks, unsigned threads, unsigned cluster, void (*kernel)(const void*), const void* parameters) {
  body = kernel;
  arguments = parameters;
  gridDim.x = blocks;
  block_threads = threads;
  cluster_barrier.expected = threads * cluster;
  for (Barrier& b : block_barriers) b.expected = threads;
  for (Barrier& b : warp_barriers) b.expected = 32;
  for (first_block = 0; first_block < blocks; first_block += cluster) {
    for (Barrier& b : named_barriers) b.left = 0;  // some leave that nobody waits for
    finished = 0;
    for (unsigned i = 0; i < threads * cluster; ++i) ready.push(i);
    while (ready.count != 0) resume(ready.pop());
    if (finished != threads * cluster) { fprintf(stderr, "%u threads wait for ever\n", threads * cluster - finished); abort(); }
  }
}
template <class T, class U> T atomicMin(T* at, U value) {
  const T old = *at;
  if (value < old) *at = value;
  return old;
}
template <class T> T atomicAdd(T* at, T value) {
  const T old = *at;
  *at += value;
  return old;
}
template <class T> T atomicCAS(T* at, T expected, T value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}
template <class T> T atomicMax(T* at, T value) {
  const T old = *at;
  if (old < value) *at = value;
  return old;
}
inline void __syncthreads() { wait(block_barriers[self / block_threads]); }
inline void __syncwarp() { wait(warp_barriers[self / 32]); }
// The shared memory of a cluster's thread blocks, one behind the other.
constexpr unsigned long kShared = 1 << 18;
alignas(16) unsigned char cluster_memory[16][kShared];
template <class T> T* shared_of_block(unsigned long offset) { return (T*)(cluster_memory[self / block_threads] + offset); }
template <class T> const T* shared_of(const T* mine, int rank) {
  return (const T*)((const unsigned char*)mine + ((long)rank - (long)(self / block_threads)) * (long)kShared);
}
unsigned long long slots[2][kMostThreads];
unsigned char parity[kMostThreads];
template <class T> T exchange(T value, unsigned from) {
  unsigned long long* slot = slots[parity[self] ^= 1];
  slot[self] = 0;
  memcpy(&slot[self], &value, sizeof value);
  wait(warp_barriers[self / 32]);
  T result;
  memcpy(&result, &slot[from], sizeof result);
  return result;
}
template <class T> T __shfl_down_sync(unsigned, T value, int d) {
  const unsigned lane = self & 31;
  return exchange(value, lane + (unsigned)d < 32 ? self + (unsigned)d : self);
}
template <class T> T __shfl_up_sync(unsigned, T value, int d) {
  const unsigned lane = self & 31;
  return exchange(value, lane >= (unsigned)d ? self - (unsigned)d : self);
}
template <class T> T __shfl_xor_sync(unsigned, T value, int d) { return exchange(value, self ^ (unsigned)d); }
template <class T> T __shfl_sync(unsigned, T value, int lane) { return exchange(value, (self & ~31u) + ((unsigned)lane & 31)); }
inline unsigned __ballot_sync(unsigned, int predicate) {
  unsigned long long* slot = slots[parity[self] ^= 1];
  slot[self] = predicate != 0;
  wait(warp_barriers[self / 32]);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) votes |= (unsigned)slot[(self & ~31u) + lane] << lane;
  return votes;
}
inline unsigned __match_any_sync(unsigned, unsigned long long value) {
  unsigned long long* slot = slots[parity[self] ^= 1];
  slot[self] = value;
  wait(warp_barriers[self / 32]);
  unsigned equal = 0;
  for (unsigned lane = 0; lane < 32; ++lane) equal |= (unsigned)(slot[(self & ~31u) + lane] == value) << lane;
  return equal;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
}
)shim";

/// Instructions of PTX and what they do here.
inline const std::pair<std::string, std::string> kInstructions[] = {
    {R"(asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");)",
     "before = (*ticket)++;"},
    {R"(asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");)",
     "before = (*ticket)++;"},
    {R"(asm volatile("barrier.cta.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");)", "meet(id, threads);"},
    {R"(asm volatile("barrier.cta.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory");)", "leave(id, threads);"},
    {R"(asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(to + i), "l"(word) : "memory");)", "to[i] = word;"},
    {R"(asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");)",
     "yield(), word = *from;"},
    {R"(asm volatile("barrier.cluster.arrive;" ::: "memory");)", ""},
    {R"(asm volatile("barrier.cluster.wait;" ::: "memory");)", "wait(cluster_barrier);"},
    {R"(asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(mine), "r"(rank) : "memory");)",
     "there = shared_of(mine, rank);"},
    {"__nanosleep(20);", ""},
    {"extern \"C\" __global__", "__global__"},
    {"extern __shared__ uint4 shared_memory[];", "alignas(16) static unsigned char shared_memory[1 << 18];"},
};

/// Kernels compiled for the host in one unit.
class EmulatedKernels {
 public:
  explicit EmulatedKernels(std::span<const codegen::KernelSource* const> kernels) {
    std::vector<std::string> sections;
    for (const auto* k : kernels) sections.insert(sections.end(), k->sections.begin(), k->sections.end());
    std::string text = kCudaShim + codegen::prelude_text(sections, codegen::Dialect::C);
    for (const auto* k : kernels) {
      // In a namespace of its own: names end in hashes, which a build may cut so short that they are equal.
      const std::string number = std::to_string(texts_.size());
      text += "namespace kernel_" + number + " {\n" + (k->cluster > 1 ? with_cluster_memory(k->kernel) : k->kernel) +
              "}\nextern \"C\" void run_" + number +
              "(unsigned blocks, unsigned threads, const void* p) {\n  emulate(blocks, threads, " +
              std::to_string(k->cluster) + ", [](const void* q) { kernel_" + number + "::" + k->entry +
              "(*(const struct kernel_" + number + "::" + k->entry + "_params*)q); }, p);\n}\n";
      texts_.push_back(k->kernel);
    }
    for (const auto& [instruction, statement] : kInstructions)
      for (std::size_t at; (at = text.find(instruction)) != std::string::npos;)
        text.replace(at, instruction.size(), statement);
    char directory[] = "/tmp/tarry_emulation_XXXXXX";
    if (!mkdtemp(directory)) throw std::runtime_error("no temporary directory");
    const std::string source = std::string(directory) + "/unit.cpp", library = std::string(directory) + "/unit.so";
    std::ofstream(source) << text;
    // A unit takes far longer to compile than to run: no optimisation.
    const std::string command =
        "c++ -std=c++17 -O0 -w -fPIC -shared -ffp-contract=off -fwrapv -fno-strict-aliasing -fno-math-errno " + source +
        " -o " + library;
    const int status = std::system(command.c_str());
    if (status == 0) handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error("the emulated unit does not compile: " + source);
    unlink(source.c_str());
    unlink(library.c_str());
    rmdir(directory);
  }
  ~EmulatedKernels() {
    if (handle_) dlclose(handle_);
  }
  EmulatedKernels(const EmulatedKernels&) = delete;
  EmulatedKernels& operator=(const EmulatedKernels&) = delete;

  void run(const codegen::KernelSource& kernel, std::int64_t grid, const std::vector<std::uint64_t>& parameters) const {
    const auto number = std::find(texts_.begin(), texts_.end(), kernel.kernel) - texts_.begin();
    auto* entry = reinterpret_cast<void (*)(unsigned, unsigned, const void*)>(
        dlsym(handle_, ("run_" + std::to_string(number)).c_str()));
    if (!entry) throw std::runtime_error("no entry " + kernel.entry);
    entry(static_cast<unsigned>(grid), static_cast<unsigned>(kernel.threads), parameters.data());
  }

 private:
  /// Shared arrays of a kernel in the memory of the running thread block of a cluster.
  static std::string with_cluster_memory(const std::string& kernel) {
    static const std::regex shared(R"(__shared__ (\w+) (\w+)((?:\[[^\]]+\])+);)");
    std::string text;
    std::size_t offset = 0;
    auto from = kernel.begin();
    for (std::sregex_iterator at(kernel.begin(), kernel.end(), shared), end; at != end; ++at) {
      text.append(from, kernel.begin() + at->position());
      const std::string name = (*at)[2].str(), type = name + "_type";
      text += "using " + type + " = " + (*at)[1].str() + (*at)[3].str() + "; " + type + "& " + name +
              " = *shared_of_block<" + type + ">(" + std::to_string(offset) + ");";
      offset += 1 << 14;
      from = kernel.begin() + at->position() + at->length();
    }
    return text.append(from, kernel.end());
  }

  std::vector<std::string> texts_;
  void* handle_ = nullptr;
};

}  // namespace tarry::test
