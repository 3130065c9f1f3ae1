// Bundles of kernels: opened, searched, visited. The first byte says which checksums are made right: that of the file,
// of the index, of the records.
#include <exception>

#include "cache/bundle.h"
#include "cache/kernel_cache.h"
#include "support/file.h"
#include "support/temporary.h"
#include "tests/fuzz_targets/sealing.h"
#include "tests/fuzz_targets/target.h"

using namespace tarry;

namespace {

constexpr std::size_t kHead = 32, kRow = 40, kImageRow = 32;

std::uint64_t integer(const std::string& bytes, std::size_t at) {
  std::uint64_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void seal_parts(std::string& bytes, int flags) {
  const std::uint64_t entries = integer(bytes, 16), images = integer(bytes, 24), most = bytes.size() / kImageRow;
  if (entries <= most && images <= most) {
    for (std::uint64_t e = 0; (flags & 4) != 0 && e < entries; ++e) {
      const std::uint64_t at = integer(bytes, kHead + kRow * e + 16), size = integer(bytes, kHead + kRow * e + 24);
      if (at < bytes.size() && size >= cache::kHashSize && size <= bytes.size() - at)
        test::seal(bytes, at, at + size - cache::kHashSize);
    }
    if ((flags & 2) != 0) test::seal(bytes, 0, kHead + kRow * entries + kImageRow * images);
  }
  if ((flags & 1) != 0 && bytes.size() >= cache::kHashSize) test::seal(bytes, 0, bytes.size() - cache::kHashSize);
}

std::vector<cache::Entry> entries() {
  std::vector<cache::Entry> all;
  for (const char* name : {"add", "sum", "max"})
    all.push_back(
        {cache::KernelKey{std::string("void ") + name + "(void) {}\n", "-O1", "x86-64-v3", "strict"}.material(),
         "gcc 12", name, "", "image of two"});
  all[1].image = "another image";
  return all;
}

const std::filesystem::path& file() {
  static const support::ScopedTemporaryDirectory directory;
  static const std::filesystem::path path = directory.path() / "kernels.bundle";
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const int flags = test::flags_of(input);
  std::string bytes(input);
  seal_parts(bytes, flags);
  if (support::write_file_atomically(file(), bytes)) return 0;
  try {
    std::string why;
    const auto layer = cache::BundleLayer::open(file(), why);
    if ((layer == nullptr) != !why.empty()) test::found("a refusal without a reason");
    if (!layer) return 0;
    layer->visit([](const cache::Found& found) {
      if ((found.entry == nullptr) == found.defect.empty()) test::found("a defect without a reason");
    });
    for (const cache::Entry& entry : entries())
      if (const auto read = layer->read(entry.material); read && read->material != entry.material)
        test::found("another kernel");
  } catch (const std::exception& e) {
    test::found(e.what());
  }
  return 0;
}

std::vector<std::string> test::seeds() {
  std::vector<std::string> all = {""};
  for (std::size_t count = 0; count <= 3; ++count) {
    const std::vector<cache::Entry> some = entries();
    if (cache::write_bundle(file(), std::span(some).first(count))) continue;
    const std::string bytes = support::read_file(file()).value_or("");
    for (const char flags : {'\0', '\2', '\6', '\7'}) all.push_back(flags + bytes);
  }
  return all;
}
