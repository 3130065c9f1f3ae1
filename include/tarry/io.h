// Arrays in files: the .npy format of NumPy.
#pragma once

#include <tarry/array.h>

#include <source_location>
#include <string>

namespace tarry {
inline namespace v0 {

/// Writes x as a .npy file (format 1.0, row-major, little-endian). The file appears whole or not at all. Evaluates and
/// waits. Dtypes: all but bfloat16, for which the format has no name.
/// Throws InvalidArgument for bfloat16 and where the file cannot be written; the message has the system's reason.
TARRY_EXPORT void save_npy(const std::string& path, const Array& x,
                           std::source_location where = std::source_location::current());

/// The array of a .npy file of format 1.0, 2.0 or 3.0, little- or big-endian, row-major or column-major.
/// Throws InvalidArgument where the file cannot be read, is not a whole .npy file, or holds a type that no dtype has.
/// Source of the format: NumPy Enhancement Proposal 1.
[[nodiscard]] TARRY_EXPORT Array load_npy(const std::string& path,
                                          std::source_location where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
