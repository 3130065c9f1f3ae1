// Keeps sources that did not compile.
#include "runtime/device/compilers/failed_source.h"

#include <tarry/error.h>

#include "support/env.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/temporary.h"

namespace tarry::runtime {

std::string keep_failed_source(const std::string& text, const char* name) {
  std::filesystem::path directory, path;
  if (const auto wanted = support::env::get("TARRY_DUMP_DIR")) {
    directory = *wanted;
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
    path = directory / name;
  } else {
    try {
      directory = support::lasting_temporary_dir("tarry-failed");
      path = directory / (support::checksum_bytes(text).hex().substr(0, 16) + "-" + name);
    } catch (const Error& e) {
      return std::string("source not kept: ") + e.what();
    }
  }
  if (const std::error_code error = support::write_file_atomically(path, text)) {
    return "source not kept: cannot write " + path.string() + ": " + error.message();
  }
  return "source kept in " + path.string();
}

}  // namespace tarry::runtime
