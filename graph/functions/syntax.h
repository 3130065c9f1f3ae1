// The text of a function as a tree: what docs/guides/own_code.md describes, with the place of everything in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/dtype.h>
#include <tarry/error.h>

namespace tarry::graph {

/// A type as it is written: a dtype, the T of templates, or the type of what a variable begins with.
struct TypeName {
  enum class Kind : std::uint8_t { Dtype, Template, Auto } kind = Kind::Auto;
  Dtype dtype{};
};

/// Places in the lists of expressions and statements.
using ExprId = std::uint32_t;
using StatementId = std::uint32_t;
inline constexpr std::uint32_t kNothing = ~std::uint32_t{0};

struct Expr {
  enum class Kind : std::uint8_t { Integer, Real, Truth, Name, Unary, Binary, Choice, Cast, Call } kind{};
  std::size_t at = 0;            ///< in the text
  std::string name;              ///< Name, Call; of Unary and Binary the operator
  TypeName type{};               ///< Cast
  std::int64_t integer = 0;      ///< Integer, Truth
  double real = 0;               ///< Real
  std::optional<Dtype> exact{};  ///< of a number with a suffix
  std::vector<ExprId> args;
};

struct Statement {
  enum class Kind : std::uint8_t { Declare, Assign, If, While, Return, Break, Continue, Block } kind{};
  std::size_t at = 0;
  std::string name;                          ///< Declare, Assign
  TypeName type{};                           ///< Declare
  ExprId value = kNothing;                   ///< Declare, Assign, Return; If, While: the condition
  std::vector<StatementId> body, otherwise;  ///< Block, If, While; `otherwise` of a While: what follows each round
  bool body_first = false;                   ///< While: do { body } while (value)
};

struct Variable {
  TypeName type;
  std::string name;
  std::size_t at = 0;
};

struct Syntax {
  std::string text;  ///< parameters, a line break, the body
  std::vector<Variable> parameters, results;
  std::optional<TypeName> returned;  ///< where it is written, of one result
  std::vector<Expr> exprs;
  std::vector<Statement> statements;
  std::vector<StatementId> body;
};

/// Reads a function. Throws InvalidArgument for `name` with the line of the text where it is not in the language.
Syntax parse_function(std::string_view name, std::string_view parameters, std::string_view body, Where where);

/// Throws InvalidArgument: `why`, and the line of the text with a mark below the place.
[[noreturn]] void refuse_text(std::string_view name, std::string_view text, std::size_t at, const std::string& why,
                              Where where);

}  // namespace tarry::graph
