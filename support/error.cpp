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

template <class T>
void throw_if_of(const Error& e, std::string& op, Where where, const std::string& message) {
  if (typeid(e) == typeid(T)) throw T(std::move(op), where, message);
}

}  // namespace

void rethrow_with_words(const Error& e, std::string op, Where where, const std::string& message) {
  throw_if_of<InvalidArgument>(e, op, where, message);
  throw_if_of<OutOfRange>(e, op, where, message);
  throw_if_of<InvalidShape>(e, op, where, message);
  throw_if_of<InvalidDtype>(e, op, where, message);
  throw_if_of<InvalidValue>(e, op, where, message);
  throw_if_of<OutOfMemory>(e, op, where, message);
  throw_if_of<CompileError>(e, op, where, message);
  throw_if_of<DeviceError>(e, op, where, message);
  throw_if_of<DeviceLost>(e, op, where, message);
  throw_if_of<NotCached>(e, op, where, message);
  throw_if_of<InternalError>(e, op, where, message);
  throw;
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
