// Free lists by size, one set per thread.
#include "support/recycle.h"

#include <new>

namespace tarry::support {
namespace {

#if defined(__has_feature)  // clang's way to say __SANITIZE_ADDRESS__
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif

constexpr std::size_t kStep = 64, kClasses = 16;  // up to 1 KiB; larger blocks are not worth keeping
constexpr int kKept = 512;                        // blocks of a size that a thread keeps
constexpr std::size_t class_of(std::size_t bytes) { return (bytes - 1) / kStep; }  // none for 0 bytes

struct FreeBlock {
  FreeBlock* next;
};

/// Trivially destructible: objects in static storage may die after every thread_local.
struct FreeLists {
  FreeBlock* first[kClasses];
  int count[kClasses];  // kKept of each once the thread ends
};
constinit thread_local FreeLists lists{};

/// Frees a thread's blocks when it ends. Touched only on the slow path.
struct Flush {
  bool armed = true;
  ~Flush() {
    for (int& count : lists.count) count = kKept;
    for (FreeBlock*& first : lists.first) {
      while (first != nullptr) {
        FreeBlock* const block = first;
        first = block->next;
        ::operator delete(block);
      }
    }
  }
};
thread_local Flush flush_at_thread_end;

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// Plain allocation, so that the sanitizer sees every use after the end and every leak.
void* take_block(std::size_t bytes) { return ::operator new(bytes); }
void give_block(void* block, std::size_t) noexcept { ::operator delete(block); }
#else

[[gnu::noinline]] static void arm_flush() { flush_at_thread_end.armed = true; }

void* take_block(std::size_t bytes) {
  const std::size_t c = class_of(bytes);
  if (c >= kClasses) return ::operator new(bytes);
  FreeLists& mine = lists;
  FreeBlock* const block = mine.first[c];
  if (block == nullptr) return ::operator new((c + 1) * kStep);
  mine.first[c] = block->next;
  --mine.count[c];
  return block;
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t c = class_of(bytes);
  FreeLists& mine = lists;
  if (c >= kClasses || mine.count[c] == kKept) return ::operator delete(block);
  if (mine.count[c]++ == 0) arm_flush();
  mine.first[c] = new (block) FreeBlock{mine.first[c]};
}
#endif

}  // namespace tarry::support
