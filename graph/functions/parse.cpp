// parse_function(): tokens, then expressions by precedence climbing and statements by recursive descent.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "graph/functions/syntax.h"
#include "support/check.h"

namespace tarry::graph {
namespace {

constexpr int kDeepest = 100;  // nested statements and expressions: the parser calls itself

struct NamedType {
  std::string_view name;
  Dtype dtype;
};
constexpr NamedType kTypes[] = {
    {"bool", bool_},    {"char", int8},       {"short", int16},     {"int", int32},       {"long", int64},
    {"size_t", uint64}, {"int8_t", int8},     {"int16_t", int16},   {"int32_t", int32},   {"int64_t", int64},
    {"uint8_t", uint8}, {"uint16_t", uint16}, {"uint32_t", uint32}, {"uint64_t", uint64}, {"int8", int8},
    {"int16", int16},   {"int32", int32},     {"int64", int64},     {"uint8", uint8},     {"uint16", uint16},
    {"uint32", uint32}, {"uint64", uint64},   {"half", float16},    {"float16", float16}, {"bfloat16", bfloat16},
    {"float", float32}, {"float32", float32}, {"double", float64},  {"float64", float64},
};

struct Token {
  enum class Kind : std::uint8_t { End, Name, Integer, Real, Sign } kind = Kind::End;
  std::size_t at = 0;
  std::string_view text;
};

class Lexer {
 public:
  Lexer(std::string_view name, std::string_view text, Where where) : name_(name), text_(text), where_(where) {}

  Token next() {
    skip();
    Token t{Token::Kind::End, at_, text_.substr(std::min(at_, text_.size()), 0)};
    if (at_ >= text_.size()) return t;
    const char c = text_[at_];
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      t.kind = Token::Kind::Name;
    } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      t.kind = number() ? Token::Kind::Real : Token::Kind::Integer;
    } else {
      sign();
      t.kind = Token::Kind::Sign;
    }
    t.text = text_.substr(t.at, at_ - t.at);
    return t;
  }

