// Who could have put code where we would execute it from.
#pragma once

#include <filesystem>
#include <string>

#include "cache/layer.h"

namespace tarry::cache {

/// Why code in `directory` must not be executed: somebody else could have put it there. "" where it is safe.
std::string reason_to_refuse(const std::filesystem::path& directory, Access access);

/// The same of a file that is open to be read.
std::string reason_to_refuse_file(int descriptor);

}  // namespace tarry::cache
