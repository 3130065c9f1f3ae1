// The source of a failed compilation, kept for whoever reads the error.
#pragma once

#include <string>

namespace tarry::runtime {

/// Writes `text` to `name` in TARRY_DUMP_DIR, or to a file of that name and a hash of the text, in a directory of this
/// user below $TMPDIR: the same text is kept once, whoever fails to compile it. "source kept in <path>", or why it was
/// not.
std::string keep_failed_source(const std::string& text, const char* name);

}  // namespace tarry::runtime
