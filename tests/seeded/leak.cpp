// Planted bug: handles that nobody destroys. LeakSanitizer must report them where the tests look for leaks, while the
// library's threads rest.
#include <sanitizer/lsan_interface.h>
#include <tarry/tarry.h>

namespace {

__attribute__((noinline)) void lose_handles() {
  const tarry::Array x = tarry::ones({100'000});
  for (int i = 0; i < 100; ++i)
    tarry::evaluate(*new tarry::Array(x + 1.0F));  // 100: what a register still holds is no leak
}

}  // namespace

int main() {
  lose_handles();
  __lsan_do_leak_check();
  return 0;
}
