// The source of a failed compilation, kept for whoever reads the error.
#pragma once

#include <string>

namespace tarry::runtime {

/// Writes `text` to `name` in TARRY_DUMP_DIR, or in a new temporary directory that stays. "source kept in <path>", or
/// why it was not.
std::string keep_failed_source(const std::string& text, const char* name);

}  // namespace tarry::runtime
