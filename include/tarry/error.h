// The exceptions Tarry throws. Every one carries a code, the op it concerns and the user's file:line.
#pragma once

#include <concepts>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

#include <tarry/export.h>

namespace tarry {
inline namespace v0 {

/// Kinds of error; each has an exception of its own, and InvalidArgument four that are derived from it.
enum class ErrorCode {
  InvalidArgument,  ///< a shape, dtype, device or value that the called op does not accept
  OutOfMemory,      ///< an allocation failed after drain, trim and retry
  CompileError,     ///< a generated kernel did not compile: a bug of ours or of the compiler
  DeviceError,      ///< the device reported a failure while running
  DeviceLost,       ///< the device context is unusable; every later call throws this
  NotCached,        ///< TARRY_REQUIRE_CACHED is set and a kernel would have to be compiled
  InternalError,    ///< a bug of ours; please report it
};

/// Where in the user's program something was recorded; file is null where unknown.
struct Where {
  const char* file = nullptr;
  std::uint32_t line = 0;
  constexpr Where() = default;
  template <std::same_as<const char*> File>  // {0, 1} is a shape, and no location
  constexpr Where(File f, std::uint32_t l) : file(f), line(l) {}
  constexpr Where(const std::source_location& s) : file(s.file_name()), line(s.line()) {}  // NOLINT: conversion wanted
  [[nodiscard]] TARRY_EXPORT std::string str() const;  ///< "file:line", or "unknown location"
};

/// Base of every exception of this library: one for each ErrorCode, by its name, and the four kinds of InvalidArgument.
/// Example: `try { ta::Array z = ta::zeros({2}) + ta::zeros({3}); } catch (const ta::Error& error) { std::cerr <<
/// error.what(); }`.
class TARRY_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string op, Where where, const std::string& message);
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& op() const noexcept { return op_; }  ///< name of the op, or empty
  [[nodiscard]] Where where() const noexcept { return where_; }

 private:
  ErrorCode code_;
  std::string op_;
  Where where_;
};

#define TARRY_ERROR_TYPE(NAME)                                     \
  class TARRY_EXPORT NAME : public Error {                         \
   public:                                                         \
    NAME(std::string op, Where where, const std::string& message)  \
        : Error(ErrorCode::NAME, std::move(op), where, message) {} \
  }
TARRY_ERROR_TYPE(InvalidArgument);
TARRY_ERROR_TYPE(OutOfMemory);
TARRY_ERROR_TYPE(CompileError);
TARRY_ERROR_TYPE(DeviceError);
TARRY_ERROR_TYPE(DeviceLost);
TARRY_ERROR_TYPE(NotCached);
TARRY_ERROR_TYPE(InternalError);
#undef TARRY_ERROR_TYPE

/// An index, an axis or a mask that an array has no place for.
/// Example: `try { ta::Array z = ta::arange(3)(3); } catch (const ta::OutOfRange& error) { std::cerr << error.what();
/// }`.
class TARRY_EXPORT OutOfRange : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};
/// Shapes or extents that do not fit each other or the op.
/// Example: `try { ta::Array z = ta::zeros({2}) + ta::zeros({3}); } catch (const ta::InvalidShape& error) { std::cerr
/// << error.what(); }`.
class TARRY_EXPORT InvalidShape : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};
/// A dtype that an op does not take, or dtypes that have no common one.
/// Example: `try { ta::Array z = ta::sum(ta::ones({2}), {}, {.dtype = ta::bool_}); } catch (const ta::InvalidDtype&
/// error) { std::cerr << error.what(); }`.
class TARRY_EXPORT InvalidDtype : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};
/// A number or an option outside of what an op takes.
/// Example: `try { ta::Array z = ta::arange(0, 3, 0); } catch (const ta::InvalidValue& error) { std::cerr <<
/// error.what(); }`.
class TARRY_EXPORT InvalidValue : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

}  // namespace v0
}  // namespace tarry