 private:
  // Not those of <cctype>, which the locale changes.
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip() {
    for (;;) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (text_.substr(std::min(at_, text_.size()), 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(std::min(at_, text_.size()), 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) refuse_text(name_, text_, at_, "a comment without an end", where_);
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  /// True for a number with a point or an exponent.
  bool number() {
    bool real = false;
    const bool hexadecimal = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const char before = at_ > 0 ? text_[at_ - 1] : ' ';
      if (!hexadecimal && (c == '.' || c == 'e' || c == 'E')) real = true;
      const bool exponent = real && (c == '+' || c == '-') && (before == 'e' || before == 'E');
      if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent) break;
    }
    return real || (!hexadecimal && (text_[at_ - 1] == 'f' || text_[at_ - 1] == 'F'));
  }

  void sign() {
    constexpr std::string_view kSigns[] = {"<<=", ">>=", "->", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>",
                                           "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "::"};
    for (const std::string_view s : kSigns)
      if (text_.substr(at_, s.size()) == s) {
        at_ += s.size();
        return;
      }
    if (std::string_view("+-*/%<>=!&|^~?:;,(){}").find(text_[at_]) == std::string_view::npos)
      refuse_text(name_, text_, at_, "this sign has no meaning here", where_);
    ++at_;
  }

  const std::string_view name_, text_;
  const Where where_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view name, std::string_view parameters, std::string_view body, Where where)
      : name_(name), where_(where) {
    out_.text = fmt::format("{}\n{}", parameters, body);
  }

  Syntax parse() {
    Lexer lexer(name_, out_.text, where_);
    do {
      tokens_.push_back(lexer.next());
    } while (tokens_.back().kind != Token::Kind::End);
    parameters();
    while (peek().kind != Token::Kind::End) statement_to(out_.body);
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const Token& at, const std::string& why) const {
    refuse_text(name_, out_.text, at.at, why, where_);
  }
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& t = peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return t;
  }
  [[nodiscard]] bool sees(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind != Token::Kind::End && peek(ahead).text == text;
  }
  bool accept(std::string_view text) {
    if (!sees(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) refuse(peek(), fmt::format("'{}' is expected here", text));
  }
  std::string identifier() {
    if (peek().kind != Token::Kind::Name) refuse(peek(), "a name is expected here");
    if (type_length(0) > 0) refuse(peek(), fmt::format("'{}' is a type", peek().text));
    return std::string(take().text);
  }

  // --- Types -----------------------------------------------------------------------------------------------------

  static const NamedType* named(std::string_view name) {
    const auto* const it = std::ranges::find(kTypes, name, &NamedType::name);
    return it == std::end(kTypes) ? nullptr : it;
  }
  /// Tokens of the type that begins so many tokens ahead; 0 where there is none.
  [[nodiscard]] std::size_t type_length(std::size_t ahead) const {
    const std::size_t from = ahead;
    while (sees("const", ahead)) ++ahead;
    if (sees("T", ahead) || sees("auto", ahead)) return ahead + 1 - from;
    std::size_t words = 0;
    while (sees("unsigned", ahead + words) || sees("signed", ahead + words)) ++words;
    while (words < 4 && (named(peek(ahead + words).text) != nullptr) && peek(ahead + words).kind == Token::Kind::Name) {
      const bool more = (sees("long", ahead + words) || sees("short", ahead + words)) &&
                        (sees("long", ahead + words + 1) || sees("int", ahead + words + 1));
      ++words;
      if (!more) break;
    }
    return words == 0 ? 0 : ahead + words - from;
  }
  TypeName type() {
    const std::size_t length = type_length(0);
    if (length == 0) refuse(peek(), "a type is expected here");
    const Token first = peek();
    TypeName t{TypeName::Kind::Dtype, int32};
    bool is_unsigned = false;
    for (std::size_t i = 0; i < length; ++i) {
      const Token& word = take();
      if (word.text == "T") t.kind = TypeName::Kind::Template;
      if (word.text == "auto") t.kind = TypeName::Kind::Auto;
      is_unsigned = is_unsigned || word.text == "unsigned";
      if (const NamedType* n = named(word.text); n != nullptr && (word.text != "int" || i == 0)) t.dtype = n->dtype;
    }
    if (is_unsigned) {
      if (t.dtype == int8)
        t.dtype = uint8;
      else if (t.dtype == int16)
        t.dtype = uint16;
      else if (t.dtype == int32)
        t.dtype = uint32;
      else if (t.dtype == int64)
        t.dtype = uint64;
      else
        refuse(first, "only integers are unsigned");
    }
    return t;
  }

  // --- Head ------------------------------------------------------------------------------------------------------

  std::vector<Variable> variables() {
    std::vector<Variable> all;
    expect("(");
    do {
      Variable v;
      v.at = peek().at;
      v.type = type();
      if (v.type.kind == TypeName::Kind::Auto) refuse_text(name_, out_.text, v.at, "a parameter has a type", where_);
      v.name = identifier();
      all.push_back(std::move(v));
    } while (accept(","));
    expect(")");
    return all;
  }

  void parameters() {
    out_.parameters = variables();
    if (!accept("->")) return;
    if (sees("("))
      out_.results = variables();
    else
      out_.returned = type();
  }

  // --- Statements ------------------------------------------------------------------------------------------------

  StatementId add(Statement s) {
    out_.statements.push_back(std::move(s));
    return static_cast<StatementId>(out_.statements.size() - 1);
  }

  struct Deeper {
    Deeper(int& of, const Parser& p) : depth(of) {
      if (++depth > kDeepest) p.refuse(p.peek(), "this is nested too deeply");
    }
    ~Deeper() { --depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& depth;
  };

  /// The statements of a block, or the one statement there is.
  std::vector<StatementId> block() {
    std::vector<StatementId> all;
    if (!accept("{")) {
      statement_to(all);
      return all;
    }
    while (!accept("}")) {
      if (peek().kind == Token::Kind::End) refuse(peek(), "'}' is expected here");
      statement_to(all);
    }
    return all;
  }

  void statement_to(std::vector<StatementId>& to) {
    const Deeper deeper(depth_, *this);
    const Token at = peek();
    if (accept(";")) return;
    Statement s;
    s.at = at.at;
    if (sees("{")) {
      s.kind = Statement::Kind::Block;
      s.body = block();
      to.push_back(add(std::move(s)));
    } else if (accept("if")) {
      s.kind = Statement::Kind::If;
      expect("(");
      s.value = expression();
      expect(")");
      s.body = block();
      if (accept("else")) s.otherwise = block();
      to.push_back(add(std::move(s)));
    } else if (sees("while") || sees("do") || sees("for")) {
      loop_to(to, std::move(s));
    } else if (accept("return")) {
      s.kind = Statement::Kind::Return;
      if (!sees(";")) s.value = expression();
      expect(";");
      to.push_back(add(std::move(s)));
    } else if (sees("break") || sees("continue")) {
      s.kind = take().text == "break" ? Statement::Kind::Break : Statement::Kind::Continue;
      expect(";");
      to.push_back(add(std::move(s)));
    } else {
      simple_to(to);
      expect(";");
    }
  }

  void loop_to(std::vector<StatementId>& to, Statement s) {
    s.kind = Statement::Kind::While;
    if (accept("while")) {
      expect("(");
      s.value = expression();
      expect(")");
      s.body = block();
      to.push_back(add(std::move(s)));
      return;
    }
    if (accept("do")) {
      s.body = block();
      s.body_first = true;
      expect("while");
      expect("(");
      s.value = expression();
      expect(")");
      expect(";");
      to.push_back(add(std::move(s)));
      return;
    }
    take();
    expect("(");
    Statement whole;
    whole.kind = Statement::Kind::Block;
    whole.at = s.at;
    if (!sees(";")) simple_to(whole.body);
    expect(";");
    if (!sees(";")) s.value = expression();
    expect(";");
    while (!sees(")")) {
      simple_to(s.otherwise);
      if (!accept(",")) break;
    }
    expect(")");
    s.body = block();
    whole.body.push_back(add(std::move(s)));
    to.push_back(add(std::move(whole)));
  }

  /// Declarations of one type, an assignment, ++ or --.
  void simple_to(std::vector<StatementId>& to) {
    const Token at = peek();
    Statement s;
    s.at = at.at;
    if (type_length(0) > 0 && !sees("(", type_length(0))) {
      s.kind = Statement::Kind::Declare;
      s.type = type();
      do {
        Statement one = s;
        one.at = peek().at;
        one.name = identifier();
        if (accept("=")) one.value = expression();
        if (one.value == kNothing && s.type.kind == TypeName::Kind::Auto)
          refuse_text(name_, out_.text, one.at, "auto needs a value", where_);
        to.push_back(add(std::move(one)));
      } while (accept(","));
      return;
    }
    s.kind = Statement::Kind::Assign;
    if (sees("++") || sees("--")) {
      const std::string op(take().text.substr(0, 1));
      s.name = identifier();
      s.value = stepped(s.name, op, at.at);
      to.push_back(add(std::move(s)));
      return;
    }
    s.name = identifier();
    const Token sign = take();
    if (sign.text == "=") {
      s.value = expression();
    } else if (sign.text == "++" || sign.text == "--") {
      s.value = stepped(s.name, std::string(sign.text.substr(0, 1)), at.at);
    } else if (sign.text.size() >= 2 && sign.text.back() == '=' && sign.kind == Token::Kind::Sign &&
               sign.text != "==" && sign.text != "<=" && sign.text != ">=" && sign.text != "!=") {
      const ExprId value = expression();
      s.value = binary(std::string(sign.text.substr(0, sign.text.size() - 1)), sign.at, variable(s.name, at.at), value);
    } else {
      refuse(sign, "an assignment is expected here: calls and values alone change nothing");
    }
    to.push_back(add(std::move(s)));
  }

  // --- Expressions -----------------------------------------------------------------------------------------------

  ExprId add(Expr e) {
    out_.exprs.push_back(std::move(e));
    return static_cast<ExprId>(out_.exprs.size() - 1);
  }
  ExprId variable(const std::string& name, std::size_t at) {
    Expr e;
    e.kind = Expr::Kind::Name;
    e.at = at;
    e.name = name;
    return add(std::move(e));
  }
  ExprId binary(std::string op, std::size_t at, ExprId a, ExprId b) {
    Expr e;
    e.kind = Expr::Kind::Binary;
    e.at = at;
    e.name = std::move(op);
    e.args = {a, b};
    return add(std::move(e));
  }
  ExprId stepped(const std::string& name, std::string op, std::size_t at) {
    Expr one;
    one.kind = Expr::Kind::Integer;
    one.at = at;
    one.integer = 1;
    const ExprId of = variable(name, at);
    return binary(std::move(op), at, of, add(std::move(one)));
  }

  static int precedence(std::string_view op) {
    constexpr std::string_view kLevels[][4] = {
        {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
    int level = 1;
    for (const auto& ops : kLevels) {
      if (std::ranges::find(ops, op) != std::end(ops)) return level;
      ++level;
    }
    return 0;
  }

  ExprId expression() {
    const Deeper deeper(depth_, *this);
    const ExprId condition = operation(1);
    if (!sees("?")) return condition;
    Expr e;
    e.kind = Expr::Kind::Choice;
    e.at = take().at;
    const ExprId yes = expression();
    expect(":");
    const ExprId no = expression();
    e.args = {condition, yes, no};
    return add(std::move(e));
  }

  ExprId operation(int least) {
    ExprId left = unary();
    while (peek().kind == Token::Kind::Sign) {
      const Token op = peek();
      const int level = precedence(op.text);
      if (level == 0 || level < least) return left;
      take();
      const Deeper deeper(depth_, *this);
      const ExprId right = operation(level + 1);
      left = binary(std::string(op.text), op.at, left, right);
    }
    return left;
  }

  ExprId unary() {
    const Deeper deeper(depth_, *this);
    const Token at = peek();
    if (at.kind == Token::Kind::Sign && (at.text == "-" || at.text == "+" || at.text == "!" || at.text == "~")) {
      take();
      Expr e;
      e.kind = Expr::Kind::Unary;
      e.at = at.at;
      e.name = at.text;
      e.args = {unary()};
      return add(std::move(e));
    }
    if (sees("(") && type_length(1) > 0 && sees(")", 1 + type_length(1))) {
      take();
      const TypeName to = type();
      expect(")");
      return cast(to, at.at, unary());
    }
    return primary();
  }

  ExprId cast(const TypeName& to, std::size_t at, ExprId value) {
    if (to.kind == TypeName::Kind::Auto) refuse_text(name_, out_.text, at, "auto is no type of a value", where_);
    Expr e;
    e.kind = Expr::Kind::Cast;
    e.at = at;
    e.type = to;
    e.args = {value};
    return add(std::move(e));
  }

  ExprId primary() {
    const Token at = peek();
    if (accept("(")) {
      const ExprId inner = expression();
      expect(")");
      return inner;
    }
    if (at.kind == Token::Kind::Integer || at.kind == Token::Kind::Real) return literal();
    if (at.kind != Token::Kind::Name) refuse(at, "a value is expected here");
    if (at.text == "static_cast") {
      take();
      expect("<");
      const TypeName to = type();
      expect(">");
      expect("(");
      const ExprId value = expression();
      expect(")");
      return cast(to, at.at, value);
    }
    if (type_length(0) > 0) {
      const TypeName to = type();
      expect("(");
      const ExprId value = expression();
      expect(")");
      return cast(to, at.at, value);
    }
    if (at.text == "std" && sees("::", 1)) {
      take();
      take();
    }
    Expr e;
    e.at = at.at;
    e.name = identifier();
    if (e.name == "true" || e.name == "false") {
      e.kind = Expr::Kind::Truth;
      e.integer = e.name == "true" ? 1 : 0;
      return add(std::move(e));
    }
    e.kind = Expr::Kind::Name;
    if (accept("(")) {
      e.kind = Expr::Kind::Call;
      if (!sees(")")) {
        do {
          e.args.push_back(expression());
        } while (accept(","));
      }
      expect(")");
    }
    return add(std::move(e));
  }

  ExprId literal() {
    const Token at = take();
    Expr e;
    e.at = at.at;
    std::string_view digits = at.text;
    const auto drop = [&](std::string_view letters) {
      bool any = false;
      while (!digits.empty() && letters.find(digits.back()) != std::string_view::npos) {
        digits.remove_suffix(1);
        any = true;
      }
      return any;
    };
    if (at.kind == Token::Kind::Real) {
      e.kind = Expr::Kind::Real;
      if (drop("fF")) e.exact = float32;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), e.real);
      if (end != digits.data() + digits.size() || (error != std::errc() && error != std::errc::result_out_of_range))
        refuse(at, "this is no number");
      return add(std::move(e));
    }
    e.kind = Expr::Kind::Integer;
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    const std::string_view suffix = digits.substr(std::min(digits.find_last_not_of("uUlL") + 1, digits.size()));
    drop("uUlL");
    if (hexadecimal) digits.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    if (end != digits.data() + digits.size() || error != std::errc()) refuse(at, "this is no number");
    const bool is_unsigned = suffix.find_first_of("uU") != std::string_view::npos;
    const bool is_long = suffix.find_first_of("lL") != std::string_view::npos;
    e.integer = static_cast<std::int64_t>(value);
    if (is_unsigned)
      e.exact = is_long || value > 0xffffffff ? uint64 : uint32;
    else if (value > 0x7fffffffffffffff)
      e.exact = uint64;
    else if (is_long || value > 0x7fffffff)
      e.exact = int64;
    return add(std::move(e));
  }

  const std::string_view name_;
  const Where where_;
  Syntax out_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace

Syntax parse_function(std::string_view name, std::string_view parameters, std::string_view body, Where where) {
  return Parser(name, parameters, body, where).parse();
}

}  // namespace tarry::graph
