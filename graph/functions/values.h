// Values of a function's text: an edge, or a number that has no type yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/record/parts.h"

namespace tarry::graph {

/// Makes the operations that expressions stand for. Conversions are those of C.
class TextValues {
 public:
  /// A number without a suffix. As in C an integer is an int, but a real one takes the type of what it meets.
  struct Number {
    bool is_real = false;
    double real = 0;
    std::int64_t integer = 0;
  };
  struct Value {
    Edge edge;
    std::optional<Number> number;
    [[nodiscard]] bool is_weak() const { return number && number->is_real; }
  };

  TextValues(std::string_view called, Where where) : called_(called), where_(where) {}

  [[nodiscard]] static Value number(Number n) { return {Edge(), n}; }
  [[nodiscard]] Value typed(Number n, Dtype dtype) const { return {as(number(n), dtype), std::nullopt}; }
  /// A number without a type is an int or a long as it fits, or a double.
  [[nodiscard]] static Dtype dtype(const Value& v);
  [[nodiscard]] Edge as(const Value& v, Dtype dtype) const;
  [[nodiscard]] Edge truth(const Value& v) const { return as(v, bool_); }

  /// The type in which C computes with both.
  [[nodiscard]] static Dtype common(const Value& a, const Value& b);
  [[nodiscard]] static Dtype common(Dtype a, Dtype b);
  /// The type in which C computes with one.
  [[nodiscard]] static Dtype promoted(const Value& v);

  /// Nothing where the operator does not take such values.
  [[nodiscard]] std::optional<Value> unary(std::string_view op, const Value& v) const;
  [[nodiscard]] std::optional<Value> binary(std::string_view op, const Value& a, const Value& b) const;
  [[nodiscard]] Value choice(const Edge& condition, const Value& a, const Value& b) const;
  [[nodiscard]] Edge chosen_of(const Edge& condition, const Edge& a, const Edge& b) const {
    return chosen(condition, a, b, where_);
  }
  [[nodiscard]] Edge both(const Edge& a, const Edge& b) const { return mapped(Op::LogicalAnd, a, b, where_, called_); }
  [[nodiscard]] Edge either(const Edge& a, const Edge& b) const { return mapped(Op::LogicalOr, a, b, where_, called_); }
  [[nodiscard]] Edge neither(const Edge& a) const { return mapped(Op::LogicalNot, a, where_); }
  [[nodiscard]] Edge yes() const { return record_scalar(true, bool_, called_, where_); }
  [[nodiscard]] Edge no() const { return record_scalar(false, bool_, called_, where_); }

  struct Callee {
    enum class Kind : std::uint8_t { Map, Composed, Select, LeastNumber, MostNumber } kind = Kind::Map;
    Op op{};
    int arity = 1;
    std::optional<Dtype> exact = {};  ///< of sinf and the like
    Array (*composed)(std::span<const Array> x, Where where) = nullptr;
  };
  /// The function of a name: an elementwise operation of Tarry, a composition of some, or its name in C.
  [[nodiscard]] static std::optional<Callee> find(std::string_view name);
  [[nodiscard]] std::optional<Value> call(const Callee& f, const std::vector<Value>& args) const;

 private:
  [[nodiscard]] static Number folded(char op, const Number& a, const Number& b);
  [[nodiscard]] Edge quotient(const Edge& a, const Edge& b) const;

  const std::string_view called_;
  const Where where_;
};

}  // namespace tarry::graph
