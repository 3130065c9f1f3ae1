// Entries of the kernel cache, and what is read from the text within them. The first byte says whether the checksum is
// made right.
#include <exception>

#include "cache/entry_format.h"
#include "cache/explain.h"
#include "cache/kernel_cache.h"
#include "cache/resources.h"
#include "tests/fuzz_targets/sealing.h"
#include "tests/fuzz_targets/target.h"

using namespace tarry;

namespace {

cache::Entry some_entry(const char* text) {
  const cache::KernelKey key{text, "-O1 -x c", "x86-64-v3", "strict"};
  return {key.material(), "gcc 12.2.0", "add_f32_3f2a91c0",
          "ptxas info : Compiling entry function 'add_f32_3f2a91c0' for 'sm_90'\n0 bytes stack frame, 0 bytes spill "
          "stores\nUsed 32 registers\n",
          "\x7f"
          "ELF"};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const int flags = test::flags_of(input);
  std::string bytes(input);
  if ((flags & 1) != 0 && bytes.size() >= cache::kHashSize) test::seal(bytes, 0, bytes.size() - cache::kHashSize);
  try {
    std::string defect;
    const std::optional<cache::Entry> entry = cache::decode(bytes, &defect);
    if (entry.has_value() == !defect.empty()) test::found("a defect without a reason");
    if (!entry) return 0;
    if (cache::encode(*entry) != bytes) test::found("another entry than was written");
    (void)cache::parse_material(entry->material);
    (void)cache::parse_ptxas_log(entry->log);
    const cache::Entry other = some_entry("void add_f32_3f2a91c0(void) {}\n");
    (void)cache::compare({entry->material, entry->name}, {other.material, other.name});
  } catch (const std::exception& e) {
    test::found(e.what());
  }
  return 0;
}

std::vector<std::string> test::seeds() {
  const std::string entry = cache::encode(some_entry("int add_f32_3f2a91c0(int a) { return a; }\n"));
  return {std::string(1, '\0') + entry, "\1" + entry, "\1" + cache::encode({}), ""};
}
