// Error: assembles "[op] message (at file:line)", leaving out what is not known; and errors thrown again.
#include <tarry/error.h>

#include <typeinfo>

#include "support/out_of_memory.h"
#include "support/rethrow.h"

namespace tarry {

namespace {

std::string assemble(const std::string& op, const Where& where, const std::string& message) {
  std::string text;
  if (!op.empty()) text += "[" + op + "] ";
  text += message;
  if (where.file != nullptr) text += " (at " + where.str() + ")";
  return text;
}

}  // namespace

std::string Where::str() const {
  if (file == nullptr) return "unknown location";
  return std::string(file) + ":" + std::to_string(line);
}

Error::Error(ErrorCode code, std::string op, Where where, const std::string& message)
    : std::runtime_error(assemble(op, where, message)), code_(code), op_(std::move(op)), where_(where) {}

}  // namespace tarry

namespace tarry::support {
namespace {

/// False where the type of e is derived from that of its code.
bool is_ours(const Error& e) {
  switch (e.code()) {
    case ErrorCode::InvalidArgument: return typeid(e) == typeid(InvalidArgument);
    case ErrorCode::OutOfMemory: return typeid(e) == typeid(OutOfMemory);
    case ErrorCode::CompileError: return typeid(e) == typeid(CompileError);
    case ErrorCode::DeviceError: return typeid(e) == typeid(DeviceError);
    case ErrorCode::DeviceLost: return typeid(e) == typeid(DeviceLost);
    case ErrorCode::NotCached: return typeid(e) == typeid(NotCached);
    case ErrorCode::InternalError: break;
  }
  return typeid(e) == typeid(InternalError);
}

}  // namespace

void throw_error(ErrorCode code, std::string op, Where where, const std::string& message) {
  switch (code) {
    case ErrorCode::InvalidArgument: throw InvalidArgument(std::move(op), where, message);
    case ErrorCode::OutOfMemory: throw OutOfMemory(std::move(op), where, message);
    case ErrorCode::CompileError: throw CompileError(std::move(op), where, message);
    case ErrorCode::DeviceError: throw DeviceError(std::move(op), where, message);
    case ErrorCode::DeviceLost: throw DeviceLost(std::move(op), where, message);
    case ErrorCode::NotCached: throw NotCached(std::move(op), where, message);
    case ErrorCode::InternalError: break;
  }
  throw InternalError(std::move(op), where, message);
}

void rethrow_with_words(const Error& e, std::string op, Where where, const std::string& message) {
  if (!is_ours(e)) throw;
  throw_error(e.code(), std::move(op), where, message);
}

void rethrow_with_location(const Error& e, std::string_view op, Where where) {
  if (e.where().file != nullptr || where.file == nullptr || !e.op().empty()) throw;
  try {
    rethrow_with_words(e, std::string(op), where, e.what());
  } catch (const std::bad_alloc&) {  // the error as it came says enough
  }
  throw;
}

}  // namespace tarry::support
