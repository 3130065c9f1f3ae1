// Planted bug: a thread writes borrowed memory while kernels read it. ThreadSanitizer must report it, which shows that
// generated code is instrumented as well.
#include <tarry/tarry.h>

#include <atomic>
#include <thread>
#include <vector>

int main() {
  std::vector<float> memory(1 << 16, 1.0F);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop.load(std::memory_order_relaxed)) memory[77] += 1.0F;
  });
  const tarry::Array x = tarry::borrow(memory.data(), memory.size());
  for (int i = 0; i < 20; ++i) tarry::evaluate(x * static_cast<float>(i));
  stop.store(true, std::memory_order_relaxed);
  writer.join();
  return 0;
}
