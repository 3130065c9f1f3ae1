// The header of a .npy file: a magic number, a version, a Python dict. Source of the format: NumPy
// Enhancement Proposal 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/dtype.h>
#include <tarry/error.h>

#include "support/file.h"

namespace tarry::runtime {

/// The layout of the elements that follow a header.
struct NpyHeader {
  Dtype dtype{};
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;  ///< of the first element in the file
  std::size_t count = 0;   ///< elements
};

/// Type code and size as in "f4"; empty where the format has no name for the dtype.
std::string npy_type_code(Dtype dtype);
/// The bytes of a file of format 1.0 before its elements, which are row-major and little-endian.
std::string npy_header(Dtype dtype, std::span<const std::int64_t> shape);
/// Opens a .npy file; throws InvalidArgument for `op` where it cannot be read.
support::OpenFile open_npy_file(const std::string& path, std::string_view op, Where where);
/// The header of a whole .npy file: the elements are there. Throws InvalidArgument for `op` where that is not what it
/// is.
NpyHeader read_npy_header(const support::OpenFile& file, const std::string& path, std::string_view op, Where where);

}  // namespace tarry::runtime
