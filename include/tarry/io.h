// Arrays in files: the .npy format of NumPy.
#pragma once

#include <tarry/array.h>

#include <source_location>
#include <string>

namespace tarry {
inline namespace v0 {

/// Writes x as a .npy file (format 1.0, row-major, little-endian). Evaluates and waits. A file appears whole or not at
/// all, behind links too, with the mode of the one that it replaces; a pipe, a device, and a file of another owner, of
/// several names or in a directory that is not writable are written as they are, and x is computed before. Shapes: any.
/// Dtypes: all but bfloat16, for which the format has no name. Throws InvalidArgument for bfloat16 and where the file
/// cannot be written; the message has the system's reason. Example: `ta::save_npy("x.npy", ta::arange(3))`.
TARRY_EXPORT void save_npy(const std::string& path, const Array& x, Where where = std::source_location::current());

/// The array of a .npy file of format 1.0, 2.0 or 3.0, little- or big-endian, row-major or column-major.
/// Shapes, Dtypes: those of the file. Throws InvalidArgument where the file cannot be read, is not a whole .npy file,
/// has a header of more than 64 KiB, or holds a type that no dtype has, and OutOfMemory where its elements find no
/// room. Source of the format: NumPy Enhancement Proposal 1. Example: `ta::Array x = ta::load_npy("x.npy")`.
[[nodiscard]] TARRY_EXPORT Array load_npy(const std::string& path, Where where = std::source_location::current());

/// The array of such a file without reading it: its elements are mapped into memory and read where kernels need them,
/// never all at once, whatever the size. The file must keep its contents while the array or anything recorded from it
/// lives. Files that load_npy reads but for big-endian ones and those whose elements do not begin at a multiple of
/// their size; column-major ones are a transposed view. Shapes, Dtypes: those of the file. Throws InvalidArgument where
/// load_npy does, for those two, and where the system maps no file; OutOfMemory without room to map it. Example:
/// `ta::Array x = ta::open_npy("x.npy")`.
[[nodiscard]] TARRY_EXPORT Array open_npy(const std::string& path, Where where = std::source_location::current());

}  // namespace v0
}  // namespace tarry
