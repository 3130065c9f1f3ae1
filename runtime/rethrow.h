// An error again, with more in its message.
#pragma once

#include <tarry/error.h>

#include <string>
#include <utility>

namespace tarry::runtime {

/// Throws an error of e's type for `op` at `where`. Called while e is handled.
[[noreturn]] inline void rethrow(const Error& e, std::string op, Where where, const std::string& message) {
  switch (e.code()) {
    case ErrorCode::InvalidArgument: throw InvalidArgument(std::move(op), where, message);
    case ErrorCode::OutOfMemory: throw OutOfMemory(std::move(op), where, message);
    case ErrorCode::CompileError: throw CompileError(std::move(op), where, message);
    case ErrorCode::DeviceError: throw DeviceError(std::move(op), where, message);
    case ErrorCode::DeviceLost: throw DeviceLost(std::move(op), where, message);
    case ErrorCode::NotCached: throw NotCached(std::move(op), where, message);
    case ErrorCode::InternalError: throw InternalError(std::move(op), where, message);
  }
  throw;
}

}  // namespace tarry::runtime
