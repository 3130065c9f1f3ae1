// Error: assembles "[op] message (at file:line)", leaving out what is not known.
#include <tarry/error.h>

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
  if (file == nullptr) return "unknown place";
  return std::string(file) + ":" + std::to_string(line);
}

Error::Error(ErrorCode code, std::string op, Where where, const std::string& message)
    : std::runtime_error(assemble(op, where, message)), code_(code), op_(std::move(op)), where_(where) {}

}  // namespace tarry
