// Properties of an Array without its values: shape, dtype, place, how it came about.
#include <tarry/array.h>
#include <tarry/evaluate.h>

#include <cstring>

#include "graph/record/record.h"
#include "graph/record/selection.h"
#include "support/check.h"
#include "support/out_of_memory.h"

namespace tarry {
inline namespace v0 {
namespace {

const graph::Node& defined(const graph::Node* node, const char* function, Where where) {
  if (node == nullptr) {
    TARRY_THROW(InvalidArgument, function, where, "the array is undefined: default-constructed or moved from");
  }
  return *node;
}

/// The same where the number of elements is known: a selection is settled, and keeps them.
const graph::Node& settled(const graph::Node* node, const char* function, Where where) {
  const graph::Node& n = defined(node, function, where);
  return n.op == graph::Op::Selection ? *graph::elements_of(n).node() : n;
}

/// The node that has the values, or will have them; null for a selection that is not settled.
const graph::Node* known(const graph::Node& n) {
  if (n.op != graph::Op::Selection) return &n;
  return n.extra->selection->is_settled() ? graph::elements_of(n).node() : nullptr;
}

template <class Kind>
[[noreturn]] void refuse_to_turn(const Array& x, const Array& result, const char* symbol, Where where) {
  TARRY_THROW(Kind, std::string(symbol), where,
              "would turn " + std::string(name(x.dtype())) + " " + x.shape().str() + " into " +
                  std::string(name(result.dtype())) + " " + result.shape().str() + "; write x = x " +
                  std::string(symbol, std::strlen(symbol) - 1) + " y where that is meant");
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string origin(const graph::Node& n) {
  std::string text(name(n.op));
  if (n.file != nullptr) text += " at " + std::string(base_name(n.file)) + ":" + std::to_string(n.line);
  return text;
}

std::string status(const graph::Node& n) {
  switch (n.state.load(std::memory_order_acquire)) {
    case graph::State::Lazy: return "lazy: " + origin(n);
    case graph::State::Claimed: return "running: " + origin(n);
    case graph::State::Failed: return "failed: " + origin(n);
    case graph::State::Ready:
    case graph::State::Dead: break;
  }
  return "evaluated";
}

}  // namespace

void detail::retain(graph::Node* node) noexcept { graph::retain(node); }
void detail::release(graph::Node* node) noexcept { graph::release(node); }

std::string Shape::str() const try { return graph::to_string(std::span(data(), size())); }
TARRY_OR_OUT_OF_MEMORY("str", Where{})

Array::Array(Scalar value, Dtype dtype, Where where)
    : Array(detail::wrap(graph::record_scalar(value, dtype, "array", where, graph::context().device))) {}

Shape Array::shape(Where where) const {
  const auto extents = settled(node_, "shape", where).shape();
  return std::vector<std::int64_t>(extents.begin(), extents.end());
}
int Array::ndim(Where where) const { return defined(node_, "ndim", where).rank; }
std::int64_t Array::size(Where where) const { return graph::element_count(settled(node_, "size", where).shape()); }
Dtype Array::dtype(Where where) const { return defined(node_, "dtype", where).dtype; }

Device Array::device(Where where) const {
  const graph::Node* const of_values = known(defined(node_, "device", where));
  if (of_values == nullptr) return node_->device;
  const graph::Node& n = *of_values;
  if (n.device != Device{} || n.op == graph::Op::Input) return n.device;
  if (n.state.load(std::memory_order_acquire) != graph::State::Ready) return {};
  const std::lock_guard lock(graph::engine_mutex());
  return n.extra->results[output_]->buffer->device;
}

bool Array::is_evaluated(Where where) const {
  const graph::Node* const n = known(defined(node_, "is_evaluated", where));
  return n != nullptr && n->state.load(std::memory_order_acquire) == graph::State::Ready;
}

std::string Array::repr(Where where) const try {
  if (node_ == nullptr) return "Array(undefined)";
  const graph::Node* const of_values = known(*node_);
  const graph::Node& n = of_values != nullptr ? *of_values : *node_;
  std::string shape = graph::to_string(n.shape());
  if (of_values == nullptr) shape.replace(1, 1, "?");  // how many elements are selected
  std::string text = "Array(" + std::string(name(n.dtype)) + ", " + shape + ", ";
  if (n.device != Device{}) text += n.device.str() + ", ";
  return text + status(n) + ")";
}
TARRY_OR_OUT_OF_MEMORY("repr", where)

Array& Array::rebind(Array result, const char* symbol, Where where) try {
  if (result.dtype() != dtype()) refuse_to_turn<InvalidDtype>(*this, result, symbol, where);
  if (!detail::have_one_shape(result, *this)) refuse_to_turn<InvalidShape>(*this, result, symbol, where);
  return *this = std::move(result);
}
TARRY_OR_OUT_OF_MEMORY(symbol, where)

#define TARRY_COMPOUND(SYMBOL, FUNCTION)                                    \
  Array& Array::operator SYMBOL(const Operand & b)& {                       \
    return rebind(v0::FUNCTION({*this, b.where()}, b), #SYMBOL, b.where()); \
  }
TARRY_COMPOUND(+=, add)
TARRY_COMPOUND(-=, subtract)
TARRY_COMPOUND(*=, multiply)
TARRY_COMPOUND(/=, divide)
TARRY_COMPOUND(%=, remainder)
TARRY_COMPOUND(&=, bitwise_and)
TARRY_COMPOUND(|=, bitwise_or)
TARRY_COMPOUND(^=, bitwise_xor)
TARRY_COMPOUND(<<=, bitwise_left_shift)
TARRY_COMPOUND(>>=, bitwise_right_shift)
#undef TARRY_COMPOUND

}  // namespace v0
}  // namespace tarry
