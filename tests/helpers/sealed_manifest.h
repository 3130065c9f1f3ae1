// Manifests that say what their writer likes, with checksums that are right.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/warm/manifest.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/temporary.h"

namespace tarry::test {

/// The line of a manifest that holds the members of `json`.
inline std::string sealed_line(nlohmann::ordered_json json) {
  json.erase("id");
  const std::string members = json.dump();
  return "{\"id\":\"" + support::checksum_bytes(members).hex() + "\"," + members.substr(1);
}

/// A manifest of lines, in a directory of its own.
class ManifestFile {
 public:
  explicit ManifestFile(const std::string& lines) {
    (void)support::write_file_atomically(path(), runtime::manifest_header() + "\n" + lines + "\n");
  }
  [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "m"; }

 private:
  support::ScopedTemporaryDirectory directory_;
};

}  // namespace tarry::test
