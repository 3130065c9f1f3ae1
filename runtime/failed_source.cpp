// Keeps sources that did not compile.
#include "runtime/failed_source.h"

#include <tarry/error.h>

#include "support/env.h"
#include "support/file.h"

namespace tarry::runtime {

std::string keep_failed_source(const std::string& text, const char* name) {
  std::filesystem::path directory;
  if (const auto wanted = support::env::get("TARRY_DUMP_DIR")) {
    directory = *wanted;
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
  } else {
    try {
      directory = support::unique_temporary_dir();
    } catch (const Error& e) {
      return std::string("source not kept: ") + e.what();
    }
  }
  const std::filesystem::path path = directory / name;
  if (const std::error_code error = support::write_file_atomically(path, text)) {
    return "source not kept: cannot write " + path.string() + ": " + error.message();
  }
  return "source kept in " + path.string();
}

}  // namespace tarry::runtime
