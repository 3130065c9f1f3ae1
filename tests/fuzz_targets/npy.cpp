// .npy files: loaded, mapped, and printed where they are small.
#include <tarry/tarry.h>

#include <exception>
#include <sstream>

#include "tests/fuzz_targets/target.h"

namespace {

using namespace tarry;

template <class Read>
void try_with(Read read, const std::string& path) {
  constexpr std::int64_t kFew = 10000;
  try {
    const Array x = read(path);
    if (x.size() < kFew) std::ostringstream() << x;
  } catch (const InvalidArgument& e) {
    if (std::string_view(e.what()).size() > 1000) test::found("a message of any length");
  } catch (const OutOfMemory&) {
  } catch (const std::exception& e) {
    test::found(e.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scope on_cpu(cpu);
  const test::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try_with([](const std::string& path) { return load_npy(path); }, file.path().string());
  try_with([](const std::string& path) { return open_npy(path); }, file.path().string());
  return 0;
}

std::vector<std::string> test::seeds() {
  const auto file = [](char version, const char* dict, std::size_t elements) {
    std::string text = dict, bytes = std::string("\x93NUMPY") + version + '\0';
    while ((text.size() + 13) % 16 != 0) text += ' ';
    text += '\n';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(text.size() >> (8 * i));
    bytes += text;
    for (std::size_t i = 0; i < elements; ++i) bytes += static_cast<char>(i * 37);
    return bytes;
  };
  return {file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 48),
          file(1, "{'descr': '>i8', 'fortran_order': True, 'shape': (3, 2), }", 48),
          file(2, "{'descr': '|b1', 'fortran_order': False, 'shape': (7,), }", 7),
          file(3, "{\"shape\": (), \"descr\": \"<f2\", \"fortran_order\": False}", 2),
          file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2L, 3L), }", 12),
          file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }", 0),
          file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976, 16), }", 64),
          file(2, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4)};
}
