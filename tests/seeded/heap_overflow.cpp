// Planted bug: borrowed memory ends before the array does, so the generated kernel reads past it. AddressSanitizer must
// report it, which shows that generated code is instrumented as well.
#include <tarry/tarry.h>

#include <memory>

int main() {
  const auto memory = std::make_unique<float[]>(1000);
  const tarry::Array x = tarry::borrow(memory.get(), 1003);
  tarry::evaluate(x + 1.0F);
  return 0;
}
